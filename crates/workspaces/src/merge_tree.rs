//! Merges without a checkout, by one process for many of them, and reads their output.
//!
//! Only names of objects are passed in, and every answer must begin with one: git's exit code is
//! the same for a conflict and for a commit that does not exist. No merge driver of the user runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::git::strange;
use crate::object_id::ObjectId;
use crate::repository::{Repository, lines, path};

/// One merge: the change from a base to one state, brought to another state.
#[derive(Debug, Clone)]
pub(crate) struct Wished {
    /// `None` leaves the choice to git.
    pub(crate) base: Option<ObjectId>,
    pub(crate) ours: ObjectId,
    pub(crate) theirs: ObjectId,
}

/// The outcome of one merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Merged {
    /// The merged tree; with conflict markers if there are conflicts.
    pub(crate) tree: ObjectId,
    pub(crate) conflicts: Vec<Conflict>,
}

/// A file that two sides have changed in ways that cannot both be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The file.
    pub path: PathBuf,
    /// The kind, as git names it: `contents`, `add/add`, `modify/delete` and so on.
    pub kind: String,
    /// First and last line of each place in the merged file, for conflicts of contents.
    pub lines: Vec<(usize, usize)>,
}

/// The number of places in one file that are looked for.
const MOST_PLACES: usize = 20;

/// Does merges, all in one process.
pub(crate) fn merge_trees(
    repository: &Repository,
    wished: &[Wished],
) -> Result<Vec<Merged>, WorkspaceError> {
    if wished.is_empty() {
        return Ok(Vec::new());
    }
    let nothing = repository.git().run_with(&["mktree"], b"")?;
    let nothing = String::from_utf8_lossy(&nothing).trim_end().to_owned();
    let source = format!("--attr-source={nothing}");
    let options = [
        "--write-tree",
        "--allow-unrelated-histories",
        "-z",
        "--stdin",
    ];
    let arguments = [&[source.as_str(), "merge-tree"][..], &options].concat();
    let input = lines(wished.iter().map(line));
    let printed = repository.git().run_with(&arguments, input.as_bytes())?;
    let mut merged = parse(&printed)
        .filter(|merged| merged.len() == wished.len())
        .ok_or_else(|| strange(&arguments, &printed))?;
    for one in &mut merged {
        find_lines(repository, one)?;
    }
    Ok(merged)
}

/// Does one merge.
pub(crate) fn merge_tree(
    repository: &Repository,
    wished: Wished,
) -> Result<Merged, WorkspaceError> {
    let merged = merge_trees(repository, &[wished])?.into_iter().next();
    merged.ok_or_else(|| strange(&["merge-tree"], b"").into())
}

fn line(wished: &Wished) -> String {
    let Wished { base, ours, theirs } = wished;
    match base {
        Some(base) => format!("{base} -- {ours} {theirs}"),
        None => format!("{ours} {theirs}"),
    }
}

/// Reads the answers. A clean answer is `1`, the tree and an empty field; an answer with conflicts
/// is `0`, the tree, the entries of the files, an empty field, the messages and an empty field.
fn parse(printed: &[u8]) -> Option<Vec<Merged>> {
    let mut fields = printed.split(|byte| *byte == 0);
    let mut merged = Vec::new();
    loop {
        let status = fields.next()?;
        if status.is_empty() {
            return fields.next().is_none().then_some(merged);
        }
        let tree = ObjectId::parse(std::str::from_utf8(fields.next()?).ok()?)?;
        let mut conflicts = Vec::new();
        match status {
            b"1" => drop(fields.next().filter(|field| field.is_empty())?),
            b"0" => conflicts = parse_conflicts(&mut fields)?,
            _ => return None,
        }
        merged.push(Merged { tree, conflicts });
    }
}

fn parse_conflicts<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<Vec<Conflict>> {
    let with_base = files_with_base(fields)?;
    let mut found: BTreeMap<PathBuf, String> = BTreeMap::new();
    loop {
        let count = fields.next()?;
        if count.is_empty() {
            break;
        }
        let count: usize = std::str::from_utf8(count).ok()?.parse().ok()?;
        let names: Option<Vec<&Path>> = (0..count).map(|_| fields.next().map(path)).collect();
        let kind = String::from_utf8_lossy(fields.next()?).into_owned();
        fields.next()?;
        let kind = kind
            .strip_prefix("CONFLICT (")
            .and_then(|kind| kind.strip_suffix(')'));
        if let (Some(kind), Some(name)) = (kind, names?.first()) {
            let is_new = kind == "contents" && !with_base.contains(*name);
            let kind = if is_new { "add/add" } else { kind };
            found.insert(without_suffix(name), kind.to_owned());
        }
    }
    let conflicts = found.into_iter().map(|(path, kind)| Conflict {
        path,
        kind,
        lines: Vec::new(),
    });
    Some(conflicts.collect())
}

/// Reads the entries `mode id stage\tpath` of the files, and returns those that the base has: they
/// have a stage 1.
fn files_with_base<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    loop {
        let entry = fields.next()?;
        if entry.is_empty() {
            return Some(found);
        }
        let at = entry.iter().position(|byte| *byte == b'\t')?;
        if entry[..at].ends_with(b" 1") {
            found.insert(path(&entry[at + 1..]).to_owned());
        }
    }
}

/// Returns the name that a file has in its repository: where a directory took it, git adds the name
/// of a commit.
fn without_suffix(name: &Path) -> PathBuf {
    let text = name.to_str().and_then(|text| text.rsplit_once('~'));
    match text {
        Some((name, commit)) if ObjectId::parse(commit).is_some() => name.into(),
        Some(_) | None => name.to_owned(),
    }
}

/// Looks for the places of conflicts in the merged files.
fn find_lines(repository: &Repository, merged: &mut Merged) -> Result<(), WorkspaceError> {
    let with_markers = |conflict: &&mut Conflict| matches!(&*conflict.kind, "contents" | "add/add");
    for conflict in merged.conflicts.iter_mut().filter(with_markers) {
        let mut name = std::ffi::OsString::from(format!("{}:", merged.tree));
        name.push(&conflict.path);
        let arguments = ["cat-file".as_ref(), "blob".as_ref(), name.as_os_str()];
        let ended = repository.git().try_run(&arguments, b"")?;
        conflict.lines = places(&ended.stdout);
        if conflict.lines.is_empty() {
            "binary".clone_into(&mut conflict.kind);
        }
    }
    Ok(())
}

/// Returns the lines from one conflict marker to the next, counted from 1.
fn places(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut begun = None;
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if is_marker(line, b'<') {
            begun = Some(number + 1);
        } else if is_marker(line, b'>') {
            found.extend(begun.take().map(|begun| (begun, number + 1)));
        }
    }
    found.truncate(MOST_PLACES);
    found
}

/// Returns whether a line begins or ends a conflict: seven times the same letter, and a space.
fn is_marker(line: &[u8], letter: u8) -> bool {
    line.starts_with(&[letter; 7]) && line.get(7) == Some(&b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "0a473df871c7713ad1ff54b18fe81afd83a86ca7";

    #[test]
    fn answers_are_read_as_git_writes_them() {
        let text = format!(
            "1\0{TREE}\0\x000\0{TREE}\0100644 a 1\tf\0100644 b 2\tf\0100644 c 1\tg\0100644 d 2\tg1\0\
             \x001\0f\0Auto-merging\0Auto-merging f\n\x001\0f\0CONFLICT (contents)\0CONFLICT \
             (content): Merge conflict in f\n\x002\0g\0g1\0CONFLICT (rename/delete)\0words\0\0"
        );
        let merged = parse(text.as_bytes()).unwrap();
        let seen: Vec<Vec<(&str, &str)>> = merged
            .iter()
            .map(|one| {
                let conflicts = one.conflicts.iter();
                conflicts
                    .map(|it| (it.path.to_str().unwrap(), &*it.kind))
                    .collect()
            })
            .collect();
        let expected = [vec![], vec![("f", "contents"), ("g", "rename/delete")]];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_broken_answer_is_no_conflict() {
        for text in [
            "0",
            "1\0",
            "1\0HEAD\0\0",
            &format!("0\0{TREE}\0x"),
            &format!("2\0{TREE}\0\0"),
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text:?}");
        }
        // Too few answers are refused where they are counted.
        assert_eq!(parse(b""), Some(Vec::new()));
    }

    #[test]
    fn places_are_lines_of_the_merged_file() {
        let (begin, end) = ("<".repeat(7), ">".repeat(7));
        let text =
            format!("1\n{begin} a\nA\n=======\nB\n{end} b\n2\n{begin} a\n=======\n{end} b\n");
        assert_eq!(places(text.as_bytes()), [(2, 6), (8, 10)]);
        assert_eq!(places(format!("{begin}\n").as_bytes()), []);
    }
}
