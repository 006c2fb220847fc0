//! Servers of a fleet that are away while runs are followed: since when, and until when somebody
//! waits for them. The process that follows a run writes it beside the copied record, so that every
//! command that shows the run can say it.

use std::path::Path;
use std::time::Duration;

use pi_subagents_files::Directory;
use pi_subagents_records::{IndexedRun, RunDir};
use pi_subagents_view::figures::{date_and_time, time_of_day};
use pi_subagents_vocabulary::{RunId, TimeZone, Timestamp, moment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The file beside a copied record in which its follower writes down what it knows of the copy.
pub const COPY_NOTE: &str = "fleet.json";

/// More than this is not read of the note.
pub const LARGEST_NOTE: u64 = 1 << 20;

/// The part of the note beside a copied record that is read here.
#[derive(Deserialize)]
struct Note {
    away: Option<Away>,
}

impl Note {
    fn read(directory: &RunDir) -> Option<Self> {
        let directory = Directory::open_plain(directory.path()).ok()?;
        let content = directory.read(Path::new(COPY_NOTE), LARGEST_NOTE).ok()?;
        serde_json::from_slice(&content).ok()
    }
}

/// The sentence about servers that have come back.
pub const BACK: &str = "the servers of the fleet are back";

/// An absence of the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Away {
    /// The time at which they were last seen.
    #[serde(with = "moment")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    since: Timestamp,
    /// The time at which the process that follows the run waits no longer.
    #[serde(with = "moment")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    until: Timestamp,
}

impl Away {
    /// Dates an absence that has lasted for some time, and that somebody waits out for the time that
    /// is left.
    pub fn lasting(away: Duration, left: Duration) -> Self {
        let now = Timestamp::now();
        let whole = |time: Duration| Duration::from_secs(time.as_secs());
        Self {
            since: now.checked_sub(whole(away)).unwrap_or(now),
            until: now.checked_add(whole(left)).unwrap_or(now),
        }
    }

    /// Returns the absence that the follower of a run has noted, unless the run is over.
    pub fn noted(directory: &RunDir) -> Option<Self> {
        let away = Note::read(directory)?.away?;
        (!directory.result().exists()).then_some(away)
    }

    /// Says that the servers are away, or that nobody waits for them any more.
    pub fn sentence(&self, run: &RunId) -> String {
        if Timestamp::now() < self.until {
            return self.waiting();
        }
        self.given_up(run)
    }

    /// Says that the servers are away, and how long somebody waits.
    pub fn waiting(&self) -> String {
        let (since, until) = self.times();
        format!("lost contact with the fleet at {since}; retrying until {until}")
    }

    /// Says that nobody waits any more, and how to learn more of the run.
    pub fn given_up(&self, run: &RunId) -> String {
        let (since, until) = self.times();
        format!(
            "the servers of the fleet have been away since {since}, and nobody has waited for them since {until}; \
             the run may go on there, and waiting for run {run} catches up with it"
        )
    }

    /// Writes both times: only the time of day if that is clear.
    fn times(&self) -> (String, String) {
        let zone = TimeZone::system();
        let day = |at: Timestamp| at.to_zoned(zone.clone()).date();
        let today = day(Timestamp::now());
        let written = |at: Timestamp| {
            if day(at) == today {
                time_of_day(at, &zone)
            } else {
                date_and_time(at, &zone)
            }
        };
        (written(self.since), written(self.until))
    }
}

/// The news about the servers for somebody who waits for runs: each absence and each return once,
/// however many runs there are.
#[derive(Debug, Default)]
pub struct AwayNews {
    is_away: bool,
}

impl AwayNews {
    /// Looks at open runs, and returns the news since the last look.
    pub fn look<'a>(&mut self, runs: impl Iterator<Item = &'a IndexedRun>) -> Option<String> {
        let of_fleet = runs.filter(|run| run.owner.fleet.is_some());
        let now = Timestamp::now();
        let away = of_fleet
            .filter_map(|run| Away::noted(&run.directory))
            .filter(|away| now < away.until)
            .min_by_key(|away| away.since);
        match (away, std::mem::replace(&mut self.is_away, away.is_some())) {
            (Some(away), false) => Some(away.waiting()),
            (None, true) => Some(BACK.to_owned()),
            (Some(_), true) | (None, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away(until: &str) -> Away {
        Away {
            since: "2020-11-16T10:02:11Z".parse().expect("a time"),
            until: until.parse().expect("a time"),
        }
    }

    /// Leaves out the times, which depend on the day and the zone of the reader.
    fn without_times(sentence: &str) -> String {
        let shown = |word: &str| match word.chars().next() {
            Some('0'..='9') if word.contains(':') => "<time>".to_owned(),
            Some('0'..='9') if word.matches('-').count() == 2 => "<date>".to_owned(),
            _ => word.to_owned(),
        };
        sentence.split(' ').map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_absence_is_told_by_whether_somebody_waits() {
        let run = RunId::parse("20261116-100000-000-00000a").expect("a run");
        let sentences = [
            away("9999-01-01T00:00:00Z").sentence(&run),
            away("2020-11-16T10:17:11Z").sentence(&run),
        ];
        let sentences = sentences.map(|sentence| without_times(&sentence));
        insta::assert_snapshot!(sentences.join("\n"), @"
        lost contact with the fleet at <date> <time> retrying until <date> <time>
        the servers of the fleet have been away since <date> <time> and nobody has waited for them since <date> <time> the run may go on there, and waiting for run 20261116-100000-000-00000a catches up with it
        ");
    }

    #[test]
    fn an_absence_survives_its_file() {
        let away = away("2020-11-16T10:17:11Z");
        let text = serde_json::to_string(&away).expect("JSON");
        assert_eq!(
            text,
            r#"{"since":"2020-11-16T10:02:11.000Z","until":"2020-11-16T10:17:11.000Z"}"#
        );
        assert_eq!(
            serde_json::from_str::<Away>(&text).expect("an absence"),
            away
        );
    }
}
