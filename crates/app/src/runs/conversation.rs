//! Which runs of a session id belong together.
//!
//! A sticky session belongs to a directory and an agent, so two agents may each have one of the
//! same id: these are two conversations, and nobody wants the answers of one in the other.

use std::path::PathBuf;

use pi_subagents_delegation::RunId;
use pi_subagents_sessions::{Conversation, FindError, IndexedRun, RecordedRun};

use crate::error::CommandError;

/// What tells conversations of one id apart.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kept {
    /// In a file that several runs continue.
    In(PathBuf),
    /// In the records of the runs themselves.
    Apart,
}

/// Of runs with the same session id, oldest first, those of one conversation: that of the run
/// that is meant, else the only one there is.
pub(crate) fn of_one_conversation<R>(
    mut runs: Vec<R>,
    meant: Option<&RunId>,
    record: impl Fn(&R) -> Option<&IndexedRun>,
) -> Result<Vec<R>, FindError> {
    let kept: Vec<Option<Kept>> = runs.iter().map(|run| kept(record(run)?)).collect();
    let mut conversations: Vec<(&Kept, &R)> = Vec::new();
    for (one, run) in kept.iter().zip(&runs) {
        let Some(one) = one else { continue };
        match conversations.iter_mut().find(|(known, _)| *known == one) {
            Some((_, latest)) => *latest = run,
            None => conversations.push((one, run)),
        }
    }
    if conversations.len() < 2 {
        return Ok(runs);
    }
    let is_meant = |run: &R| record(run).is_some_and(|run| Some(&run.run) == meant);
    let Some(meant) = runs.iter().position(is_meant) else {
        let latest = conversations.iter().filter_map(|(_, run)| record(run));
        return Err(shared(&latest.collect::<Vec<_>>()));
    };
    // One that never began belongs to all of them.
    let wanted = kept[meant].clone();
    let mut belongs = kept.into_iter().map(|one| one.is_none() || one == wanted);
    runs.retain(|_| belongs.next().unwrap_or(true));
    Ok(runs)
}

fn shared(latest: &[&IndexedRun]) -> FindError {
    let id = latest.first().map(|run| run.session.to_string());
    FindError::Shared {
        session: id.unwrap_or_default(),
        conversations: latest.iter().map(|run| described(run)).collect(),
    }
}

/// Where a run kept what was said; none if it never had a child, and so said nothing.
fn kept(run: &IndexedRun) -> Option<Kept> {
    if let Some(file) = run.directory.sticky_file() {
        return Some(Kept::In(file));
    }
    let end = RecordedRun::read(&run.directory).ok()?.end;
    let never_began = end.is_some_and(|end| end.started_at.is_none());
    (!never_began).then_some(Kept::Apart)
}

fn described(latest: &IndexedRun) -> Conversation {
    let task = RecordedRun::read(&latest.directory)
        .ok()
        .map(|run| run.task);
    let agent = task.as_ref().and_then(|task| task.definition.as_ref());
    Conversation {
        agent: agent.map_or_else(|| latest.name.clone(), |used| used.name.clone()),
        cwd: task.map_or_else(|| latest.project.clone(), |task| task.cwd.clone()),
        latest: latest.run.clone(),
    }
}

/// Asks which conversation is meant: `how` is what to write to name one by a run of it.
pub(crate) fn ask_which(error: FindError, how: impl Fn(&RunId) -> String) -> CommandError {
    let FindError::Shared { conversations, .. } = &error else {
        return error.into();
    };
    let question = CommandError::usage(error.to_string());
    conversations.iter().fold(question, |question, one| {
        let (agent, place) = (&one.agent, one.cwd.display());
        question.hint(format!("{agent} in {place}: {}", how(&one.latest)))
    })
}
