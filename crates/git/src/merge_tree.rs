//! Merges without a checkout, by one process for many of them, and reads their output.
//!
//! Only names of objects are passed in, and every answer must begin with one: git's exit code is
//! the same for a conflict and for a commit that does not exist. No merge driver of the user runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::blobs::{BlobName, read_blobs};
use crate::conflict_places::{Versions, places};
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
    /// The versions of the files with conflicts.
    stages: BTreeMap<PathBuf, Stages>,
}

/// The versions of a file with conflicts, as far as each side has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Stages {
    base: Option<ObjectId>,
    ours: Option<ObjectId>,
    theirs: Option<ObjectId>,
    is_submodule: bool,
}

/// A file that two sides have changed in ways that cannot both be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The file.
    pub path: PathBuf,
    /// The kind, as git names it: `contents`, `add/add`, `modify/delete` and so on. Two kinds are
    /// ours: `driver`, and `in the way`.
    pub kind: String,
    /// First and last line of each place in the file of the first side, for conflicts of contents.
    pub lines: Vec<(usize, usize)>,
    /// The same places in the file of the second side.
    pub other_lines: Vec<(usize, usize)>,
}

impl Conflict {
    /// Returns a conflict of a whole file.
    pub fn without_lines(path: PathBuf, kind: &str) -> Self {
        Self {
            path,
            kind: kind.to_owned(),
            lines: Vec::new(),
            other_lines: Vec::new(),
        }
    }

    /// Returns the conflict as the second side sees it.
    pub(crate) fn turned(&self) -> Self {
        Self {
            path: self.path.clone(),
            kind: self.kind.clone(),
            lines: self.other_lines.clone(),
            other_lines: self.lines.clone(),
        }
    }
}

/// The mode of a submodule.
const SUBMODULE: &str = "160000";

/// Does merges, all in one process.
pub(crate) fn merge_trees(
    repository: &Repository,
    wished: &[Wished],
) -> Result<Vec<Merged>, WorkspaceError> {
    if wished.is_empty() {
        return Ok(Vec::new());
    }
    // Without attributes no merge driver runs.
    let nothing = wished[0].ours.format().empty_tree();
    let source = format!("--attr-source={nothing}");
    let options = [
        "--write-tree",
        "--allow-unrelated-histories",
        "-z",
        "--stdin",
    ];
    let arguments = [&[source.as_str(), "merge-tree"][..], &options].concat();
    let input = lines(wished.iter().map(line));
    let git = repository.git().clone();
    let git = git.with_setting("merge.conflictStyle=merge");
    let printed = git.run_with(&arguments, input.as_bytes())?;
    let mut merged = parse(&printed)
        .filter(|merged| merged.len() == wished.len())
        .ok_or_else(|| strange(&arguments, &printed))?;
    find_lines(repository, wished, &mut merged)?;
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
        let (mut conflicts, mut stages) = (Vec::new(), BTreeMap::new());
        match status {
            b"1" => drop(fields.next().filter(|field| field.is_empty())?),
            b"0" => {
                stages = parse_stages(&mut fields)?;
                conflicts = parse_conflicts(&mut fields, &stages)?;
            }
            _ => return None,
        }
        merged.push(Merged {
            tree,
            conflicts,
            stages,
        });
    }
}

fn parse_conflicts<'a>(
    fields: &mut impl Iterator<Item = &'a [u8]>,
    stages: &BTreeMap<PathBuf, Stages>,
) -> Option<Vec<Conflict>> {
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
            let kind = match stages.get(*name) {
                Some(stages) if kind == "contents" => stages.kind(),
                Some(_) | None => kind,
            };
            found.insert(without_suffix(name), kind.to_owned());
        }
    }
    let conflicts = found.into_iter();
    let conflicts = conflicts.map(|(path, kind)| Conflict::without_lines(path, &kind));
    Some(conflicts.collect())
}

impl Stages {
    /// Returns the kind of a conflict that git calls one of contents.
    fn kind(&self) -> &'static str {
        match self.base {
            _ if self.is_submodule => "submodule",
            Some(_) => "contents",
            None => "add/add",
        }
    }
}

/// Reads the entries `mode id stage\tpath` of the files.
fn parse_stages<'a>(
    fields: &mut impl Iterator<Item = &'a [u8]>,
) -> Option<BTreeMap<PathBuf, Stages>> {
    let mut found: BTreeMap<PathBuf, Stages> = BTreeMap::new();
    loop {
        let entry = fields.next()?;
        if entry.is_empty() {
            return Some(found);
        }
        let at = entry.iter().position(|byte| *byte == b'\t')?;
        let mut words = std::str::from_utf8(&entry[..at]).ok()?.split(' ');
        let mode = words.next()?;
        let (id, stage) = (ObjectId::parse(words.next()?), words.next()?);
        let stages = found.entry(path(&entry[at + 1..]).to_owned()).or_default();
        stages.is_submodule |= mode == SUBMODULE;
        match stage {
            "1" => stages.base = id,
            "2" => stages.ours = id,
            "3" => stages.theirs = id,
            _ => return None,
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

/// Looks for the places of conflicts in the files. A file that is too large to be read, and one
/// that not both sides have, is named without its lines.
fn find_lines(
    repository: &Repository,
    wished: &[Wished],
    merged: &mut [Merged],
) -> Result<(), WorkspaceError> {
    let names: Vec<BlobName<'_>> = merged.iter().flat_map(versions_with_markers).collect();
    let mut texts = read_blobs(repository, &names)?.into_iter();
    for (wished, merged) in wished.iter().zip(merged) {
        let Merged {
            conflicts, stages, ..
        } = merged;
        let marked = |one: &&mut Conflict| sides_with_markers(one, stages).is_some();
        for conflict in conflicts.iter_mut().filter(marked) {
            let mut next = || texts.next().flatten();
            let (Some(merged), Some(ours), Some(theirs)) = (next(), next(), next()) else {
                continue;
            };
            let versions = Versions {
                merged: &merged,
                ours: &ours,
                theirs: &theirs,
            };
            let found = places(&versions, &wished.ours, &wished.theirs);
            if found.count == 0 {
                "binary".clone_into(&mut conflict.kind);
            }
            (conflict.lines, conflict.other_lines) = (found.ours, found.theirs);
        }
    }
    Ok(())
}

/// Names the merged file of each conflict with markers, and the two files that were merged.
fn versions_with_markers(merged: &Merged) -> impl Iterator<Item = BlobName<'_>> {
    let conflicts = merged.conflicts.iter();
    let sides = conflicts.filter_map(|conflict| {
        let (ours, theirs) = sides_with_markers(conflict, &merged.stages)?;
        let merged = BlobName::In(&merged.tree, &conflict.path);
        Some([merged, BlobName::Id(ours), BlobName::Id(theirs)])
    });
    sides.flatten()
}

/// Returns the two files that were merged with markers, if that was possible.
fn sides_with_markers<'a>(
    conflict: &Conflict,
    stages: &'a BTreeMap<PathBuf, Stages>,
) -> Option<(&'a ObjectId, &'a ObjectId)> {
    let stages = stages
        .get(&conflict.path)
        .filter(|_| has_markers(conflict))?;
    stages.ours.as_ref().zip(stages.theirs.as_ref())
}

fn has_markers(conflict: &Conflict) -> bool {
    matches!(&*conflict.kind, "contents" | "add/add")
}
#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "0a473df871c7713ad1ff54b18fe81afd83a86ca7";

    #[test]
    fn answers_are_read_as_git_writes_them() {
        let text = format!(
            "1\0{TREE}\0\x000\0{TREE}\0100644 {TREE} 1\tf\0100644 {TREE} 2\tf\0100644 {TREE} 1\tg\0\
             100644 {TREE} 2\tg1\0\
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
}
