//! Decides whether a gate that failed ends its run.

use pi_subagents_vocabulary::Gate;

/// The consequence of a gate that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateVerdict {
    /// The sub-agent gets the failure, and may mend it.
    Mend,
    /// The run is over, with a reason beside the gate's own.
    Over(Option<&'static str>),
}

/// The attempts of a run's gates, and whether the sub-agent did anything in between.
#[derive(Debug, Clone, Default)]
pub(crate) struct GateAttempts {
    /// The number of times that each gate was run.
    runs: Vec<u32>,
    /// The number of times that the sub-agent got the failure of each gate.
    told: Vec<u32>,
    /// The number of the last log. Every run of a gate has a log of its own.
    logs: u32,
    /// True if the sub-agent got a failure and has done nothing since.
    is_idle: bool,
    /// True once somebody was warned that others are at work in the same checkout.
    has_warned: bool,
}

impl GateAttempts {
    /// Notes that a gate is run. Returns how often that is.
    pub(crate) fn begin(&mut self, place: usize) -> u32 {
        let needed = self.runs.len().max(place + 1);
        self.runs.resize(needed, 0);
        self.told.resize(needed, 0);
        self.runs[place] += 1;
        self.runs[place]
    }

    /// Returns the number of the next log.
    pub(crate) fn next_log(&mut self) -> u32 {
        self.logs += 1;
        self.logs
    }

    /// Notes that others are at work in the same checkout. Returns whether that is news.
    pub(crate) fn warn_of_others(&mut self) -> bool {
        !std::mem::replace(&mut self.has_warned, true)
    }

    /// Notes that the sub-agent gets a failure.
    pub(crate) fn note_failure(&mut self) {
        self.is_idle = true;
    }

    /// Notes that the sub-agent has used a tool that may have changed something.
    pub(crate) fn note_deed(&mut self) {
        self.is_idle = false;
    }

    /// Judges a gate that has failed. Counts the failures that the sub-agent gets.
    pub(crate) fn judge(&mut self, place: usize, gate: &Gate, is_mendable: bool) -> GateVerdict {
        if !is_mendable {
            return GateVerdict::Over(None);
        }
        if self.is_idle {
            return GateVerdict::Over(Some("and the sub-agent changed nothing after it was told"));
        }
        let told = &mut self.told[place];
        if *told >= gate.retries {
            return GateVerdict::Over(None);
        }
        *told += 1;
        GateVerdict::Mend
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn gate(retries: u32) -> Gate {
        Gate {
            retries,
            ..Gate::new("make check")
        }
    }

    #[test]
    fn a_sub_agent_that_changes_nothing_gets_no_second_try() {
        let mut attempts = GateAttempts::default();
        attempts.begin(0);
        assert_eq!(attempts.judge(0, &gate(2), true), GateVerdict::Mend);
        attempts.note_failure();
        attempts.begin(0);
        assert!(matches!(
            attempts.judge(0, &gate(2), true),
            GateVerdict::Over(Some(_))
        ));
    }

    #[test]
    fn what_no_model_can_mend_is_not_told() {
        let mut attempts = GateAttempts::default();
        attempts.begin(0);
        assert_eq!(attempts.judge(0, &gate(9), false), GateVerdict::Over(None));
    }

    proptest! {
        #[test]
        fn a_sub_agent_is_never_told_more_often_than_it_has_retries(
            retries in 0..5_u32,
            rounds in proptest::collection::vec((0..2_usize, any::<bool>(), any::<bool>()), 0..40),
        ) {
            let mut attempts = GateAttempts::default();
            let mut told = [0; 2];
            for (place, is_mendable, does_something) in rounds {
                attempts.begin(place);
                match attempts.judge(place, &gate(retries), is_mendable) {
                    GateVerdict::Mend => {
                        attempts.note_failure();
                        told[place] += 1;
                    }
                    GateVerdict::Over(_) => break,
                }
                if does_something {
                    attempts.note_deed();
                }
            }
            prop_assert!(told.iter().all(|told| *told <= retries));
        }

        #[test]
        fn gates_are_run_once_more_than_their_sub_agent_may_mend_them(
            retries in proptest::collection::vec(0..4_u32, 1..4),
            outcomes in proptest::collection::vec((0..4_u8, any::<bool>()), 0..200),
        ) {
            let mut attempts = GateAttempts::default();
            let mut outcomes = outcomes.into_iter();
            let (mut prompts, mut place) = (0, 0);
            let mut runs = vec![0; retries.len()];
            while place < retries.len() {
                // Without further outcomes every gate fails, and the sub-agent never gives up.
                let (outcome, does_something) = outcomes.next().unwrap_or((1, true));
                runs[place] += 1;
                prop_assert_eq!(attempts.begin(place), runs[place]);
                if outcome == 0 {
                    place += 1;
                    continue;
                }
                let is_mendable = outcome != 3;
                match attempts.judge(place, &gate(retries[place]), is_mendable) {
                    GateVerdict::Mend => {
                        attempts.note_failure();
                        prompts += 1;
                        place = 0;
                    }
                    GateVerdict::Over(_) => break,
                }
                if does_something {
                    attempts.note_deed();
                }
            }
            let most: u32 = retries.iter().sum();
            prop_assert!(prompts <= most, "{prompts} of {most}");
            prop_assert!(runs.iter().all(|runs| *runs <= most + 1), "{runs:?} of {most}");
        }
    }
}
