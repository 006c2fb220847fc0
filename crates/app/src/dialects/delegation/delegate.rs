//! `delegate_to_subagents`, from the call to its answer.

use pi_subagents_delegation::Plan;

use super::answer::summary;
use super::lower::{FAMILY, lower};
use super::schema::DelegateCall;
use crate::caller::Caller;
use crate::configuration::Configuration;
use crate::dialects::answer::{Answer, Outcomes};
use crate::dialects::definition_use::check_definition;
use crate::dialects::lowering::Lowering;
use crate::dialects::window_record::WindowRecord;
use crate::error::CommandError;
use crate::panes::Panes;
use crate::toolbox::{Toolbox, Watch};
use crate::view;

/// Fails if there is no definition of this name.
pub(crate) fn check_profile(name: &str, configuration: &Configuration) -> Result<(), CommandError> {
    check_definition(name, FAMILY.asker, configuration)
}

/// A call that was lowered and is ready to run.
pub(crate) struct Delegation {
    plan: Plan,
    windows: WindowRecord,
    panes: Panes,
    warnings: Vec<String>,
}

/// Runs the tasks of a call and waits for them.
pub(crate) async fn delegate(
    toolbox: &Toolbox,
    call: &DelegateCall,
    caller: &Caller,
    watch: Watch,
) -> Result<Answer, CommandError> {
    let delegation = Delegation::new(toolbox, call, caller)?;
    Ok(delegation.run(toolbox, watch).await)
}

impl Delegation {
    pub(crate) fn new(
        toolbox: &Toolbox,
        call: &DelegateCall,
        caller: &Caller,
    ) -> Result<Self, CommandError> {
        let _alone = toolbox.lower_alone();
        let configuration = toolbox.configuration(caller);
        let settings = &configuration.settings;
        let lowering = Lowering {
            family: FAMILY,
            caller,
            configuration: &configuration,
            owner: &toolbox.owner,
        };
        let (plan, warnings) = lower(&lowering, call)?;
        let windows = WindowRecord::new(
            view::preview_context(caller, settings),
            call.tasks.iter().map(|task| task.files.len()),
            settings.max_lines_per_window,
        );
        Ok(Self {
            plan,
            windows,
            panes: Panes::of(&caller.places, settings),
            warnings,
        })
    }

    /// Runs it and waits for its end.
    pub(crate) async fn run(self, toolbox: &Toolbox, watch: Watch) -> Answer {
        let Self {
            plan,
            windows,
            panes,
            mut warnings,
        } = self;
        let runs = toolbox.run(plan, &windows, &panes, watch).await;
        warnings.extend(panes.problem());
        let outcomes = Outcomes::new(runs, warnings, &toolbox.owner.recorder);
        Answer {
            text: summary(&outcomes),
            outcomes,
            windows,
            more: serde_json::Map::new(),
        }
    }
}
