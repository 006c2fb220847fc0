//! The terms of a run: as its call has set them, which a run that continues it inherits, and the
//! limits that follow from them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Allowance, Gate, Isolation, NetworkReach, Percent, RunnerChoice, SandboxLevel, SandboxWish,
    ThinkingLevel, seconds,
};

/// The terms that a call has set for a run. Terms that are not set here come from the definition and
/// the settings, each time anew.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunTerms {
    /// The kind of child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runner: Option<RunnerChoice>,
    /// The model, as the caller wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much the model thinks, whatever its name or the definition says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingLevel>,
    /// The models that take over if the model cannot be asked, as the caller wrote them; none at all
    /// if the list is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_models: Option<Vec<String>>,
    /// The only tools of the child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The time limit.
    #[serde(with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// The number of answers that its model may give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// The limits of what it may consume.
    pub allowance: Allowance,
    /// Whether it may answer once more, without tools, when it has reached a limit of turns, cost or
    /// tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrap_up: Option<bool>,
    /// The kind of place where it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// The level of its sandbox. A run keeps the level that was decided for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxLevel>,
    /// What its tools may reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkReach>,
    /// The gates; none at all if the list is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gates: Option<Vec<Gate>>,
    /// The number of times that a sub-agent gets the failure of any gate, whatever the gate says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_retries: Option<u32>,
    /// The schema that the result must meet; `false` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
}

impl RunTerms {
    /// Returns whether nothing is set.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Returns these terms. A term that is not set here is taken from the run that is continued. Its
    /// sandbox can only become tighter.
    #[must_use]
    pub fn or(self, earlier: Self) -> Self {
        // A new gate has its own retries.
        let of_same_gates = earlier.gate_retries.filter(|_| self.gates.is_none());
        Self {
            runner: self.runner.or(earlier.runner),
            model: self.model.or(earlier.model),
            thinking: self.thinking.or(earlier.thinking),
            fallback_models: self.fallback_models.or(earlier.fallback_models),
            tools: self.tools.or(earlier.tools),
            timeout: self.timeout.or(earlier.timeout),
            max_turns: self.max_turns.or(earlier.max_turns),
            allowance: self.allowance.or(earlier.allowance),
            wrap_up: self.wrap_up.or(earlier.wrap_up),
            isolation: self.isolation.or(earlier.isolation),
            sandbox: tighter(self.sandbox, earlier.sandbox, SandboxLevel::tightened),
            network: tighter(self.network, earlier.network, NetworkReach::tightened),
            gates: self.gates.or(earlier.gates),
            gate_retries: self.gate_retries.or(of_same_gates),
            output_schema: self.output_schema.or(earlier.output_schema),
        }
    }

    /// Returns the wish about the sandbox.
    pub fn sandbox_wish(&self) -> SandboxWish {
        SandboxWish {
            level: self.sandbox,
            network: self.network.clone(),
        }
    }

    /// Returns the terms that hold for any child: its kind, its model and its tools belong to its
    /// definition.
    #[must_use]
    pub fn of_any_child(self) -> Self {
        Self {
            runner: None,
            model: None,
            thinking: None,
            fallback_models: None,
            tools: None,
            ..self
        }
    }
}

fn tighter<T>(own: Option<T>, earlier: Option<T>, tightened: fn(T, T) -> T) -> Option<T> {
    match (own, earlier) {
        (Some(own), Some(earlier)) => Some(tightened(own, earlier)),
        (own, earlier) => own.or(earlier),
    }
}

/// The limits of a run. By default there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// The time from the start of the child, if it is limited.
    #[serde(
        default,
        with = "seconds::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub timeout: Option<Duration>,
    /// The time for which tools may be silent once the time limit is reached.
    #[serde(with = "seconds")]
    pub extension: Duration,
    /// The number of equal tool calls in a row that count as a loop; 0 for never.
    pub repetitions: u32,
    /// The number of answers that its model may give, if it is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// The limits of what it may consume.
    #[serde(default)]
    pub allowance: Allowance,
    /// The share of a window of its provider that may be used, if it is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_share: Option<Percent>,
    /// True if it is ended at a limit of turns, cost or tokens without a last answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_at_once: bool,
}

impl Limits {
    /// Returns whether a run may get one last answer without tools, so that its child must be able
    /// to do without them.
    pub fn needs_wrap_up(&self) -> bool {
        let is_limited = self.turns.is_some()
            || self.window_share.is_some()
            || self.allowance != Allowance::default();
        is_limited && !self.ends_at_once
    }

    /// Returns the limits of a run with these terms. A term that is not set is taken from the
    /// limits that hold by default.
    #[must_use]
    pub fn of(terms: &RunTerms, default: Self) -> Self {
        Self {
            timeout: terms.timeout.or(default.timeout),
            extension: default.extension,
            repetitions: default.repetitions,
            // 0 lifts the limit of a definition or of the settings.
            turns: terms.max_turns.or(default.turns).filter(|turns| *turns > 0),
            allowance: terms.allowance.or(default.allowance),
            window_share: default.window_share,
            ends_at_once: terms
                .wrap_up
                .map_or(default.ends_at_once, |wrap_up| !wrap_up),
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_that_goes_on_keeps_what_its_call_does_not_change() {
        let earlier = RunTerms {
            model: Some("a/b".to_owned()),
            gates: Some(vec![Gate::new("make")]),
            gate_retries: Some(0),
            output_schema: Some(json!({"type": "object"})),
            sandbox: Some(SandboxLevel::ReadOnly),
            network: Some(NetworkReach::Model),
            ..RunTerms::default()
        };
        assert_eq!(RunTerms::default().or(earlier.clone()), earlier);
        let call = RunTerms {
            sandbox: Some(SandboxLevel::Off),
            network: Some(NetworkReach::None),
            gates: Some(Vec::new()),
            timeout: Some(Duration::from_secs(5)),
            ..RunTerms::default()
        };
        let expected = RunTerms {
            gates: Some(Vec::new()),
            gate_retries: None,
            timeout: Some(Duration::from_secs(5)),
            network: Some(NetworkReach::None),
            ..earlier.clone()
        };
        let merged = call.or(earlier);
        assert_eq!(merged, expected);
        let earlier_version = json!({"timeout": {"secs": 5, "nanos": 0}, "gates": []});
        let read: RunTerms = serde_json::from_value(earlier_version).unwrap();
        assert_eq!(read.timeout, merged.timeout);
        let written = serde_json::to_string(&merged).unwrap();
        assert_eq!(
            serde_json::from_str::<RunTerms>(&written).unwrap(),
            expected
        );
    }
}
