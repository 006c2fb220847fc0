//! `delegate_to_subagents`, from the call to its answer.

use super::answer::Answer;
use super::details::WindowRecord;
use super::lower::Lowering;
use super::schema::DelegateCall;
use crate::caller::Caller;
use crate::error::CommandError;
use crate::toolbox::{Toolbox, Watch};
use crate::view;

/// Runs the tasks of a call and waits for them.
pub(crate) async fn delegate(
    toolbox: &Toolbox,
    call: &DelegateCall,
    caller: &Caller,
    watch: Watch,
) -> Result<Answer, CommandError> {
    let (plan, windows, warnings) = {
        let configuration = toolbox.configuration(caller);
        let settings = &configuration.settings;
        let lowering = Lowering {
            caller,
            configuration: &configuration,
            owner: &toolbox.owner,
        };
        let (plan, warnings) = lowering.lower(call)?;
        let windows = WindowRecord::new(
            view::preview_context(caller, settings),
            call.tasks.iter().map(|task| task.files.len()),
            settings.max_lines_per_window,
        );
        (plan, windows, warnings)
    };
    let outcomes = toolbox.run(plan, &windows, watch).await;
    Ok(Answer::new(
        outcomes,
        windows,
        warnings,
        &toolbox.owner.recorder,
    ))
}
