//! The first requests of a call: their tokens and their cost are known before anything is sent. A
//! very expensive one is sent only after a person has agreed, where one can be asked. A long
//! conversation that continues says what that costs, and what a fresh run would.

use std::sync::Arc;

use pi_subagents_agent::SendingCost;
use pi_subagents_ground::error::CommandError;
use pi_subagents_records::{SessionSize, tokens_of_bytes};
use pi_subagents_view::figures::{cost, tokens};
use pi_subagents_vocabulary::{Allowance, Cost, Dollars};

/// A shorter conversation continues without a word.
const LONG_CONVERSATION: u64 = 50_000;

/// Asks a person whether a call may begin; the text is a question.
pub type Consent = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// The part of a first request that is not the system prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FirstRequest {
    /// The tokens of the prompt, with its files.
    pub(crate) prompt: u64,
    /// The conversation that continues, if one does.
    pub(crate) earlier: Option<EarlierPart>,
}

/// The part of a request that is an earlier conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EarlierPart {
    pub(crate) tokens: u64,
    /// The tokens of its last answer, with which a fresh run could begin.
    pub(crate) last_answer: u64,
    /// True if it is sent as it was sent before, so that a provider may have it in its cache.
    pub(crate) may_be_cached: bool,
    /// The model of its last answer, as provider/id.
    pub(crate) model: Option<String>,
}

/// A first request with its price.
pub(crate) struct PricedRequest {
    /// The name of its task.
    pub(crate) name: String,
    /// The model, as far as it is known.
    pub(crate) model: Option<String>,
    pub(crate) request: FirstRequest,
    /// The cost of the whole.
    pub(crate) all: Option<SendingCost>,
    /// The cost of the prompt.
    pub(crate) prompt: Option<SendingCost>,
    /// The cost of a fresh run with the last answer of the conversation.
    pub(crate) anew: Option<SendingCost>,
}

impl EarlierPart {
    /// Makes the part of a conversation that is sent as it was sent before.
    pub(crate) fn sent_again(size: SessionSize) -> Self {
        Self {
            tokens: size.tokens,
            last_answer: size.last_answer,
            may_be_cached: true,
            model: size.model,
        }
    }
}

impl FirstRequest {
    /// Makes the request of a prompt.
    pub(crate) fn of(prompt: &str) -> Self {
        Self {
            prompt: tokens_of_bytes(prompt.len() as u64),
            earlier: None,
        }
    }

    /// Prices it.
    pub(crate) fn priced(
        self,
        name: &str,
        model: Option<String>,
        price: impl Fn(u64) -> Option<SendingCost>,
    ) -> PricedRequest {
        let answer = self
            .earlier
            .as_ref()
            .map_or(0, |earlier| earlier.last_answer);
        PricedRequest {
            name: name.to_owned(),
            model,
            all: price(self.tokens()),
            prompt: price(self.prompt),
            anew: price(self.prompt + answer),
            request: self,
        }
    }

    fn tokens(&self) -> u64 {
        self.prompt + self.earlier.as_ref().map_or(0, |earlier| earlier.tokens)
    }
}

impl PricedRequest {
    /// Returns the price of continuing a long conversation, in a sentence.
    pub(crate) fn remark(&self) -> Option<String> {
        let long = |earlier: &&EarlierPart| earlier.tokens >= LONG_CONVERSATION;
        let earlier = self.request.earlier.as_ref().filter(long)?;
        let again = match self.all {
            None => String::new(),
            Some(all) if earlier.may_be_cached => format!(
                " for about {} ({} if the provider still has them in its cache)",
                dollars(all.fresh),
                dollars(all.cached)
            ),
            Some(all) => format!(" for about {}", dollars(all.fresh)),
        };
        let anew = self.anew.map_or_else(String::new, |anew| {
            format!(" for about {}", dollars(anew.fresh))
        });
        Some(format!(
            "{}: its conversation has about {} tokens, which the next request sends again{again}; a fresh run with its last answer sends about {}{anew}",
            self.name,
            tokens(earlier.tokens),
            tokens(self.request.prompt + earlier.last_answer),
        ))
    }

    /// Returns why a prompt alone exceeds a limit.
    pub(crate) fn excess(&self, limit: &Allowance, whose: &str) -> Option<String> {
        let cost = self.prompt.map(|cost| Dollars::new(cost.fresh));
        let sent = self.request.prompt;
        match (limit.cost, cost, limit.tokens) {
            (Some(limit), Some(cost), _) if cost > limit => Some(format!(
                "The prompt of {} alone costs about {cost}, and {whose} has {limit}.",
                self.name
            )),
            (_, _, Some(limit)) if sent > limit => Some(format!(
                "The prompt of {} alone has about {} tokens, and {whose} has {}.",
                self.name,
                tokens(sent),
                tokens(limit)
            )),
            _ => None,
        }
    }
}

/// Says what the first requests of a call cost together, if that is above a limit.
pub(crate) fn expensive(requests: &[PricedRequest], limit: Option<Dollars>) -> Option<String> {
    let limit = limit?;
    let priced = requests.iter().filter_map(|request| {
        let all = request.all?;
        Some((request, all.fresh))
    });
    let priced: Vec<(&PricedRequest, f64)> = priced.collect();
    let together: f64 = priced.iter().map(|(_, cost)| cost).sum();
    if Dollars::new(together) <= limit {
        return None;
    }
    let all: u64 = priced.iter().map(|(one, _)| one.request.tokens()).sum();
    let (all, together) = (tokens(all), dollars(together));
    Some(match priced.as_slice() {
        [(one, _)] => {
            let model = one.model.as_ref();
            let to = model.map_or_else(String::new, |model| format!(" to {model}"));
            format!("the first request sends about {all} tokens{to}, which cost about {together}")
        }
        several => format!(
            "the first requests of {} tasks send about {all} tokens, which cost about {together}",
            several.len()
        ),
    })
}

/// Asks a person whether a call with such first requests may begin. Where nobody can be asked,
/// returns the warning for the answer.
pub(crate) fn agreed(
    words: String,
    consent: Option<&Consent>,
) -> Result<Option<String>, CommandError> {
    let Some(consent) = consent else {
        return Ok(Some(words));
    };
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    let sentence: String = first.into_iter().flatten().chain(letters).collect();
    if consent(&format!("{sentence}. Send it?")) {
        return Ok(None);
    }
    Err(CommandError::failed("nothing was sent").hint(
        "--yes sends it without a question. The setting askAboveCost says from how many dollars on you are asked.",
    ))
}

fn dollars(amount: f64) -> String {
    match cost(Cost::Known(amount)) {
        nothing if nothing.is_empty() => "$0.00".to_owned(),
        words => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "the form of a look into the catalogue"
    )]
    fn price(tokens: u64) -> Option<SendingCost> {
        let fresh = tokens as f64 * 3e-6;
        Some(SendingCost {
            fresh,
            cached: fresh / 10.0,
        })
    }

    fn request(prompt: u64, earlier: Option<EarlierPart>) -> PricedRequest {
        let model = Some("a/sonnet".to_owned());
        FirstRequest { prompt, earlier }.priced("api", model, price)
    }

    fn earlier(tokens: u64, may_be_cached: bool) -> EarlierPart {
        EarlierPart {
            tokens,
            last_answer: 1200,
            may_be_cached,
            model: None,
        }
    }

    #[test]
    fn a_long_conversation_says_what_it_costs_and_what_a_fresh_run_would() {
        let unpriced = FirstRequest {
            prompt: 10,
            earlier: Some(earlier(180_000, true)),
        };
        let remarks = [
            request(10, Some(earlier(180_000, true))).remark(),
            request(10, Some(earlier(180_000, false))).remark(),
            unpriced.priced("api", None, |_| None).remark(),
            request(10, Some(earlier(49_999, true))).remark(),
            request(900_000, None).remark(),
        ];
        let remarks = remarks.map(Option::unwrap_or_default);
        insta::assert_snapshot!(remarks.join("\n"), @r"
        api: its conversation has about 180k tokens, which the next request sends again for about $0.54 ($0.05 if the provider still has them in its cache); a fresh run with its last answer sends about 1.2k for about <$0.01
        api: its conversation has about 180k tokens, which the next request sends again for about $0.54; a fresh run with its last answer sends about 1.2k for about <$0.01
        api: its conversation has about 180k tokens, which the next request sends again; a fresh run with its last answer sends about 1.2k
        ");
    }

    #[test]
    fn first_requests_above_the_limit_are_named() {
        let one = Some(Dollars::new(1.0));
        let large = || request(400_000, None);
        let words = [
            expensive(&[large()], one),
            expensive(
                &[
                    request(100_000, Some(earlier(300_000, true))),
                    request(10, None),
                ],
                one,
            ),
            expensive(&[request(333_333, None)], one),
            expensive(&[large()], None),
        ];
        let words = words.map(Option::unwrap_or_default);
        insta::assert_snapshot!(words.join("\n"), @r"
        the first request sends about 400k tokens to a/sonnet, which cost about $1.20
        the first requests of 2 tasks send about 400k tokens, which cost about $1.20
        ");
    }

    #[test]
    fn a_prompt_that_no_limit_has_room_for_is_named() {
        let limit = |cost: Option<f64>, tokens| Allowance {
            cost: cost.map(Dollars::new),
            tokens,
        };
        let large = request(400_000, Some(earlier(900_000, true)));
        let excess = |limit| large.excess(&limit, "the run").unwrap_or_default();
        let words = [
            excess(limit(Some(1.0), None)),
            excess(limit(Some(2.0), Some(300_000))),
            excess(limit(Some(2.0), Some(500_000))),
        ];
        insta::assert_snapshot!(words.join("\n"), @r"
        The prompt of api alone costs about $1.20, and the run has $1.00.
        The prompt of api alone has about 400k tokens, and the run has 300k.
        ");
    }
}
