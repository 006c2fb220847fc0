//! Runs on this machine that continue conversations which a fleet keeps too: each is taken before
//! its run begins, and given back with what was said.

use std::path::{Path, PathBuf};

use pi_subagents_fleet_queue::wire::SessionHolder;
use pi_subagents_fleet_queue::{Fleet, HeldSession, Kept, TakenSession, Taker};
use pi_subagents_records::{RunDir, RunState, Store, Travelled};
use pi_subagents_vocabulary::{Plan, PlannedTask, Refusal, RunId, SessionPolicy, Task};
use tracing::warn;

use crate::runs::connection::caller_of;
use crate::runs::control::fleet_of_user;
use crate::runs::conversation::save;
use pi_subagents_calls::owner::Owner;
use pi_subagents_calls::work::{CallWork, stop_of};
use pi_subagents_ground::places::Places;

/// Returns the work of a plan on this machine that continues conversations which a fleet keeps too.
pub(crate) fn work_here<'a>(owner: &'a Owner, places: &Places, plan: Plan) -> CallWork<'a> {
    let stop = stop_of(owner, &plan);
    let places = places.clone();
    CallWork {
        begin: Box::new(move |sinks| {
            Box::pin(async move {
                let (plan, taken) = take_all(owner, &places, plan).await;
                let outcomes = owner.run(plan, sinks).await;
                for one in taken {
                    one.give_back().await;
                }
                outcomes
            })
        }),
        stop,
    }
}

/// A conversation that a run of this machine has.
struct Taken {
    fleet: Fleet,
    held: HeldSession,
    run: RunId,
    directory: Option<PathBuf>,
    file: PathBuf,
}

/// Returns the session file of a task and the note that it was elsewhere.
fn travelled(task: &PlannedTask) -> Option<(PathBuf, Travelled)> {
    let plan = task.work.as_ref().ok()?;
    let SessionPolicy::Shared { file, .. } = &plan.here.session else {
        return None;
    };
    Some((file.clone(), Travelled::read(file)?))
}

/// Takes the conversations of a plan. A task whose conversation somebody else has is refused.
async fn take_all(owner: &Owner, places: &Places, plan: Plan) -> (Plan, Vec<Taken>) {
    let (mut tasks, mut taken) = (Vec::new(), Vec::new());
    let fleet = fleet_of_user(places).await;
    for mut planned in plan.tasks {
        if let Some((file, note)) = travelled(&planned) {
            let mine = match &fleet {
                Ok(fleet) => {
                    let task = &planned.task;
                    take(fleet, &owner.store, caller_of(places), task, &file, &note).await
                }
                Err(error) => Err(error.sentence()),
            };
            match (mine, &fleet) {
                (Ok(held), Ok(fleet)) => taken.push(Taken {
                    fleet: fleet.clone(),
                    held,
                    run: planned.task.run.clone(),
                    directory: planned.task.directory.clone(),
                    file,
                }),
                (Ok(_), Err(_)) => {}
                (Err(message), _) => planned.work = Err(Refusal { message }),
            }
        }
        tasks.push(planned);
    }
    let graph = plan.graph;
    (Plan { tasks, graph }, taken)
}

/// Takes the conversation of one run, if the file here holds all of it.
async fn take(
    fleet: &Fleet,
    store: &Store,
    machine: String,
    task: &Task,
    file: &Path,
    note: &Travelled,
) -> Result<HeldSession, String> {
    let session = &task.session;
    let words = |error: pi_subagents_fleet_queue::FleetError| {
        format!("session {session} is kept by the fleet too, which could not be asked: {error}")
    };
    let entry = fleet.look_at_session(&note.key).await.map_err(words)?;
    let left = entry
        .as_ref()
        .and_then(|entry| left_here(store, entry.holder.as_ref()?));
    let is_newer_here = left.is_some();
    let taker = Taker {
        holder: SessionHolder {
            run: task.run.to_string(),
            n: 0,
            machine: Some(machine),
        },
        is_over: left,
    };
    let held = match fleet.take_session(&note.key, &taker).await.map_err(words)? {
        TakenSession::Mine(held) => held,
        TakenSession::InUse(holder) => {
            return Err(in_use(session.as_str(), file, &holder));
        }
    };
    let saved = held.saved().map(|saved| saved.object.clone());
    if is_newer_here || saved.is_none() || saved == note.object {
        return Ok(held);
    }
    // It is free again for whoever comes next.
    _ = held.give_back(None).await;
    Err(format!(
        "session {session} has gone on elsewhere in this moment; ask again"
    ))
}

/// Returns the run of this machine that has a conversation although it is over: its process was
/// killed before it could give it back.
pub(super) fn left_here(store: &Store, holder: &SessionHolder) -> Option<String> {
    holder.machine.as_ref()?;
    let runs = store.runs().ok()?;
    let run = runs.iter().find(|run| run.run.as_str() == holder.run)?;
    matches!(run.state, RunState::Over { .. }).then(|| holder.run.clone())
}

/// Says who has a conversation.
pub(super) fn in_use(session: &str, file: &Path, holder: &SessionHolder) -> String {
    let machine = holder.machine.as_ref();
    let at = machine.map(|machine| format!(" on {machine}"));
    format!(
        "Session {session} ({}) is in use by run {}{}. Wait until it has finished, or stop it.",
        file.display(),
        holder.run,
        at.unwrap_or_default()
    )
}

impl Taken {
    /// Saves what was said in the fleet, and lets others go on with it.
    async fn give_back(self) {
        let directory = self.directory.clone();
        let (run, key) = (self.run.clone(), self.held.key().to_owned());
        if let Err(why) = self.saved(&run, &key).await {
            let note = format!(
                "what was said is on this machine only: the fleet did not take it ({why}); the next run here sends it again"
            );
            warn!(%run, note, "conversation is not saved");
            if let Some(directory) = directory {
                // The log has it where the record cannot be written.
                _ = RunDir::new(directory).warn(&note);
            }
        }
    }

    async fn saved(self, run: &RunId, key: &str) -> Result<(), String> {
        let saved = save(&self.fleet, key, run, 0, &self.file).await?;
        let object = saved.as_ref().map(|saved| saved.object.clone());
        let object = object.or_else(|| Some(self.held.saved()?.object.clone()));
        let kept = self.held.give_back(saved).await;
        match kept.map_err(|error| error.to_string())? {
            Kept::Done => {
                let key = key.to_owned();
                let note = Travelled { key, object };
                note.write(&self.file).map_err(|error| error.to_string())
            }
            // The next run of this machine has it already, with this file.
            Kept::Fenced => Ok(()),
        }
    }
}
