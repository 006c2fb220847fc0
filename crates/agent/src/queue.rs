//! Messages that wait for the right moment of a run.

/// Messages that came while the agent was at work.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Delivered after the current turn.
    pub(crate) steering: Vec<String>,
    /// Delivered when the agent would stop.
    pub(crate) follow_up: Vec<String>,
}

impl Queue {
    /// Takes the next message to deliver between two turns.
    pub(crate) fn take_steering(&mut self) -> Option<String> {
        take_first(&mut self.steering)
    }

    /// Takes the next message to deliver instead of stopping.
    pub(crate) fn take_follow_up(&mut self) -> Option<String> {
        take_first(&mut self.follow_up)
    }

    pub(crate) fn len(&self) -> usize {
        self.steering.len() + self.follow_up.len()
    }
}

fn take_first(messages: &mut Vec<String>) -> Option<String> {
    if messages.is_empty() {
        None
    } else {
        Some(messages.remove(0))
    }
}
