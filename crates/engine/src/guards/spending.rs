//! Ends a run that has consumed its allowance before its next turn, and tells it before that.

use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{
    Allowance, BudgetStanding, Excess, Measure, Message, Percent, ProviderWindow, Usage,
};

/// The word to a child that has used four fifths of what it may consume.
pub(crate) const NEARLY_SPENT: &str =
    "About a fifth of your budget is left: come to an end. Report what is done and what is not.";

/// Adds up the tokens and the cost of a run, as its summary does.
#[derive(Debug, Clone)]
pub(crate) struct Spending {
    allowance: Allowance,
    /// What its budgets granted it, with what its descendants hold of it.
    grant: Allowance,
    spent: Usage,
    /// The share of a window of its provider that may be used.
    share: Option<Percent>,
    /// The windows of the provider, as it told them last.
    windows: Vec<ProviderWindow>,
    /// True if the child knows that little is left.
    is_told: bool,
}

/// The consequence of what a run has spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpendingRung {
    /// Four fifths are used: the child gets a word.
    Near,
    /// Everything is used, and the run would go on.
    Reached(Excess),
    /// So much more is used that not even a last answer is left.
    Passed(Excess),
}

impl Spending {
    pub(crate) fn new(allowance: Allowance) -> Self {
        Self {
            allowance,
            grant: allowance,
            spent: Usage::default(),
            share: None,
            windows: Vec::new(),
            is_told: false,
        }
    }

    /// Limits the share of a window that may be used.
    pub(crate) fn with_share(self, share: Option<Percent>) -> Self {
        Self { share, ..self }
    }

    /// Takes over what the provider says about its windows.
    pub(crate) fn note_windows(&mut self, windows: Vec<ProviderWindow>) {
        self.windows = windows;
    }

    /// Adds the tokens and the cost of a record.
    pub(crate) fn add(&mut self, usage: Usage) {
        self.spent += usage;
    }

    /// Takes over what the ledgers say. Returns the grant if it is another one.
    pub(crate) fn stand(&mut self, standing: BudgetStanding) -> Option<Allowance> {
        let is_new = self.grant != standing.grant;
        self.grant = standing.grant;
        self.allowance = standing.free;
        self.spent = standing.spent;
        is_new.then_some(standing.grant)
    }

    /// Looks at a record whose usage was added. Only an answer with calls ends a run: after it the
    /// run would go on. An answer without calls is the last of its run and paid for already, and a
    /// compaction may come after that answer.
    pub(crate) fn judge(&mut self, record: &ChildRecord) -> Option<SpendingRung> {
        let ChildRecord::MessageEnded(Message::Assistant(answer)) = record else {
            return None;
        };
        answer.tool_calls().next()?;
        if let Some(excess) = self.excess() {
            return Some(if self.is_passed() {
                SpendingRung::Passed(excess)
            } else {
                SpendingRung::Reached(excess)
            });
        }
        if let Some(excess) = self.window_excess() {
            return Some(SpendingRung::Reached(excess));
        }
        if self.is_told || !self.is_near() {
            return None;
        }
        self.is_told = true;
        Some(SpendingRung::Near)
    }

    /// Returns the limit that is reached, if one is.
    pub(crate) fn excess(&self) -> Option<Excess> {
        self.allowance.exceeded_by(&self.spent)
    }

    /// Returns the window of which the share is used, if there is one.
    fn window_excess(&self) -> Option<Excess> {
        let allowed = self.share?;
        let fullest = self.windows.iter().max_by_key(|window| window.used)?;
        (fullest.used >= allowed).then_some(Excess::Window {
            minutes: fullest.length,
            spent: fullest.used,
            allowed,
        })
    }

    fn is_near(&self) -> bool {
        let mut measures = Measure::ALL.into_iter();
        measures.any(|measure| measure.is_near(&self.allowance, &self.spent))
    }

    fn is_passed(&self) -> bool {
        let mut measures = Measure::ALL.into_iter();
        measures.any(|measure| measure.is_passed(&self.allowance, &self.spent))
    }
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::child_protocol::{ChildLine, decode};

    use super::*;

    /// Makes an answer of 30 tokens that count and 10 that were in a cache.
    fn answer(content: &str) -> ChildRecord {
        let line = format!(
            r#"{{"type":"message_end","message":{{"role":"assistant","content":[{content}],"usage":{{"input":10,"output":15,"cacheRead":10,"cacheWrite":5}}}}}}"#
        );
        match decode(line.as_bytes()) {
            ChildLine::Record(record) => record,
            ChildLine::Text => panic!("{line} is no record"),
        }
    }

    fn call() -> ChildRecord {
        answer(r#"{"type":"toolCall","id":"1","name":"ls","arguments":{}}"#)
    }

    fn tokens(tokens: u64) -> Allowance {
        Allowance {
            tokens: Some(tokens),
            cost: None,
        }
    }

    fn observe(guard: &mut Spending, record: &ChildRecord) -> Option<SpendingRung> {
        guard.add(record.usage());
        guard.judge(record)
    }

    fn reached(spent: u64, allowed: u64) -> SpendingRung {
        SpendingRung::Reached(Excess::Tokens { spent, allowed })
    }

    #[test]
    fn all_answers_count_and_the_one_that_would_go_on_is_the_last() {
        let mut guard = Spending::new(tokens(100));
        let spoke: Vec<_> = (0..4).map(|_| observe(&mut guard, &call())).collect();
        let near = Some(SpendingRung::Near);
        assert_eq!(spoke, [None, None, near, Some(reached(120, 100))]);
    }

    #[test]
    fn a_fifth_above_the_limit_leaves_no_last_answer() {
        let mut guard = Spending::new(tokens(100));
        guard.add(Usage {
            input: 90,
            ..Usage::default()
        });
        assert_eq!(observe(&mut guard, &call()), Some(reached(120, 100)));
        let excess = Excess::Tokens {
            spent: 150,
            allowed: 100,
        };
        let passed = Some(SpendingRung::Passed(excess));
        assert_eq!(observe(&mut guard, &call()), passed);
    }

    #[test]
    fn the_word_is_said_once() {
        let mut guard = Spending::new(tokens(1000));
        guard.add(Usage {
            input: 780,
            ..Usage::default()
        });
        let spoke: Vec<_> = (0..3).map(|_| observe(&mut guard, &call())).collect();
        assert_eq!(spoke, [Some(SpendingRung::Near), None, None]);
    }

    #[test]
    fn what_the_ledgers_say_counts() {
        let mut guard = Spending::new(tokens(100));
        let standing = |grant, input| BudgetStanding {
            grant: tokens(grant + 7),
            free: tokens(grant),
            spent: Usage {
                input,
                ..Usage::default()
            },
        };
        guard.add(call().usage());
        // Its descendants have used some, and it got more.
        assert_eq!(guard.stand(standing(500, 300)), Some(tokens(507)));
        assert_eq!(guard.judge(&call()), None);
        assert_eq!(guard.stand(standing(500, 600)), None);
        assert_eq!(guard.judge(&call()), Some(reached(600, 500)));
    }

    #[test]
    fn a_compaction_counts_and_the_next_call_is_the_last() {
        let mut guard = Spending::new(tokens(60));
        let usage = Usage {
            input: 30,
            ..Usage::default()
        };
        let compacted = ChildRecord::Compacted { usage };
        assert_eq!(observe(&mut guard, &compacted), None);
        assert_eq!(observe(&mut guard, &call()), Some(reached(60, 60)));
    }

    #[test]
    fn the_share_of_a_window_is_a_limit() {
        use pi_subagents_vocabulary::WindowLength;
        let mut guard = Spending::new(Allowance::default()).with_share(Some(Percent(50)));
        let window = |minutes, used| ProviderWindow {
            length: WindowLength(minutes),
            used: Percent(used),
        };
        assert_eq!(guard.judge(&call()), None);
        guard.note_windows(vec![window(300, 49), window(10_080, 12)]);
        assert_eq!(guard.judge(&call()), None);
        guard.note_windows(vec![window(300, 52), window(10_080, 12)]);
        assert_eq!(
            guard.judge(&answer(r#"{"type":"text","text":"done"}"#)),
            None
        );
        let excess = Excess::Window {
            minutes: WindowLength(300),
            spent: Percent(52),
            allowed: Percent(50),
        };
        let reached = Some(SpendingRung::Reached(excess));
        assert_eq!(guard.judge(&call()), reached);
    }

    #[test]
    fn an_answer_without_calls_is_kept_whatever_it_consumed() {
        let mut guard = Spending::new(tokens(1));
        let last = answer(r#"{"type":"text","text":"done"}"#);
        assert_eq!(observe(&mut guard, &last), None);
    }
}
