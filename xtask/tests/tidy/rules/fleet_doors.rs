//! The app can be built without the fleet, because two rooms alone know it: nothing else names its
//! crate, and the feature is asked for in a few places and never in the middle of a function.

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

/// The sources and tests of the app.
const APP: &str = "crates/app/";

/// The rooms that know the fleet, and their tests.
const ROOMS: [&str; 3] = [
    "crates/calls/src/fleet/",
    "crates/runs/src/fleet/",
    "crates/app/tests/it/fleet/",
];

/// The files that ask for the feature, with the reason.
const ASKING: [(&str, &str); 5] = [
    ("crates/app/src/lib.rs", "code that only the fleet uses"),
    ("crates/calls/src/mod.rs", "which file is the room"),
    ("crates/runs/src/mod.rs", "which file is the room"),
    ("crates/calls/src/destination.rs", "tests with a fleet"),
    ("crates/app/tests/it/main.rs", "tests with a fleet"),
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let in_app = |file: &&SourceFile| file.path.starts_with(APP) && file.has_extension(&["rs"]);
    tree.files.iter().filter(in_app).flat_map(lines).collect()
}

fn lines(file: &SourceFile) -> Vec<Finding> {
    let is_inside = ROOMS.iter().any(|room| file.path.starts_with(room));
    let may_ask = ASKING.iter().any(|(path, _)| *path == file.path);
    let found = file.numbered_lines().filter_map(|(number, line)| {
        let message = if line.contains("pi_subagents_fleet") && !is_inside {
            "only calls/fleet and runs/fleet know the crate fleet; let one of them give a value of \
             the app's own"
        } else if line.contains("feature = \"fleet\"") && !may_ask {
            "the doors of calls/fleet and runs/fleet are the same in every build; use them, or add \
             the file to xtask/tests/tidy/rules/fleet_doors.rs with the reason"
        } else {
            return None;
        };
        Some(Finding::at(&file.path, number, message))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn found_at(path: &str, text: &str) -> Vec<String> {
        let findings = found(check, &[(path, text)]);
        let place = |finding: &String| finding.split(": ").next().map(str::to_owned);
        findings.iter().filter_map(place).collect()
    }

    #[test]
    fn the_fleet_is_found_outside_of_its_rooms() {
        let used = "\nuse pi_subagents_fleet::Fleet;\n";
        let outside = "crates/runs/src/find.rs";
        assert_eq!(found_at(outside, used), [format!("{outside}:2")]);
        let none: [String; 0] = [];
        assert_eq!(found_at("crates/runs/src/fleet/follow.rs", used), none);
        assert_eq!(found_at("crates/fleet/tests/it/queue.rs", used), none);
    }

    #[test]
    fn the_feature_is_found_where_nobody_needs_to_ask_for_it() {
        let asked = "#[cfg(feature = \"fleet\")]\nfn a() {}\n";
        let room = "crates/runs/src/fleet/follow.rs";
        assert_eq!(found_at(room, asked), [format!("{room}:1")]);
        let none: [String; 0] = [];
        assert_eq!(found_at("crates/runs/src/mod.rs", asked), none);
    }
}
