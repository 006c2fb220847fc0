//! A duration in JSON: a number of seconds.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(
    duration: &Duration,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

/// Reads a number. One that no duration can have stands for the longest. Records of earlier versions
/// have the seconds and the nanoseconds apart.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Duration, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Seconds(f64),
        Apart(Duration),
    }

    Ok(match Written::deserialize(deserializer)? {
        Written::Seconds(seconds) => Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
        Written::Apart(duration) => duration,
    })
}

/// The same for a duration that may be missing.
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, Duration, Serializer};

    #[derive(Deserialize)]
    struct Seconds(#[serde(with = "super")] Duration);

    #[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => super::serialize(duration, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let read = Option::<Seconds>::deserialize(deserializer)?;
        Ok(read.map(|Seconds(duration)| duration))
    }
}
