//! A child that is started before the turn of its run. Until then it is idle, and nobody sees it: it
//! has no prompt, no deadline and no event.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_vocabulary::{RunId, Task, TaskPlan};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::timeout;
use tracing::debug;

use crate::child::{LaunchedChild, LineMemory, launch};
use crate::keeper::{KeeperLink, Report};
use crate::launcher::Launcher;
use crate::machine_room::{Claim, MachineRoom};
use crate::sweep::end_inherited;

/// The time between SIGTERM and SIGKILL for a child that is not needed. It has no work to keep.
const GRACE: Duration = Duration::from_secs(1);

/// The time that its keeper may take beyond that.
const KEEPER: Duration = Duration::from_secs(2);

/// Everything that starts a child before its turn.
pub(crate) struct EarlyLaunch {
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) task: Arc<Task>,
    pub(crate) plan: Box<TaskPlan>,
    pub(crate) memory: LineMemory,
    pub(crate) machine: Arc<MachineRoom>,
}

/// A child that was started ahead of the turn of its run. Somebody takes it over or ends it.
#[derive(Debug)]
pub(crate) struct HeadStart {
    launcher: Arc<Launcher>,
    run: RunId,
    /// There is no child if the machine has no room for it, or if it could not be started.
    launching: JoinHandle<Option<EarlyChild>>,
}

/// A child that has no prompt yet, and its room on the machine.
#[derive(Debug)]
pub(crate) struct EarlyChild {
    pub(crate) child: LaunchedChild,
    pub(crate) claim: Claim,
}

impl HeadStart {
    /// Begins to start a child. A failure is silent: at the turn of the run it is tried again.
    pub(crate) fn begin(early: EarlyLaunch) -> Self {
        Self {
            launcher: Arc::clone(&early.launcher),
            run: early.task.run.clone(),
            launching: tokio::spawn(early.launch()),
        }
    }

    /// Hands over the child at the turn of its run; `None` if there is none, or not any more.
    pub(crate) async fn take_over(self) -> Option<EarlyChild> {
        let mut early = self.launching.await.ok().flatten()?;
        if is_alive(&mut early.child.keeper).await {
            return Some(early);
        }
        debug!(run = %self.run, "the child that was started early has died");
        end(&self.launcher, &self.run, early).await;
        None
    }

    /// Ends a child that is not needed. Returns when no process of it is left.
    pub(crate) async fn end(self) {
        if let Ok(Some(early)) = self.launching.await {
            end(&self.launcher, &self.run, early).await;
        }
    }
}

impl EarlyLaunch {
    async fn launch(self) -> Option<EarlyChild> {
        let run = &self.task.run;
        let claim = self.machine.claim_spare(self.plan.here.runner).await;
        let claim = claim
            .inspect_err(|shortage| debug!(%run, %shortage, "no child is started early"))
            .ok()?;
        let child = launch(&self.launcher, &self.task, &self.plan, self.memory, None).await;
        let child = child
            .inspect_err(|error| debug!(%run, %error, "no child was started early"))
            .ok()?;
        debug!(%run, "a child is started early");
        Some(EarlyChild { child, claim })
    }
}

/// Returns whether a keeper has a child: it reports nothing as long as the child lives.
async fn is_alive(keeper: &mut KeeperLink) -> bool {
    tokio::select! {
        biased;
        _ = keeper.next() => false,
        // The runtime looks for reports before it goes on here.
        () = yield_now() => true,
    }
}

async fn end(launcher: &Launcher, run: &RunId, early: EarlyChild) {
    let EarlyChild { child, claim } = early;
    let mut keeper = child.keeper;
    child.stdin.close().await;
    keeper.stop(GRACE);
    let is_gone = timeout(GRACE + KEEPER, tree_is_gone(&mut keeper)).await;
    if is_gone != Ok(true) {
        keeper.kill();
        end_inherited(launcher, run).await;
    }
    keeper.ended().await;
    drop(claim);
}

/// Waits for the report that no process of the tree is left; false if the keeper died before.
async fn tree_is_gone(keeper: &mut KeeperLink) -> bool {
    while let Some(report) = keeper.next().await {
        if matches!(report, Report::Gone { .. }) {
            return true;
        }
    }
    false
}
