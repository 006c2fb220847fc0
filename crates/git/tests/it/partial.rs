//! Parts of a change: whichever are taken, they and the rest are the whole, also on a checkout that
//! its person has edited.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use pi_subagents_git::{Change, ChangeParts, ObjectId, Repository, Snapshot, Stack, Stacked};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use crate::fixture::Fixture;
use crate::matrices::change;

/// Lines of which most are the same, so that a hunk would fit in several places.
fn lines(seed: u8) -> Vec<String> {
    let line = |number: usize| match number % 6 {
        0 => format!("part {number} of {seed}\n"),
        _ => format!("line {}\n", (number * usize::from(seed % 5 + 1)) % 4),
    };
    (0..60).map(line).collect()
}

/// Changes lines of a text: each number is a place, and what is done there.
fn edited(lines: &[String], edits: &[u8]) -> String {
    let mut lines = lines.to_vec();
    for edit in edits {
        let place = usize::from(*edit) * lines.len() / 256;
        match edit % 3 {
            0 => lines[place] = format!("changed {edit}\n"),
            1 => lines.insert(place, "line 1\n".to_owned()),
            _ => _ = lines.remove(place),
        }
    }
    lines.concat()
}

fn project(seed: u8) -> Fixture {
    let fixture = Fixture::new();
    let top = fixture.top();
    fixture.write("a.txt", &lines(seed).concat());
    fixture.write("src/b b.txt", &lines(seed.wrapping_add(1)).concat());
    fixture.write("old.txt", &lines(7).concat());
    fixture.write("gone.txt", "gone\n");
    fixture.write("tool.sh", "#!/bin/sh\n");
    fixture.write("place", "a file where a directory comes\n");
    fs::write(top.join("image"), [0, 1, 2, 255]).unwrap();
    symlink("kept.txt", top.join("link")).unwrap();
    fixture.commit("all kinds");
    fixture
}

/// Changes files in all ways that git knows.
fn work(top: &Path, seed: u8, edits: &[Vec<u8>; 2]) {
    let write = |name: &str, text: &str| fs::write(top.join(name), text).unwrap();
    write("a.txt", &edited(&lines(seed), &edits[0]));
    write(
        "src/b b.txt",
        &edited(&lines(seed.wrapping_add(1)), &edits[1]),
    );
    fs::remove_file(top.join("old.txt")).unwrap();
    write("näw \"name\".txt", &(lines(7).concat() + "end"));
    fs::remove_file(top.join("gone.txt")).unwrap();
    fs::write(top.join("image"), [0, 9, 9, 255]).unwrap();
    fs::set_permissions(top.join("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(top.join("link")).unwrap();
    write("link", "a file now\n");
    fs::remove_file(top.join("place")).unwrap();
    fs::create_dir(top.join("place")).unwrap();
    write("place/inside", "new\n");
}

fn put(stack: &Stack, change: &Change, state: &ObjectId) -> ObjectId {
    match stack.put(change, state).unwrap() {
        Stacked::State(state) => state,
        Stacked::Conflicts(conflicts) => panic!("{conflicts:?}"),
    }
}

fn parts(repository: &Repository, change: &Change) -> ChangeParts {
    ChangeParts::of(repository, change).unwrap().unwrap()
}

/// Describes parts: the path, the old one, the hunk, and the lines.
fn shown(parts: &ChangeParts) -> Vec<String> {
    let parts = parts.parts().iter().map(|part| {
        let from = part.from.as_deref().map(|from| from.display().to_string());
        let hunk = part.hunk.map(|hunk| hunk.to_string());
        format!(
            "{} {} {} +{} -{}",
            part.path.display(),
            from.as_deref().unwrap_or("-"),
            hunk.as_deref().unwrap_or("whole"),
            part.added,
            part.removed
        )
    });
    parts.collect()
}

#[test]
fn every_kind_of_change_has_its_parts_and_they_keep_their_names() {
    let fixture = project(0);
    let repository = fixture.repository();
    let whole = change(&fixture, |top| work(top, 0, &[vec![0, 96, 252], vec![30]]));
    let all = parts(&repository, &whole);
    insta::assert_snapshot!(shown(&all).join("\n"), @r#"
    a.txt - 0 +1 -1
    a.txt - 1 +1 -1
    a.txt - 2 +1 -1
    gone.txt - whole +0 -1
    image - whole +0 -0
    link - whole +1 -1
    näw "name".txt old.txt whole +1 -0
    place - whole +0 -1
    place/inside - whole +1 -0
    src/b b.txt - 0 +1 -1
    tool.sh - whole +0 -0
    "#);
    let names: Vec<String> = all.parts().iter().map(|part| part.name.clone()).collect();
    let is_of_a = |part: &&pi_subagents_git::ChangePart| part.path == Path::new("a.txt");
    let second = all.parts().iter().filter(is_of_a).nth(1).unwrap();
    let taken = all
        .take(&repository, &BTreeSet::from([second.name.clone()]))
        .unwrap();
    assert_eq!(taken.base, whole.base);
    let rest = Change {
        base: taken.result,
        result: whole.result.clone(),
    };
    let left = parts(&repository, &rest);
    let left: Vec<String> = left.parts().iter().map(|part| part.name.clone()).collect();
    let expected = names.iter().filter(|name| **name != second.name);
    assert_eq!(left, expected.cloned().collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_part_and_the_rest_are_the_whole(
        seed in any::<u8>(),
        first in proptest::collection::vec(any::<u8>(), 1..9),
        second in proptest::collection::vec(any::<u8>(), 1..9),
        chosen in any::<u32>(),
        above in 0..4_usize,
    ) {
        let fixture = project(seed);
        let repository = fixture.repository();
        let whole = change(&fixture, |top| work(top, seed, &[first.clone(), second.clone()]));
        // The person has edited the same files above, and others.
        let mine: Vec<String> = (0..above).map(|line| format!("mine {line}\n")).collect();
        let mine = mine.concat();
        let apart = "kept\n".repeat(above.min(1) * 4);
        for name in ["a.txt", "src/b b.txt"] {
            let text = fixture.read(name);
            fixture.write(name, &format!("{mine}{apart}{text}"));
        }
        fixture.write("kept.txt", "mine\n");
        let now = Snapshot::take(&repository).unwrap().commit;
        let stack = Stack::of(&repository).unwrap();
        // What both have changed at the top is a conflict, and then there is nothing to compare.
        let Stacked::State(expected) = stack.put(&whole, &now).unwrap() else {
            return Ok(());
        };

        let all = parts(&repository, &whole);
        let is_chosen = |place: usize| chosen >> (place % 32) & 1 == 1;
        let names = all.parts().iter().enumerate();
        let names = names.filter(|(place, _)| is_chosen(*place));
        let names: BTreeSet<String> = names.map(|(_, part)| part.name.clone()).collect();
        let part = all.take(&repository, &names).unwrap();
        let rest = Change { base: part.result.clone(), result: whole.result.clone() };
        let state = put(&stack, &rest, &put(&stack, &part, &now));
        let tree = |commit: &ObjectId| repository.tree_of(commit).unwrap();
        prop_assert_eq!(tree(&state), tree(&expected));

        let of_names = |names: &BTreeSet<String>| tree(&all.take(&repository, names).unwrap().result);
        let every: BTreeSet<String> = all.parts().iter().map(|part| part.name.clone()).collect();
        prop_assert_eq!(every.len(), all.parts().len());
        prop_assert_eq!(of_names(&every), tree(&whole.result));
        prop_assert_eq!(of_names(&BTreeSet::new()), tree(&whole.base));
    }
}
