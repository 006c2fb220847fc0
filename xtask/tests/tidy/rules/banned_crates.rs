//! Some crates never enter `Cargo.lock`, and every other crate enters it once, or has a reason in
//! this file.

use xtask::source::Tree;

use crate::finding::Finding;

const LOCK: &str = "Cargo.lock";

/// Crates that are not wanted, and why.
const BANNED: [(&str, &str); 14] = [
    ("async-std", "one async runtime is enough, and it is tokio"),
    (
        "aws-lc-rs",
        "needs a C toolchain and cmake; rustls uses ring",
    ),
    (
        "aws-lc-sys",
        "needs a C toolchain and cmake; rustls uses ring",
    ),
    ("cmake", "nothing here may need cmake to build"),
    ("fslock", "std::fs::File::lock does it"),
    ("lazy_static", "std::sync::LazyLock does it"),
    ("libgit2-sys", "a C library; git is a program we can call"),
    ("native-tls", "needs the system's TLS; rustls is linked in"),
    ("openssl", "needs the system's OpenSSL; rustls is linked in"),
    (
        "openssl-sys",
        "needs the system's OpenSSL; rustls is linked in",
    ),
    ("serde_yaml", "no longer maintained"),
    ("smol", "one async runtime is enough, and it is tokio"),
    (
        "term_size",
        "no longer maintained; rustix knows the size of a terminal",
    ),
    ("users", "no longer maintained"),
];

/// Crates that are here in several versions, with the crates that keep an older one. None of them
/// carries a runtime, a TLS stack or types that others see.
const SEVERAL: [(&str, &str); 13] = [
    ("base64", "yaml-edit has not moved to 0.23"),
    ("bitflags", "only for systems we do not build for"),
    (
        "cpufeatures",
        "sha2 and curve25519-dalek, of nkeys, use 0.2",
    ),
    (
        "getrandom",
        "ring has not moved on from 0.2, nor ahash, of jsonschema, from 0.3",
    ),
    ("hashbrown", "rowan, of yaml-edit, uses 0.14"),
    ("r-efi", "only for systems we do not build for"),
    ("rand", "nkeys and nuid, of async-nats, use 0.8"),
    ("rand_core", "as rand"),
    ("similar", "insta uses 2, in tests only"),
    ("syn", "macros are moving from 2 to 3"),
    ("thiserror", "filedescriptor, of crossterm, uses 1"),
    ("thiserror-impl", "as thiserror"),
    ("windows-sys", "only for a system we do not build for"),
];

struct Locked<'a> {
    name: &'a str,
    version: &'a str,
    line: usize,
}

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(lock) = tree.text(LOCK) else {
        return vec![Finding::of_file(LOCK, "is missing; commit it")];
    };
    let locked = locked(lock);
    let banned = locked.iter().filter_map(|one| {
        let (name, reason) = BANNED.iter().find(|(name, _)| *name == one.name)?;
        let message =
            format!("{name} is banned: {reason}; cargo tree --invert {name} shows who wants it");
        Some(Finding::at(LOCK, one.line, message))
    });
    let twice = locked.iter().enumerate().filter_map(|(place, one)| {
        let first = locked[..place]
            .iter()
            .find(|other| other.name == one.name)?;
        let message = format!(
            "{} is here as {} and {}, and one is enough; cargo tree --duplicates shows why",
            one.name, first.version, one.version
        );
        let is_known = SEVERAL.iter().any(|(name, _)| *name == one.name);
        (!is_known).then(|| Finding::at(LOCK, one.line, message))
    });
    let settled = SEVERAL.iter().filter_map(|(name, _)| {
        let versions = locked.iter().filter(|one| one.name == *name).count();
        let message = format!(
            "{name} is here once by now; take it off the list of xtask/tests/tidy/rules/banned_crates.rs"
        );
        (versions == 1).then(|| Finding::of_file(LOCK, message))
    });
    banned.chain(twice).chain(settled).collect()
}

fn locked(lock: &str) -> Vec<Locked<'_>> {
    let lines: Vec<&str> = lock.lines().collect();
    let quoted = |line: &'_ str, key: &str| -> Option<usize> {
        line.strip_prefix(key)?.strip_prefix(" = \"").map(str::len)
    };
    let pairs = lines.windows(2).zip(1..);
    pairs
        .filter_map(|(pair, line)| {
            let (name, version) = (quoted(pair[0], "name")?, quoted(pair[1], "version")?);
            Some(Locked {
                name: pair[0][pair[0].len() - name..].trim_end_matches('"'),
                version: pair[1][pair[1].len() - version..].trim_end_matches('"'),
                line,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const TIDY: &str = "version = 4\n\n[[package]]\nname = \"tokio\"\nversion = \"1.54.1\"\n\n[[package]]\nname = \"syn\"\nversion = \"2.0.0\"\n\n[[package]]\nname = \"syn\"\nversion = \"3.0.0\"\n";

    #[test]
    fn a_tidy_lock_passes() {
        assert_eq!(found(check, &[(LOCK, TIDY)]).len(), 0);
    }

    #[test]
    fn a_banned_crate_is_found_with_its_reason() {
        let lock = format!("{TIDY}\n[[package]]\nname = \"openssl-sys\"\nversion = \"0.9.1\"\n");
        assert_eq!(
            found(check, &[(LOCK, &lock)]),
            [
                "Cargo.lock:16: openssl-sys is banned: needs the system's OpenSSL; rustls is linked in; cargo tree --invert openssl-sys shows who wants it"
            ]
        );
    }

    #[test]
    fn a_second_version_of_the_runtime_is_found() {
        let lock = format!("{TIDY}\n[[package]]\nname = \"tokio\"\nversion = \"0.2.25\"\n");
        let found = found(check, &[(LOCK, &lock)]);
        assert!(
            found[0].starts_with("Cargo.lock:16: tokio is here as 1.54.1 and 0.2.25"),
            "{found:?}"
        );
    }

    #[test]
    fn a_second_version_that_has_gone_leaves_the_list() {
        let lock = "[[package]]\nname = \"syn\"\nversion = \"3.0.0\"\n";
        assert_eq!(
            found(check, &[(LOCK, lock)]),
            [
                "Cargo.lock: syn is here once by now; take it off the list of xtask/tests/tidy/rules/banned_crates.rs"
            ]
        );
    }

    #[test]
    fn the_lock_must_be_there() {
        assert_eq!(found(check, &[]), ["Cargo.lock: is missing; commit it"]);
    }
}
