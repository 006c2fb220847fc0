//! The files of the page, as they are in the repository. There is no build step: the served files
//! are the source files.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

/// A file of the page.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) content: &'static str,
}

macro_rules! assets {
    ($($name:literal),* $(,)?) => {
        &[$(Asset { name: $name, content: include_str!(concat!("../assets/", $name)) }),*]
    };
}

/// All files of the page. The modules are in the order in which they use each other.
pub(crate) const ASSETS: &[Asset] = assets![
    "index.html",
    "style.css",
    "icon.svg",
    "lit-html.js",
    "types.js",
    "figures.js",
    "fold.js",
    "heights.js",
    "connection.js",
    "recorded.js",
    "listing.js",
    "opened.js",
    "model.js",
    "effects.js",
    "receipts.js",
    "words.js",
    "virtual.js",
    "runs.js",
    "transcript.js",
    "changes.js",
    "run.js",
    "scale.js",
    "painting.js",
    "span_words.js",
    "timeline.js",
    "composer.js",
    "side.js",
    "history.js",
    "compare.js",
    "usage.js",
    "definitions.js",
    "keys.js",
    "share.js",
    "frame.js",
    "main.js",
];

/// The place in the start page where its modules are named.
const MODULES: &str = "<!-- modules -->";

/// Names all modules, so that the browser fetches them at once: else it would find the next ones
/// only after it has read those that import them.
fn preloads() -> String {
    // The types are read by the compiler and by nobody else.
    let is_used = |asset: &&Asset| asset.is_module() && asset.name != "types.js";
    let modules = ASSETS.iter().filter(is_used);
    let links =
        modules.map(|module| format!("<link rel=\"modulepreload\" href=\"{}\">", module.name));
    links.collect::<Vec<_>>().join("\n")
}

/// Returns the file of this name, if the page has one and the browser has not got it already.
pub(crate) fn asset(name: &str, asked: &HeaderMap) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return (StatusCode::NOT_FOUND, "There is no such file.\n").into_response();
    };
    if asset.name == "index.html" {
        // It names the modules, so it has no tag of its own.
        let kind = [(header::CONTENT_TYPE, asset.kind())];
        return (kind, asset.content.replace(MODULES, &preloads())).into_response();
    }
    let headers = [
        (header::CONTENT_TYPE, asset.kind().to_owned()),
        // The file of another version has another tag; asking for that is cheap.
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::ETAG, asset.tag()),
    ];
    let held = asked.get(header::IF_NONE_MATCH);
    if held.is_some_and(|held| held.as_bytes() == asset.tag().as_bytes()) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, asset.content).into_response()
}

impl Asset {
    /// Returns whether it is a module that others import.
    pub(crate) fn is_module(&self) -> bool {
        self.kind().starts_with("text/javascript")
    }

    fn kind(&self) -> &'static str {
        match self.name.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "text/plain; charset=utf-8",
        }
    }

    fn tag(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.content.hash(&mut hasher);
        format!("\"{:016x}\"", hasher.finish())
    }
}
