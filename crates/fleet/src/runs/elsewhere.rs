//! Runs of a fleet that somebody asked for on another machine: their records are copied here when
//! somebody here asks for them by their ids.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_fleet_queue::Fleet;
use pi_subagents_fleet_queue::wire::RunCard;
use pi_subagents_git::Repository;
use pi_subagents_records::{
    Detached, NewRun, OwnerName, RunDir, SHORTEST_BEGINNING, StickySession, Store,
};
use pi_subagents_vocabulary::{ModelChoice, RunId, SessionId, Task, UsedDefinition};

use super::connection::{connect, settings_of_user};
use super::fleet_run::FleetRun;
use super::follow::{Until, follow_until};
use super::own_thread::wait_for;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::owner_process::this_host;

/// The time for which this may hold up a command.
const PATIENCE: Duration = Duration::from_secs(20);

/// More runs are not copied for one id; the newest are.
const MOST_RUNS: usize = 20;

/// Returns whether somebody on another machine asked for a run that is copied here. That machine
/// follows it too, and says when it has everything.
pub(crate) fn is_from_elsewhere(owner: &OwnerName) -> bool {
    owner.fleet.is_some() && owner.host != this_host()
}

/// Looks in the fleet for the runs that an id stands for, if a fleet is configured, and copies their
/// records here. Returns whether there were any, or why the fleet could not be asked.
pub(crate) fn look_elsewhere(store: &Store, places: &Places, id: &str) -> Result<bool, String> {
    let settings = settings_of_user(places);
    if !settings.is_configured() || id.chars().count() < SHORTEST_BEGINNING {
        return Ok(false);
    }
    let asked = async {
        let fleet = connect(&settings, places).await;
        let fleet = fleet.map_err(|error| error.sentence())?;
        let prefix = settings.prefix.clone();
        copy(&fleet, store, places, id, &prefix).await
    };
    wait_for(PATIENCE, asked)
}

async fn copy(
    fleet: &Fleet,
    store: &Store,
    places: &Places,
    id: &str,
    prefix: &str,
) -> Result<bool, String> {
    let cards = fleet.cards().await.map_err(|error| error.to_string())?;
    let known = store.runs().map_err(|error| error.to_string())?;
    let is_meant = |(run, card): &(RunId, RunCard)| {
        let begins = run.as_str().starts_with(id) || card.session.starts_with(id);
        begins && !known.iter().any(|one| one.run == *run)
    };
    let mut meant: Vec<_> = cards.into_iter().filter(is_meant).collect();
    meant.drain(..meant.len().saturating_sub(MOST_RUNS));
    let mut runs = Vec::new();
    for (run, card) in &meant {
        runs.push(begin(store, places, run, card, prefix)?);
    }
    if runs.is_empty() {
        fleet.close().await;
        return Ok(false);
    }
    follow_until(
        Until::CaughtUp,
        fleet.clone(),
        store.clone(),
        places,
        runs,
        Vec::new(),
    )
    .await;
    Ok(true)
}

/// Begins the record of a run of another machine.
fn begin(
    store: &Store,
    places: &Places,
    run: &RunId,
    card: &RunCard,
    prefix: &str,
) -> Result<FleetRun, String> {
    let checkout = checkout(places, card);
    let project = checkout
        .is_some()
        .then_some(places.real_project())
        .flatten();
    let made = store.make_directory(project, run);
    let directory = made.map_err(|error| error.to_string())?;
    let cwd = checkout.unwrap_or_else(|| PathBuf::from(&card.directory));
    let session = SessionId::parse(&card.session).map_err(|error| error.to_string())?;
    if let Some(agent) = &card.agent {
        link_conversation(places, &cwd, agent, &session, &directory);
    }
    let task = Arc::new(Task {
        definition: card.definition.as_ref().map(|name| UsedDefinition {
            name: name.clone(),
            summary: String::new(),
            model: ModelChoice::Inherit,
            file: None,
        }),
        directory: Some(directory.path().to_owned()),
        record_limit: u64::MAX,
        has_schema: card.has_schema,
        sandbox: card.sandbox.clone(),
        ..Task::new(
            run.clone(),
            session,
            card.name.clone(),
            card.asked.clone(),
            cwd,
        )
    });
    let begun = store.begin(&NewRun {
        task: &task,
        project: &places.project,
        // No process of this machine, and none that is asked for anything.
        owner: &OwnerName {
            pid: 0,
            start_time: 0,
            host: card.caller.clone(),
            socket: None,
            detached: card.background.then_some(Detached { pi_session: None }),
            fleet: Some(prefix.to_owned()),
            caller: None,
        },
        runner: None,
        model: None,
        tools: None,
        terms: None,
        system_prompt: None,
        sticky_agent: card.agent.as_deref(),
    });
    begun.map_err(|error| error.to_string())?;
    Ok(FleetRun {
        run: run.clone(),
        directory,
        order: None,
        is_from_elsewhere: true,
    })
}

/// Returns the directory of a run in the checkout that this command is in, if that is a checkout of
/// the same repository.
fn checkout(places: &Places, card: &RunCard) -> Option<PathBuf> {
    let wanted = card.repository.as_ref()?;
    let repository = Repository::find(&places.cwd).ok()?;
    let is_same = repository.id().ok().as_ref() == Some(wanted);
    // Joined with nothing, a path would end with a slash.
    is_same.then(|| match card.inside.as_str() {
        "" => repository.top().to_owned(),
        inside => repository.top().join(inside),
    })
}

/// Makes the conversation of a run one that can go on here.
fn link_conversation(
    places: &Places,
    cwd: &Path,
    agent: &str,
    session: &SessionId,
    directory: &RunDir,
) {
    // Without the directory of the run there is nothing to go on in.
    if let Ok(sticky) = StickySession::of(&places.home, cwd, agent, session) {
        _ = sticky.make().and_then(|()| sticky.link_from(directory));
    }
}
