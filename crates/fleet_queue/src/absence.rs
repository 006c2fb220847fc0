//! Decides how long somebody waits for servers that are away, and when people learn of it. These
//! are rules only: looks at the connection come in with their instants, and turns come out.

use std::time::{Duration, Instant};

/// The time for which servers may be away before people are told. A server that is started again,
/// or servers that choose a leader, need less.
const NOTICE: Duration = Duration::from_secs(5);

/// A turn of the servers' presence that somebody must act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// They have been away for so long that people should know.
    Away,
    /// They are back, and people know that they were away.
    Back,
    /// They have been away for longer than anybody waits for them.
    GivenUp,
}

/// The presence of the servers, as somebody sees it who waits for them.
#[derive(Debug, Clone)]
pub struct Absence {
    patience: Duration,
    /// The first look that did not find them, unless a later one did.
    since: Option<Instant>,
    is_told: bool,
}

impl Absence {
    /// Begins with servers that are there, and waits for this time whenever they are away.
    pub fn new(patience: Duration) -> Self {
        Self {
            patience,
            since: None,
            is_told: false,
        }
    }

    /// Notes a look, and returns the turn that it brings. Every absence is told once, and so is
    /// its end; an absence that nobody was told of ends without a word.
    pub fn note(&mut self, now: Instant, are_there: bool) -> Option<Turn> {
        if are_there {
            self.since = None;
            return std::mem::take(&mut self.is_told).then_some(Turn::Back);
        }
        let away = now.saturating_duration_since(*self.since.get_or_insert(now));
        if away >= self.patience {
            return Some(Turn::GivenUp);
        }
        if away >= NOTICE && !std::mem::replace(&mut self.is_told, true) {
            return Some(Turn::Away);
        }
        None
    }

    /// Returns how long the servers have been away, and how long they are still waited for; `None`
    /// while they are there.
    pub fn times(&self, now: Instant) -> Option<(Duration, Duration)> {
        let away = now.saturating_duration_since(self.since?);
        Some((away, self.patience.saturating_sub(away)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays looks at these seconds, and returns the turns that they bring.
    fn turns(patience: u64, looks: &[(u64, bool)]) -> Vec<(u64, Turn)> {
        let begin = Instant::now();
        let mut absence = Absence::new(Duration::from_secs(patience));
        let turn = |(second, are_there): &(u64, bool)| {
            let turn = absence.note(begin + Duration::from_secs(*second), *are_there);
            turn.map(|turn| (*second, turn))
        };
        looks.iter().filter_map(turn).collect()
    }

    #[test]
    fn a_short_absence_is_told_to_nobody() {
        let looks = [(0, true), (1, false), (5, false), (6, true), (7, true)];
        assert_eq!(turns(60, &looks), []);
    }

    #[test]
    fn a_long_absence_is_told_once_and_so_is_its_end() {
        let mut looks: Vec<(u64, bool)> = (1..40).map(|second| (second, false)).collect();
        looks.extend([
            (40, true),
            (41, true),
            (42, false),
            (47, false),
            (48, false),
        ]);
        let expected = [(6, Turn::Away), (40, Turn::Back), (47, Turn::Away)];
        assert_eq!(turns(60, &looks), expected);
    }

    #[test]
    fn nobody_waits_longer_than_their_patience_and_every_absence_begins_anew() {
        let looks: Vec<(u64, bool)> = (0..100).map(|second| (second, second == 50)).collect();
        let told = turns(60, &looks);
        assert_eq!(told, [(5, Turn::Away), (50, Turn::Back), (56, Turn::Away)]);
        let looks: Vec<(u64, bool)> = (0..=60).map(|second| (second, false)).collect();
        assert_eq!(turns(60, &looks), [(5, Turn::Away), (60, Turn::GivenUp)]);
        // A machine that slept looks late.
        assert_eq!(
            turns(60, &[(0, false), (900, false)]),
            [(900, Turn::GivenUp)]
        );
        assert_eq!(turns(2, &[(0, false), (2, false)]), [(2, Turn::GivenUp)]);
    }

    #[test]
    fn the_times_of_an_absence_add_up_to_the_patience() {
        let begin = Instant::now();
        let seconds = Duration::from_secs;
        let mut absence = Absence::new(seconds(60));
        assert_eq!(absence.times(begin), None);
        _ = absence.note(begin, false);
        let later = absence.times(begin + seconds(20));
        assert_eq!(later, Some((seconds(20), seconds(40))));
        let over = absence.times(begin + seconds(90));
        assert_eq!(over, Some((seconds(90), seconds(0))));
    }
}
