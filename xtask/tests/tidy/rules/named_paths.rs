//! Every file that a document of the house names is there.

use std::collections::BTreeSet;

use xtask::source::Tree;

use crate::finding::Finding;

/// The code map names folders too, and its paragraphs say which crate they are about.
const MAP: &str = "ARCHITECTURE.md";

/// The file that may name files which no longer exist.
const HISTORY: &str = "CHANGELOG.md";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let places = places(tree);
    let mut findings = Vec::new();
    for document in &tree.files {
        if !document.has_extension(&["md"]) || document.path == HISTORY {
            continue;
        }
        let is_map = document.path == MAP;
        for (number, line) in document.numbered_lines() {
            let room = room(line).filter(|_| is_map);
            for name in quoted(line).flat_map(expanded) {
                if is_path(&name, is_map) && !is_there(&name, room.as_deref(), &places) {
                    let message = format!("names `{name}`, which is not there");
                    findings.push(Finding::at(&document.path, number, message));
                }
            }
        }
    }
    findings
}

/// All files and folders, without the folder `src`, which documents leave out.
fn places(tree: &Tree) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    for file in &tree.files {
        let mut place = String::from("/");
        for part in file.path.split('/').filter(|part| *part != "src") {
            place += part;
            places.insert(place.clone());
            place.push('/');
        }
    }
    places
}

/// The folder that a paragraph of the map is about: ``**`engine`: …``.
fn room(line: &str) -> Option<String> {
    let (name, _) = line.strip_prefix("**`")?.split_once('`')?;
    Some(match name.strip_prefix("../") {
        Some(beside) => format!("/{beside}/"),
        None => format!("/crates/{}/", without_src(name)),
    })
}

fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// `a/{b,c}.rs` are two.
fn expanded(name: &str) -> Vec<String> {
    let parts = name.split_once('{').and_then(|(before, rest)| {
        let (inside, after) = rest.split_once('}')?;
        Some((before, inside, after))
    });
    match parts {
        Some((before, inside, after)) => inside
            .split(',')
            .map(|one| format!("{before}{one}{after}"))
            .collect(),
        None => vec![name.to_owned()],
    }
}

fn is_path(name: &str, is_map: bool) -> bool {
    let is_source = [".rs", ".ts"].iter().any(|end| {
        let stem = name.strip_suffix(end);
        stem.is_some_and(|stem| !stem.is_empty())
    });
    let is_folder = is_map && name.ends_with('/');
    let is_whole = name.starts_with("crates/") || name.starts_with("docs/design/");
    !name.contains([' ', '<', '~']) && (is_source || is_folder || is_whole)
}

/// A bare name must be in the room that the text is about.
fn is_there(name: &str, room: Option<&str>, places: &BTreeSet<String>) -> bool {
    let wanted = without_src(name.trim_start_matches("../").trim_end_matches('/'));
    let wanted = wanted.trim_end_matches("/*.rs");
    let end = format!("/{wanted}");
    let room = room.filter(|_| !wanted.contains('/')).unwrap_or("/");
    let mut inside = places.iter().filter(|place| place.starts_with(room));
    inside.any(|place| place.ends_with(&end))
}

fn without_src(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| *part != "src").collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const FILES: [(&str, &str); 3] = [
        ("crates/engine/src/child/lines.rs", ""),
        ("crates/app/src/view.rs", ""),
        ("xtask/src/main.rs", ""),
    ];

    fn check_map(text: &str) -> Vec<String> {
        let mut files = FILES.to_vec();
        files.push((MAP, text));
        found(check, &files)
    }

    #[test]
    fn what_is_there_may_be_named_in_every_way() {
        let text = "`engine/src/child/lines.rs`, `engine/child/lines.rs`, `child/`, `lines.rs`, \
                    `crates/app/src/{view}.rs`, `app/src/*.rs`, `../xtask/src/main.rs`\n\
                    **`engine`: lines.** `child/` has `lines.rs`; see `app/view.rs`.\n";
        assert_eq!(check_map(text), [""; 0]);
    }

    #[test]
    fn what_is_not_there_is_found() {
        assert_eq!(
            check_map("`engine/src/lines.rs` and `keeper/`\n`app/src/{view,print}.rs`\n"),
            [
                "ARCHITECTURE.md:1: names `engine/src/lines.rs`, which is not there",
                "ARCHITECTURE.md:1: names `keeper/`, which is not there",
                "ARCHITECTURE.md:2: names `app/src/print.rs`, which is not there",
            ]
        );
    }

    #[test]
    fn a_paragraph_of_the_map_speaks_of_its_own_room() {
        assert_eq!(
            check_map("**`engine`: plans in.** `view.rs`\n"),
            ["ARCHITECTURE.md:1: names `view.rs`, which is not there"]
        );
    }

    #[test]
    fn other_documents_name_files_of_the_user_too() {
        let named = |document: &str| {
            found(
                check,
                &[(
                    document,
                    "`~/.pi/agent/agents/`, `a b.rs`, `.rs`, `gone.rs`\n",
                )],
            )
        };
        assert_eq!(
            named("docs/models.md"),
            ["docs/models.md:1: names `gone.rs`, which is not there"]
        );
        assert_eq!(named("CHANGELOG.md"), [""; 0]);
    }
}
