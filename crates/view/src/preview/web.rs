//! Previews of the tools that read the web.

use std::borrow::Cow;

use super::Sentence;
use super::arguments::Arguments;
use crate::Role;

/// Shows `fetch_content → url`, `fetch_repo → url`.
pub(super) fn fetch(tool: &str, arguments: Arguments<'_>) -> Sentence {
    first_of(tool, arguments.list(&["url", "urls"]))
}

/// Shows `web_search → query`.
pub(super) fn search(tool: &str, arguments: Arguments<'_>) -> Sentence {
    first_of(tool, arguments.list(&["query", "queries", "url"]))
}

fn first_of(tool: &str, list: Option<Vec<Cow<'_, str>>>) -> Sentence {
    let list = list.unwrap_or_default();
    let first = list.first().map_or("...", |first| &**first);
    let sentence = Sentence::new(tool).about(first);
    match list.len() {
        0 | 1 => sentence,
        number => sentence.count(Role::Muted, &format!(" +{} more", number - 1)),
    }
}
