//! The files that are served. There is no build step: the server itself puts the modules together.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use crate::assets::ASSETS;
use crate::bundle;

/// Returns the file of this name, if the page has one and the browser has not got it already.
pub(crate) fn file(name: &str, asked: &HeaderMap) -> Response {
    let Some(content) = content(name) else {
        return (StatusCode::NOT_FOUND, "There is no such file.\n").into_response();
    };
    let tag = tag(content);
    let headers = [
        (header::CONTENT_TYPE, kind(name).to_owned()),
        // The file of another version has another tag; asking for that is cheap.
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::ETAG, tag.clone()),
    ];
    let held = asked.get(header::IF_NONE_MATCH);
    if held.is_some_and(|held| held.as_bytes() == tag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, content).into_response()
}

/// Returns the content of a file that is served. The modules are served together.
pub(crate) fn content(name: &str) -> Option<&'static str> {
    if name == bundle::NAME {
        return Some(&bundle::BUNDLE);
    }
    let mut files = ASSETS.iter().filter(|asset| !asset.is_module());
    let asset = files.find(|asset| asset.name == name)?;
    Some(asset.content)
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

fn tag(content: &str) -> String {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}
