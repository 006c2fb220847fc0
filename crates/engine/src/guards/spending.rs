//! Ends a run that has consumed its allowance before its next turn.

use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{Allowance, Decision, Message, Usage};

/// Adds up the tokens and the cost of a run, as its summary does.
#[derive(Debug, Clone)]
pub(crate) struct Spending {
    allowance: Allowance,
    spent: Usage,
}

impl Spending {
    pub(crate) fn new(allowance: Allowance) -> Self {
        Self {
            allowance,
            spent: Usage::default(),
        }
    }

    /// Adds one more record. Only an answer with calls ends a run: after it the run would go on. An
    /// answer without calls is the last of its run and paid for already, and a compaction may come
    /// after that answer.
    pub(crate) fn observe(&mut self, record: &ChildRecord) -> Option<Decision> {
        self.spent += record.usage();
        let ChildRecord::MessageEnded(Message::Assistant(answer)) = record else {
            return None;
        };
        answer.tool_calls().next()?;
        let excess = self.allowance.exceeded_by(&self.spent)?;
        Some(Decision::Overspent(excess))
    }
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::Excess;
    use pi_subagents_vocabulary::child_protocol::{ChildLine, decode};

    use super::*;

    /// Makes an answer of 40 tokens.
    fn answer(content: &str) -> ChildRecord {
        let line = format!(
            r#"{{"type":"message_end","message":{{"role":"assistant","content":[{content}],"usage":{{"input":10,"output":20,"cacheRead":10,"cacheWrite":0}}}}}}"#
        );
        match decode(line.as_bytes()) {
            ChildLine::Record(record) => record,
            ChildLine::Text => panic!("{line} is no record"),
        }
    }

    fn call() -> ChildRecord {
        answer(r#"{"type":"toolCall","id":"1","name":"ls","arguments":{}}"#)
    }

    fn guard(tokens: u64) -> Spending {
        Spending::new(Allowance {
            tokens: Some(tokens),
            cost: None,
        })
    }

    #[test]
    fn all_answers_count_and_the_one_that_would_go_on_is_the_last() {
        let mut guard = guard(100);
        let spoke: Vec<_> = (0..3).map(|_| guard.observe(&call())).collect();
        let excess = Excess::Tokens {
            spent: 120,
            allowed: 100,
        };
        assert_eq!(spoke, [None, None, Some(Decision::Overspent(excess))]);
    }

    #[test]
    fn a_compaction_counts_and_the_next_call_is_the_last() {
        let mut guard = guard(60);
        let usage = Usage {
            input: 30,
            ..Usage::default()
        };
        assert_eq!(guard.observe(&ChildRecord::Compacted { usage }), None);
        let excess = Excess::Tokens {
            spent: 70,
            allowed: 60,
        };
        assert_eq!(guard.observe(&call()), Some(Decision::Overspent(excess)));
    }

    #[test]
    fn an_answer_without_calls_is_kept_whatever_it_consumed() {
        let mut guard = guard(1);
        let last = answer(r#"{"type":"text","text":"done"}"#);
        assert_eq!(guard.observe(&last), None);
    }
}
