//! Follows the background runs of a pi session: writes their entries for pi, shows the counts in
//! pi's footer and the activity of the runs in a widget, and sends pi a notice when a run ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_records::{RecordedRun, Store};
use pi_subagents_vocabulary::Timestamp;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::results::note_result;
use crate::{HostLink, Level, background_widget};
use pi_subagents_calls::families::background::notice;
use pi_subagents_calls::service::BackgroundRuns;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::entries::{
    DONE_MESSAGE, Done, KeptBackgroundRuns, RUN_ENTRY, UPDATE_ENTRY, begin_of, end_of,
};
use pi_subagents_runs::follow::Follower;
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::session_runs::SessionRuns;
use pi_subagents_runs::upkeep::close_abandoned;
use pi_subagents_runs::workspace::settle;
use pi_subagents_vocabulary::Counts;

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
        let end = follower.end_of_record(&directory);
        let shared = Arc::clone(self);
        let session = state.session.clone();
        state.wait_for(async move {
            if let Some(end) = end {
                // A run of a fleet may be seen to its end by whoever asks for its state.
                end.recorded().await;
            }
            let row = shared.closed(row).await;
            if shared.note_end(&session, &row) {
                shared.announce(&session, &row).await;
            }
        });
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
        // Without a directory the message in the session is the only sign that it was sent.
        let claimed = row.directory().map(|place| place.claim_notice(session));
        if claimed.is_none_or(|claimed| claimed.unwrap_or(true)) {
            let notice = Arc::clone(self).send(session.to_owned(), row.clone());
            let mut sending = self.sending();
            drop_ended(&mut sending);
            sending.spawn(notice);
        }
    }

    /// Sends the notice. If pi dies before it has taken the notice, the claim is given back, and
    /// the next pi gets it.
    async fn send(self: Arc<Self>, session: String, row: RunRow) {
        let (message, brief) = notice(&row);
        let done = json!(Done {
            run_id: row.report.run_id.clone(),
        });
        let link = &self.link;
        let message = link.send_message(&session, DONE_MESSAGE, &message, &done);
        if message.await {
            link.notify(&brief, Level::of(row.report.status));
        } else if let Some(directory) = row.directory() {
            // If the claim cannot be removed, nobody can claim it again; then the footer shows the
            // end.
            _ = directory.release_notice(&session);
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
        let footer = format!(
            "bg: {} running / {} total",
            counts.under_way(),
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

/// Drops the tasks that have ended. A set keeps them until somebody asks for them, and a pi may
/// live for weeks.
fn drop_ended(tasks: &mut JoinSet<()>) {
    while tasks.try_join_next().is_some() {}
}
