//! Finds out that a run is stuck: its model makes the same few calls again and again, with the same
//! results. Pure: answers and results in, a step of the ladder out.
//!
//! `repetition.rs` is the rule of the settings, which ends a run and looks at calls alone. This one
//! looks at results too, warns first, and sees what the other does not: cycles of several calls.

use std::collections::VecDeque;

use pi_subagents_vocabulary::{AssistantMessage, ToolResult};

use super::signature::{call_hash, call_words, result_hash};

/// The longest cycle that is looked for.
const LONGEST_CYCLE: usize = 4;

/// The repetitions of a cycle at which each step of the ladder comes.
const WARN_AT: usize = 3;
const STEER_AT: usize = 4;
const WRAP_UP_AT: usize = 6;

/// The number of turns that are remembered: enough for the longest cycle.
const REMEMBERED: usize = LONGEST_CYCLE * (WRAP_UP_AT + 1);

/// Equal calls in a row with other results each time, from which on they are odd.
const POLLS: usize = 20;

/// Failures of one tool in a row with the same error, from which on they are odd.
const FAILURES: usize = 5;

/// Turns in a row that bring nothing new, from which on they are odd.
const IDLE_TURNS: usize = 12;

/// The number of calls and results that are known as seen.
const SEEN: usize = 4096;

/// A step of the ladder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StuckStep {
    /// A person is told.
    Warn(String),
    /// The model is told too.
    Steer(String),
    /// The model gets one more answer, without tools.
    WrapUp(String),
}

/// The last turns of a run, and how far it has climbed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cycles {
    /// True if it looks at nothing.
    is_off: bool,
    turns: VecDeque<TurnSign>,
    /// The turn whose results are not all there yet.
    open: Option<OpenTurn>,
    /// The length of the present cycle, and the number of steps that were taken in it.
    period: usize,
    steps: usize,
    /// True if the present oddity was told.
    is_odd: bool,
    seen: VecDeque<u64>,
    idle: usize,
    failures: usize,
    last_failure: Option<u64>,
}

/// One turn: the calls of one answer and their results.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TurnSign {
    calls: u64,
    results: u64,
    words: String,
}

#[derive(Debug, Clone)]
struct OpenTurn {
    /// The id, the hash and the words of each call, with the hash of its result once it is there.
    calls: Vec<OpenCall>,
}

#[derive(Debug, Clone)]
struct OpenCall {
    id: String,
    hash: u64,
    words: String,
    result: Option<u64>,
    failed: bool,
    changes: bool,
}

impl Cycles {
    /// Makes a guard; `limit` is the number of equal calls that end a run, and 0 turns this off too.
    pub(crate) fn new(limit: u32) -> Self {
        Self {
            is_off: limit == 0,
            ..Self::default()
        }
    }

    /// Forgets the turns so far, because the model gets something new to do.
    pub(crate) fn begin_again(&mut self) {
        *self = Self {
            is_off: self.is_off,
            ..Self::default()
        };
    }

    /// Returns how often the present cycle was repeated.
    pub(crate) fn times(&self) -> u32 {
        let times = self.cycle().map_or(0, |(_, times)| times);
        u32::try_from(times).unwrap_or(u32::MAX)
    }

    /// Notes the calls of an answer. `exempts` says which of them may be repeated.
    pub(crate) fn note_answer(
        &mut self,
        answer: &AssistantMessage,
        exempts: impl Fn(&pi_subagents_vocabulary::ToolCall) -> bool,
    ) {
        let calls = answer.tool_calls().filter(|call| !exempts(call));
        let calls: Vec<OpenCall> = calls
            .map(|call| OpenCall {
                id: call.id.clone(),
                hash: call_hash(call),
                words: call_words(call),
                result: None,
                failed: false,
                changes: ["edit", "write"].contains(&call.name.as_str()),
            })
            .collect();
        self.open = (!self.is_off && !calls.is_empty()).then_some(OpenTurn { calls });
    }

    /// Notes a result. When it is the last of its turn, returns the step that follows.
    pub(crate) fn note_result(&mut self, result: &ToolResult) -> Option<StuckStep> {
        let open = self.open.as_mut()?;
        let call = open
            .calls
            .iter_mut()
            .find(|call| call.id == result.call_id)?;
        call.result = Some(result_hash(result));
        call.failed = result.is_error;
        if open.calls.iter().any(|call| call.result.is_none()) {
            return None;
        }
        let turn = self.open.take()?;
        self.close(&turn)
    }

    fn close(&mut self, turn: &OpenTurn) -> Option<StuckStep> {
        self.count_failures(turn);
        self.count_news(turn);
        if self.turns.len() == REMEMBERED {
            self.turns.pop_front();
        }
        self.turns.push_back(turn.sign());
        let Some((period, times)) = self.cycle() else {
            self.period = 0;
            self.steps = 0;
            return self.odd();
        };
        self.climb(period, times)
    }

    /// Returns the next step for a cycle. Equal calls in a row are warned of and steered once; the
    /// rule of the settings ends them.
    fn climb(&mut self, period: usize, times: usize) -> Option<StuckStep> {
        if std::mem::replace(&mut self.period, period) != period {
            self.steps = 0;
        }
        let words = self.words(period, times);
        let told = format!(
            "You have made the same {} {times} times with the same {} ({}). Change your approach, or finish and say what is missing.",
            if period == 1 { "call" } else { "calls" },
            if period == 1 { "result" } else { "results" },
            self.cycle_words(period),
        );
        let step = match (period, self.steps) {
            (1, 0) if times >= WARN_AT => StuckStep::Steer(told),
            (2.., 0) if times >= WARN_AT => StuckStep::Warn(words),
            (2.., 1) if times >= STEER_AT => StuckStep::Steer(told),
            (2.., 2) if times >= WRAP_UP_AT => StuckStep::WrapUp(words),
            _ => return None,
        };
        self.steps += 1;
        Some(step)
    }

    /// Returns the shortest cycle at the end of the turns, and how often it was repeated.
    fn cycle(&self) -> Option<(usize, usize)> {
        (1..=LONGEST_CYCLE).find_map(|period| {
            let times = self.repetitions(period);
            (times >= WARN_AT).then_some((period, times))
        })
    }

    fn repetitions(&self, period: usize) -> usize {
        let turns = self.turns.len();
        if turns < period {
            return 0;
        }
        let same = |place: &usize| {
            let (one, other) = (
                &self.turns[turns - 1 - place],
                &self.turns[turns - 1 - place % period],
            );
            one.calls == other.calls && one.results == other.results
        };
        let equal = (0..turns).take_while(same).count();
        equal / period
    }

    /// Describes the calls of a cycle with their repetitions: `read a.rs ×3, same result`.
    fn words(&self, period: usize, times: usize) -> String {
        let result = if period == 1 { "result" } else { "results" };
        format!("{} ×{times}, same {result}", self.cycle_words(period))
    }

    fn cycle_words(&self, period: usize) -> String {
        let last = self
            .turns
            .iter()
            .skip(self.turns.len().saturating_sub(period));
        let words: Vec<&str> = last.map(|turn| turn.words.as_str()).collect();
        words.join(", ")
    }

    fn count_failures(&mut self, turn: &OpenTurn) {
        match turn.calls.as_slice() {
            [call] if call.failed && self.last_failure == call.result => self.failures += 1,
            [call] if call.failed => {
                self.failures = 1;
                self.last_failure = call.result;
            }
            _ => {
                self.failures = 0;
                self.last_failure = None;
            }
        }
    }

    /// Counts the turns that bring nothing new: no call and no result that was not seen before, and
    /// no change of a file.
    fn count_news(&mut self, turn: &OpenTurn) {
        let mut is_news = false;
        for call in &turn.calls {
            is_news |= call.changes && !call.failed;
            for sign in [Some(call.hash), call.result].into_iter().flatten() {
                if !self.seen.contains(&sign) {
                    is_news = true;
                    if self.seen.len() == SEEN {
                        self.seen.pop_front();
                    }
                    self.seen.push_back(sign);
                }
            }
        }
        self.idle = if is_news { 0 } else { self.idle + 1 };
    }

    /// Returns the step for something odd, which is told once and never ends a run.
    fn odd(&mut self) -> Option<StuckStep> {
        let last = self.turns.back()?;
        let polls = self.turns.iter().rev();
        let polls = polls.take_while(|turn| turn.calls == last.calls).count();
        let words = if polls >= POLLS {
            format!("{} ×{polls}", last.words)
        } else if self.failures >= FAILURES {
            format!(
                "{} failed {} times with the same error",
                last.words, self.failures
            )
        } else if self.idle >= IDLE_TURNS {
            format!("nothing new in {} turns", self.idle)
        } else {
            self.is_odd = false;
            return None;
        };
        if std::mem::replace(&mut self.is_odd, true) {
            return None;
        }
        Some(StuckStep::Steer(format!(
            "You seem to make no progress: {words}. Change your approach, or finish and say what is missing."
        )))
    }
}

impl OpenTurn {
    /// Returns the signature of the turn: its calls in any order.
    fn sign(&self) -> TurnSign {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut pairs: Vec<(u64, u64)> = self
            .calls
            .iter()
            .map(|call| (call.hash, call.result.unwrap_or_default()))
            .collect();
        pairs.sort_unstable();
        let (mut calls, mut results) = (DefaultHasher::new(), DefaultHasher::new());
        for (call, result) in pairs {
            call.hash(&mut calls);
            result.hash(&mut results);
        }
        let words: Vec<&str> = self.calls.iter().map(|call| call.words.as_str()).collect();
        TurnSign {
            calls: calls.finish(),
            results: results.finish(),
            words: words.join(" + "),
        }
    }
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::{Part, ToolCall};
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Plays turns of one call each, as `call:result`, and returns the steps with their places.
    fn climb(turns: &[&str]) -> Vec<(usize, &'static str)> {
        let mut cycles = Cycles::new(5);
        let steps = turns.iter().enumerate().filter_map(|(place, turn)| {
            let step = play(&mut cycles, &[turn])?;
            Some((place + 1, name(&step)))
        });
        steps.collect()
    }

    fn name(step: &StuckStep) -> &'static str {
        match step {
            StuckStep::Warn(_) => "warn",
            StuckStep::Steer(_) => "steer",
            StuckStep::WrapUp(_) => "wrap up",
        }
    }

    fn play(cycles: &mut Cycles, calls: &[&str]) -> Option<StuckStep> {
        let split = |call: &str| {
            let (call, result) = call.split_once(':').unwrap_or((call, "same"));
            (call.to_owned(), result.to_owned())
        };
        let parts = calls.iter().enumerate().map(|(number, call)| {
            Part::ToolCall(ToolCall {
                id: number.to_string(),
                name: "bash".to_owned(),
                arguments: json!({"command": split(call).0}),
            })
        });
        let answer = AssistantMessage {
            parts: parts.collect(),
            ..AssistantMessage::default()
        };
        cycles.note_answer(&answer, |_| false);
        let mut step = None;
        for (number, call) in calls.iter().enumerate() {
            let result = split(call).1;
            step = cycles.note_result(&ToolResult {
                call_id: number.to_string(),
                tool: "bash".to_owned(),
                is_error: result.starts_with("error"),
                parts: vec![Part::Text(result)],
            });
        }
        step
    }

    #[test]
    fn equal_calls_with_equal_results_are_steered_once() {
        assert_eq!(climb(&["A"; 8]), [(3, "steer")]);
        assert_eq!(climb(&["A", "A", "A:new", "A", "A"]), []);
    }

    #[test]
    fn cycles_climb_the_ladder() {
        let repeated = |turns: &[&'static str]| climb(&turns.repeat(8));
        assert_eq!(
            repeated(&["A", "B"]),
            [(6, "warn"), (8, "steer"), (12, "wrap up")]
        );
        assert_eq!(
            repeated(&["A", "B", "C"]),
            [(9, "warn"), (12, "steer"), (18, "wrap up")]
        );
        assert_eq!(
            repeated(&["A", "B", "C", "D"]),
            [(12, "warn"), (16, "steer"), (24, "wrap up")]
        );
        // A cycle of five is not looked for, but brings nothing new.
        assert_eq!(repeated(&["A", "B", "C", "D", "E"]), [(17, "steer")]);
    }

    #[test]
    fn progress_starts_the_ladder_again() {
        let mut turns = ["A", "B"].repeat(3);
        turns.push("C:new");
        turns.extend(["A", "B"].repeat(4));
        assert_eq!(climb(&turns), [(6, "warn"), (13, "warn"), (15, "steer")]);
    }

    #[test]
    fn polling_is_left_alone_for_long_and_never_ended() {
        let polls: Vec<String> = (0..40).map(|number| format!("A:{number} of 100")).collect();
        let polls: Vec<&str> = polls.iter().map(String::as_str).collect();
        assert_eq!(climb(&polls), [(20, "steer")]);
    }

    #[test]
    fn a_result_that_differs_in_a_duration_is_the_same() {
        let turns: Vec<String> = (0..3)
            .map(|number| format!("A:ok in 0.{number}s"))
            .collect();
        let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
        assert_eq!(climb(&turns), [(3, "steer")]);
    }

    #[test]
    fn a_tool_that_fails_the_same_way_is_told_once() {
        let turns: Vec<String> = (0..9)
            .map(|number| format!("{number}:error: none"))
            .collect();
        let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
        assert_eq!(climb(&turns), [(5, "steer")]);
    }

    #[test]
    fn different_edits_are_progress() {
        let turns: Vec<String> = (0..9).map(|number| format!("edit {number}:ok")).collect();
        let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
        assert_eq!(climb(&turns), []);
    }

    #[test]
    fn calls_of_one_answer_are_one_turn_in_any_order() {
        let mut cycles = Cycles::new(5);
        assert_eq!(play(&mut cycles, &["A", "B"]), None);
        assert_eq!(play(&mut cycles, &["B", "A"]), None);
        let step = play(&mut cycles, &["A", "B"]);
        assert_eq!(step.as_ref().map(name), Some("steer"));
    }

    #[test]
    fn zero_turns_it_off() {
        let mut cycles = Cycles::new(0);
        for _ in 0..60 {
            assert_eq!(play(&mut cycles, &["A"]), None);
        }
    }

    proptest! {
        #[test]
        fn the_last_answer_comes_only_after_two_steps(
            turns in proptest::collection::vec(0..3_u8, 0..120),
        ) {
            let turns: Vec<String> = turns.iter().map(|number| format!("{number}")).collect();
            let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
            let steps: Vec<&str> = climb(&turns).into_iter().map(|(_, name)| name).collect();
            for (place, step) in steps.iter().enumerate() {
                if *step == "wrap up" {
                    prop_assert!(place >= 2);
                    prop_assert_eq!(&steps[place - 2..place], &["warn", "steer"]);
                }
            }
        }
    }
}
