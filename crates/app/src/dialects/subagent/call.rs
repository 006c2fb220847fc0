//! `subagent`, from the call to its answer.

use super::answer::{details, text};
use super::lower::{FAMILY, Lowered, lower};
use super::schema::SubagentCall;
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
pub(crate) fn check_agent(name: &str, configuration: &Configuration) -> Result<(), CommandError> {
    check_definition(name, FAMILY.asker, configuration)
}

/// A call that was lowered and is ready to run.
pub(crate) struct Delegation {
    call: SubagentCall,
    lowered: Lowered,
    windows: WindowRecord,
    panes: Panes,
}

/// Runs the tasks of a call and waits for them.
pub(crate) async fn subagent(
    toolbox: &Toolbox,
    call: SubagentCall,
    caller: &Caller,
    watch: Watch,
) -> Result<Answer, CommandError> {
    let delegation = Delegation::new(toolbox, call, caller)?;
    Ok(delegation.run(toolbox, watch).await)
}

impl Delegation {
    pub(crate) fn new(
        toolbox: &Toolbox,
        call: SubagentCall,
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
        let lowered = lower(&lowering, &call)?;
        let windows = WindowRecord::new(
            view::preview_context(caller, settings),
            [],
            settings.max_lines_per_window,
        );
        Ok(Self {
            call,
            lowered,
            windows,
            panes: Panes::of(&caller.places, settings),
        })
    }

    /// Runs it and waits for its end.
    pub(crate) async fn run(self, toolbox: &Toolbox, watch: Watch) -> Answer {
        let Lowered {
            plan,
            mut warnings,
            named_new_session,
        } = self.lowered;
        let runs = toolbox.run(plan, &self.windows, &self.panes, watch).await;
        warnings.extend(self.panes.problem());
        let outcomes = Outcomes::new(runs, warnings, &toolbox.owner.recorder);
        Answer {
            text: text(&self.call, &outcomes, &named_new_session),
            more: details(&self.call, &outcomes, &named_new_session),
            outcomes,
            windows: self.windows,
        }
    }
}
