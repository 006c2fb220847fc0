//! Reads from a program which glibc it needs: the highest version among those of its symbols.

use std::fmt;

use crate::Outcome;

/// The kind of the section that lists needed versions.
const NEEDED_VERSIONS: u32 = 0x6fff_fffe;

/// A version of glibc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GlibcVersion {
    major: u32,
    minor: u32,
}

impl GlibcVersion {
    /// The version that a program for everybody needs at most: that of Debian 10 and RHEL 8.
    pub(super) const FLOOR: Self = Self {
        major: 2,
        minor: 28,
    };

    fn parse(name: &str) -> Option<Self> {
        let mut numbers = name.strip_prefix("GLIBC_")?.split('.');
        Some(Self {
            major: numbers.next()?.parse().ok()?,
            minor: numbers.next()?.parse().ok()?,
        })
    }
}

impl fmt::Display for GlibcVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// Returns the glibc that a program of 64 bits needs.
pub(super) fn needed_glibc(program: &[u8]) -> Outcome<GlibcVersion> {
    let names = needed_versions(program).ok_or("the program is no ELF file with versions")?;
    let versions = names.iter().filter_map(|name| GlibcVersion::parse(name));
    Ok(versions.max().ok_or("the program needs no glibc")?)
}

fn needed_versions(program: &[u8]) -> Option<Vec<String>> {
    if !program.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let sections = long(program, 0x28)?;
    let count = short(program, 0x3c)?;
    let header = |number: usize| sections + number * 64;
    let is_list = |at: &usize| word(program, at + 4) == Some(NEEDED_VERSIONS);
    let list = (0..count).map(header).find(is_list)?;
    let texts = header(usize::try_from(word(program, list + 40)?).ok()?);
    names(
        program,
        long(program, list + 24)?,
        long(program, texts + 24)?,
    )
}

/// Follows the chain of libraries, and for each the chain of its versions.
fn names(program: &[u8], list: usize, texts: usize) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut library = list;
    loop {
        let mut version = library + offset(program, library + 8)?;
        for _ in 0..short(program, library + 2)? {
            names.push(text(program, texts + offset(program, version + 8)?)?);
            version += offset(program, version + 12)?;
        }
        match offset(program, library + 12)? {
            0 => return Some(names),
            next => library += next,
        }
    }
}

fn text(program: &[u8], at: usize) -> Option<String> {
    let bytes = program.get(at..)?.split(|byte| *byte == 0).next()?;
    String::from_utf8(bytes.to_vec()).ok()
}

fn long(program: &[u8], at: usize) -> Option<usize> {
    let bytes = program.get(at..at + 8)?.try_into().ok()?;
    usize::try_from(u64::from_le_bytes(bytes)).ok()
}

fn word(program: &[u8], at: usize) -> Option<u32> {
    let bytes = program.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(bytes))
}

fn offset(program: &[u8], at: usize) -> Option<usize> {
    usize::try_from(word(program, at)?).ok()
}

fn short(program: &[u8], at: usize) -> Option<usize> {
    let bytes = program.get(at..at + 2)?.try_into().ok()?;
    Some(usize::from(u16::from_le_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let [old, new] = ["GLIBC_2.4", "GLIBC_2.28"].map(GlibcVersion::parse);
        assert!(old < new);
        assert_eq!(new, Some(GlibcVersion::FLOOR));
        assert_eq!(GlibcVersion::parse("GCC_3.0"), None);
    }

    #[test]
    fn this_test_needs_some_glibc_and_a_text_is_no_program() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let needed = needed_glibc(&program).unwrap();
        assert!(needed.major == 2 && needed.minor > 2, "{needed}");
        assert!(needed_glibc(b"#!/bin/sh\n").is_err());
        assert!(needed_glibc(&program[..200]).is_err());
    }
}
