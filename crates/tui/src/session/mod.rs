//! The loop of `attach`, from the first frame to the last: it waits for everything that can happen,
//! gives it to the model, and draws a frame, but not more often than an eye can follow.

mod disk_facts;
mod effects;
mod pace;

use std::collections::HashSet;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_view::{Paint, PreviewContext, Role};
use pi_subagents_vocabulary::{RunId, TimeZone, Timestamp};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use self::pace::{CLOCK, FRAME, Pace};
use super::draw::draw;
use super::keyboard::{self, Typed};
use super::list_row::ListRow;
use super::message::{Effect, Message, Notice};
use super::model::{Leaving, Model};
use super::reader::Reader;
use super::scope::{Reach, ScreenScope};
use super::screen::{Screen, give_back, terminal_size};
use pi_subagents_calls::start_from_screen::ScreenStarter;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::signals::{self, Signals};
use pi_subagents_runs::fleet_outage::AwayNews;
use pi_subagents_runs::follow::{AwaitedNews, Depth, FollowedRuns, RunNews};
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::read_along::ReadAlong;

/// The number of pieces of records that may wait for the model.
const WAITING: usize = 16;

/// The time that work has to come to its end after somebody has left.
const TO_FINISH: Duration = Duration::from_secs(30);

/// The width of the preview of a tool call; the screen cuts it.
const PREVIEW_WIDTH: usize = 240;

/// The runs to attach to, and the settings of the view.
pub struct Attachment {
    pub places: Places,
    pub scope: ScreenScope,
    pub leaving: Leaving,
    pub paint: Paint,
    /// Starts the runs that somebody wants here.
    pub starter: ScreenStarter,
    /// Opens the web page at a run; the page is served on when the screen is left.
    pub open_page: fn(&RunId, &Places) -> Result<(), CommandError>,
}

/// Shows runs until somebody leaves.
pub async fn attach(attachment: Attachment) -> Result<ExitCode, CommandError> {
    let failed =
        |error: io::Error| CommandError::failed("could not use the terminal").because(&error);
    let signals = Signals::listen_to_pause()?;
    let mut session = Session::start(attachment, signals).map_err(failed)?;
    // The screen is given back before anything is printed.
    let left = session.run().await.map_err(failed);
    session.finish_deeds().await;
    left
}

struct Session {
    model: Model,
    screen: Screen,
    paint: Paint,
    places: Places,
    known: Arc<KnownIndex>,
    starter: ScreenStarter,
    open_page: fn(&RunId, &Places) -> Result<(), CommandError>,
    signals: Signals,
    resizes: Signal,
    /// Comes when somebody has continued this process after it was stopped.
    continued: Signal,
    typed: mpsc::Receiver<Typed>,
    told: mpsc::Receiver<Message>,
    reader: Reader,
    followed: FollowedRuns,
    read_along: ReadAlong<Message>,
    /// The runs whose records were asked for.
    asked: HashSet<RunId>,
    /// Reads of the index, one at a time.
    looking: JoinSet<Message>,
    /// Work that changes something; it is not cut off when somebody leaves.
    deeds: JoinSet<Message>,
    /// Everything else that takes its time.
    jobs: JoinSet<Message>,
    /// True if the followed records and the readers fit the present model.
    is_reconciled: bool,
    /// The presence of the servers of a fleet, as far as it was told.
    servers: AwayNews,
    pace: Pace,
    /// How far back the index was wanted when it was last read.
    reach: Reach,
}

/// Everything that can wake us.
enum Wake {
    Signal(signals::Told),
    Typed(Option<Typed>),
    Told(Message),
    Looked(Option<Message>),
    Resized,
    Continued,
    Runs(RunNews),
    Alarm,
}

impl Session {
    fn start(attachment: Attachment, signals: Signals) -> io::Result<Self> {
        let Attachment {
            places,
            scope,
            leaving,
            paint,
            starter,
            open_page,
        } = attachment;
        let followed = FollowedRuns::start(&places, Depth::Records);
        let (tell, told) = mpsc::channel(WAITING);
        let context = PreviewContext {
            home: Some(places.home.clone()),
            cwd: places.cwd.clone(),
            width: PREVIEW_WIDTH,
        };
        let reader = Reader::start(tell.clone())?;
        let read_along = ReadAlong::new(&places, tell, Message::Partial);
        let resizes = signal(SignalKind::window_change())?;
        let continued = signal(SignalKind::from_raw(pi_subagents_os::Signal::CONT.as_raw()))?;
        let screen = Screen::enter()?;
        let model = Model::new(scope, places.project.clone(), context, terminal_size());
        Screen::use_mouse(model.uses_mouse)?;
        Ok(Self {
            model: model.leaving(leaving).in_zone(TimeZone::system()),
            screen,
            paint,
            known: Arc::new(KnownIndex::of(&places)),
            places,
            starter,
            open_page,
            signals,
            resizes,
            continued,
            typed: keyboard::listen()?,
            told,
            reader,
            followed,
            read_along,
            asked: HashSet::new(),
            looking: JoinSet::new(),
            deeds: JoinSet::new(),
            jobs: JoinSet::new(),
            is_reconciled: false,
            servers: AwayNews::default(),
            pace: Pace::new(),
            reach: Reach::default(),
        })
    }

    async fn run(&mut self) -> io::Result<ExitCode> {
        loop {
            self.reconcile();
            self.draw_if_due()?;
            let effects = match self.next().await {
                Wake::Signal(signals::Told::End(number)) => {
                    return Ok(exit::of_signal(number));
                }
                Wake::Signal(signals::Told::Pause) => vec![Effect::Pause],
                Wake::Typed(Some(Typed::Message(message))) => self.update(message),
                // A terminal that is gone has hung up.
                Wake::Typed(Some(Typed::Gone) | None) => return Ok(exit::of_signal(1)),
                Wake::Told(message) => self.take_messages(message),
                Wake::Looked(message) => self.looked(message),
                Wake::Resized => self.update(Message::Resized(terminal_size())),
                Wake::Continued => {
                    // It was stopped without a word, and the shell has used the terminal since.
                    give_back();
                    self.take_back()?;
                    Vec::new()
                }
                Wake::Runs(news) => self.take_news(news),
                Wake::Alarm => self.alarmed(),
            };
            if self.do_all(effects).await?.is_break() {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }

    /// Plans what something that happened to runs makes necessary.
    fn take_news(&mut self, news: RunNews) -> Vec<Effect> {
        match news {
            RunNews::Index => self.pace.look_soon(),
            RunNews::Record => self.pace.look_at_records = Some(Instant::now() + FRAME),
            RunNews::OwnerGone => self.pace.look_again(),
            RunNews::Left(None) => return self.update(Message::Tick),
            RunNews::Left(Some(why)) => {
                let notice = Notice::new(Role::Warning, why);
                return self.update(Message::Finished(notice));
            }
        }
        Vec::new()
    }

    /// Lets the work come to its end that somebody wanted before leaving: half a merge is worse than
    /// a merge or none.
    async fn finish_deeds(&mut self) {
        let all = async { while self.deeds.join_next().await.is_some() {} };
        // Work that takes longer than a person waits is cut off.
        _ = timeout(TO_FINISH, all).await;
    }

    /// Gives the terminal back, stops, and takes the terminal again.
    async fn pause(&mut self) -> io::Result<()> {
        give_back();
        signals::stop_this_process().await;
        tokio::select! {
            biased;
            // We know.
            _ = self.continued.recv() => {}
            () = std::future::ready(()) => {}
        }
        self.take_back()
    }

    /// Takes the terminal again, which may have another size now.
    fn take_back(&mut self) -> io::Result<()> {
        self.screen.enter_again()?;
        Screen::use_mouse(self.model.uses_mouse)?;
        self.pace.begin_again();
        self.update(Message::Resized(terminal_size()));
        Ok(())
    }

    async fn next(&mut self) -> Wake {
        let alarm = self.alarm();
        let is_looking = !self.looking.is_empty();
        let awaited = AwaitedNews {
            index: self.pace.look_at_index.is_none(),
            records: self.pace.look_at_records.is_none(),
        };
        tokio::select! {
            told = self.signals.next_signal() => Wake::Signal(told),
            typed = self.typed.recv() => Wake::Typed(typed),
            Some(message) = self.told.recv() => Wake::Told(message),
            Some(Ok(message)) = self.deeds.join_next() => Wake::Told(message),
            Some(Ok(message)) = self.jobs.join_next() => Wake::Told(message),
            Some(looked) = self.looking.join_next(), if is_looking => Wake::Looked(looked.ok()),
            _ = self.resizes.recv() => Wake::Resized,
            _ = self.continued.recv() => Wake::Continued,
            news = self.followed.next(awaited) => Wake::Runs(news),
            () = sleep_until(alarm.unwrap_or_else(Instant::now)), if alarm.is_some() => Wake::Alarm,
        }
    }

    /// Returns the next moment at which something is to be done even if nothing happens.
    fn alarm(&self) -> Option<Instant> {
        let now = Instant::now();
        let drawn_at = self.pace.drawn_at.unwrap_or(now);
        let frame = self.pace.frames.due(now.into_std()).map(Instant::from_std);
        let has_clock = self.model.list.rows().iter().any(ListRow::is_running);
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

    fn alarmed(&mut self) -> Vec<Effect> {
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
            self.look_at_servers();
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

    /// Takes a message and all others that wait.
    fn take_messages(&mut self, message: Message) -> Vec<Effect> {
        let mut effects = self.update(message);
        while effects.is_empty()
            && let Ok(message) = self.told.try_recv()
        {
            effects = self.update(message);
        }
        effects
    }

    fn update(&mut self, message: Message) -> Vec<Effect> {
        self.is_reconciled = false;
        self.pace.frames.note_change();
        self.model.update(message, Timestamp::now())
    }
}
