//! Models that rest, because they were out of quota or overloaded a moment ago. Pure: times are
//! given.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FailureClass, ModelFailure};
use crate::{moment, text};

/// The largest number of models that rest at once; those that rest for the shortest time are
/// forgotten.
pub const MOST_COOLDOWNS: usize = 100;

/// The longest name of a model, in characters.
const LONGEST_NAME: usize = 200;

/// How long a model rests whose provider does not say it.
const OUT_OF_QUOTA: Duration = Duration::from_mins(30);
const OVERLOADED: Duration = Duration::from_mins(5);

/// The models that rest, by their names with providers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cooldowns {
    models: BTreeMap<String, Cooldown>,
}

/// The rest of one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cooldown {
    /// The time at which it may be asked again.
    #[serde(with = "moment")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub until: Timestamp,
    /// The kind of failure.
    pub class: FailureClass,
    /// The failure in a few words.
    pub why: String,
}

impl Cooldowns {
    /// Reads the text of the file. An entry that cannot be read is left out, and a text that is no
    /// JSON at all has none: a rest that is forgotten costs one request.
    pub fn read(text: &str, now: Timestamp) -> Self {
        let entries: BTreeMap<String, serde_json::Value> =
            serde_json::from_str(text).unwrap_or_default();
        let models = entries.into_iter().filter_map(|(name, entry)| {
            let cooldown: Cooldown = serde_json::from_value(entry).ok()?;
            (cooldown.until > now).then_some((name, cooldown))
        });
        let mut read = Self {
            models: models.collect(),
        };
        read.forget_shortest();
        read
    }

    /// Returns the text for the file.
    pub fn to_text(&self) -> String {
        // Texts and times can always be written.
        serde_json::to_string_pretty(&self.models).unwrap_or_default()
    }

    /// Returns the rest of a model, if it rests now.
    pub fn of(&self, model: &str, now: Timestamp) -> Option<&Cooldown> {
        let cooldown = self.models.get(model);
        cooldown.filter(|cooldown| cooldown.until > now)
    }

    /// Returns all models that rest, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Cooldown)> {
        let models = self.models.iter();
        models.map(|(name, cooldown)| (name.as_str(), cooldown))
    }

    /// Returns whether no model rests.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// Lets a model rest after a failure, if that is of a kind which heals with time. Returns until
    /// when.
    pub fn note(
        &mut self,
        model: &str,
        failure: &ModelFailure,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let until = rest(failure, now)?;
        let cooldown = Cooldown {
            until,
            class: failure.class,
            why: failure.reason.clone(),
        };
        let name = text::cut_characters(model, LONGEST_NAME);
        self.models.insert(name, cooldown);
        self.forget_shortest();
        Some(until)
    }

    fn forget_shortest(&mut self) {
        while self.models.len() > MOST_COOLDOWNS {
            let shortest = self
                .models
                .iter()
                .min_by_key(|(_, cooldown)| cooldown.until);
            let Some(name) = shortest.map(|(name, _)| name.clone()) else {
                return;
            };
            self.models.remove(&name);
        }
    }
}

/// Returns until when a model rests after a failure.
fn rest(failure: &ModelFailure, now: Timestamp) -> Option<Timestamp> {
    let usual = match failure.class {
        FailureClass::Quota => OUT_OF_QUOTA,
        FailureClass::Busy => OVERLOADED,
        FailureClass::Unavailable
        | FailureClass::KeyRefused
        | FailureClass::TooLong
        | FailureClass::Refused
        | FailureClass::Unknown => return None,
    };
    let wait = SignedDuration::try_from(failure.wait.unwrap_or(usual)).ok()?;
    now.checked_add(wait).ok()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn failure(message: &str) -> ModelFailure {
        ModelFailure::read(message)
    }

    #[test]
    fn a_model_rests_as_long_as_its_provider_says_or_as_its_failure_takes() {
        let mut resting = Cooldowns::default();
        for (message, seconds) in [
            ("429: usage limit", Some(1_800)),
            ("429: usage limit, try again in 2h", Some(7_200)),
            ("503: busy", Some(300)),
            ("401: wrong key", None),
            ("404: no such model", None),
        ] {
            let until = resting.note("a/x", &failure(message), at(0));
            assert_eq!(until, seconds.map(at), "{message}");
        }
    }

    #[test]
    fn a_rest_ends_and_a_torn_file_has_none() {
        let mut resting = Cooldowns::default();
        resting.note("a/x", &failure("503: busy"), at(0));
        let text = resting.to_text();
        assert_eq!(Cooldowns::read(&text, at(299)), resting);
        assert!(Cooldowns::read(&text, at(300)).is_empty());
        assert!(resting.of("a/x", at(299)).is_some());
        assert!(resting.of("a/x", at(300)).is_none());
        let torn = text.get(..text.len() / 2).unwrap();
        assert!(Cooldowns::read(torn, at(0)).is_empty());
        let partly =
            r#"{"a/x": 7, "b/y": {"until": "2027-01-15T08:05:00Z", "class": "busy", "why": "w"}}"#;
        let read = Cooldowns::read(partly, at(0));
        assert_eq!(
            read.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            ["b/y"]
        );
    }

    #[test]
    fn the_list_is_bounded() {
        let mut resting = Cooldowns::default();
        for number in 0..150 {
            resting.note(&format!("a/{number:03}"), &failure("503: busy"), at(number));
        }
        assert_eq!(resting.iter().count(), MOST_COOLDOWNS);
        assert_eq!(resting.iter().next().unwrap().0, "a/050");
    }
}
