//! The loop of `attach`, from the first frame to the last: it waits for everything that can happen,
//! gives it to the model, and draws a frame, but not more often than an eye can follow.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use crossterm::event::Event;
use pi_subagents_delegation::{Pacer, RunId, Timestamp};
use pi_subagents_sessions::{RecordedRun, Store, history};
use pi_subagents_windows::{Paint, PreviewContext, Role};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::draw::draw;
use super::keyboard::{self, Typed};
use super::list_row::{ListRow, Record};
use super::model::{Effect, Leaving, Message, Model, Notice, Scope};
use super::owners::{self, PartialReaders};
use super::reader::Reader;
use super::screen::{Screen, give_back, terminal_size};
use crate::error::CommandError;
use crate::exit;
use crate::places::Places;
use crate::runs::follow::{FileChanges, Owners};
use crate::runs::owned::current_runs;
use crate::runs::row::RunRow;
use crate::signals::{self, Signals};

/// No eye reads faster than this.
const FRAME: Duration = Duration::from_millis(50);

/// The clocks show seconds.
const CLOCK: Duration = Duration::from_secs(1);

/// Reading the index takes at most one part in so many of the time.
const LOOKING_SHARE: u32 = 20;

/// How many pieces of records may wait for the model.
const WAITING: usize = 16;

/// How wide the preview of a tool call may be; the screen cuts it.
const PREVIEW_WIDTH: usize = 240;

/// What is attached to, and how.
pub(crate) struct Attachment {
    pub(crate) places: Places,
    pub(crate) scope: Scope,
    pub(crate) leaving: Leaving,
    pub(crate) paint: Paint,
}

/// Shows runs until somebody leaves.
pub(crate) async fn attach(attachment: Attachment) -> Result<ExitCode, CommandError> {
    let failed =
        |error: io::Error| CommandError::failed("could not use the terminal").because(&error);
    let signals = Signals::listen_to_pause()?;
    let mut session = Session::start(attachment, signals).map_err(failed)?;
    // The screen is given back before anything is printed.
    session.run().await.map_err(failed)
}

struct Session {
    model: Model,
    screen: Screen,
    paint: Paint,
    store: Store,
    signals: Signals,
    resizes: Signal,
    typed: mpsc::Receiver<Typed>,
    told: mpsc::Receiver<Message>,
    tell: mpsc::Sender<Message>,
    reader: Reader,
    owners: Owners,
    partial_readers: PartialReaders,
    index: FileChanges,
    records: FileChanges,
    /// The runs whose directories are watched.
    watched: HashSet<RunId>,
    /// The runs whose records were asked for.
    asked: HashSet<RunId>,
    /// Reads the index, one at a time.
    looking: JoinSet<Message>,
    /// Everything else that takes its time.
    jobs: JoinSet<Message>,
    /// Whether what is done fits the model.
    is_reconciled: bool,
    pace: Pace,
}

/// When what is due.
struct Pace {
    frames: Pacer,
    /// When the last frame was drawn, for the clocks in it.
    drawn_at: Option<Instant>,
    looked_at: Instant,
    look_at_index: Option<Instant>,
    look_at_records: Option<Instant>,
    /// The index as it was when it was last read.
    index_state: Option<(u64, Option<SystemTime>)>,
}

/// Everything that can wake us.
enum Wake {
    Signal(signals::Told),
    Typed(Option<Typed>),
    Told(Message),
    Looked(Option<Message>),
    Resized,
    RecordsChanged,
    IndexChanged,
    OwnerGone,
    Alarm,
}

/// Makes the pace of frames when the first of them is due at once.
fn first_frame() -> Pacer {
    let mut frames = Pacer::new(FRAME);
    frames.note_change();
    frames
}

impl Session {
    fn start(attachment: Attachment, signals: Signals) -> io::Result<Self> {
        let Attachment {
            places,
            scope,
            leaving,
            paint,
        } = attachment;
        let index = FileChanges::of_directory(&places.agent_dir);
        let (tell, told) = mpsc::channel(WAITING);
        let context = PreviewContext {
            home: Some(places.home.clone()),
            cwd: places.cwd.clone(),
            width: PREVIEW_WIDTH,
        };
        let reader = Reader::start(tell.clone())?;
        let resizes = signal(SignalKind::window_change())?;
        let screen = Screen::enter()?;
        let model = Model::new(scope, places.project.clone(), context, terminal_size());
        Ok(Self {
            model: model.leaving(leaving),
            screen,
            paint,
            store: Store::new(&places.agent_dir),
            signals,
            resizes,
            typed: keyboard::listen()?,
            told,
            tell,
            reader,
            owners: Owners::default(),
            partial_readers: PartialReaders::default(),
            index,
            records: FileChanges::new(),
            watched: HashSet::new(),
            asked: HashSet::new(),
            looking: JoinSet::new(),
            jobs: JoinSet::new(),
            is_reconciled: false,
            pace: Pace {
                frames: first_frame(),
                drawn_at: None,
                looked_at: Instant::now(),
                look_at_index: Some(Instant::now()),
                look_at_records: None,
                index_state: None,
            },
        })
    }

    async fn run(&mut self) -> io::Result<ExitCode> {
        loop {
            self.reconcile();
            self.draw_if_due()?;
            let effect = match self.next().await {
                Wake::Signal(signals::Told::End(number)) => {
                    return Ok(exit::of_signal(number));
                }
                Wake::Signal(signals::Told::Pause) => {
                    self.pause().await?;
                    None
                }
                Wake::Typed(Some(Typed::Event(event))) => self.typed(event),
                // A terminal that is gone has hung up.
                Wake::Typed(Some(Typed::Gone) | None) => return Ok(exit::of_signal(1)),
                Wake::Told(message) => self.told(message),
                Wake::Looked(message) => self.looked(message),
                Wake::Resized => {
                    let (columns, rows) = terminal_size();
                    self.update(Message::Resized(columns, rows))
                }
                Wake::RecordsChanged => {
                    self.pace.look_at_records = Some(Instant::now() + FRAME);
                    None
                }
                Wake::IndexChanged => {
                    self.look_soon();
                    None
                }
                Wake::OwnerGone => {
                    self.pace.index_state = None;
                    self.look_soon();
                    None
                }
                Wake::Alarm => self.alarmed(),
            };
            if let Some(effect) = effect
                && self.effect(effect).is_break()
            {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }

    /// Gives the terminal back, stops, and takes the terminal again.
    async fn pause(&mut self) -> io::Result<()> {
        give_back();
        signals::stop_this_process().await;
        self.screen.enter_again()?;
        self.pace.frames = first_frame();
        self.pace.drawn_at = None;
        Ok(())
    }

    async fn next(&mut self) -> Wake {
        let alarm = self.alarm();
        let is_looking = !self.looking.is_empty();
        tokio::select! {
            told = self.signals.told() => Wake::Signal(told),
            typed = self.typed.recv() => Wake::Typed(typed),
            Some(message) = self.told.recv() => Wake::Told(message),
            Some(Ok(message)) = self.jobs.join_next() => Wake::Told(message),
            Some(looked) = self.looking.join_next(), if is_looking => Wake::Looked(looked.ok()),
            _ = self.resizes.recv() => Wake::Resized,
            () = self.records.next(), if self.pace.look_at_records.is_none() => Wake::RecordsChanged,
            () = self.index.next(), if self.pace.look_at_index.is_none() => Wake::IndexChanged,
            () = self.owners.next() => Wake::OwnerGone,
            () = sleep_until(alarm.unwrap_or_else(Instant::now)), if alarm.is_some() => Wake::Alarm,
        }
    }

    /// Returns the next moment at which something is to be done even if nothing happens.
    fn alarm(&self) -> Option<Instant> {
        let now = Instant::now();
        let drawn_at = self.pace.drawn_at.unwrap_or(now);
        let frame = self.pace.frames.due(now.into_std()).map(Instant::from_std);
        let has_clock = self.model.rows.iter().any(ListRow::is_running);
        let clock = has_clock.then(|| drawn_at + CLOCK);
        let look = self.pace.look_at_index.filter(|_| self.looking.is_empty());
        let leave = self.model.leaves_at().map(|at| {
            let left = at.duration_since(Timestamp::now());
            Instant::now() + Duration::try_from(left).unwrap_or_default()
        });
        [frame, clock, look, self.pace.look_at_records, leave]
            .into_iter()
            .flatten()
            .min()
    }

    fn alarmed(&mut self) -> Option<Effect> {
        let now = Instant::now();
        if self.pace.look_at_records.is_some_and(|at| at <= now) {
            self.pace.look_at_records = None;
            self.reader.look();
        }
        if self.pace.look_at_index.is_some_and(|at| at <= now) && self.looking.is_empty() {
            self.pace.look_at_index = None;
            self.look();
        }
        if self.pace.drawn_at.is_none_or(|at| at + CLOCK <= now) {
            self.pace.frames.note_change();
        }
        self.model.update(Message::Tick, Timestamp::now())
    }

    fn draw_if_due(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let due = self.pace.frames.due(now.into_std());
        if due.is_none_or(|due| due > now.into_std()) {
            return Ok(());
        }
        self.pace.frames.note_done(now.into_std());
        self.pace.drawn_at = Some(now);
        let (model, paint) = (&self.model, self.paint);
        self.screen
            .draw(|frame| draw(model, Timestamp::now(), paint, frame))
    }

    fn typed(&mut self, event: Event) -> Option<Effect> {
        match event {
            Event::Key(key) => self.update(Message::Pressed(key)),
            Event::Paste(text) => self.update(Message::Pasted(text)),
            Event::Resize(..) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
        }
    }

    /// Takes a message and all others that wait.
    fn told(&mut self, message: Message) -> Option<Effect> {
        let mut effect = self.update(message);
        while effect.is_none()
            && let Ok(message) = self.told.try_recv()
        {
            effect = self.update(message);
        }
        effect
    }

    fn update(&mut self, message: Message) -> Option<Effect> {
        self.is_reconciled = false;
        self.pace.frames.note_change();
        self.model.update(message, Timestamp::now())
    }

    /// Does what follows from how the model is now.
    fn reconcile(&mut self) {
        if std::mem::replace(&mut self.is_reconciled, true) {
            return;
        }
        self.reader.follow(self.model.followed());
        self.partial_readers
            .read_only(self.model.partially_read(), &self.tell);
        self.watch_records();
        self.read_records();
    }

    fn effect(&mut self, effect: Effect) -> std::ops::ControlFlow<()> {
        match effect {
            Effect::Leave => return std::ops::ControlFlow::Break(()),
            Effect::Look => {
                self.pace.index_state = None;
                self.look_soon();
            }
            Effect::Steer(run, message) => {
                let steered = owners::steer(run, message);
                self.jobs.spawn(async { Message::Finished(steered.await) });
            }
            Effect::Stop(run) => {
                let stopped = owners::stop(self.store.clone(), run);
                self.jobs.spawn(async { Message::Finished(stopped.await) });
            }
            Effect::ReadAnswer(run) => {
                self.jobs.spawn_blocking(move || {
                    let answer = history(&run.directory).ok().and_then(|run| run.output());
                    Message::AnswerRead(run.run, answer)
                });
            }
        }
        std::ops::ControlFlow::Continue(())
    }

    /// Watches the directories of open runs, each before its record is read, so that nothing happens
    /// unseen.
    fn watch_records(&mut self) {
        let runs = || self.model.rows.iter().map(|row| &row.run);
        self.owners.watch(runs());
        let open = runs().filter(|run| run.is_open() && !self.watched.contains(&run.run));
        let mut new = Vec::new();
        for run in open {
            self.records.watch_record(run);
            new.push(run.run.clone());
        }
        if !new.is_empty() {
            self.watched.extend(new);
            self.reader.look();
        }
    }

    /// Reads the records of the finished runs that are on the screen.
    fn read_records(&mut self) {
        let mut runs = self.model.unread();
        runs.retain(|run| self.asked.insert(run.run.clone()));
        if runs.is_empty() {
            return;
        }
        self.jobs.spawn_blocking(move || {
            let records = runs.into_iter().map(|run| {
                let record = match RecordedRun::read(&run.directory) {
                    Ok(record) => {
                        let row = RunRow::of_index_and_record(&run, &record);
                        Record::Read(Box::new(row.shortened()))
                    }
                    Err(_) => Record::Gone,
                };
                (run.run, record)
            });
            Message::RecordsRead(records.collect())
        });
    }

    /// Plans to read the index soon. An index of years is long, so reading it takes a bounded share
    /// of the time.
    fn look_soon(&mut self) {
        let soon = Instant::now() + FRAME;
        let due = self.pace.look_at_index.get_or_insert(soon);
        *due = (*due).max(self.pace.looked_at);
    }

    fn look(&mut self) {
        let index = fs::metadata(self.store.index()).ok();
        let state = index.map(|index| (index.len(), index.modified().ok()));
        if state.is_some() && state == self.pace.index_state {
            return;
        }
        self.pace.index_state = state;
        self.pace.looked_at = Instant::now();
        let (store, scope) = (self.store.clone(), self.model.scope.clone());
        self.looking
            .spawn_blocking(move || match current_runs(&store) {
                Ok(runs) => {
                    let (runs, older) = scope.choose(runs);
                    Message::IndexRead(runs, older)
                }
                Err(error) => {
                    let text = CommandError::from(error).to_answer();
                    Message::Finished(Notice::new(Role::Failed, text))
                }
            });
    }

    fn looked(&mut self, message: Option<Message>) -> Option<Effect> {
        let took = self.pace.looked_at.elapsed();
        self.pace.looked_at = Instant::now() + took * LOOKING_SHARE;
        self.update(message?)
    }
}
