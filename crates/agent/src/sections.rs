//! The named parts of a system prompt, in their order.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Parts by name. In a patch, a part without text is taken away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sections(Vec<(String, Option<String>)>);

impl Sections {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a part, or changes it in its place.
    pub(crate) fn set(&mut self, name: &str, text: Option<String>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = text,
            None => self.0.push((name.to_owned(), text)),
        }
    }

    /// Adds a part in the tags that pi puts around every part but the first.
    pub(crate) fn set_tagged(&mut self, name: &str, text: &str) {
        self.set(name, Some(format!("<{name}>\n{text}\n</{name}>")));
    }

    /// Takes over the parts of a patch.
    pub(crate) fn apply(&mut self, patch: &Self) {
        for (name, text) in &patch.0 {
            self.set(name, text.clone());
        }
        self.0.retain(|(_, text)| text.is_some());
    }

    /// Returns the patch that leads from `before` to these sections.
    pub(crate) fn difference(&self, before: &Self) -> Self {
        let mut patch = Self::default();
        for part in &self.0 {
            if !before.0.contains(part) {
                patch.set(&part.0, part.1.clone());
            }
        }
        for (name, _) in &before.0 {
            if !self.0.iter().any(|(known, _)| known == name) {
                patch.set(name, None);
            }
        }
        patch
    }

    /// Returns the prompt as one text.
    pub(crate) fn text(&self) -> String {
        let texts: Vec<&str> = self
            .0
            .iter()
            .filter_map(|(_, text)| text.as_deref())
            .collect();
        texts.join("\n\n")
    }
}

impl Serialize for Sections {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, text) in &self.0 {
            map.serialize_entry(name, text)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Sections {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;
        impl<'de> Visitor<'de> for Parts {
            type Value = Sections;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("prompt sections by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sections, A::Error> {
                let mut sections = Sections::default();
                while let Some((name, text)) = map.next_entry()? {
                    sections.0.push((name, text));
                }
                Ok(sections)
            }
        }
        deserializer.deserialize_map(Parts)
    }
}
