//! Numbers the steps of the wizard, so that a person sees how many are left.

/// The steps that every walk has.
const STEPS: usize = 11;

/// The number of the next step, and of all.
pub(crate) struct StepNumbers {
    taken: usize,
    all: usize,
}

impl StepNumbers {
    /// Counts the steps of a walk that asks for the format first.
    pub(crate) fn with_format() -> Self {
        Self {
            taken: 0,
            all: STEPS + 1,
        }
    }

    /// Counts the steps of a walk whose format is known.
    pub(crate) fn without_format() -> Self {
        Self {
            taken: 0,
            all: STEPS,
        }
    }

    /// Goes on to the next step and returns its number, such as `3/12`.
    pub(super) fn next(&mut self) -> String {
        self.taken += 1;
        format!("{}/{}", self.taken, self.all)
    }
}
