//! The budget of a call: what all its runs may use together, the same in every tool that starts runs.

use std::time::Duration;

use pi_subagents_vocabulary::{BudgetLimits, Dollars};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::arguments::CallError;

/// The name of the field.
pub(crate) const BUDGET: &str = "budget";

/// Returns the schema of the field.
pub(crate) fn budget_schema() -> Value {
    json!({
        "type": "object",
        "description": "What all runs of this call may use together; tasks beyond it are not started.",
        "properties": {
            "cost": {"type": "number", "description": "Dollars."},
            "tokens": {"type": "integer"},
            "runs": {"type": "integer"},
            "seconds": {"type": "number"},
        },
    })
}

/// Reads the budget of a call. A limit of 0 is refused: nothing could start.
pub(crate) fn budget_of(arguments: &Value) -> Result<BudgetLimits, CallError> {
    let value = match arguments.get(BUDGET) {
        None | Some(Value::Null) => return Ok(BudgetLimits::default()),
        Some(value) => value,
    };
    let limits = BudgetLimits::deserialize(value).map_err(|error| {
        CallError(format!(
            "budget must be limits such as {{\"cost\": 2, \"tokens\": 500000, \"runs\": 20, \"seconds\": 1800}}: {error}"
        ))
    })?;
    let zeros = [
        ("cost", limits.cost == Some(Dollars::new(0.0))),
        ("tokens", limits.tokens == Some(0)),
        ("runs", limits.runs == Some(0)),
        ("seconds", limits.seconds == Some(Duration::ZERO)),
    ];
    match zeros.into_iter().find(|(_, is_zero)| *is_zero) {
        Some((field, _)) => Err(CallError(format!("budget.{field} must be above 0"))),
        None => Ok(limits),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn limits_are_read_and_what_limits_nothing_or_everything_is_an_error() {
        let read = |budget: Value| {
            let read = budget_of(&json!({"budget": budget})).map_err(|error| error.to_string());
            read.map(|limits| serde_json::to_value(limits).unwrap_or_default())
        };
        assert_eq!(read(Value::Null), Ok(json!({})));
        let all = json!({"cost": 2.5, "tokens": 7, "runs": 3, "seconds": 60.0});
        assert_eq!(read(all.clone()), Ok(all));
        assert_eq!(
            read(json!({"cost": -1})),
            Err("budget.cost must be above 0".to_owned())
        );
        assert_eq!(
            read(json!({"runs": 0})),
            Err("budget.runs must be above 0".to_owned())
        );
        let error = read(json!({"money": 3})).unwrap_err();
        let expected = "budget must be limits such as {\"cost\": 2, \"tokens\": 500000, \"runs\": 20, \"seconds\": 1800}: unknown field `money`";
        assert!(error.starts_with(expected), "{error}");
        assert!(read(json!(5)).is_err());
    }
}
