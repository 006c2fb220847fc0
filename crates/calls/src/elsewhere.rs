//! Calls whose runs work on other machines, or continue conversations that went on there.
//!
//! Nothing here knows how other machines are reached. A program that does hands a [`CallsElsewhere`]
//! over with its [`Places`]; without one, every call works on this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pi_subagents_configuration::FleetSettings;
use pi_subagents_records::{StickySession, Travelled};
use pi_subagents_vocabulary::{Plan, Refusal, SessionId, SessionPolicy, Task};

use crate::destination::FleetDestination;
use crate::opened_task::OpenedTask;
use crate::owner::Owner;
use crate::resolve::ResolvedWork;
use crate::work::CallWork;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::{Guests, Places};
use pi_subagents_runs::elsewhere::{Elsewhere, Pending, no_fleet};

/// Everything that calls ask of other machines.
pub trait CallsElsewhere: Elsewhere {
    /// Refuses a task with a part that cannot travel, by its name, before anything is sent.
    fn may_travel(
        &self,
        work: &ResolvedWork,
        destination: &FleetDestination,
    ) -> Result<(), Refusal>;

    /// Makes everything ready for the runs of a call that work in these directories, after they
    /// were resolved and before one of them is opened. A call that cannot work there fails here and
    /// leaves no trace.
    fn depart<'a>(
        &'a self,
        places: &'a Places,
        destination: &'a FleetDestination,
        directories: &'a [PathBuf],
        waiting: Waiting,
    ) -> Pending<'a, Result<Box<dyn Departure>, CommandError>>;

    /// Brings a conversation up to date that may have gone on elsewhere. Returns a note for the
    /// caller where nobody could be asked.
    fn bring_conversation(
        &self,
        places: &Places,
        settings: &FleetSettings,
        named: &NamedSession<'_>,
    ) -> Result<Option<String>, Refusal>;

    /// Returns the work of a plan on this machine that continues conversations which are kept
    /// elsewhere too.
    fn work_here<'a>(&self, owner: &'a Owner, places: &Places, plan: Plan) -> CallWork<'a>;
}

/// A call that is ready to leave for other machines.
pub trait Departure: Send + Sync {
    /// Returns the name of the place, as the records of its runs name it.
    fn name(&self) -> &str;

    /// Returns what a person should know about the files that travel.
    fn warnings(&self) -> Vec<String>;

    /// Takes a task along, or says what of it cannot travel. A task that continues the conversation
    /// of an agent names it.
    fn take(
        &self,
        task: &Arc<Task>,
        resolved: ResolvedWork,
        agent: Option<&str>,
    ) -> Result<(), Refusal>;

    /// Returns the work of the call: the tasks that were taken along, and the refused tasks of the
    /// call.
    fn work(self: Box<Self>, tasks: Vec<OpenedTask>, owner: &Owner) -> CallWork<'_>;
}

/// Says whether a caller waits for the runs of a call. Runs that are waited for end when their
/// caller is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    Somebody,
    Nobody,
}

/// A conversation that its caller has named, so that it may have gone on elsewhere.
pub struct NamedSession<'a> {
    pub session: &'a StickySession,
    pub cwd: &'a Path,
    pub agent: &'a str,
    pub id: &'a SessionId,
}

impl NamedSession<'_> {
    /// Returns the note of a conversation that was elsewhere.
    pub fn note(&self) -> Option<Travelled> {
        Travelled::read(self.session.file())
    }
}

/// Returns the values with which a program hands over what answers for other machines, to calls and
/// to everything that looks at runs.
pub fn guests_from_elsewhere<T: CallsElsewhere>(elsewhere: &'static T) -> Guests {
    let of_runs: &'static dyn Elsewhere = elsewhere;
    let of_calls: &'static dyn CallsElsewhere = elsewhere;
    Guests::none().with(of_runs).with(of_calls)
}

/// Returns what answers for other machines, if the program has handed it over.
fn elsewhere(places: &Places) -> Option<&'static dyn CallsElsewhere> {
    places.guests.get::<&'static dyn CallsElsewhere>().copied()
}

/// Refuses a task with a part that cannot travel, by its name.
pub(crate) fn may_travel(
    places: &Places,
    work: &ResolvedWork,
    destination: &FleetDestination,
) -> Result<(), Refusal> {
    match elsewhere(places) {
        Some(elsewhere) => elsewhere.may_travel(work, destination),
        None => Ok(()),
    }
}

/// Makes everything ready for the runs of a call that work in these directories of other machines.
pub(crate) async fn depart(
    places: &Places,
    destination: &FleetDestination,
    directories: &[PathBuf],
    waiting: Waiting,
) -> Result<Box<dyn Departure>, CommandError> {
    let elsewhere = elsewhere(places).ok_or_else(no_fleet)?;
    let departure = elsewhere.depart(places, destination, directories, waiting);
    departure.await
}

/// Brings a conversation up to date that may have gone on elsewhere. Returns a note for the caller
/// where nobody could be asked.
pub(crate) fn bring_conversation(
    places: &Places,
    settings: &FleetSettings,
    named: &NamedSession<'_>,
) -> Result<Option<String>, Refusal> {
    match elsewhere(places) {
        Some(elsewhere) => elsewhere.bring_conversation(places, settings, named),
        None => Ok(None),
    }
}

/// Returns the work of a plan on this machine. Conversations that are kept nowhere else need
/// nothing more.
pub(crate) fn work_here<'a>(owner: &'a Owner, places: &Places, plan: Plan) -> CallWork<'a> {
    let has_travelled = plan.tasks.iter().any(|planned| {
        let session = planned.work.as_ref().ok().map(|plan| &plan.here.session);
        match session {
            Some(SessionPolicy::Shared { file, .. }) => Travelled::read(file).is_some(),
            Some(SessionPolicy::File(_) | SessionPolicy::Nowhere) | None => false,
        }
    });
    match elsewhere(places).filter(|_| has_travelled) {
        Some(elsewhere) => elsewhere.work_here(owner, places, plan),
        None => CallWork::here(owner, plan),
    }
}
