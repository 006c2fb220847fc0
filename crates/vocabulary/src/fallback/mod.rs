//! Other models for a run whose model cannot be asked: which failures call for one, which models
//! rest for how long, and what happened. `docs/design/fallback.md` has the reasons.

mod class;
mod cooldown;
mod failure;
mod overflow;
mod wait;

use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use class::FailureClass;
pub use cooldown::{Cooldown, Cooldowns, MOST_COOLDOWNS};
pub use failure::ModelFailure;
pub use overflow::is_overflow;

use crate::child_protocol::ModelName;
use crate::{ThinkingLevel, moment};

/// The largest number of fallback models of a run.
pub const MOST_FALLBACKS: usize = 8;

/// The models that may take over a run, as this machine knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallbacks {
    /// The model that is asked first, if its whole name is known before the child says it.
    pub first: Option<ModelName>,
    /// The others, in the order in which they are asked.
    pub others: Vec<FallbackModel>,
    /// The file in which all runs of the user note which models rest.
    pub cooldowns: PathBuf,
}

/// A model that may take over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FallbackModel {
    /// Its name.
    pub model: ModelName,
    /// How much it thinks, if that was said.
    pub thinking: Option<ThinkingLevel>,
}

/// A run that went on with another model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FellBack {
    /// The model that could not be asked, with its provider.
    pub from: String,
    /// The model that took over, with its provider.
    pub to: String,
    /// The kind of failure.
    pub class: FailureClass,
    /// The failure in a few words: `429, usage limit`.
    pub reason: String,
    /// The time until which no run asks the first model, if it rests.
    #[serde(
        default,
        with = "moment::optional",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub until: Option<Timestamp>,
    /// True if the first model had answered in this run, so that its prompt cache is lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loses_cache: bool,
}

impl FellBack {
    /// Describes a change that happened at this time: `a/x → b/y (429, usage limit, rests 30 min)`.
    pub fn line(&self, at: Timestamp) -> String {
        let rest = self.until.and_then(|until| rest_words(until, at));
        let rest = rest.map(|rest| format!(", {rest}")).unwrap_or_default();
        let cache = if self.loses_cache {
            "; its prompt cache is lost"
        } else {
            ""
        };
        let (from, to, reason) = (&self.from, &self.to, &self.reason);
        format!("{from} → {to} ({reason}{rest}{cache})")
    }

    /// Says what happened to the model before: `a/x was out of quota`.
    pub fn cause(&self) -> String {
        format!("{} {}", self.from, self.class.past())
    }
}

/// Says how long a model rests: `rests 30 min`; `None` if it may be asked.
pub fn rest_words(until: Timestamp, now: Timestamp) -> Option<String> {
    let seconds = until.duration_since(now).as_secs();
    Some(match seconds {
        ..=0 => return None,
        1..60 => format!("rests {seconds} s"),
        60..7_200 => format!("rests {} min", (seconds + 30) / 60),
        7_200.. => format!("rests {} h", (seconds + 1_800) / 3_600),
    })
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.id)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn fell_back(from: &str, to: &str, class: FailureClass) -> FellBack {
        FellBack {
            from: from.to_owned(),
            to: to.to_owned(),
            class,
            reason: "429, usage limit".to_owned(),
            until: Some("2026-11-18T14:05:00Z".parse().unwrap()),
            loses_cache: true,
        }
    }

    #[test]
    fn a_change_is_a_line_and_all_of_them_are_a_sentence() {
        let first = fell_back("a/x", "b/y", FailureClass::Quota);
        assert_eq!(
            first.line("2026-11-18T13:35:00Z".parse().unwrap()),
            "a/x → b/y (429, usage limit, rests 30 min; its prompt cache is lost)"
        );
        let second = fell_back("b/y", "c/z", FailureClass::Busy);
        let receipt = crate::Receipt {
            fallbacks: vec![first, second],
            ..crate::Receipt::default()
        };
        assert_eq!(
            receipt.answerer().unwrap(),
            "went on with c/z after a/x was out of quota and b/y was overloaded"
        );
        assert_eq!(crate::Receipt::default().answerer(), None);
    }
}
