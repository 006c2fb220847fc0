//! The rooms of `crates/app`, with the rooms that each of them may use. The data goes one way: a
//! door takes a call, `calls` makes runs of it, `runs` finds and follows them. Tests are left out,
//! because they may look at all of their crate.

use xtask::source::{SourceFile, Tree};

use super::module_directions::is_for_tests;
use crate::finding::Finding;
use crate::paths::paths_in;

/// The directory in which the sources of the app begin.
const SOURCES: &str = "crates/app/src/";

/// The modules at the top that every room may use. Among themselves they may form no circle, which
/// `module_directions.rs` checks.
const BASE: [&str; 14] = [
    "bell",
    "configuration",
    "error",
    "exit",
    "locale",
    "log",
    "own_commands",
    "places",
    "print",
    "random",
    "runtime",
    "signals",
    "terminal",
    "token_file",
];

/// Each room, and the rooms it may use besides itself and the base.
const ROOMS: [(&str, &[&str]); 9] = [
    ("runs", &[]),
    ("calls", &["runs"]),
    ("profiles", &["runs", "calls"]),
    ("attach", &["runs"]),
    ("doors/library", BELOW_DOORS),
    ("doors/mcp", BELOW_DOORS),
    ("doors/pi", BELOW_DOORS),
    ("doors/web", BELOW_DOORS),
    // The processes of the other doors begin as commands.
    (
        "doors/command_line",
        &[
            "runs",
            "calls",
            "profiles",
            "attach",
            "doors/library",
            "doors/mcp",
            "doors/pi",
            "doors/web",
        ],
    ),
];

/// The rooms that every door may use.
const BELOW_DOORS: &[&str] = &["runs", "calls", "profiles", "attach"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files.iter().flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let Some(inside) = file.path.strip_prefix(SOURCES) else {
        return Vec::new();
    };
    // The root of the crate and that of the doors only name their modules.
    let is_root = ["lib.rs", "main.rs", "doors/mod.rs"].contains(&inside);
    if !file.has_extension(&["rs"]) || is_root || is_for_tests(inside) {
        return Vec::new();
    }
    let module = module_of(inside);
    let Some(room) = room_of(&module) else {
        let message = "stands in no room; say in xtask/tests/tidy/rules/app_rooms.rs what the room \
                       of this file is and what it may use";
        return vec![Finding::of_file(&file.path, message)];
    };
    let paths = paths_in(&file.text).into_iter();
    let used = paths.filter_map(|path| {
        let names: Vec<&str> = path.names.iter().map(String::as_str).collect();
        let used = room_of(&absolute(&module, &names)?)?;
        (!may_use(room, used)).then_some((path.line, used))
    });
    used.map(|(line, used)| {
        let message = format!(
            "{room} must not use {used}: move what both need into a room below them, or hand it \
             over as an argument"
        );
        Finding::at(&file.path, line, message)
    })
    .collect()
}

fn may_use(room: &str, used: &str) -> bool {
    let is_same = room == used;
    let is_base = used == "base";
    let rooms = ROOMS.iter().find(|(name, _)| *name == room);
    is_same || is_base || rooms.is_some_and(|(_, below)| below.contains(&used))
}

/// Returns the room of a module, given by the names on the way to it.
fn room_of(module: &[&str]) -> Option<&'static str> {
    let first = module.first()?;
    if BASE.contains(first) {
        return Some("base");
    }
    let second = module.get(1).copied().unwrap_or_default();
    let in_doors = format!("doors/{second}");
    let rooms = ROOMS.iter().map(|(room, _)| *room);
    rooms
        .into_iter()
        .find(|room| room == first || (*first == "doors" && *room == in_doors))
}

/// Returns the names on the way to the module that a file holds.
fn module_of(inside: &str) -> Vec<&str> {
    let mut names: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
    if names.last() == Some(&"mod") {
        names.pop();
    }
    names
}

/// Returns a path as the names from the root of the crate; `None` for a path that begins elsewhere.
fn absolute<'a>(module: &[&'a str], path: &[&'a str]) -> Option<Vec<&'a str>> {
    let ups = path.iter().take_while(|name| **name == "super").count();
    match *path.first()? {
        "crate" => Some(path[1..].to_vec()),
        "super" => {
            let base = module.get(..module.len().checked_sub(ups)?)?;
            Some([base, &path[ups..]].concat())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn check_one(path: &str, text: &str) -> Vec<String> {
        found(check, &[(&format!("{SOURCES}{path}"), text)])
    }

    #[test]
    fn a_room_uses_what_is_below_it() {
        let none: [String; 0] = [];
        for (path, text) in [
            (
                "runs/find.rs",
                "use crate::places::Places;\nuse super::row::Row;\n",
            ),
            ("calls/service.rs", "use crate::runs::{find, row::Row};\n"),
            (
                "doors/pi/mod.rs",
                "use crate::calls::service;\nuse self::wire::Line;\n",
            ),
            (
                "doors/command_line/cli.rs",
                "use crate::doors::{library, pi::serve};\n",
            ),
            (
                "doors/mod.rs",
                "pub(crate) mod pi;\npub use self::pi::Host;\n",
            ),
            ("lib.rs", "use crate::doors::command_line::cli;\n"),
        ] {
            assert_eq!(check_one(path, text), none, "{path}: {text}");
        }
    }

    #[test]
    fn a_planted_edge_is_found_however_it_is_written() {
        for (path, text, edge) in [
            (
                "runs/find.rs",
                "use crate::calls::service;\n",
                "runs must not use calls",
            ),
            (
                "places.rs",
                "use crate::runs::Row;\n",
                "base must not use runs",
            ),
            (
                "attach/keys.rs",
                "fn a(b: &crate::calls::Call) {}\n",
                "attach must not use calls",
            ),
            (
                "doors/pi/serve.rs",
                "use crate::{places::Places, doors::{mcp::Served}};\n",
                "doors/pi must not use doors/mcp",
            ),
            (
                "doors/pi/commands/run.rs",
                "use super::super::super::library::Team;\n",
                "doors/pi must not use doors/library",
            ),
            (
                "doors/library/mod.rs",
                "use super::command_line::print;\n",
                "doors/library must not use doors/command_line",
            ),
        ] {
            let found = check_one(path, text);
            assert_eq!(found.len(), 1, "{path}: {text} {found:?}");
            assert!(found[0].contains(&format!(":1: {edge}:")), "{found:?}");
        }
    }

    #[test]
    fn a_file_without_a_room_and_code_of_tests() {
        assert!(check_one("helpers.rs", "")[0].contains("stands in no room"));
        let tests = "#[cfg(test)]\nmod tests {\n    use crate::doors::pi;\n}\n";
        assert_eq!(check_one("runs/find.rs", tests).len(), 0);
        assert_eq!(check_one("runs/testing.rs", "use crate::calls;\n").len(), 0);
    }
}
