//! Every linked package has a licence that lets us give our program away as we do.

use crate::finding::Finding;

const LOCK: &str = "Cargo.lock";

/// Licences that ask for a notice and nothing else.
const ALLOWED: [&str; 11] = [
    "0BSD",
    "Apache-2.0",
    "BSD-3-Clause",
    "BSL-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Looks at lines of a package, a bar and its licence.
pub(crate) fn check(packages: &str) -> Vec<Finding> {
    let finding = |line: &str| {
        let (package, licence) = line.split_once('|').unwrap_or((line, ""));
        let package = package.split(" (").next().unwrap_or(package);
        if is_allowed(licence) {
            return None;
        }
        let message = match licence {
            "" => format!("{package} names no licence; do without it"),
            licence => format!(
                "{package} is under {licence}, which xtask/tests/tidy/rules/licenses.rs does not \
                 allow; do without it, or add the licence there if it asks for a notice only"
            ),
        };
        Some(Finding::of_file(LOCK, message))
    };
    packages.lines().filter_map(finding).collect()
}

/// Tells whether an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0` can be met.
fn is_allowed(licence: &str) -> bool {
    // Older packages write a slash where an `OR` is meant.
    let words = licence
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let mut words = words.split_whitespace().peekable();
    let is_met = alternatives(&mut words);
    is_met && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

/// Reads the terms that `OR` joins. All of them are read, even after the result is known.
fn alternatives(words: &mut Words<'_>) -> bool {
    let mut is_met = requirements(words);
    while words.next_if_eq(&"OR").is_some() {
        is_met |= requirements(words);
    }
    is_met
}

/// Reads the terms that `AND` joins, which binds closer.
fn requirements(words: &mut Words<'_>) -> bool {
    let mut is_met = one(words);
    while words.next_if_eq(&"AND").is_some() {
        is_met &= one(words);
    }
    is_met
}

fn one(words: &mut Words<'_>) -> bool {
    let Some(word) = words.next() else {
        return false;
    };
    if word == "(" {
        let is_met = alternatives(words);
        return words.next_if_eq(&")").is_some() && is_met;
    }
    // An exception allows more, never less.
    if words.next_if_eq(&"WITH").is_some() {
        words.next();
    }
    ALLOWED.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read_as_they_are_meant() {
        let met = [
            "MIT",
            "MIT/Apache-2.0",
            "MIT OR GPL-3.0",
            "(Apache-2.0 OR GPL-3.0) AND BSD-3-Clause",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ];
        let unmet = [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "MIT AND (GPL-3.0 OR LGPL-3.0)",
            "MIT OR",
            "(MIT",
            "MIT MIT",
        ];
        assert_eq!(met.map(is_allowed), [true; 5]);
        assert_eq!(
            unmet.map(is_allowed),
            [false, false, false, false, true, false, false]
        );
    }

    #[test]
    fn a_package_that_asks_for_more_than_a_notice_is_found() {
        let findings = check("good v1.0.0|MIT\nbad v2.0.0 (proc-macro)|AGPL-3.0\nnone v1.0.0|");
        let found: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "Cargo.lock: bad v2.0.0 is under AGPL-3.0, which xtask/tests/tidy/rules/licenses.rs does not allow; do without it, or add the licence there if it asks for a notice only",
                "Cargo.lock: none v1.0.0 names no licence; do without it",
            ]
        );
    }
}
