//! A call that starts runs, from its arguments to its answer. In what the families differ, they
//! say with their [`Call`].

use pi_subagents_delegation::{Plan, PlannedTask};
use serde_json::{Map, Value};

use super::answer::{Answer, Outcomes};
use super::lowering::{Family, Lowering};
use super::window_record::WindowRecord;
use crate::calls::caller::Caller;
use crate::calls::next_steps::Door;
use crate::calls::preview::preview_context;
use crate::calls::service::{CallService, Watch};
use crate::calls::tmux::Panes;
use crate::configuration::Configuration;
use crate::error::CommandError;

/// A call of a family, read and found to fit.
pub(crate) trait Call {
    /// What is special about its family.
    const FAMILY: Family;

    /// What its answer has to say beside what its runs know.
    type Notes;

    /// Makes a plan of it.
    fn lower(&self, lowering: &Lowering<'_>) -> Result<Lowered<Self::Notes>, CommandError>;

    /// How many tasks it has.
    fn task_count(&self) -> usize;

    /// How many files its tasks were given, in their order.
    fn file_counts(&self) -> impl Iterator<Item = usize>;

    /// What its caller's model reads, and what the family adds to the details.
    fn word(&self, outcomes: &Outcomes, notes: &Self::Notes) -> (String, Map<String, Value>);
}

/// A plan, with what the answer must say.
pub(crate) struct Lowered<Notes> {
    pub(crate) plan: Plan,
    pub(crate) warnings: Vec<String>,
    pub(crate) notes: Notes,
}

/// A call that was lowered and is ready to run.
pub(crate) struct ReadyCall<C: Call> {
    call: C,
    lowered: Lowered<C::Notes>,
    windows: WindowRecord,
    panes: Panes,
    door: Door,
}

impl<C: Call> ReadyCall<C> {
    /// Resolves a call and opens its runs: from here on they have a directory and a record.
    pub(crate) fn new(
        service: &CallService,
        call: C,
        caller: &Caller,
        configuration: &Configuration,
    ) -> Result<Self, CommandError> {
        let _alone = service.lower_alone();
        let settings = &configuration.settings;
        let lowered = call.lower(&Lowering {
            family: C::FAMILY,
            caller,
            configuration,
            owner: &service.owner,
        })?;
        let windows = WindowRecord::new(
            preview_context(caller, settings),
            call.file_counts(),
            settings.max_lines_per_window,
        );
        Ok(Self {
            call,
            lowered,
            windows,
            panes: Panes::of(&caller.places, settings),
            door: caller.door,
        })
    }

    /// Its tasks with everything resolved, in their order.
    pub(crate) fn tasks(&self) -> &[PlannedTask] {
        &self.lowered.plan.tasks
    }

    /// Returns the warnings that a person should read.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.lowered.warnings
    }

    /// Runs it and waits for its end.
    pub(crate) async fn run(self, service: &CallService, watch: Watch) -> Answer {
        let Lowered {
            plan,
            mut warnings,
            notes,
        } = self.lowered;
        let runs = service.run(plan, &self.windows, &self.panes, watch).await;
        warnings.extend(self.panes.problem());
        let outcomes = Outcomes::new(runs, warnings, &service.owner.recorder, self.door);
        let (text, more) = self.call.word(&outcomes, &notes);
        Answer {
            text,
            more,
            outcomes,
            windows: self.windows,
        }
    }
}
