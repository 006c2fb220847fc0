//! The query of a request: names and values, each read once and within its limits.

use std::collections::HashMap;
use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// The values behind the path of a request.
pub(crate) struct Query(HashMap<String, String>);

/// The length of the longest query of a request.
const LONGEST: usize = 16 << 10;

/// The number of runs or texts that one request may name.
const MOST: usize = 64;

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::read(parts.uri.query()))
    }
}

impl Query {
    /// Reads a query. A query that is too long counts as empty.
    fn read(query: Option<&str>) -> Self {
        let query = query.filter(|query| query.len() <= LONGEST);
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// Returns a value that is not empty.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// Returns a number.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.0.get(name)?.parse().ok()
    }

    /// Returns the names between commas.
    pub(crate) fn names(&self, name: &str) -> Vec<String> {
        let names = self.text(name).unwrap_or_default();
        let names = names.split(',').filter(|name| !name.is_empty());
        names.take(MOST).map(str::to_owned).collect()
    }

    /// Returns places and parts, as in `1024.0,4096.1`.
    pub(crate) fn places(&self, name: &str) -> Vec<(u64, usize)> {
        let names = self.names(name);
        let places = names.iter().filter_map(|place| {
            let (place, part) = place.split_once('.')?;
            Some((place.parse().ok()?, part.parse().ok()?))
        });
        places.collect()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn values_are_read_and_nonsense_is_left_out() {
        let query = Query::read(Some(
            "project=%2Fhome%2Fa%20b&from=12&runs=a,,b&at=1.0,x,7.2&q=",
        ));
        assert_eq!(query.text("project").as_deref(), Some("/home/a b"));
        assert_eq!(query.number::<u64>("from"), Some(12));
        assert_eq!(query.names("runs"), ["a", "b"]);
        assert_eq!(query.places("at"), [(1, 0), (7, 2)]);
        assert_eq!(query.text("q"), None);
        let long = format!("a={}", "x".repeat(LONGEST));
        assert_eq!(Query::read(Some(&long)).text("a"), None);
    }
}
