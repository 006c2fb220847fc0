//! The background runs of a pi session: what pi keeps of them as entries, shows in its footer, and
//! is told when one ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_sessions::{RecordedRun, Store};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::calls::families::background::notice;
use crate::calls::service::BackgroundRuns;
use crate::doors::pi::background_entries::{
    DONE_MESSAGE, KeptRuns, RUN_ENTRY, RunUpdate, Told, UPDATE_ENTRY,
};
use crate::doors::pi::{HostLink, Level};
use crate::runs::counts::Counts;
use crate::runs::memory::{Memory, SessionListener, StartedSession};
use crate::runs::owned::close_abandoned;
use crate::runs::row::Row;
use crate::runs::run_watch::RunWatch;

/// The registry of the pi we belong to. Clones share it.
#[derive(Clone)]
pub(crate) struct Registry {
    shared: Arc<Shared>,
}

struct Shared {
    link: HostLink,
    store: Store,
    /// Where the ids of this session are known.
    memory: Arc<Memory>,
    state: Mutex<State>,
    /// Notices that are claimed and not yet taken; none of them is given up half-way.
    telling: Mutex<JoinSet<()>>,
}

/// What is known of the session pi is in.
#[derive(Default)]
struct State {
    session: String,
    /// In the order they began.
    rows: Vec<Row>,
    watch: Option<RunWatch>,
    /// Whoever waits for ends, or for pi to be idle.
    waiting: JoinSet<()>,
}

impl BackgroundRuns for Registry {
    fn launched(&self, row: &Row) -> Counts {
        let shared = &self.shared;
        let mut state = shared.state();
        let row = row.clone().begun();
        if let Some(session) = &row.pi_session {
            // Also where pi is about to leave that session: the run goes on, and pi still takes
            // the entry by which it is known when the session is opened again.
            shared.keep(session, RUN_ENTRY, &row);
        }
        if row.pi_session.as_ref() == Some(&state.session) {
            shared.memory.know(&row);
            state.rows.push(row.clone());
            shared.follow(&mut state, row);
        }
        shared.show_counts(&state)
    }

    fn rows(&self) -> (Counts, Vec<Row>) {
        let state = self.shared.state();
        (state.counts(), state.rows.clone())
    }
}

impl Registry {
    pub(crate) fn new(link: HostLink, store: Store, memory: Arc<Memory>) -> Self {
        Self {
            shared: Arc::new(Shared {
                link,
                store,
                memory,
                state: Mutex::default(),
                telling: Mutex::default(),
            }),
        }
    }

    /// Waits for nothing any more. What pi has not taken by now is told by the next one.
    pub(crate) async fn close(self) {
        let mut waiting = std::mem::take(&mut *self.shared.state()).waiting;
        waiting.shutdown().await;
        let mut telling = std::mem::take(&mut *self.shared.telling());
        while telling.join_next().await.is_some() {}
    }
}

impl SessionListener for Registry {
    fn began(&self, session: &StartedSession<'_>) {
        let shared = &self.shared;
        let mut state = shared.state();
        *state = State {
            session: session.id.to_owned(),
            ..State::default()
        };
        let kept = if session.is_new {
            KeptRuns::default()
        } else {
            KeptRuns::read(session.entries)
        };
        state.rows.clone_from(&kept.rows);
        for row in kept.rows {
            shared.memory.know(&row);
            if !row.is_over() {
                shared.follow(&mut state, row);
            } else if !kept.told.contains(&row.run_id) {
                shared.tell_later(&mut state, row);
            }
        }
        shared.show_counts(&state);
    }

    fn ended(&self) {
        let mut state = self.shared.state();
        *state = State::default();
        self.shared.show_counts(&state);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in the result of a run that is over, or waits for it.
    fn follow(self: &Arc<Self>, state: &mut State, row: Row) {
        let watch = state.watch.get_or_insert_with(RunWatch::start);
        let over = watch.over(row.directory());
        let shared = Arc::clone(self);
        let session = state.session.clone();
        state.wait_for(async move {
            over.await;
            let row = shared.closed(row).await;
            if shared.note_end(&session, &row) {
                shared.tell(&session, &row).await;
            }
        });
    }

    /// A run that nobody owns and that has no result is closed by us.
    async fn closed(self: &Arc<Self>, row: Row) -> Row {
        let directory = row.directory();
        if !directory.result().exists() {
            let shared = Arc::clone(self);
            // Ending what is left takes a while; if it panics, the run is as it is.
            _ = tokio::task::spawn_blocking(move || close_abandoned(&shared.store)).await;
        }
        match RecordedRun::read(&directory) {
            Ok(run) if run.end.is_some() => Row::of(&run).shortened(),
            Ok(_) | Err(_) => row.without_record(),
        }
    }

    /// Writes down that a run is over; false when pi is in another session by now.
    fn note_end(&self, session: &str, row: &Row) -> bool {
        let mut state = self.state();
        if state.session != session {
            return false;
        }
        for known in &mut state.rows {
            if known.run_id == row.run_id {
                known.clone_from(row);
            }
        }
        self.memory.know(row);
        self.keep(session, UPDATE_ENTRY, &RunUpdate::of(row));
        self.show_counts(&state);
        true
    }

    fn tell_later(self: &Arc<Self>, state: &mut State, row: Row) {
        let shared = Arc::clone(self);
        let session = state.session.clone();
        state.wait_for(async move { shared.tell(&session, &row).await });
    }

    /// Tells a session once; a running model would hear it, so pi must be idle.
    async fn tell(self: &Arc<Self>, session: &str, row: &Row) {
        let mut idle = self.link.idle();
        if idle.wait_for(|idle| *idle).await.is_err() || self.link.session_id() != session {
            return;
        }
        // Without a directory the message in the session is the only sign that it was told.
        let is_ours = row.directory().claim_notice(session);
        if is_ours.unwrap_or(true) {
            let telling = Arc::clone(self).send(session.to_owned(), row.clone());
            let mut under_way = self.telling();
            let_go_of_ended(&mut under_way);
            under_way.spawn(telling);
        }
    }

    /// A pi that died before it took the message has told nobody: the next one shall.
    async fn send(self: Arc<Self>, session: String, row: Row) {
        let (message, brief) = notice(&row);
        let told = json!(Told {
            run_id: row.run_id.clone(),
        });
        let link = &self.link;
        let message = link.send_message(&session, DONE_MESSAGE, &message, &told);
        if message.await {
            link.notify(&brief, Level::of(row.status));
        } else {
            // It cannot be claimed again if it cannot be removed; then the footer tells.
            _ = row.directory().release_notice(&session);
        }
    }

    fn telling(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, session: &str, custom_type: &str, data: &impl serde::Serialize) {
        let data: Value = serde_json::to_value(data).unwrap_or_default();
        self.link.append_entry(session, custom_type, &data);
    }

    fn show_counts(&self, state: &State) -> Counts {
        let counts = state.counts();
        let footer = format!("bg: {} running / {} total", counts.running, counts.total());
        let is_any = counts.total() > 0;
        self.link.set_status(is_any.then_some(footer.as_str()));
        counts
    }
}

impl State {
    fn counts(&self) -> Counts {
        Counts::of(self.rows.iter().map(|row| row.status.into()))
    }

    fn wait_for(&mut self, end: impl Future<Output = ()> + Send + 'static) {
        let_go_of_ended(&mut self.waiting);
        self.waiting.spawn(end);
    }
}

/// A set holds on to its ended tasks until somebody asks for them, and a pi may live for weeks.
fn let_go_of_ended(tasks: &mut JoinSet<()>) {
    while tasks.try_join_next().is_some() {}
}
