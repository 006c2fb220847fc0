//! Reads objects that hold files, many by one process.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::rc::Rc;

use crate::error::WorkspaceError;
use crate::git::strange;
use crate::object_id::ObjectId;
use crate::repository::Repository;

/// A larger file is not read.
const LARGEST: usize = 16 * 1024 * 1024;

/// Files are read until they have this size together.
const MOST: usize = 128 * 1024 * 1024;

/// The name of a file in git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BlobName<'a> {
    /// By its own name.
    Id(&'a ObjectId),
    /// By its place in a tree.
    In(&'a ObjectId, &'a Path),
}

/// Reads files, each once however often it is named. A file that is not there or too large is
/// `None`.
pub(crate) fn read_blobs(
    repository: &Repository,
    files: &[BlobName<'_>],
) -> Result<Vec<Option<Rc<[u8]>>>, WorkspaceError> {
    let mut places = HashMap::new();
    let mut named = Vec::new();
    for file in files {
        places.entry(*file).or_insert_with(|| {
            named.push(*file);
            named.len() - 1
        });
    }
    let read = read_each(repository, &named)?;
    let texts = files.iter().map(|file| read[places[file]].clone());
    Ok(texts.collect())
}

fn read_each(
    repository: &Repository,
    files: &[BlobName<'_>],
) -> Result<Vec<Option<Rc<[u8]>>>, WorkspaceError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = within_bounds(&look_up(repository, files)?);
    let input: Vec<&str> = wanted.iter().flatten().map(ObjectId::as_str).collect();
    let arguments = ["cat-file", "-Z", "--batch"];
    let printed = repository
        .git()
        .run_with(&arguments, nul_ended(&input).as_bytes())?;
    let mut rest = printed.as_slice();
    let mut read = Vec::new();
    for id in wanted {
        read.push(match id {
            Some(_) => {
                let (text, after) = first(rest).ok_or_else(|| strange(&arguments, rest))?;
                rest = after;
                Some(Rc::from(text))
            }
            None => None,
        });
    }
    Ok(read)
}

/// Looks up the names and the sizes of files; `None` for a file that is not there.
fn look_up(
    repository: &Repository,
    files: &[BlobName<'_>],
) -> Result<Vec<Option<(ObjectId, usize)>>, WorkspaceError> {
    let mut input = Vec::new();
    for file in files {
        match file {
            BlobName::Id(id) => input.extend_from_slice(id.as_str().as_bytes()),
            BlobName::In(tree, path) => {
                input.extend_from_slice(tree.as_str().as_bytes());
                input.push(b':');
                input.extend_from_slice(path.as_os_str().as_bytes());
            }
        }
        input.push(0);
    }
    let arguments = [
        "cat-file",
        "-Z",
        "--batch-check=%(objectname) %(objectsize)",
    ];
    let printed = repository.git().run_with(&arguments, &input)?;
    let answers = printed.split(|byte| *byte == 0).take(files.len());
    let found: Vec<_> = answers.map(sized).collect();
    if found.len() == files.len() {
        return Ok(found);
    }
    Err(strange(&arguments, &printed).into())
}

/// Reads `<id> <size>`; `None` for anything else.
fn sized(answer: &[u8]) -> Option<(ObjectId, usize)> {
    let (id, size) = std::str::from_utf8(answer).ok()?.split_once(' ')?;
    Some((ObjectId::parse(id)?, size.parse().ok()?))
}

/// Leaves out the files that are too large, and those after which too much would be read.
fn within_bounds(found: &[Option<(ObjectId, usize)>]) -> Vec<Option<ObjectId>> {
    let mut sum = 0;
    let taken = found.iter().map(|one| {
        let (id, size) = one.as_ref()?;
        if *size > LARGEST || sum + size > MOST {
            return None;
        }
        sum += size;
        Some(id.clone())
    });
    taken.collect()
}

/// Splits `<id> blob <size>`, a zero byte, the content and a zero byte from what follows.
fn first(printed: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = printed.iter().position(|byte| *byte == 0)?;
    let (heading, rest) = (&printed[..at], &printed[at + 1..]);
    let size = std::str::from_utf8(heading).ok()?.rsplit_once(' ')?.1;
    let (text, after) = rest.split_at_checked(size.parse().ok()?)?;
    Some((text, after.strip_prefix(b"\0")?))
}

fn nul_ended(words: &[&str]) -> String {
    words.iter().flat_map(|word| [*word, "\0"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_their_sizes() {
        let printed = b"aa blob 3\0a\0b\0bb blob 0\0\0";
        let (text, rest) = first(printed).unwrap();
        assert_eq!(text, b"a\0b");
        assert_eq!(first(rest).unwrap(), (&b""[..], &b""[..]));
        assert_eq!(first(b"aa missing\0"), None);
        assert_eq!(first(b"aa blob 9\0short\0"), None);
    }

    #[test]
    fn large_files_are_left_out() {
        let id = ObjectId::parse(&"a".repeat(40)).unwrap();
        let found = |size| Some((id.clone(), size));
        let mut all = vec![found(LARGEST + 1), None];
        all.extend(vec![found(LARGEST); 9]);
        let taken: Vec<bool> = within_bounds(&all).iter().map(Option::is_some).collect();
        let expected = [&[false; 2][..], &[true; 8], &[false]].concat();
        assert_eq!(taken, expected);
    }
}
