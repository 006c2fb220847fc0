//! The scratch copy in which results are rehearsed: a worktree with the ignored files that
//! `.worktreeinclude` names and the submodules of the checkout, prepared by `worktreeSetup`.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::hash::{Hash as _, Hasher as _};
use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_configuration::{SubmoduleChoice, WorktreeSettings};
use pi_subagents_git::{
    ObjectId, Repository, ScratchWorktree, WorkspaceError, add_submodules, copy_included,
    forget_submodules,
};

use super::gate_run::{GateCommand, GateVerdict};
use super::gate_sandbox::GateSandbox;
use crate::results::failed;
use crate::workspace::{REVIEW_FOLDER, worktrees_folder};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// The time that `worktreeSetup` may take.
const SETUP: Duration = Duration::from_mins(30);

/// Everything that a scratch copy is made with.
#[derive(Debug, Clone)]
pub(super) struct ScratchPlan {
    checkout: Repository,
    place: PathBuf,
    settings: WorktreeSettings,
    variables: BTreeMap<OsString, OsString>,
    /// The sandbox of everything that is run in it. One gate leaves files to the next, so there is one
    /// for all.
    sandbox: Option<GateSandbox>,
}

/// A scratch copy of a checkout. It is removed when it is dropped.
pub(super) struct ScratchCopy {
    worktree: ScratchWorktree,
    plan: ScratchPlan,
}

impl ScratchPlan {
    /// Plans the scratch copy of a checkout. There is one place for each checkout.
    pub(super) fn of(
        checkout: &Repository,
        places: &Places,
        settings: &WorktreeSettings,
        variables: &BTreeMap<OsString, OsString>,
    ) -> Self {
        let folder = worktrees_folder(&places.home, settings.directory.as_deref());
        let mut hasher = DefaultHasher::new();
        checkout.git_dir().hash(&mut hasher);
        let name = format!("{:016x}", hasher.finish());
        Self {
            checkout: checkout.clone(),
            place: folder.join(REVIEW_FOLDER).join(name),
            settings: settings.clone(),
            variables: variables.clone(),
            sandbox: None,
        }
    }

    /// Returns the same with a sandbox for everything that is run in the copy.
    pub(super) fn confined(self, sandbox: Option<GateSandbox>) -> Self {
        Self { sandbox, ..self }
    }

    /// Removes what an earlier review that was killed has left.
    pub(super) fn clear(&self) {
        // The next one that needs the place tries it again.
        _ = forget_submodules(&self.checkout, &self.place);
        _ = pi_subagents_git::remove_worktree_directory(&self.checkout, &self.place);
    }

    /// Makes the scratch copy with a state, and prepares it.
    pub(super) fn make(&self, state: &ObjectId) -> Result<ScratchCopy, CommandError> {
        let copy = self.try_make(state).map_err(|error| {
            CommandError::failed("no scratch copy of the checkout could be made").because(&error)
        })?;
        if let Some(setup) = &self.settings.setup {
            let command = GateCommand {
                command: setup.clone(),
                inside: PathBuf::new(),
                timeout: SETUP,
            };
            // It may fetch what the gates need, as it may for a run.
            let sandbox = self.sandbox.as_ref().map(GateSandbox::with_network);
            let verdict = command.run(&self.place, &copy.variables(), sandbox.as_ref())?;
            if let GateVerdict::Red(red) = verdict {
                let words = format!("worktreeSetup ended with {}; nothing was taken", red.code);
                return Err(CommandError::failed(words).hint(red.output));
            }
        }
        Ok(copy)
    }

    fn try_make(&self, state: &ObjectId) -> Result<ScratchCopy, WorkspaceError> {
        // The lock is held while the worktree is made, and not as long as it is there.
        let _locked = self.checkout.locked()?;
        let checkout = &self.checkout;
        forget_submodules(checkout, &self.place)?;
        let worktree = ScratchWorktree::make(checkout, &self.place, state)?;
        if self.settings.submodules == SubmoduleChoice::Local {
            add_submodules(checkout, worktree.checkout(), "pi-subagents review")?;
        }
        copy_included(checkout, worktree.path())?;
        Ok(ScratchCopy {
            worktree,
            plan: self.clone(),
        })
    }
}

impl ScratchCopy {
    /// Runs a gate on a state. Returns the verdict, and the files that the gate wrote beside those
    /// that git ignores.
    pub(super) fn gate(
        &mut self,
        state: &ObjectId,
        gate: &GateCommand,
    ) -> Result<(GateVerdict, Vec<PathBuf>), CommandError> {
        self.worktree.show(state).map_err(|error| failed(&error))?;
        let sandbox = self.plan.sandbox.as_ref();
        let verdict = gate.run(&self.plan.place, &self.variables(), sandbox)?;
        let written = self.worktree.written().map_err(|error| failed(&error))?;
        Ok((verdict, written))
    }

    /// Returns the variables for a command in it.
    fn variables(&self) -> BTreeMap<OsString, OsString> {
        let mut variables = self.plan.variables.clone();
        let top = self.plan.checkout.top();
        variables.insert("PI_SUBAGENTS_PROJECT".into(), top.into());
        let place = self.plan.place.as_os_str().to_owned();
        variables.insert("PI_SUBAGENTS_WORKTREE".into(), place.clone());
        variables.insert("PWD".into(), place);
        variables
    }
}

impl Drop for ScratchCopy {
    fn drop(&mut self) {
        // What stays goes with the next scratch copy in this place.
        _ = forget_submodules(&self.plan.checkout, &self.plan.place);
    }
}
