//! The question of a run whose budget is used up: its words, and what an answer to it means.

use super::{BudgetDenial, BudgetLimits, BudgetScope, UsedLimit};
use crate::{Dollars, QuestionWords};

/// The meaning of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetReply {
    /// The budget gets these limits, if it has lower ones.
    Raise {
        /// The scope.
        scope: BudgetScope,
        /// The limits.
        limits: BudgetLimits,
    },
    /// It stays as it is.
    Leave,
}

/// The option that gives nothing more.
const NO_MORE: &str = "no more: end with what there is";

impl BudgetDenial {
    /// Returns half as much again, which is what a person is offered.
    fn half(&self) -> UsedLimit {
        let half = |limit: u64, least: u64| (limit / 2).max(least);
        match self.used {
            UsedLimit::Cost { spent, limit } => {
                let more = half(limit.millionths(), 1_000_000);
                let limit = Dollars::from_millionths(more);
                UsedLimit::Cost { spent, limit }
            }
            UsedLimit::Tokens { spent, limit } => UsedLimit::Tokens {
                spent,
                limit: half(limit, 100_000),
            },
            UsedLimit::Runs { spent, limit } => UsedLimit::Runs {
                spent,
                limit: half(limit, 1),
            },
            UsedLimit::Seconds { spent, limit } => UsedLimit::Seconds {
                spent,
                limit: half(limit, 60),
            },
        }
    }

    /// Returns the words with which a person is asked.
    pub fn question(&self) -> QuestionWords {
        let (more, example) = match self.half() {
            UsedLimit::Cost { limit, .. } => (format!("{limit}"), "+2.50"),
            UsedLimit::Tokens { limit, .. } => (format!("{limit} tokens"), "+50k"),
            UsedLimit::Runs { limit: 1, .. } => ("1 run".to_owned(), "+5"),
            UsedLimit::Runs { limit, .. } => (format!("{limit} runs"), "+5"),
            UsedLimit::Seconds { limit, .. } => (format!("{limit} s"), "+600"),
        };
        let words = self.to_string();
        let mut letters = words.chars();
        let first = letters.next().map(char::to_uppercase);
        let sentence: String = first.into_iter().flatten().chain(letters).collect();
        QuestionWords {
            text: format!("{sentence}. May it have more?"),
            context: Some(format!(
                "The run waits with everything it has done. Another sum is written with a plus, such as {example}."
            )),
            options: vec![format!("{more} more"), NO_MORE.to_owned()],
        }
    }

    /// Reads an answer: one of the options, or a sum with a plus; `None` for other words.
    pub fn read_reply(&self, words: &str) -> Option<BudgetReply> {
        let words = words.trim();
        if words == NO_MORE {
            return Some(BudgetReply::Leave);
        }
        let offered = self.question().options;
        let sum = if offered.first().is_some_and(|offered| offered == words) {
            self.half()
        } else {
            self.read_sum(words)?
        };
        let mut limits = BudgetLimits::default();
        match (self.used, sum) {
            (UsedLimit::Cost { limit, .. }, UsedLimit::Cost { limit: more, .. }) => {
                let all = limit.millionths().saturating_add(more.millionths());
                limits.cost = Some(Dollars::from_millionths(all));
            }
            (UsedLimit::Tokens { limit, .. }, UsedLimit::Tokens { limit: more, .. }) => {
                limits.tokens = Some(limit.saturating_add(more));
            }
            (UsedLimit::Runs { limit, .. }, UsedLimit::Runs { limit: more, .. }) => {
                limits.runs = Some(limit.saturating_add(more));
            }
            (UsedLimit::Seconds { limit, .. }, UsedLimit::Seconds { limit: more, .. }) => {
                let all = limit.saturating_add(more);
                limits.seconds = Some(std::time::Duration::from_secs(all));
            }
            _ => return None,
        }
        let scope = self.scope.clone();
        Some(BudgetReply::Raise { scope, limits })
    }

    /// Reads a sum such as `+2.50`, `+$2`, `+50k` or `+1m`.
    fn read_sum(&self, words: &str) -> Option<UsedLimit> {
        let sum = words.strip_prefix('+')?.trim().to_ascii_lowercase();
        let sum = sum.strip_prefix('$').unwrap_or(&sum);
        let mut sum_of = self.half();
        match &mut sum_of {
            UsedLimit::Cost { limit, .. } => {
                let dollars: f64 = sum.parse().ok()?;
                let is_sum = dollars.is_finite() && dollars > 0.0;
                *limit = Dollars::new(is_sum.then_some(dollars)?);
            }
            UsedLimit::Tokens { limit, .. }
            | UsedLimit::Runs { limit, .. }
            | UsedLimit::Seconds { limit, .. } => {
                let (digits, times) = match (sum.strip_suffix('k'), sum.strip_suffix('m')) {
                    (Some(digits), _) => (digits, 1_000),
                    (_, Some(digits)) => (digits, 1_000_000),
                    (None, None) => (sum, 1),
                };
                let number: u64 = digits.trim().parse().ok()?;
                *limit = number.checked_mul(times).filter(|sum| *sum > 0)?;
            }
        }
        Some(sum_of)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pretty_assertions::assert_eq;

    use super::*;
    use crate::ScopeKind;

    fn denial(used: UsedLimit) -> BudgetDenial {
        BudgetDenial {
            scope: BudgetScope::new(ScopeKind::Named, "nightly").unwrap(),
            used,
            is_held: false,
        }
    }

    fn raise(limits: BudgetLimits) -> BudgetReply {
        let scope = BudgetScope::new(ScopeKind::Named, "nightly").unwrap();
        BudgetReply::Raise { scope, limits }
    }

    #[test]
    fn an_answer_is_an_option_or_a_sum() {
        let dollars = Dollars::new;
        let cost = denial(UsedLimit::Cost {
            spent: dollars(2.1),
            limit: dollars(2.0),
        });
        let words = cost.question();
        let context = words.context.unwrap();
        insta::assert_snapshot!(format!("{}\n{context}\n{:?}", words.text, words.options), @r#"
        The budget nightly is used up ($2.10 of $2.00). May it have more?
        The run waits with everything it has done. Another sum is written with a plus, such as +2.50.
        ["$1.00 more", "no more: end with what there is"]
        "#);
        let raised = |limit: f64| {
            raise(BudgetLimits {
                cost: Some(dollars(limit)),
                ..BudgetLimits::default()
            })
        };
        assert_eq!(cost.read_reply(&words.options[0]), Some(raised(3.0)));
        assert_eq!(cost.read_reply(&words.options[1]), Some(BudgetReply::Leave));
        assert_eq!(cost.read_reply("+$2.50"), Some(raised(4.5)));
        for nonsense in ["", "2", "+", "+0", "+-1", "+nan", "+inf", "yes please"] {
            assert_eq!(cost.read_reply(nonsense), None, "{nonsense}");
        }
        let tokens = denial(UsedLimit::Tokens {
            spent: 20,
            limit: 20,
        });
        let limits = BudgetLimits {
            tokens: Some(50_020),
            ..BudgetLimits::default()
        };
        assert_eq!(tokens.read_reply("+50k"), Some(raise(limits)));
        let seconds = denial(UsedLimit::Seconds {
            spent: 61,
            limit: 60,
        });
        let limits = BudgetLimits {
            seconds: Some(Duration::from_mins(2)),
            ..BudgetLimits::default()
        };
        let offered = seconds.question().options;
        assert_eq!(seconds.read_reply(&offered[0]), Some(raise(limits)));
    }
}
