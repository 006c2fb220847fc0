//! Paths as short as they can be: relative to the task's directory, or with `~` for home.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use super::PreviewContext;

/// Shortens a path. A relative path stays as it is.
pub(super) fn shorten<'a>(path: &'a str, context: &PreviewContext) -> Cow<'a, str> {
    let relative = relative(Path::new(path), &context.cwd);
    shortest(path, relative, context)
}

/// Shortens a path in a command, where another path may mean something else: the way up depends on
/// where the command is by then, or goes into a variable.
fn shorten_in_command<'a>(path: &'a str, context: &PreviewContext) -> Cow<'a, str> {
    let relative = relative(Path::new(path), &context.cwd);
    let relative = relative.filter(|way| !way.starts_with(".."));
    shortest(path, relative, context)
}

fn shortest<'a>(path: &'a str, relative: Option<String>, context: &PreviewContext) -> Cow<'a, str> {
    if !Path::new(path).is_absolute() {
        return path.into();
    }
    let below_home = context
        .home
        .as_deref()
        .and_then(|home| with_tilde(path, home));
    let candidates = [below_home, relative].into_iter().flatten();
    // The first of equally short paths stays, so the path as it was wins over another of its length.
    candidates.fold(Cow::Borrowed(path), |shortest, candidate| {
        if candidate.len() < shortest.len() {
            candidate.into()
        } else {
            shortest
        }
    })
}

/// Shortens every absolute path in a shell command.
pub(super) fn shorten_all(text: &str, context: &PreviewContext) -> String {
    let mut shortened = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(is_boundary).unwrap_or(rest.len());
        shortened.push_str(&shorten_in_command(&rest[..word], context));
        let boundary = rest[word..].chars().next().map_or(0, char::len_utf8);
        shortened.push_str(&rest[word..word + boundary]);
        rest = &rest[word + boundary..];
    }
    shortened
}

fn is_boundary(character: char) -> bool {
    character.is_whitespace() || "\"'`=:,;|&<>()".contains(character)
}

fn with_tilde(path: &str, home: &Path) -> Option<String> {
    let is_a_home = home.components().count() > 1;
    let below = Path::new(path).strip_prefix(home).ok()?;
    let below = below.to_str().filter(|_| is_a_home)?;
    Some(match below {
        "" => "~".to_owned(),
        below => format!("~/{below}"),
    })
}

/// Returns the way from `from` to `path`, by their names alone.
fn relative(path: &Path, from: &Path) -> Option<String> {
    if !from.is_absolute() || has_dots(path) {
        return None;
    }
    let shared = path
        .components()
        .zip(from.components())
        .take_while(|(mine, theirs)| mine == theirs)
        .count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(path.components().skip(shared)).collect();
    match way.to_str()? {
        "" => Some(".".to_owned()),
        way => Some(way.to_owned()),
    }
}

fn has_dots(path: &Path) -> bool {
    path.components()
        .any(|component| component == Component::ParentDir)
}
