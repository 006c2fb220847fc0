//! Decides which runs of a session id belong together.
//!
//! A sticky session belongs to a directory and an agent, so two agents may each have one of the
//! same id: these are two conversations, and nobody wants the answers of one in the other.

use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_records::{
    CandidateConversation, FindError, IndexedRun, RecordedRun, RunDir, RunIds,
};
use pi_subagents_vocabulary::RunId;

use crate::row::RunRow;

/// A run that may have a record.
pub trait MayBeRecorded: RunIds {
    /// Returns the name of its task.
    fn task_name(&self) -> &str;

    /// Returns the directory of its record, if it has one.
    fn record_directory(&self) -> Option<RunDir>;

    /// Returns its record, if it has one that can be read.
    fn recorded(&self) -> Option<Arc<RecordedRun>> {
        RecordedRun::read(&self.record_directory()?)
            .ok()
            .map(Arc::new)
    }
}

impl MayBeRecorded for IndexedRun {
    fn task_name(&self) -> &str {
        &self.name
    }

    fn record_directory(&self) -> Option<RunDir> {
        Some(self.directory.clone())
    }
}

impl MayBeRecorded for RunRow {
    fn task_name(&self) -> &str {
        &self.report.name
    }

    fn record_directory(&self) -> Option<RunDir> {
        self.directory()
    }
}

/// The place where a conversation is kept. It tells apart the conversations of one id.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kept {
    /// In a file that several runs continue.
    In(PathBuf),
    /// In the records of the runs themselves.
    Apart,
}

/// Narrows runs of one session id, given oldest first, to those of one conversation: that of the
/// run that is meant, or the only conversation. Fails if there are several and none is meant.
pub fn of_one_conversation<R: MayBeRecorded>(
    runs: Vec<R>,
    meant: Option<&RunId>,
) -> Result<Vec<R>, FindError> {
    let mut kept: Vec<Option<Kept>> = runs.iter().map(kept).collect();
    if kept
        .iter()
        .flatten()
        .any(|one| Some(one) != kept.iter().flatten().next())
    {
        let is_gone: Vec<bool> = runs.iter().map(is_directory_gone).collect();
        join_moved(&mut kept, &is_gone);
    }
    match choose(runs, kept, meant) {
        Ok(runs) => Ok(runs),
        Err(latest) => Err(FindError::Shared {
            session: latest
                .first()
                .map(|run| run.session_id().to_string())
                .unwrap_or_default(),
            conversations: latest.iter().map(described).collect(),
        }),
    }
}

/// Joins the conversation of a directory that is gone with the one of the same agent and id in a
/// directory that is there: the project was moved, and its records with it.
fn join_moved(kept: &mut [Option<Kept>], is_gone: &[bool]) {
    for at in 0..kept.len() {
        let Some(Kept::In(file)) = &kept[at] else {
            continue;
        };
        let is_same = |(other, is_gone): (&Option<Kept>, &bool)| match other {
            Some(Kept::In(other)) => !is_gone && other.file_name() == file.file_name(),
            Some(Kept::Apart) | None => false,
        };
        let there = kept.iter().zip(is_gone).rposition(is_same);
        if let (true, Some(there)) = (is_gone[at], there) {
            let joined = kept[there].clone();
            kept[at] = joined;
        }
    }
}

/// Returns whether the directory that a run worked in is there no more.
fn is_directory_gone(run: &impl MayBeRecorded) -> bool {
    run.recorded()
        .is_some_and(|record| !record.task.cwd.exists())
}

/// Chooses the runs of one conversation; fails with the latest run of each.
fn choose<R: RunIds>(
    mut runs: Vec<R>,
    kept: Vec<Option<Kept>>,
    meant: Option<&RunId>,
) -> Result<Vec<R>, Vec<R>> {
    let mut latest: Vec<(&Kept, usize)> = Vec::new();
    for (at, one) in kept.iter().enumerate() {
        let Some(one) = one else { continue };
        match latest.iter_mut().find(|(known, _)| *known == one) {
            Some((_, latest)) => *latest = at,
            None => latest.push((one, at)),
        }
    }
    if latest.len() < 2 {
        return Ok(runs);
    }
    let is_meant = |run: &R| Some(run.run_id()) == meant;
    let Some(meant) = runs.iter().position(is_meant) else {
        let wanted: Vec<usize> = latest.iter().map(|(_, at)| *at).collect();
        let mut runs: Vec<Option<R>> = runs.into_iter().map(Some).collect();
        let latest = wanted.into_iter();
        return Err(latest.filter_map(|at| runs.get_mut(at)?.take()).collect());
    };
    // A run that never began belongs to all conversations.
    let wanted = kept[meant].clone();
    let mut belongs = kept.into_iter().map(|one| one.is_none() || one == wanted);
    runs.retain(|_| belongs.next().unwrap_or(true));
    Ok(runs)
}

/// Returns the place of a run's conversation; `None` if the run never had a child, and so has no
/// messages.
fn kept(run: &impl MayBeRecorded) -> Option<Kept> {
    let directory = run.record_directory()?;
    if let Some(file) = directory.sticky_file() {
        return Some(Kept::In(file));
    }
    let record = run.recorded()?;
    let end = record.end.as_ref();
    let never_began = end.is_some_and(|end| end.started_at.is_none());
    (!never_began).then_some(Kept::Apart)
}

fn described(latest: &impl MayBeRecorded) -> CandidateConversation {
    let record = latest.recorded();
    let task = record.as_ref().map(|record| &record.task);
    let agent = task.and_then(|task| task.definition.as_ref());
    CandidateConversation {
        agent: agent.map_or_else(|| latest.task_name().to_owned(), |used| used.name.clone()),
        cwd: task.map(|task| task.cwd.clone()).unwrap_or_default(),
        latest: latest.run_id().clone(),
    }
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::SessionId;

    use super::*;

    #[derive(Debug, Clone, PartialEq, Eq)]
    struct Run(RunId, SessionId);

    impl RunIds for Run {
        fn run_id(&self) -> &RunId {
            &self.0
        }

        fn session_id(&self) -> &SessionId {
            &self.1
        }
    }

    fn run(id: &str) -> Run {
        let session = SessionId::parse("talk").expect("an id of a session");
        Run(RunId::parse(id).expect("an id of a run"), session)
    }

    /// Returns the ids of the chosen runs, or of the latest run of each conversation.
    fn chosen(runs: &[(&str, Option<Kept>)], meant: Option<&str>) -> Result<String, String> {
        let kept = runs.iter().map(|(_, kept)| kept.clone()).collect();
        let runs = runs.iter().map(|(id, _)| run(id)).collect();
        let meant = meant.map(|id| run(id).0);
        let ids = |runs: Vec<Run>| {
            let ids: Vec<String> = runs.iter().map(|run| run.0.to_string()).collect();
            ids.join(" ")
        };
        choose(runs, kept, meant.as_ref()).map(ids).map_err(ids)
    }

    fn file(name: &str) -> Kept {
        Kept::In(PathBuf::from(name))
    }

    #[test]
    fn runs_of_one_conversation_stay_together() {
        let runs = [("a", Some(file("x"))), ("b", None), ("c", Some(file("x")))];
        assert_eq!(chosen(&runs, None), Ok("a b c".to_owned()));
        let apart = [("a", Some(Kept::Apart)), ("b", Some(Kept::Apart))];
        assert_eq!(chosen(&apart, None), Ok("a b".to_owned()));
    }

    #[test]
    fn a_project_that_was_moved_makes_no_second_conversation() {
        let moved = |files: [&str; 3], is_gone: [bool; 3]| {
            let mut kept = files.map(|name| Some(file(name)));
            join_moved(&mut kept, &is_gone);
            kept.map(|one| match one {
                Some(Kept::In(file)) => file.display().to_string(),
                Some(Kept::Apart) | None => String::new(),
            })
        };
        let files = ["/old/a_1", "/new/a_1", "/new/b_1"];
        let joined = ["/new/a_1", "/new/a_1", "/new/b_1"];
        assert_eq!(moved(files, [true, false, false]), joined);
        assert_eq!(moved(files, [false, false, false]), files);
        assert_eq!(moved(files, [true, true, true]), files);
    }

    #[test]
    fn of_several_conversations_one_must_be_meant() {
        let runs = [
            ("a", Some(file("x"))),
            ("b", Some(file("y"))),
            ("c", None),
            ("d", Some(file("x"))),
        ];
        assert_eq!(chosen(&runs, None), Err("d b".to_owned()));
        assert_eq!(chosen(&runs, Some("a")), Ok("a c d".to_owned()));
        assert_eq!(chosen(&runs, Some("b")), Ok("b c".to_owned()));
        assert_eq!(chosen(&runs, Some("gone")), Err("d b".to_owned()));
    }
}
