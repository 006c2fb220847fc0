//! The steps of the ladder: what is done about a run that is stuck or has to come to its end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A step that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rung {
    /// The step.
    pub step: RungStep,
    /// What was seen, or what the model was told.
    pub words: String,
}

/// The steps, in their order. The last one, the end of the run, is its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RungStep {
    /// A person was told.
    Warned,
    /// The model was told.
    Steered,
    /// The model gets one more answer, without tools.
    WrappedUp,
    /// The run waits, with everything it has, until somebody raises its budget.
    Paused,
    /// The run waits for the results of others, or has a turn and waits until the machine has room for
    /// its child.
    Queued,
    /// The run goes on after that.
    WentOn,
}
