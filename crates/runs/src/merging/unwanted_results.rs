//! Results that nobody wants: their worktrees go, and their commits can be found for some time.

use pi_subagents_git::{Repository, WorkspaceError, discard as set_aside};
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::Advice;
use pi_subagents_vocabulary::text::one_line;

use crate::no_result::NoResult;
use crate::workspace::{Workspace, WorkspaceState, give_up, settle, take_away};
use pi_subagents_ground::error::CommandError;

/// A run whose worktree can go.
pub struct Discardable {
    pub run: IndexedRun,
    pub workspace: Workspace,
}

/// The fate of a worktree whose result could not be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncaptured {
    /// It stays.
    Stays,
    /// It goes, with all that nobody has committed in it.
    GivenUp,
}

impl Discardable {
    /// Looks at the worktrees of several conversations.
    pub fn of_all(
        conversations: &[Vec<IndexedRun>],
        uncaptured: Uncaptured,
    ) -> (Vec<Self>, Vec<NoResult>) {
        let (mut found, mut without): (Vec<Self>, Vec<NoResult>) = (Vec::new(), Vec::new());
        for runs in conversations {
            match Self::of(runs, uncaptured) {
                Ok(more) => found.extend(more),
                Err(why) => without.push(why),
            }
        }
        (found, without)
    }

    /// Looks at the worktrees of a conversation's runs, oldest first. If nothing waits in any of
    /// them, says why nothing of the latest does.
    pub fn of(runs: &[IndexedRun], uncaptured: Uncaptured) -> Result<Vec<Self>, NoResult> {
        let (mut found, mut without) = (Vec::new(), None);
        for run in runs {
            let workspace = look_at(run, uncaptured)?;
            match workspace.filter(Workspace::is_unmerged) {
                Some(workspace) => found.push(Self {
                    run: run.clone(),
                    workspace,
                }),
                None => without = Some(run),
            }
        }
        match without {
            Some(run) if found.is_empty() => {
                let workspace = Workspace::read(run.directory.path());
                Err(NoResult::nothing_waits(run, workspace.as_ref(), "discard"))
            }
            Some(_) | None => Ok(found),
        }
    }

    /// Removes the worktree.
    pub fn discard(mut self) -> Result<Discarded, NoResult> {
        let result_ref = self.set_aside().map_err(|error| {
            let why = format!("keeps its worktree: {error}");
            NoResult::new(&self.run, CommandError::failed(why))
        })?;
        Ok(Discarded {
            run: self.run,
            result_ref,
        })
    }

    fn set_aside(&mut self) -> Result<Option<String>, WorkspaceError> {
        if self.workspace.state == WorkspaceState::Uncaptured {
            return give_up(
                &mut self.workspace,
                self.run.directory.path(),
                &self.run.run,
            );
        }
        let repository = Repository::find(&self.workspace.repository)?;
        let result_ref = set_aside(&repository, self.run.run.as_str())?;
        let directory = self.run.directory.path();
        take_away(&mut self.workspace, directory, WorkspaceState::Discarded)?;
        Ok(result_ref)
    }
}

/// A run whose worktree is gone.
pub struct Discarded {
    pub run: IndexedRun,
    /// The ref under which git has its result for 30 days.
    pub result_ref: Option<String>,
}

impl Discarded {
    /// Says how to get the result back.
    pub(crate) fn line(&self) -> String {
        let name = one_line(&self.run.name);
        match &self.result_ref {
            Some(kept) => format!("{name}: discarded; git branch NAME {kept} gets it back."),
            None => format!("{name}: discarded."),
        }
    }
}

/// The fates of some results that nobody wants.
#[derive(Default)]
pub struct DiscardReport {
    pub discarded: Vec<Discarded>,
    /// Runs of which nothing was discarded.
    pub without: Vec<NoResult>,
}

impl DiscardReport {
    /// Removes worktrees. One that cannot be removed does not keep the others.
    pub fn of(found: Vec<Discardable>, without: Vec<NoResult>) -> Self {
        let mut report = Self {
            without,
            ..Self::default()
        };
        for found in found {
            match found.discard() {
                Ok(discarded) => report.discarded.push(discarded),
                Err(why) => report.without.push(why),
            }
        }
        report
    }

    /// Says of each run what became of it. Fails if nothing was discarded.
    pub fn lines(self) -> Result<Vec<String>, CommandError> {
        if self.discarded.is_empty() {
            return Err(NoResult::all(self.without));
        }
        let without = self.without.iter().map(NoResult::line);
        let discarded = self.discarded.iter().map(Discarded::line);
        Ok(discarded.chain(without).collect())
    }
}

/// Looks at the worktree of a run, if it has one and may lose it.
fn look_at(run: &IndexedRun, uncaptured: Uncaptured) -> Result<Option<Workspace>, NoResult> {
    if run.is_open() {
        let stop = Advice::Stop(run.run.to_string());
        return Err(NoResult::is_running(run, stop, " ends it."));
    }
    let workspace = settle(run.directory.path(), &run.run);
    match workspace {
        Some(workspace)
            if workspace.state == WorkspaceState::Uncaptured && uncaptured == Uncaptured::Stays =>
        {
            let why = "stays, because what it left could not be kept";
            let place = workspace.path().unwrap_or(&workspace.repository);
            let mut error = CommandError::failed(why);
            if let Some(reason) = workspace.notes.last() {
                error = error.hint(format!("{}: {reason}.", place.display()));
            }
            let force = Advice::DiscardByForce(run.run.to_string());
            let does = ", once nothing in it is wanted, removes it all the same.";
            Err(NoResult::new(run, error.advise("", force, does)))
        }
        Some(_) | None => Ok(workspace),
    }
}
