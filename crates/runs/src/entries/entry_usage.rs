//! Reads the figures of a run from the messages that pi's session keeps of it.

use pi_subagents_vocabulary::Usage;
use serde_json::Value;

/// Returns the tokens and dollars that these messages of pi name, and how many calls they hold.
pub(super) fn used(messages: &[Value]) -> (Usage, usize) {
    let answers = messages
        .iter()
        .filter(|message| message.get("role").is_some_and(|role| role == "assistant"));
    let usage = answers.clone().filter_map(|answer| answer.get("usage"));
    let calls = answers.map(calls_of).sum();
    (usage.map(usage_of).sum(), calls)
}

fn usage_of(usage: &Value) -> Usage {
    let number = |field: &str| usage.get(field).and_then(Value::as_u64).unwrap_or_default();
    let cost = usage.get("cost").and_then(|cost| cost.get("total"));
    Usage {
        input: number("input"),
        output: number("output"),
        cache_read: number("cacheRead"),
        cache_write: number("cacheWrite"),
        cost: cost.and_then(Value::as_f64),
        cost_is_at_least: false,
    }
}

fn calls_of(answer: &Value) -> usize {
    let parts = answer.get("content").and_then(Value::as_array);
    let parts = parts.into_iter().flatten();
    parts
        .filter(|part| part.get("type").is_some_and(|kind| kind == "toolCall"))
        .count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_added_up_and_nothing_else_counts() {
        let answer = json!({"role": "assistant", "content": [{"type": "text"}, {"type": "toolCall"}],
            "usage": {"input": 100, "output": 10, "cacheRead": 5, "cost": {"total": 0.25}}});
        let other = json!({"role": "toolResult", "usage": {"input": 1000}});
        let (usage, calls) = used(&[answer.clone(), other, Value::Null, answer]);
        assert_eq!((usage.total(), usage.cost, calls), (230, Some(0.5), 2));
    }
}
