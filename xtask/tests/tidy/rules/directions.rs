//! Crates depend on each other in one direction only, as in the drawing of `ARCHITECTURE.md`.

use xtask::source::Tree;

use crate::finding::Finding;
use crate::manifest::{Dependency, Manifest, packages};

const VOCABULARY: &str = "pi-subagents-vocabulary";
/// Schemas of reports: read, offered, checked.
const SCHEMAS: &str = "pi-subagents-schemas";
/// The crate that reads `/proc`, for the crates that end processes.
const PROCESSES: &str = "pi-subagents-os";
/// The crate for files that a stranger may have prepared, for the crates that read and write them.
const FILES: &str = "pi-subagents-files";
/// The crate that reads pi's files, for the crates that must read the same.
const PI_FILES: &str = "pi-subagents-pi-files";
/// Runs on other machines.
const FLEET: &str = "pi-subagents-fleet";
const TESTKIT: &str = "pi-subagents-testkit";

/// The packages of ours that a package may depend on.
struct Allowed {
    package: &'static str,
    normal: &'static [&'static str],
    /// In addition, for its tests.
    dev: &'static [&'static str],
}

const ALLOWED: [Allowed; 17] = [
    Allowed::alone(SCHEMAS),
    Allowed::upon(VOCABULARY, &[SCHEMAS]),
    Allowed::alone(PROCESSES),
    Allowed::alone(FILES),
    Allowed::upon(PI_FILES, &[FILES]),
    Allowed::upon(
        "pi-subagents-agent",
        &[VOCABULARY, PROCESSES, FILES, PI_FILES],
    ),
    Allowed::upon("pi-subagents-configuration", &[VOCABULARY, FILES, PI_FILES]),
    Allowed::upon("pi-subagents-engine", &[VOCABULARY, PROCESSES, FILES]),
    Allowed {
        package: FLEET,
        normal: &[VOCABULARY, FILES],
        dev: &[TESTKIT],
    },
    Allowed::alone("pi-subagents-mcp"),
    Allowed::alone("pi-subagents-page"),
    Allowed::upon("pi-subagents-records", &[VOCABULARY, FILES]),
    Allowed::upon("pi-subagents-view", &[VOCABULARY]),
    Allowed::upon("pi-subagents-git", &[PROCESSES, FILES]),
    Allowed {
        package: "pi-subagents",
        normal: &[
            VOCABULARY,
            "pi-subagents-agent",
            "pi-subagents-configuration",
            "pi-subagents-engine",
            FILES,
            FLEET,
            "pi-subagents-mcp",
            "pi-subagents-page",
            PI_FILES,
            "pi-subagents-records",
            "pi-subagents-view",
            "pi-subagents-git",
        ],
        dev: &[TESTKIT],
    },
    Allowed::alone(TESTKIT),
    Allowed {
        package: "xtask",
        normal: &[],
        dev: &[TESTKIT],
    },
];

impl Allowed {
    const fn alone(package: &'static str) -> Self {
        Self {
            package,
            normal: &[],
            dev: &[],
        }
    }

    const fn upon(package: &'static str, normal: &'static [&'static str]) -> Self {
        Self {
            package,
            normal,
            dev: &[],
        }
    }

    fn permits(&self, dependency: &Dependency) -> bool {
        let name = dependency.package.as_str();
        self.normal.contains(&name) || (dependency.is_dev && self.dev.contains(&name))
    }
}

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = packages(tree);
    let is_ours = |name: &str| manifests.iter().any(|manifest| manifest.package == name);
    let mut findings = Vec::new();
    for manifest in &manifests {
        let Some(allowed) = ALLOWED.iter().find(|one| one.package == manifest.package) else {
            findings.push(unknown(manifest));
            continue;
        };
        let ours = manifest
            .dependencies
            .iter()
            .filter(|one| is_ours(&one.package));
        findings.extend(
            ours.filter(|dependency| !allowed.permits(dependency))
                .map(|dependency| forbidden(manifest, dependency)),
        );
    }
    findings
}

fn unknown(manifest: &Manifest) -> Finding {
    let message = format!(
        "{} is not in the table of xtask/tests/tidy/rules/directions.rs; say there what it may \
         depend on",
        manifest.package
    );
    Finding::of_file(&manifest.path, message)
}

fn forbidden(manifest: &Manifest, dependency: &Dependency) -> Finding {
    let kind = if dependency.is_dev {
        "for its tests"
    } else {
        "at all"
    };
    let message = format!(
        "{} may not depend on {} {kind}; move what both need down into {VOCABULARY}, or up into \
         the app",
        manifest.package, dependency.package
    );
    Finding::at(&manifest.path, dependency.line, message)
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const WORKSPACE: (&str, &str) = (
        "Cargo.toml",
        "[workspace.dependencies]\nvocabulary = { path = \"crates/vocabulary\" }\nengine = { path = \"crates/engine\" }\npi-subagents-testkit = { path = \"testkit\" }\n",
    );
    const DELEGATION: (&str, &str) = (
        "crates/vocabulary/Cargo.toml",
        "[package]\nname = \"pi-subagents-vocabulary\"\n",
    );
    const KIT: (&str, &str) = (
        "testkit/Cargo.toml",
        "[package]\nname = \"pi-subagents-testkit\"\n",
    );

    fn engine(dependencies: &str) -> String {
        format!("[package]\nname = \"pi-subagents-engine\"\n\n{dependencies}\n")
    }

    fn check_engine(dependencies: &str) -> Vec<String> {
        let engine = ("crates/engine/Cargo.toml", &*engine(dependencies));
        let sessions = (
            "crates/records/Cargo.toml",
            "[package]\nname = \"pi-subagents-records\"\n",
        );
        found(check, &[WORKSPACE, DELEGATION, KIT, engine, sessions])
    }

    #[test]
    fn the_vocabulary_may_be_used_by_all() {
        let none: [String; 0] = [];
        assert_eq!(
            check_engine("[dependencies]\nvocabulary.workspace = true"),
            none
        );
        assert_eq!(check_engine("[dependencies]\ntokio = \"1\""), none);
    }

    #[test]
    fn siblings_may_not_depend_on_each_other_however_it_is_written() {
        let expected = "pi-subagents-engine may not depend on pi-subagents-records at all";
        for dependencies in [
            "[dependencies]\npi-subagents-sessions.workspace = true",
            "[dependencies]\nhistory = { path = \"../sessions\" }",
            "[dependencies]\nhistory = { version = \"1\", package = \"pi-subagents-records\" }",
            "[dependencies.history]\npath = \"../sessions\"",
            "[target.'cfg(unix)'.dependencies]\nhistory = { path = \"../sessions\" }",
            "[build-dependencies]\npi-subagents-sessions = { path = \"../sessions\" }",
        ] {
            let found = check_engine(dependencies);
            assert_eq!(found.len(), 1, "{dependencies}");
            assert!(found[0].contains(expected), "{}", found[0]);
            assert!(
                found[0].starts_with("crates/engine/Cargo.toml:"),
                "{}",
                found[0]
            );
        }
    }

    #[test]
    fn the_vocabulary_depends_on_nothing_of_ours() {
        let vocabulary = (
            DELEGATION.0,
            "[package]\nname = \"pi-subagents-vocabulary\"\n[dependencies]\nengine.workspace = true\n",
        );
        let engine = ("crates/engine/Cargo.toml", &*engine(""));
        let found = found(check, &[WORKSPACE, vocabulary, engine]);
        assert!(
            found[0].contains("may not depend on pi-subagents-engine"),
            "{found:?}"
        );
    }

    #[test]
    fn the_testkit_is_for_tests_of_the_app_only() {
        let app = |section: &str| {
            format!(
                "[package]\nname = \"pi-subagents\"\n[{section}]\npi-subagents-testkit.workspace = true\n"
            )
        };
        let check_app = |section: &str| {
            let app = ("crates/app/Cargo.toml", &*app(section));
            found(check, &[WORKSPACE, KIT, app])
        };
        assert_eq!(check_app("dev-dependencies").len(), 0);
        assert_eq!(check_app("dependencies").len(), 1);
        assert_eq!(
            check_engine("[dev-dependencies]\npi-subagents-testkit.workspace = true").len(),
            1
        );
    }

    #[test]
    fn a_new_crate_must_be_placed() {
        let found = found(
            check,
            &[("crates/core/Cargo.toml", "[package]\nname = \"core\"\n")],
        );
        assert!(
            found[0].contains("say there what it may depend on"),
            "{found:?}"
        );
    }
}
