//! The values of variables and headers: `${NAME}`, `${NAME:-default}` and `${auth.json:NAME}`.

use std::collections::BTreeMap;

use super::ServerPlaces;
use super::failure::StartFailure;
use crate::models::stored_key;

/// Begins the name of a key in pi's file of keys.
const OF_AUTH_FILE: &str = "auth.json:";

/// What stands in the place of a key.
const MASK: &str = "****";

/// The shortest value that is hidden. Shorter ones are in many words.
const SHORTEST_KEY: usize = 6;

/// Values with their keys put in.
#[derive(Debug, Clone, Default)]
pub(super) struct FilledValues {
    pub(super) values: BTreeMap<String, String>,
    /// Everything that was put in, which no error may repeat.
    keys: Vec<String>,
}

impl FilledValues {
    /// Puts keys into the values; the error names what is missing.
    pub(super) async fn of(
        values: &BTreeMap<String, String>,
        places: &ServerPlaces,
    ) -> Result<Self, StartFailure> {
        let mut filled = Self::default();
        for (name, value) in values {
            let value = filled.fill(name, value, places).await?;
            filled.values.insert(name.clone(), value);
        }
        Ok(filled)
    }

    async fn fill(
        &mut self,
        name: &str,
        value: &str,
        places: &ServerPlaces,
    ) -> Result<String, StartFailure> {
        let mut filled = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((key, after)) = after.split_once('}') else {
                break;
            };
            let found = lookup(key, places).await;
            let found = found.map_err(|why| StartFailure::Key {
                name: name.to_owned(),
                key: key.to_owned(),
                why,
            })?;
            filled.extend([before, found.as_str()]);
            self.keys.push(found);
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// Takes every key out of a text.
    pub(super) fn masked(&self, text: &str) -> String {
        let long = self.keys.iter().filter(|key| key.len() >= SHORTEST_KEY);
        long.fold(text.to_owned(), |text, key| text.replace(key, MASK))
    }
}

async fn lookup(key: &str, places: &ServerPlaces) -> Result<String, String> {
    if let Some(entry) = key.strip_prefix(OF_AUTH_FILE) {
        let found = stored_key(entry, &places.agent_dir, &places.variables).await;
        return found
            .ok_or_else(|| "is not a key of the auth.json that this agent sees".to_owned());
    }
    let (variable, default) = match key.split_once(":-") {
        Some((variable, default)) => (variable, Some(default)),
        None => (key, None),
    };
    let value = places.variables.get(variable).map(String::as_str);
    value
        .or(default)
        .map(str::to_owned)
        .ok_or_else(|| "is not set".to_owned())
}
