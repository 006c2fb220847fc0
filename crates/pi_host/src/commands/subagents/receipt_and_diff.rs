//! `/subagents receipt` and `/subagents diff`: what a run was seen doing, and what it changed.

use pi_subagents_runs::ask_which::find_failure;
use std::collections::HashSet;

use pi_subagents_view::{Line, Role, receipt_facts};
use pi_subagents_vocabulary::{Door, RunId};

use super::{Shown, Subagents, not_found};
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::families::delegation::ReadSession;
use pi_subagents_calls::families::merging::{changes_of_one, waiting_runs};
use pi_subagents_calls::service::CallService;
use pi_subagents_ground::error::CommandError;
use pi_subagents_records::Prefers;
use pi_subagents_runs::find::find_runs;
use pi_subagents_runs::workspace::{Workspace, settle};

/// The columns that the labels of a receipt take.
const LABEL: usize = 10;

/// With so many lines a page is read in a view of its own and not kept in pi's session.
const LONGEST_KEPT: usize = 40;

impl Subagents {
    /// Shows what a run was seen doing.
    pub(super) async fn receipt(&self, word: &str, shown: &mut Shown) -> Result<(), CommandError> {
        shown.page = self.receipt_lines(&self.id_of(word)?).await?;
        Ok(())
    }

    /// Shows what a run changed: in the chat if it is short, else to be scrolled.
    pub(super) async fn diff(&self, word: &str, shown: &mut Shown) -> Result<(), CommandError> {
        let lines = self.diff_lines(&self.id_of(word)?).await?;
        if self.has_ui && lines.len() > LONGEST_KEPT {
            self.link.view(&format!("Changes of {word}"), &lines).await;
        } else {
            shown.page = lines;
        }
        Ok(())
    }

    /// Lets a person read the receipt of a run.
    pub(super) async fn read_receipt(&self, id: &str) -> Result<(), CommandError> {
        let lines = self.receipt_lines(id).await?;
        self.link.view(&self.titled("Receipt of", id), &lines).await;
        Ok(())
    }

    /// Lets a person read what a run changed.
    pub(super) async fn read_diff(&self, id: &str) -> Result<(), CommandError> {
        let lines = self.diff_lines(id).await?;
        self.link.view(&self.titled("Changes of", id), &lines).await;
        Ok(())
    }

    /// Returns the runs of this session whose results nobody has merged yet.
    pub(super) async fn waiting(&self) -> HashSet<RunId> {
        let look = |service: &CallService, caller: &Caller| Ok(waiting_runs(service, caller));
        let found = self.service.beside(&self.caller, look).await;
        found.unwrap_or_default()
    }

    /// Returns whether something waits in the worktree of a run; none if it has no worktree.
    pub(super) async fn worktree(&self, id: &str) -> Option<bool> {
        let id = id.to_owned();
        let look = move |service: &CallService, caller: &Caller| {
            let found = find_runs(&service.owner.index, &caller.places, &id)
                .map_err(find_failure)?
                .pop();
            Ok(found.and_then(|run| settle(run.directory.path(), &run.run)))
        };
        let workspace = self.service.beside(&self.caller, look).await.ok()??;
        let has_result = workspace.left.is_some();
        has_result.then(|| Workspace::is_unmerged(&workspace))
    }

    /// Returns the id that a word stands for, if there is such a run.
    pub(super) fn id_of(&self, word: &str) -> Result<String, CommandError> {
        let found = self.session_runs.find(word, Prefers::Newest);
        let found = found.map_err(not_found)?;
        let run = found.run().map(ToString::to_string);
        Ok(run.unwrap_or_else(|| found.session().to_string()))
    }

    fn titled(&self, what: &str, id: &str) -> String {
        let name = self.latest(id).map(|run| run.row.report.name);
        format!("{what} {}", name.as_deref().unwrap_or(id))
    }

    async fn receipt_lines(&self, id: &str) -> Result<Vec<Line>, CommandError> {
        let asked = id.to_owned();
        let read = move |service: &CallService, caller: &Caller| {
            let how = |run: &str| format!("/subagents receipt {run}");
            let session = ReadSession::find(&service.owner.index, caller, &asked, how)?;
            let latest = session.runs().last();
            let receipt = latest.and_then(|(_, said)| said.summary.receipt());
            receipt.ok_or_else(|| {
                let run = latest.map(|(run, _)| run.run.as_str());
                let run = run.unwrap_or_else(|| session.id().as_str());
                let words = format!("nothing was seen of run {run}: it has not answered yet");
                CommandError::no_answer(words)
            })
        };
        let receipt = self.service.beside(&self.caller, read).await?;
        let facts = receipt_facts(&receipt, usize::MAX).into_iter();
        let lines = facts.map(|(label, role, words)| {
            Line::new(Role::Muted, &format!("{label:LABEL$}")).with(role, &words)
        });
        Ok(lines.collect())
    }

    async fn diff_lines(&self, id: &str) -> Result<Vec<Line>, CommandError> {
        let asked = id.to_owned();
        let read = move |service: &CallService, caller: &Caller| {
            changes_of_one(service, caller, &asked)?.page(Door::PiCommand)
        };
        self.service.beside(&self.caller, read).await
    }
}
