//! Tokens and money of one model call.

use std::ops::AddAssign;

use serde::{Deserialize, Deserializer, Serialize};

/// A count of tokens that is not below this is no count of a model.
pub(crate) const MOST_TOKENS: u64 = 1 << 40;

/// The tokens and the cost of one assistant message.
///
/// `reasoning` is part of `output`; `input` excludes the tokens that came from or went to the
/// cache.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning: Option<u64>,
    pub(crate) total_tokens: u64,
    /// Absent when the price is unknown, which is not the same as free.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "cost_or_unknown"
    )]
    pub(crate) cost: Option<Cost>,
}

impl Usage {
    /// Fills in the cost of this usage at `price`.
    pub(crate) fn priced(mut self, price: Option<&Price>) -> Self {
        self.cost = price.map(|price| price.of(&self));
        self
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.total_tokens += other.total_tokens;
        self.cost = match (self.cost, other.cost) {
            (Some(mine), Some(theirs)) => Some(mine.plus(theirs)),
            (one, None) | (None, one) => one,
        };
    }
}

/// Dollars, by where the tokens went.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cost {
    #[serde(default)]
    pub(crate) input: f64,
    #[serde(default)]
    pub(crate) output: f64,
    #[serde(default)]
    pub(crate) cache_read: f64,
    #[serde(default)]
    pub(crate) cache_write: f64,
    pub(crate) total: f64,
}

impl Cost {
    fn plus(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            output: self.output + other.output,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
            total: self.total + other.total,
        }
    }
}

/// Dollars per million tokens, as `models.json` states them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Price {
    pub(crate) input: f64,
    pub(crate) output: f64,
    pub(crate) cache_read: f64,
    pub(crate) cache_write: f64,
    /// Prices of long prompts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tiers: Vec<Tier>,
}

/// The prices for a prompt that is longer than a limit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Tier {
    pub(crate) input_tokens_above: u64,
    pub(crate) input: f64,
    pub(crate) output: f64,
    pub(crate) cache_read: f64,
    pub(crate) cache_write: f64,
}

impl Price {
    fn of(&self, usage: &Usage) -> Cost {
        let dollars = |tokens: u64, per_million: f64| {
            #[expect(
                clippy::cast_precision_loss,
                reason = "token counts are far below 2^52"
            )]
            let tokens = tokens as f64;
            tokens * per_million / 1_000_000.0
        };
        let [input, output, cache_read, cache_write] = self.rates(usage);
        let input = dollars(usage.input, input);
        let output = dollars(usage.output, output);
        let cache_read = dollars(usage.cache_read, cache_read);
        let cache_write = dollars(usage.cache_write, cache_write);
        Cost {
            input,
            output,
            cache_read,
            cache_write,
            total: input + output + cache_read + cache_write,
        }
    }
}

impl Price {
    fn rates(&self, usage: &Usage) -> [f64; 4] {
        let prompt = usage.input + usage.cache_read + usage.cache_write;
        let reached = self
            .tiers
            .iter()
            .filter(|tier| prompt > tier.input_tokens_above)
            .max_by_key(|tier| tier.input_tokens_above);
        match reached {
            Some(tier) => [tier.input, tier.output, tier.cache_read, tier.cache_write],
            None => [self.input, self.output, self.cache_read, self.cache_write],
        }
    }
}

/// Reads a cost. In a session file, a cost without a number in `total` means an unknown price.
fn cost_or_unknown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cost>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}
