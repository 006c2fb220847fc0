//! Follows the background runs of a pi session: writes their entries for pi, shows the counts in
//! pi's footer and the activity of the runs in a widget, and sends pi a notice when a run asks and
//! when it ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pi_subagents_records::{NoticeOf, RecordedRun, RunDir, Store};
use pi_subagents_vocabulary::{Answerer, Question, QuestionId, QuestionKind, Timestamp};
use serde_json::{Value, json};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::sleep;

use crate::asking_run::{AskingChange, AskingRun};
use crate::questions::note_question;
use crate::results::note_result;
use crate::{HostLink, Level, SessionMessage, background_widget};
use pi_subagents_calls::families::background::{ask_notice, notice};
use pi_subagents_calls::service::BackgroundRuns;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::entries::{
    ASK_MESSAGE, Asks, DONE_MESSAGE, Done, KeptBackgroundRuns, RUN_ENTRY, UPDATE_ENTRY, begin_of,
    end_of,
};
use pi_subagents_runs::follow::{FollowedRun, Follower};
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::session_runs::SessionRuns;
use pi_subagents_runs::upkeep::close_abandoned;
use pi_subagents_runs::workspace::settle;
use pi_subagents_vocabulary::Counts;

/// The shortest pause between two looks at a record that grows.
const PACE: Duration = Duration::from_millis(250);

/// Follows the background runs of the pi we belong to. Clones share it.
#[derive(Clone)]
pub(crate) struct BackgroundWatch {
    shared: Arc<Shared>,
}

struct Shared {
    link: HostLink,
    places: Places,
    store: Store,
    runs: Arc<SessionRuns>,
    state: Mutex<State>,
    /// Notices that are claimed and that pi has not taken yet. They are not given up half-way.
    sending: Mutex<JoinSet<()>>,
}

/// The work for the session that pi is in.
#[derive(Default)]
struct State {
    session: String,
    follower: Option<Follower>,
    /// Tasks that wait for the ends of runs, or for pi to be idle.
    waiting: JoinSet<()>,
    /// True if pi has a terminal, in which the widget is seen.
    has_terminal: bool,
    /// The task that keeps the widget up to date while runs are open.
    widget: JoinSet<()>,
}

impl BackgroundRuns for BackgroundWatch {
    fn launched(&self, row: &RunRow) -> Counts {
        let shared = &self.shared;
        let mut state = shared.state();
        let row = row.clone().without_owner();
        if let Some(session) = &row.pi_session {
            // Also where pi is about to leave that session: the run goes on, and pi still takes
            // the entry by which it is known when the session is opened again.
            shared.keep(session, RUN_ENTRY, &begin_of(&row));
            if shared.runs.put_background(session, &row) {
                shared.follow(&mut state, row);
            }
        }
        shared.show_counts()
    }
}

impl BackgroundWatch {
    pub(crate) fn new(
        link: HostLink,
        places: &Places,
        store: Store,
        runs: Arc<SessionRuns>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                link,
                places: places.clone(),
                store,
                runs,
                state: Mutex::default(),
                sending: Mutex::default(),
            }),
        }
    }

    /// Follows the background runs of a session that pi has opened; `kept` are the runs in its
    /// entries.
    pub(crate) fn open(&self, session: &str, has_terminal: bool, kept: &KeptBackgroundRuns) {
        let shared = &self.shared;
        let mut state = shared.state();
        shared.drop_widget(&state);
        *state = State {
            session: session.to_owned(),
            has_terminal,
            ..State::default()
        };
        for row in shared.runs.background() {
            if !row.is_over() {
                shared.follow(&mut state, row);
            } else if !kept.announced.contains(&row.report.run_id) {
                shared.announce_later(&mut state, row);
            }
        }
        shared.show_counts();
    }

    /// Stops following: pi has left the session.
    pub(crate) fn close(&self) {
        let mut state = self.shared.state();
        self.shared.drop_widget(&state);
        *state = State::default();
        drop(state);
        self.shared.show_counts();
    }

    /// Ends all waiting. A notice that pi has not taken by now is sent by the next host.
    pub(crate) async fn leave(self) {
        let mut waiting = std::mem::take(&mut *self.shared.state()).waiting;
        waiting.shutdown().await;
        let mut sending = std::mem::take(&mut *self.shared.sending());
        while sending.join_next().await.is_some() {}
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of a run, which may have come already, and then writes it down.
    fn follow(self: &Arc<Self>, state: &mut State, row: RunRow) {
        let Some(directory) = row.directory() else {
            return;
        };
        self.show_widget(state);
        let follower = state
            .follower
            .get_or_insert_with(|| Follower::start(&self.places));
        let record = follower.record_in(&directory);
        let shared = Arc::clone(self);
        let session = state.session.clone();
        state.wait_for(async move {
            if let Some(record) = record {
                let asking = AskingRun::new(&row, &directory);
                shared.follow_record(&session, asking, record).await;
            }
            let row = shared.closed(row).await;
            if shared.note_end(&session, &row) {
                shared.announce(&session, &row).await;
            }
        });
    }

    /// Follows the record of a run until the run is over, and takes in what it asks.
    async fn follow_record(
        self: &Arc<Self>,
        session: &str,
        mut asking: AskingRun,
        mut record: FollowedRun,
    ) {
        loop {
            // Records are read on a thread where they hold up nobody else.
            let look = spawn_blocking(move || {
                let change = asking.read_on();
                (asking, change)
            });
            let Ok((looked, change)) = look.await else {
                // A panic was printed; the run is followed to its end without its questions.
                while record.goes_on().await {}
                return;
            };
            asking = looked;
            if let Some(change) = change {
                self.note_questions(session, change);
            }
            if !record.goes_on().await {
                return;
            }
            // A run that works changes its record all the time.
            sleep(PACE).await;
        }
    }

    /// Takes in that a run asks something, or asks no longer.
    fn note_questions(self: &Arc<Self>, session: &str, change: AskingChange) {
        let AskingChange { row, asked } = change;
        // Held, so that pi does not change its session meanwhile.
        let mut state = self.state();
        if state.session != session || !self.runs.put_background(session, &row) {
            return;
        }
        self.show_counts();
        for question in asked {
            if question.answerer == Answerer::Parent {
                // Before the notice: the model may read of the question in the answer of a tool.
                note_question(&self.link, session);
            }
            let (shared, row) = (Arc::clone(self), row.clone());
            let session = session.to_owned();
            state.wait_for(async move { shared.announce_question(&session, &row, question).await });
        }
    }

    /// Announces a question to a session, once: to its person at once, and to its model when pi is
    /// idle, if nobody has answered by then.
    async fn announce_question(self: &Arc<Self>, session: &str, row: &RunRow, question: Question) {
        let Some(directory) = row.directory() else {
            return;
        };
        if directory.has_notified(session, NoticeOf::Question(&question.id)) {
            return;
        }
        let (message, brief) = ask_notice(row, &question);
        self.link.notify(&brief, Level::Warning);
        let mut idle = self.link.idle();
        if idle.wait_for(|idle| *idle).await.is_err() || self.link.session_id() != session {
            return;
        }
        let is_open = self.runs.background().iter().any(|known| {
            let mut asked = known.report.questions.iter();
            known.report.run_id == row.report.run_id
                && asked.any(|asked| asked.is_open() && asked.question.id == question.id)
        });
        if !is_open {
            return;
        }
        let starts_turn = may_start_turn(&question) && self.questions_start_turn().await;
        self.send(SessionNotice {
            session: session.to_owned(),
            directory: Some(directory),
            message: SessionMessage {
                custom_type: ASK_MESSAGE,
                content: message,
                details: json!(Asks {
                    run_id: row.report.run_id.clone(),
                    question: question.id.clone(),
                }),
                starts_turn,
            },
            question: Some(question.id),
            brief: None,
        });
    }

    /// Returns whether the user wants that questions start a turn of the model.
    async fn questions_start_turn(&self) -> bool {
        let places = self.places.clone();
        let read = move || {
            Configuration::read_once(&places, false)
                .settings
                .questions_start_turn
        };
        // A panic was printed.
        spawn_blocking(read).await.unwrap_or(true)
    }

    /// Shows the widget. A widget that is shown already begins anew, because it may be about to
    /// end.
    fn show_widget(&self, state: &mut State) {
        if state.has_terminal {
            let (runs, link) = (Arc::clone(&self.runs), self.link.clone());
            let places = self.places.clone();
            state.widget = JoinSet::new();
            state
                .widget
                .spawn(background_widget::show(runs, link, places));
        }
    }

    /// Takes away the widget of a session that pi has left.
    fn drop_widget(&self, state: &State) {
        if !state.widget.is_empty() {
            self.link.set_widget(&[]);
        }
    }

    /// Returns the row of a run with its end. Closes the run first if its owner is gone and has
    /// left no result.
    async fn closed(self: &Arc<Self>, row: RunRow) -> RunRow {
        let Some(directory) = row.directory() else {
            return row.without_record(Timestamp::now());
        };
        if !directory.result().exists() {
            let shared = Arc::clone(self);
            // Ending the leftovers takes a while; if it panics, the run stays as it is.
            _ = tokio::task::spawn_blocking(move || close_abandoned(&shared.store)).await;
        }
        let run = row.report.run_id.clone();
        let read = move || {
            // Its owner does the same; the first of the two keeps the result of the run.
            settle(directory.path(), &run);
            RecordedRun::read(&directory)
        };
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(run)) if run.end.is_some() => RunRow::of_record(&run).shortened().without_owner(),
            Ok(_) | Err(_) => row.without_record(Timestamp::now()),
        }
    }

    /// Writes down that a run is over. Returns false if pi is in another session by now.
    fn note_end(&self, session: &str, row: &RunRow) -> bool {
        // Held, so that pi does not change its session between the row and the entry.
        let mut state = self.state();
        if state.session != session || !self.runs.put_background(session, row) {
            return false;
        }
        self.keep(session, UPDATE_ENTRY, &end_of(row));
        let run = row.report.run_id.as_str();
        note_result(&self.link, session, run, row.workspace.as_deref());
        if self.show_counts().under_way() == 0 {
            // At once: the notice of the end comes next.
            self.drop_widget(&state);
            state.widget = JoinSet::new();
        }
        true
    }

    fn announce_later(self: &Arc<Self>, state: &mut State, row: RunRow) {
        let shared = Arc::clone(self);
        let session = state.session.clone();
        state.wait_for(async move { shared.announce(&session, &row).await });
    }

    /// Announces the end of a run to a session, once. Waits until pi is idle, because a model that
    /// is at work would read the notice as part of its task.
    async fn announce(self: &Arc<Self>, session: &str, row: &RunRow) {
        let mut idle = self.link.idle();
        if idle.wait_for(|idle| *idle).await.is_err() || self.link.session_id() != session {
            return;
        }
        let (message, brief) = notice(row);
        self.send(SessionNotice {
            session: session.to_owned(),
            directory: row.directory(),
            question: None,
            message: SessionMessage {
                custom_type: DONE_MESSAGE,
                content: message,
                details: json!(Done {
                    run_id: row.report.run_id.clone(),
                }),
                starts_turn: false,
            },
            brief: Some((brief, Level::of(row.report.status))),
        });
    }

    /// Sends a notice that nobody else has claimed, also if its sender is given up half-way.
    fn send(&self, notice: SessionNotice) {
        if notice.claim() {
            let mut sending = self.sending();
            drop_ended(&mut sending);
            sending.spawn(notice.send(self.link.clone()));
        }
    }

    fn sending(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, session: &str, custom_type: &str, data: &Value) {
        self.link.append_entry(session, custom_type, data);
    }

    fn show_counts(&self) -> Counts {
        let counts = self.runs.background_counts();
        let asks = match counts.waiting {
            0 => String::new(),
            waiting => format!(", {waiting} asks"),
        };
        let footer = format!(
            "bg: {} running{asks} / {} total",
            counts.under_way() - counts.waiting,
            counts.total()
        );
        let is_any = counts.total() > 0;
        self.link.set_status(is_any.then_some(footer.as_str()));
        counts
    }
}

impl State {
    fn wait_for(&mut self, end: impl Future<Output = ()> + Send + 'static) {
        drop_ended(&mut self.waiting);
        self.waiting.spawn(end);
    }
}

/// A notice to a session of pi.
struct SessionNotice {
    session: String,
    /// The directory that keeps who sends it. Without one the message in the session is the only
    /// sign that it was sent.
    directory: Option<RunDir>,
    /// The question that it is about; the end of the run if there is none.
    question: Option<QuestionId>,
    message: SessionMessage,
    /// The line that is shown for a moment once pi has taken the message.
    brief: Option<(String, Level)>,
}

impl SessionNotice {
    fn subject(&self) -> NoticeOf<'_> {
        self.question
            .as_ref()
            .map_or(NoticeOf::End, NoticeOf::Question)
    }

    /// Returns whether it is ours to send.
    fn claim(&self) -> bool {
        let claimed = self
            .directory
            .as_ref()
            .map(|place| place.claim_notice(&self.session, self.subject()));
        claimed.is_none_or(|claimed| claimed.unwrap_or(true))
    }

    /// Sends it. If pi dies before it has taken the message, the claim is given back, and the next
    /// pi gets it.
    async fn send(self, link: HostLink) {
        let claimed = self.subject();
        let is_taken = link.send_message(&self.session, &self.message).await;
        match (&self.brief, &self.directory) {
            (Some((brief, level)), _) if is_taken => link.notify(brief, *level),
            // If the claim cannot be removed, nobody can claim it again; then the footer shows the
            // run.
            (_, Some(directory)) if !is_taken => {
                _ = directory.release_notice(&self.session, claimed);
            }
            _ => {}
        }
    }
}

/// Returns whether a question may start a turn of the model: the model of the run asks, and the
/// calling model may answer. A dialog is for a person.
fn may_start_turn(question: &Question) -> bool {
    match question.kind {
        QuestionKind::Ask => question.answerer == Answerer::Parent,
        QuestionKind::Dialog | QuestionKind::Budget => false,
    }
}

/// Drops the tasks that have ended. A set keeps them until somebody asks for them, and a pi may
/// live for weeks.
fn drop_ended(tasks: &mut JoinSet<()>) {
    while tasks.try_join_next().is_some() {}
}
