//! The loop of the screen: it waits for everything that can happen, gives it to the model, draws a
//! frame, and carries out what the model wants done. Work that takes its time is on threads of its own.

use std::collections::HashMap;
use std::future::ready;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_calls::review_desk::{
    Return, ReviewDesk, WantedAccept, dismiss, look_later, send_back,
};
use pi_subagents_calls::start_from_screen::ScreenStarter;
use pi_subagents_git::SavedEdits;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::signals::{self, Signals};
use pi_subagents_records::IndexedRun;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::review::undo::undo;
use pi_subagents_runs::review::{AcceptNews, ResultSource, ReviewQueue};
use pi_subagents_view::{Paint, Role};
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{Door, RunId, Timestamp};
use ratatui::layout::{Position, Rect};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::frame::frame;
use super::item::ReviewItem;
use super::model::{ReviewEffect, ReviewMessage, ReviewModel, SeenQueue, WantedReturn, Work};
use crate::draw::draw_lines;
use crate::keyboard::{self, Typed};
use crate::message::{Message, Notice};
use crate::screen::{Screen, give_back, terminal_size};

/// The number of messages that may wait.
const WAITING: usize = 64;

/// The time that a landing has to come to its end after somebody has left.
const TO_FINISH: Duration = Duration::from_secs(30);

/// What the screen is made with.
pub struct ReviewScreen {
    pub places: Places,
    pub paint: Paint,
    /// Starts the runs that somebody sends back.
    pub starter: ScreenStarter,
    /// The only runs that are shown; all that wait if there are none.
    pub only: Vec<IndexedRun>,
}

/// Shows what waits until somebody leaves.
pub async fn review_screen(screen: ReviewScreen) -> Result<ExitCode, CommandError> {
    let failed =
        |error: io::Error| CommandError::failed("could not use the terminal").because(&error);
    let signals = Signals::listen_to_pause()?;
    let mut session = ReviewSession::start(screen, signals).map_err(failed)?;
    let left = session.run().await.map_err(failed);
    give_back();
    session.finish_landing().await;
    left
}

/// What threads work with.
#[derive(Clone)]
struct Desk {
    places: Arc<Places>,
    index: Arc<KnownIndex>,
    tell: mpsc::Sender<ReviewMessage>,
    only: Arc<Vec<IndexedRun>>,
}

struct ReviewSession {
    desk: Desk,
    model: ReviewModel,
    screen: Screen,
    paint: Paint,
    starter: ScreenStarter,
    signals: Signals,
    resizes: Signal,
    typed: mpsc::Receiver<Typed>,
    told: mpsc::Receiver<ReviewMessage>,
    /// Where the files of the results can be read.
    sources: HashMap<RunId, Arc<ResultSource>>,
    known: HashMap<RunId, IndexedRun>,
    jobs: Jobs,
}

impl ReviewSession {
    fn start(screen: ReviewScreen, signals: Signals) -> io::Result<Self> {
        let ReviewScreen {
            places,
            paint,
            starter,
            only,
        } = screen;
        let (tell, told) = mpsc::channel(WAITING);
        let resizes = signal(SignalKind::window_change())?;
        let project = places.project.strip_prefix(&places.home);
        let project = project.map_or_else(
            |_| places.project.display().to_string(),
            |inside| format!("~/{}", inside.display()),
        );
        let own = Screen::enter()?;
        Ok(Self {
            model: ReviewModel::new(terminal_size(), project),
            desk: Desk {
                index: Arc::new(KnownIndex::of(&places)),
                places: Arc::new(places),
                tell,
                only: Arc::new(only),
            },
            screen: own,
            paint,
            starter,
            signals,
            resizes,
            typed: keyboard::listen()?,
            told,
            sources: HashMap::new(),
            known: HashMap::new(),
            jobs: JoinSet::new(),
        })
    }

    async fn run(&mut self) -> io::Result<ExitCode> {
        self.begin(ReviewEffect::ReadQueue);
        loop {
            self.draw()?;
            let message = tokio::select! {
                told = self.signals.next_signal() => match told {
                    signals::Told::End(number) => return Ok(exit::of_signal(number)),
                    signals::Told::Pause => {
                        give_back();
                        signals::stop_this_process().await;
                        self.screen.enter_again()?;
                        ReviewMessage::Resized(terminal_size())
                    }
                },
                typed = self.typed.recv() => match typed {
                    Some(Typed::Message(Message::Pressed(key))) => ReviewMessage::Pressed(key),
                    Some(Typed::Message(Message::Pasted(text))) => ReviewMessage::Pasted(text),
                    Some(Typed::Message(_)) => continue,
                    // A terminal that is gone has hung up.
                    Some(Typed::Gone) | None => return Ok(exit::of_signal(1)),
                },
                Some(message) = self.told.recv() => message,
                Some(Ok(message)) = self.jobs.join_next() => message,
                _ = self.resizes.recv() => ReviewMessage::Resized(terminal_size()),
            };
            self.note_sources(&message);
            for effect in self.model.update(message) {
                if effect == ReviewEffect::Leave {
                    return Ok(ExitCode::SUCCESS);
                }
                self.begin(effect);
            }
        }
    }

    /// Lets a landing come to its end; anything else that goes on has changed nothing.
    async fn finish_landing(&mut self) {
        if self.model.working.as_ref().is_some_and(|work| work.lands) {
            let all = async { while self.jobs.join_next().await.is_some() {} };
            _ = timeout(TO_FINISH, all).await;
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        let drawn = frame(&self.model, Timestamp::now());
        let (paint, size) = (self.paint, self.model.size);
        self.screen.draw(|frame| {
            let area = Rect::from((Position::ORIGIN, size));
            draw_lines(&drawn.lines, area, paint, frame);
            if let Some(column) = drawn.cursor.and_then(|column| u16::try_from(column).ok()) {
                let x = column.min(size.width.saturating_sub(1));
                let y = size.height.saturating_sub(1);
                frame.set_cursor_position(Position::new(x, y));
            }
        })
    }

    /// Keeps where the files of new results can be read.
    fn note_sources(&mut self, message: &ReviewMessage) {
        if let ReviewMessage::QueueRead(Ok(queue)) = message {
            for item in &queue.items {
                if let Some(source) = &item.source {
                    self.sources.insert(item.run.clone(), Arc::clone(source));
                    self.known.insert(item.run.clone(), source.indexed.clone());
                }
            }
        }
    }

    fn indexed(&self, run: &RunId) -> Option<IndexedRun> {
        let known = self.known.get(run).cloned();
        known.or_else(|| {
            let runs = self.desk.index.runs().ok()?;
            runs.iter().find(|one| one.run == *run).cloned()
        })
    }

    /// Begins an effect on a thread of its own.
    fn begin(&mut self, effect: ReviewEffect) {
        let desk = self.desk.clone();
        match effect {
            ReviewEffect::Leave => {}
            ReviewEffect::ReadQueue => {
                self.jobs.spawn_blocking(move || {
                    let queue = desk.seen_queue();
                    ReviewMessage::QueueRead(queue.map_err(|error| words_of(&error)))
                });
            }
            ReviewEffect::ReadDiff(run, file) => {
                let item = self.model.item().filter(|item| item.run == run);
                let touched = item.and_then(|item| item.files.get(file).cloned());
                let source = self.sources.get(&run).cloned();
                self.jobs.spawn_blocking(move || {
                    let diff = touched.zip(source).map_or_else(
                        || Err("its files cannot be read".to_owned()),
                        |(touched, source)| source.diff(&touched),
                    );
                    ReviewMessage::DiffRead(run, file, diff)
                });
            }
            ReviewEffect::ReadParts(run) => {
                let source = self.sources.get(&run).cloned();
                self.jobs.spawn_blocking(move || {
                    let parts = source.map_or_else(
                        || Err("its files cannot be read".to_owned()),
                        |source| source.parts(),
                    );
                    ReviewMessage::PartsRead(run, parts)
                });
            }
            ReviewEffect::Accept(wanted) => {
                self.jobs
                    .spawn_blocking(move || finished(desk.accept(wanted)));
            }
            ReviewEffect::Undo => {
                self.jobs.spawn_blocking(move || {
                    let done = undo(&desk.places, &desk.index, SavedEdits::Refused);
                    succeeded(done.map(|report| report.lines().join("\n")))
                });
            }
            ReviewEffect::SendBack(WantedReturn { run, sent, on }) => {
                let starter = self.starter.clone();
                self.with_run(&run, |jobs, run| {
                    jobs.spawn(async move {
                        let went = send_back(&starter, Return { run, sent, on }).await;
                        let words = |sentence: String| format!("{sentence}; g looks again");
                        succeeded(went.map(|went| words(went.sentence)))
                    });
                });
            }
            ReviewEffect::Raise(run) => self.with_run(&run, |jobs, run| {
                jobs.spawn_blocking(move || succeeded(desk.own().raise(&run)));
            }),
            ReviewEffect::Discard(run) => self.with_run(&run, |jobs, run| {
                jobs.spawn_blocking(move || succeeded(desk.own().discard(run)));
            }),
            ReviewEffect::Dismiss(run) => self.with_run(&run, |jobs, run| {
                jobs.spawn_blocking(move || succeeded(dismiss(&run)));
            }),
            ReviewEffect::Later(run) => self.with_run(&run, |jobs, run| {
                jobs.spawn_blocking(move || succeeded(look_later(&run)));
            }),
        }
    }

    /// Begins work on a run, or says that it is gone.
    fn with_run(&mut self, run: &RunId, begin: impl FnOnce(&mut Jobs, IndexedRun)) {
        if let Some(run) = self.indexed(run) {
            begin(&mut self.jobs, run);
            return;
        }
        let gone = CommandError::not_found(format!("the run {run} is not there any more"));
        self.jobs.spawn(ready(succeeded(Err(gone))));
    }
}

/// What goes on beside the screen.
type Jobs = JoinSet<ReviewMessage>;

impl Desk {
    fn seen_queue(&self) -> Result<SeenQueue, CommandError> {
        let ids: Vec<RunId> = self.only.iter().map(|run| run.run.clone()).collect();
        let mut queue = ReviewQueue::gather_named(&self.places, &self.index, &ids)?;
        if !self.only.is_empty() {
            queue.keep_only(&self.only);
        }
        Ok(SeenQueue {
            // Without its settings a gate is unknown, and accepting says why.
            gate: self.own().gate().ok().flatten(),
            problem: queue.problem.as_deref().map(one_line),
            items: ReviewItem::all(queue),
        })
    }

    fn own(&self) -> ReviewDesk<'_> {
        ReviewDesk {
            places: &self.places,
            index: &self.index,
        }
    }

    /// Accepts results as far as they stay green.
    fn accept(&self, wanted: WantedAccept) -> Result<Notice, CommandError> {
        let report = self.own().accept(wanted, &mut |news| {
            let work = Work {
                words: news.sentence(),
                lands: matches!(news, AcceptNews::Lands),
            };
            // A screen that is gone needs no news.
            _ = self.tell.blocking_send(ReviewMessage::WorkedOn(work));
        })?;
        let role = if report.taken() > 0 {
            Role::Success
        } else {
            Role::Failed
        };
        let words = [vec![report.sentence()], report.notes()].concat();
        Ok(Notice::new(role, words.join("\n")))
    }
}

fn succeeded(outcome: Result<String, CommandError>) -> ReviewMessage {
    finished(outcome.map(|words| Notice::new(Role::Success, words)))
}

fn finished(outcome: Result<Notice, CommandError>) -> ReviewMessage {
    let failed = |error: CommandError| Notice::new(Role::Failed, words_of(&error));
    ReviewMessage::Finished(outcome.unwrap_or_else(failed))
}

fn words_of(error: &CommandError) -> String {
    error.to_answer(Door::Attach)
}
