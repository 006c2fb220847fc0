//! The crates of others: some never enter `Cargo.lock`, every other one enters it once or has a
//! reason here, all come from the registry that everybody uses, and their licences ask for a notice
//! at most. `cargo-deny` checks the same; installing it takes longer than all other checks together.

use xtask::source::Tree;

use crate::finding::Finding;

const LOCK: &str = "Cargo.lock";

/// The registry whose address is the same on every machine.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Crates that are not wanted, and why.
const BANNED: [(&str, &str); 13] = [
    ("async-std", "one async runtime is enough, and it is tokio"),
    ("aws-lc-rs", "needs cmake; rustls uses ring"),
    ("aws-lc-sys", "needs cmake; rustls uses ring"),
    ("cmake", "nothing here may need cmake to build"),
    ("fslock", "std::fs::File::lock does it"),
    ("libgit2-sys", "a C library; git is a program we can call"),
    ("native-tls", "needs the system's TLS; rustls is linked in"),
    ("openssl", "needs the system's OpenSSL; rustls is linked in"),
    ("openssl-sys", "as openssl"),
    ("serde_yaml", "no longer maintained"),
    ("smol", "one async runtime is enough, and it is tokio"),
    ("term_size", "no longer maintained; rustix does it"),
    ("users", "no longer maintained"),
];

/// Crates that are here in several versions, with the crates that keep an older one. None of them
/// carries a runtime, a TLS stack or types that others see.
const SEVERAL: [(&str, &str); 15] = [
    ("base64", "yaml-edit has not moved to 0.23"),
    ("bit-vec", "yasna, of rcgen, uses 0.9, in tests only"),
    ("bitflags", "only for systems we do not build for"),
    (
        "cpufeatures",
        "sha2 and curve25519-dalek, of nkeys, use 0.2",
    ),
    ("getrandom", "ring uses 0.2, and ahash, of jsonschema, 0.3"),
    ("hashbrown", "rowan, of yaml-edit, uses 0.14"),
    ("r-efi", "only for systems we do not build for"),
    ("rand", "nkeys and nuid, of async-nats, use 0.8"),
    ("rand_core", "as rand"),
    ("similar", "insta uses 2, in tests only"),
    (
        "synstructure",
        "asn1-rs, of rcgen, uses 0.13, in tests only",
    ),
    ("syn", "macros are moving from 2 to 3"),
    ("thiserror", "filedescriptor, of crossterm, uses 1"),
    ("thiserror-impl", "as thiserror"),
    ("windows-sys", "only for a system we do not build for"),
];

/// Licences that ask for a notice and nothing else, and the expressions of them that crates write.
const NOTICE_ONLY: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
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

/// Looks at `Cargo.lock`.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(lock) = tree.text(LOCK) else {
        return vec![Finding::of_file(LOCK, "is missing; commit it")];
    };
    let names: Vec<&str> = values(lock, "name").collect();
    let count = |name: &str| names.iter().filter(|one| **one == name).count();
    let mut messages = Vec::new();
    for (name, reason) in BANNED.iter().filter(|(name, _)| count(name) > 0) {
        messages.push(format!(
            "{name} is banned: {reason}; cargo tree --invert {name} shows who wants it"
        ));
    }
    let is_known = |name: &str| SEVERAL.iter().any(|(known, _)| *known == name);
    let mut several: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| count(name) > 1)
        .collect();
    several.dedup();
    for name in several.into_iter().filter(|name| !is_known(name)) {
        messages.push(format!(
            "{name} is here in several versions; cargo tree --duplicates shows why"
        ));
    }
    for (name, _) in SEVERAL.iter().filter(|(name, _)| count(name) == 1) {
        messages.push(format!(
            "{name} is here once by now; take it off the list of xtask/tests/tidy/rules/dependencies.rs"
        ));
    }
    for source in values(lock, "source").filter(|source| *source != REGISTRY) {
        messages.push(format!("{source} is not the default registry"));
    }
    let findings = messages.into_iter();
    findings
        .map(|message| Finding::of_file(LOCK, message))
        .collect()
}

/// Returns the values of a key, in the order of `Cargo.lock`, which sorts packages by name.
fn values<'a>(lock: &'a str, key: &str) -> impl Iterator<Item = &'a str> {
    let start = format!("{key} = \"");
    lock.lines()
        .filter_map(move |line| line.strip_prefix(&start)?.strip_suffix('"'))
}

/// Looks at lines of a package, a bar and its licence.
pub(crate) fn check_licences(packages: &str) -> Vec<Finding> {
    let finding = |line: &str| {
        let (package, licence) = line.split_once('|').unwrap_or((line, ""));
        let message = format!(
            "{package} is under \"{licence}\"; do without it, or add the licence to \
             xtask/tests/tidy/rules/dependencies.rs if it asks for a notice only"
        );
        (!asks_for_a_notice_only(licence)).then(|| Finding::of_file(LOCK, message))
    };
    packages.lines().filter_map(finding).collect()
}

/// Returns whether an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0` can be met. `AND`
/// binds closer in the grammar; crates that mix both write parentheses around the alternatives.
fn asks_for_a_notice_only(licence: &str) -> bool {
    let is_met = |part: &str| {
        let part = part.trim().trim_start_matches('(').trim_end_matches(')');
        let mut choices = part.split(" OR ").flat_map(|choice| choice.split('/'));
        choices.any(|choice| NOTICE_ONLY.contains(&choice.trim()))
    };
    licence.split(" AND ").all(is_met)
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const TIDY: &str = "version = 4\n\n[[package]]\nname = \"syn\"\nversion = \"2.0.0\"\n\n[[package]]\nname = \"syn\"\nversion = \"3.0.0\"\n\n[[package]]\nname = \"tokio\"\n";

    #[test]
    fn each_fault_of_a_lock_is_found() {
        let none: [String; 0] = [];
        assert_eq!(found(check, &[(LOCK, TIDY)]), none);
        assert_eq!(found(check, &[]), ["Cargo.lock: is missing; commit it"]);
        let lock = format!(
            "{TIDY}source = \"git+https://example.invalid/b#1234\"\n\n[[package]]\nname = \"tokio\"\n\n[[package]]\nname = \"users\"\n\n[[package]]\nname = \"similar\"\n"
        );
        assert_eq!(
            found(check, &[(LOCK, &lock)]),
            [
                "Cargo.lock: users is banned: no longer maintained; cargo tree --invert users shows who wants it",
                "Cargo.lock: tokio is here in several versions; cargo tree --duplicates shows why",
                "Cargo.lock: similar is here once by now; take it off the list of xtask/tests/tidy/rules/dependencies.rs",
                "Cargo.lock: git+https://example.invalid/b#1234 is not the default registry",
            ]
        );
    }

    #[test]
    fn licences_are_read_as_they_are_meant() {
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
        ];
        assert_eq!(met.map(asks_for_a_notice_only), [true; 5]);
        assert_eq!(unmet.map(asks_for_a_notice_only), [false; 4]);
        let lines: Vec<String> = check_licences("good v1.0.0|MIT\nbad v2.0.0|AGPL-3.0")
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            lines,
            [
                "Cargo.lock: bad v2.0.0 is under \"AGPL-3.0\"; do without it, or add the licence to xtask/tests/tidy/rules/dependencies.rs if it asks for a notice only"
            ]
        );
    }
}
