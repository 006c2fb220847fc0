//! Which runs get their child before their turn.
//!
//! A pi takes half a second until it hears, most of it on a processor. While all children of the
//! owner wait for their models, the processors are idle: then the children of the next runs are
//! started, and at their turn they hear at once.

use pi_subagents_vocabulary::{Ending, FedPrompt, Happening, RunId, SessionPolicy, TaskPlan};

use super::Dispatcher;
use super::live_call::{LiveRun, RunState, no_unit};
use crate::clock;
use crate::head_start::{EarlyLaunch, HeadStart};
use crate::request::{UnitEvent, UnitEvents};
use crate::room::children_that_fit;

/// The number of waiting runs that may have a child. A further one saves little, and each takes the
/// memory of an idle pi.
const MOST: usize = 2;

impl Dispatcher {
    /// Notes what a child has said for the first time, or that its run is over. When no child is
    /// about to start any more, the children of the next runs may be started.
    pub(super) fn has_begun(&mut self, run: &RunId) {
        if self.beginning.remove(run) && self.beginning.is_empty() && self.shutdown.is_none() {
            self.give_head_starts();
        }
    }

    fn give_head_starts(&mut self) {
        let next = self.scheduler.in_line().take(MOST);
        let next: Vec<RunId> = next.filter(|run| self.may_have_one(run)).cloned().collect();
        // What is left belongs to the children of runs whose turn it is.
        if next.is_empty() || children_that_fit() <= MOST {
            return;
        }
        for run in &next {
            self.give_head_start(run);
        }
    }

    fn may_have_one(&self, run: &RunId) -> bool {
        let Some(live) = self.runs.get(run) else {
            return false;
        };
        let call = self.calls.get(&live.call);
        let RunState::Waiting {
            plan,
            fed,
            head_start,
            ..
        } = &live.state
        else {
            return false;
        };
        head_start.is_none()
            && call.is_some_and(|call| call.needs.is_none())
            && is_final(plan, fed.as_ref())
    }

    fn give_head_start(&mut self, run: &RunId) {
        let Some(LiveRun { state, .. }) = self.runs.get_mut(run) else {
            return;
        };
        if let RunState::Waiting {
            task,
            plan,
            head_start,
            ..
        } = state
        {
            *head_start = Some(HeadStart::begin(EarlyLaunch {
                launcher: self.launcher.clone(),
                task: task.clone(),
                plan: plan.clone(),
                memory: self.memory.clone(),
                machine: self.machine.clone(),
            }));
        }
    }

    /// Ends a run that never begins when its child is gone. Until then the run has a place, although
    /// none may be free.
    pub(super) fn end_with_head_start(&mut self, run: &RunId, child: HeadStart, ending: Ending) {
        if let Some(live) = self.runs.get_mut(run) {
            live.state = no_unit();
        }
        self.scheduler.retake();
        let events = self.events.clone();
        let id = run.clone();
        let unit = self.units.spawn(async move {
            child.end().await;
            let ended = UnitEvent::Happened(Happening::Ended(ending));
            let what = vec![(clock::now(), ended)];
            // The dispatcher outlives its units.
            _ = events.send(UnitEvents { run: id, what }).await;
        });
        self.runs_of_units.insert(unit.id(), run.clone());
    }

    /// Takes the children away from all runs whose turn has not come.
    pub(super) fn take_head_starts(&mut self) -> Vec<HeadStart> {
        let of_run = |live: &mut LiveRun| match &mut live.state {
            RunState::Waiting { head_start, .. } => head_start.take(),
            RunState::Started(_) => None,
        };
        self.runs.values_mut().filter_map(of_run).collect()
    }
}

/// Returns whether a child can be started before its turn: it takes long to start, and its command
/// line, its session and its directory will be the same.
fn is_final(plan: &TaskPlan, fed: Option<&FedPrompt>) -> bool {
    let here = &plan.here;
    here.runner.starts_slowly()
        && fed.is_none()
        && here.setup.is_none()
        && here.fallbacks.is_none()
        && plan.work.sandbox.is_off()
        && match here.session {
            SessionPolicy::Nowhere | SessionPolicy::File(_) => true,
            // Another run may be writing it.
            SessionPolicy::Shared { .. } => false,
        }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use pi_subagents_vocabulary::{Fallbacks, OtherAgent, Runner, SandboxLevel, Setup, Template};
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::live_child::tests::stand::{limits, plan};

    #[test]
    fn a_child_is_started_early_if_nothing_about_it_can_change() {
        type Change = fn(&mut TaskPlan);
        let changes: [(&str, Change); 8] = [
            ("a pi", |_| {}),
            ("an embedded agent", |plan| {
                plan.here.runner = Runner::Embedded;
            }),
            ("an agent of others", |plan| {
                plan.here.runner = Runner::Bridge(OtherAgent::Claude);
            }),
            ("a setup", |plan| {
                plan.here.setup = Some(Setup {
                    command: "make".to_owned(),
                    variables: Vec::new(),
                });
            }),
            ("fallbacks", |plan| {
                plan.here.fallbacks = Some(Fallbacks {
                    first: None,
                    others: Vec::new(),
                    cooldowns: PathBuf::from("cooldowns"),
                });
            }),
            ("a sandbox", |plan| {
                plan.work.sandbox.level = SandboxLevel::ReadOnly;
            }),
            ("a session of its own", |plan| {
                plan.here.session = SessionPolicy::File(PathBuf::from("session.jsonl"));
            }),
            ("a shared session", |plan| {
                plan.here.session = SessionPolicy::Shared {
                    file: PathBuf::from("session.jsonl"),
                    lock: PathBuf::from("lock"),
                };
            }),
        ];
        let early = changes.into_iter().filter_map(|(name, change)| {
            let mut plan = plan(limits(None, 0));
            change(&mut plan);
            is_final(&plan, None).then_some(name)
        });
        let early: Vec<&str> = early.collect();
        assert_eq!(early, ["a pi", "a session of its own"]);
        let fed = FedPrompt {
            before: String::new(),
            template: Template::of_text("x"),
            item_of: None,
        };
        assert!(!is_final(&plan(limits(None, 0)), Some(&fed)));
    }
}
