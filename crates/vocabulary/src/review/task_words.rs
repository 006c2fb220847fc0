//! The files that a task does not speak of.

use super::facts::TouchedPath;
use super::path_kind::PathKind;

/// Returns the changed files that a task does not speak of. A task that names no file which was
/// changed says nothing about where the work belongs, and then no file is outside. Tests belong to
/// every task, and kinds of files that have a reason of their own are not named twice.
pub(super) fn outside(task: &str, files: &[TouchedPath]) -> Vec<String> {
    let named: Vec<&str> = task.split_whitespace().filter_map(path_in).collect();
    let is_named = |path: &str| named.iter().any(|name| speaks_of(name, path));
    if !files.iter().any(|file| is_named(&file.path)) {
        return Vec::new();
    }
    let words = words_of(task);
    let is_outside = |file: &&TouchedPath| {
        PathKind::of(&file.path) == PathKind::Ordinary
            && !is_named(&file.path)
            && !words.contains(&stem(&file.path).to_lowercase())
    };
    let outside = files.iter().filter(is_outside);
    outside.map(|file| file.path.clone()).collect()
}

/// Returns the path in a word, if the word looks like one.
fn path_in(word: &str) -> Option<&str> {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '.');
    let word = word.trim_end_matches('.').trim_start_matches("./");
    let word = word.split_once(':').map_or(word, |(path, _)| path);
    let has_end = word.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty() && (1..=5).contains(&end.len()) && end.chars().all(char::is_alphanumeric)
    });
    (word.contains('/') || has_end).then_some(word)
}

/// Returns whether a name in a task means a path: the file itself, or a folder above it.
fn speaks_of(name: &str, path: &str) -> bool {
    let name = name.trim_end_matches('/');
    path == name
        || path.ends_with(&format!("/{name}"))
        || path.starts_with(&format!("{name}/"))
        || path.contains(&format!("/{name}/"))
}

fn words_of(task: &str) -> Vec<String> {
    let words = task.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.map(str::to_lowercase).collect()
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(task: &str, paths: &[&str]) -> Vec<String> {
        let file = |path: &&str| TouchedPath {
            path: (*path).to_owned(),
            ..TouchedPath::default()
        };
        outside(task, &paths.iter().map(file).collect::<Vec<_>>())
    }

    #[test]
    fn a_file_is_outside_only_of_a_task_that_names_files() {
        let none: [&str; 0] = [];
        assert_eq!(of("Make it faster.", &["src/a.rs"]), none);
        assert_eq!(of("Read docs/spec.md and build it.", &["src/a.rs"]), none);
        let both = ["src/app.rs", "src/old.rs"];
        assert_eq!(of("Fix the parser in src/app.rs.", &both), ["src/old.rs"]);
        assert_eq!(of("Fix `app.rs:40`, please.", &both), ["src/old.rs"]);
        assert_eq!(of("Fix src/app.rs and old too.", &both), none);
        assert_eq!(of("Tidy up src/.", &both), none);
        let with_others = ["src/app.rs", "tests/app.rs", "Cargo.lock", "README.md"];
        assert_eq!(of("Fix ./src/app.rs", &with_others), ["README.md"]);
    }
}
