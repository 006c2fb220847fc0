//! The parts of a change that can be taken by themselves: hunks, and files that have none.
//!
//! A part of a change S→C is a commit C1: S with the chosen parts. S→C1 is a change like any other,
//! and the rest of it is C1→C. Nothing is written but objects of git, so neither the checkout nor its
//! index knows of it.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use crate::changes::LARGEST_PATCH;
use crate::error::WorkspaceError;
use crate::git::{GitError, strange};
use crate::index_copy::IndexCopy;
use crate::matrix::Change;
use crate::repository::{Repository, entries, path};

/// The author's date of a commit of parts, so that the same parts are the same commit.
const NO_DATE: &str = "@0 +0000";

/// The beginning of the difference of a file.
const FILE: &[u8] = b"diff --git ";

/// The beginning of a hunk.
const HUNK: &[u8] = b"@@ ";

/// A part of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangePart {
    /// Names it by its path and its lines, so that it has the same name after other parts were taken.
    pub name: String,
    /// The present path of its file.
    pub path: PathBuf,
    /// The old path, if the file was renamed.
    pub from: Option<PathBuf>,
    /// Its place among the hunks of its file, from 0; `None` if it is the whole file.
    pub hunk: Option<usize>,
    /// Lines that are added.
    pub added: usize,
    /// Lines that are taken out.
    pub removed: usize,
}

/// The parts of a change, in the order of its difference.
#[derive(Debug)]
pub struct ChangeParts {
    change: Change,
    files: Vec<PartedFile>,
    parts: Vec<ChangePart>,
}

/// A file of a change.
#[derive(Debug)]
struct PartedFile {
    /// The lines for the index that make it as the result has it.
    entries: Vec<Vec<u8>>,
    /// Its difference before the first hunk.
    head: Vec<u8>,
    /// Its hunks; none if it is taken as a whole.
    hunks: Vec<Hunk>,
    /// The place of its first part.
    first: usize,
}

/// A hunk of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk {
    old: Span,
    new: Span,
    /// The lines after its head.
    body: Vec<u8>,
}

/// Lines of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    first: usize,
    count: usize,
}

impl ChangeParts {
    /// Finds the parts of a change; `None` if its difference has more than [`LARGEST_PATCH`] bytes.
    pub fn of(repository: &Repository, change: &Change) -> Result<Option<Self>, WorkspaceError> {
        let arguments = arguments(&["--raw", "-z"], change);
        let listed = repository.git().run(&arguments)?;
        let raw = raw_files(&listed).ok_or_else(|| strange(&arguments, &listed))?;
        let arguments = self::arguments(&["-p", "--full-index", "--no-color"], change);
        let git = repository.git().clone().with_most_output(LARGEST_PATCH);
        let patch = match git.run(&arguments) {
            Ok(patch) => patch,
            Err(GitError::TooMuch { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let parted = Self::parted(change, raw, &patch);
        let parted = parted.ok_or_else(|| strange(&arguments, &patch))?;
        Ok(Some(parted))
    }

    fn parted(change: &Change, raw: Vec<RawFile>, patch: &[u8]) -> Option<Self> {
        let mut sections = sections(patch).into_iter();
        let mut parts: Vec<ChangePart> = Vec::new();
        let mut names: HashMap<String, usize> = HashMap::new();
        let mut files = Vec::new();
        for raw in raw {
            let section = sections.next()?;
            let (head, hunks) = hunks_of(section)?;
            let mut lines = count_lines(&hunks);
            // A file that becomes a link is taken out and added.
            if raw.letter == b'T' {
                let (_, added) = hunks_of(sections.next()?)?;
                lines[0] += count_lines(&added)[0];
            }
            let is_whole = raw.is_whole() || hunks.is_empty();
            let first = parts.len();
            let mut add = |hunk: Option<usize>, content: &[u8], [added, removed]: [usize; 2]| {
                let name = name_of(&raw, content);
                let known = names.entry(name.clone()).or_default();
                *known += 1;
                let name = match *known {
                    1 => name,
                    number => format!("{name}-{number}"),
                };
                parts.push(ChangePart {
                    name,
                    path: raw.path.clone(),
                    from: raw.from.clone(),
                    hunk,
                    added,
                    removed,
                });
            };
            if is_whole {
                add(None, &raw.entries.concat(), lines);
            }
            let each = hunks.iter().enumerate().filter(|_| !is_whole);
            for (number, hunk) in each {
                let lines = count_lines(std::slice::from_ref(hunk));
                add(Some(number), &hunk.body, lines);
            }
            files.push(PartedFile {
                entries: raw.entries,
                head: head.to_vec(),
                hunks: if is_whole { Vec::new() } else { hunks },
                first,
            });
        }
        sections.next().is_none().then_some(())?;
        Some(Self {
            change: change.clone(),
            files,
            parts,
        })
    }

    /// Returns the parts.
    pub fn parts(&self) -> &[ChangePart] {
        &self.parts
    }

    /// Makes the change that has only some parts, by their names. It has the same base. Names that
    /// nothing has are passed over.
    pub fn take(
        &self,
        repository: &Repository,
        names: &BTreeSet<String>,
    ) -> Result<Change, WorkspaceError> {
        let index = IndexCopy::empty()?;
        let git = index.git(repository);
        let base = &self.change.base;
        git.run(&["read-tree", base.as_str()])?;
        let is_chosen = |place: usize| names.contains(&self.parts[place].name);
        let (mut removed, mut added, mut patch) = (Vec::new(), Vec::new(), Vec::new());
        for file in &self.files {
            if !file.hunks.is_empty() {
                let chosen = (0..file.hunks.len()).map(|number| is_chosen(file.first + number));
                patch.extend(file.patch(&chosen.collect::<Vec<_>>()));
            } else if is_chosen(file.first) {
                let is_removal = |entry: &&Vec<u8>| entry.starts_with(b"0 ");
                let (gone, new): (Vec<_>, Vec<_>) = file.entries.iter().partition(is_removal);
                removed.extend(gone.into_iter().flatten());
                added.extend(new.into_iter().flatten());
            }
        }
        // What makes room goes first.
        let entries = [removed, added].concat();
        if !entries.is_empty() {
            // A file that stands where a directory comes goes with it.
            let arguments = ["update-index", "-z", "--replace", "--index-info"];
            git.run_with(&arguments, &entries)?;
        }
        if !patch.is_empty() {
            let git = git.clone().with_setting("apply.ignoreWhitespace=no");
            let arguments = ["apply", "--cached", "--whitespace=nowarn", "-"];
            git.run_with(&arguments, &patch)?;
        }
        let tree = git.id(&["write-tree"])?;
        let result = repository.commit_tree(&tree, &[base], "a part of a result", Some(NO_DATE))?;
        Ok(Change {
            base: base.clone(),
            result,
        })
    }
}

impl PartedFile {
    /// Writes the difference with the chosen hunks; nothing if none is chosen.
    fn patch(&self, chosen: &[bool]) -> Vec<u8> {
        if !chosen.contains(&true) {
            return Vec::new();
        }
        let mut patch = self.head.clone();
        // Lines that hunks before would have added are not there if those are left out.
        let mut missing: i64 = 0;
        for (hunk, is_chosen) in self.hunks.iter().zip(chosen) {
            if *is_chosen {
                let first = as_number(hunk.new.first) - missing;
                let Hunk { old, new, body } = hunk;
                let head = format!(
                    "@@ -{},{} +{first},{} @@\n",
                    old.first, old.count, new.count
                );
                patch.extend_from_slice(head.as_bytes());
                patch.extend_from_slice(body);
            } else {
                missing += as_number(hunk.new.count) - as_number(hunk.old.count);
            }
        }
        patch
    }
}

fn as_number(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn arguments<'a>(options: &[&'a str], change: &'a Change) -> Vec<&'a str> {
    let always = ["diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv"];
    let ends = [change.base.as_str(), change.result.as_str()];
    [&always[..], options, &ends].concat()
}

/// A file of a change, as a list of git has it.
struct RawFile {
    letter: u8,
    has_plain_modes: bool,
    path: PathBuf,
    from: Option<PathBuf>,
    entries: Vec<Vec<u8>>,
}

impl RawFile {
    /// Returns whether it is taken as a whole, even if it has hunks.
    fn is_whole(&self) -> bool {
        self.letter != b'M' || !self.has_plain_modes
    }
}

/// Reads `:100644 100755 <id> <id> M` and the one or two names after it, for each file.
fn raw_files(listed: &[u8]) -> Option<Vec<RawFile>> {
    let mut fields = entries(listed);
    let mut files = Vec::new();
    while let Some(entry) = fields.next() {
        let mut words = entry.strip_prefix(b":")?.split(|byte| *byte == b' ');
        let (old, new) = (words.next()?, words.next()?);
        let id = words.nth(1)?;
        let letter = *words.next()?.first()?;
        let first = fields.next()?;
        let is_rename = matches!(letter, b'R' | b'C');
        let second = if is_rename { fields.next()? } else { first };
        let put = |mode: &[u8], name: &[u8]| {
            let words: [&[u8]; 6] = [mode, b" ", id, b"\t", name, b"\0"];
            words.concat()
        };
        let gone = |name: &[u8]| {
            let id = "0".repeat(id.len());
            [b"0 ", id.as_bytes(), b"\t", name, b"\0"].concat()
        };
        let entries = match letter {
            b'D' => vec![gone(first)],
            b'R' => vec![gone(first), put(new, second)],
            _ => vec![put(new, second)],
        };
        files.push(RawFile {
            letter,
            has_plain_modes: [old, new].iter().all(|mode| mode.starts_with(b"100")),
            path: path(second).to_owned(),
            from: is_rename.then(|| path(first).to_owned()),
            entries,
        });
    }
    Some(files)
}

/// Splits a difference into those of its files.
fn sections(patch: &[u8]) -> Vec<&[u8]> {
    split_before(patch, FILE)
}

/// Splits a text before each line with a beginning. What stands before the first one is a piece too,
/// unless it is empty.
fn split_before<'a>(text: &'a [u8], begin: &[u8]) -> Vec<&'a [u8]> {
    let mut starts = vec![0];
    let mut place = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if place > 0 && line.starts_with(begin) {
            starts.push(place);
        }
        place += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let pieces = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &text[*start..end]);
    pieces.filter(|piece| !piece.is_empty()).collect()
}

/// Reads the head and the hunks of the difference of a file.
fn hunks_of(section: &[u8]) -> Option<(&[u8], Vec<Hunk>)> {
    let mut pieces = split_before(section, HUNK).into_iter();
    let head = pieces.next()?;
    Some((head, pieces.map(Hunk::read).collect::<Option<Vec<_>>>()?))
}

impl Hunk {
    fn read(piece: &[u8]) -> Option<Self> {
        let end = piece.iter().position(|byte| *byte == b'\n')? + 1;
        let (head, body) = piece.split_at(end);
        let mut words = head.split(|byte| *byte == b' ').skip(1);
        Some(Self {
            old: Span::read(words.next()?.strip_prefix(b"-")?)?,
            new: Span::read(words.next()?.strip_prefix(b"+")?)?,
            body: body.to_vec(),
        })
    }
}

impl Span {
    /// Reads `12,3`, or `12` for one line.
    fn read(words: &[u8]) -> Option<Self> {
        let words = std::str::from_utf8(words).ok()?;
        let (first, count) = words.split_once(',').unwrap_or((words, "1"));
        Some(Self {
            first: first.parse().ok()?,
            count: count.parse().ok()?,
        })
    }
}

/// Counts the lines that hunks add and take out.
fn count_lines(hunks: &[Hunk]) -> [usize; 2] {
    let lines = hunks
        .iter()
        .flat_map(|hunk| hunk.body.split_inclusive(|byte| *byte == b'\n'));
    lines.fold([0, 0], |[added, removed], line| {
        [
            added + usize::from(line.starts_with(b"+")),
            removed + usize::from(line.starts_with(b"-")),
        ]
    })
}

/// Names a part of a file.
fn name_of(file: &RawFile, content: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    let paths: [Option<&Path>; 2] = [Some(&file.path), file.from.as_deref()];
    paths.hash(&mut hasher);
    content.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(old: [usize; 2], new: [usize; 2]) -> Hunk {
        let span = |[first, count]: [usize; 2]| Span { first, count };
        Hunk {
            old: span(old),
            new: span(new),
            body: Vec::new(),
        }
    }

    #[test]
    fn hunks_after_one_that_is_left_out_begin_where_they_would_without_it() {
        let file = PartedFile {
            entries: Vec::new(),
            head: b"head\n".to_vec(),
            hunks: vec![
                hunk([1, 0], [2, 4]),
                hunk([10, 3], [14, 1]),
                hunk([20, 1], [22, 2]),
            ],
            first: 0,
        };
        let patch = |chosen: [bool; 3]| String::from_utf8(file.patch(&chosen)).unwrap();
        assert_eq!(
            patch([false, true, true]),
            "head\n@@ -10,3 +10,1 @@\n@@ -20,1 +18,2 @@\n"
        );
        assert_eq!(
            patch([true, false, true]),
            "head\n@@ -1,0 +2,4 @@\n@@ -20,1 +24,2 @@\n"
        );
        assert_eq!(patch([false; 3]), "");
    }

    #[test]
    fn what_git_prints_is_read_or_refused() {
        let raw = b":100644 100755 aa bb M\0a\nb\0:100644 100644 cc dd R090\0old\0new\0";
        let files = raw_files(raw).unwrap();
        let read: Vec<_> = files
            .iter()
            .map(|file| (file.is_whole(), file.entries.concat()))
            .collect();
        assert_eq!(
            read,
            [
                (false, b"100755 bb\ta\nb\0".to_vec()),
                (true, b"0 00\told\x00100644 dd\tnew\0".to_vec()),
            ]
        );
        assert!(raw_files(b":100644 1").is_none());
        let (head, hunks) =
            hunks_of(b"diff --git a b\n@@ -3 +4,2 @@ fn a\n-x\n+y\n+@@ z\n").unwrap();
        assert_eq!(head, b"diff --git a b\n");
        assert_eq!(hunks[0].old, Span { first: 3, count: 1 });
        assert_eq!(hunks[0].body, b"-x\n+y\n+@@ z\n");
        assert_eq!(count_lines(&hunks), [2, 1]);
        assert!(hunks_of(b"diff\n@@ -x +1 @@\n").is_none());
    }
}
