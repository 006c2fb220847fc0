//! A release has one version and one set of names: `Cargo.toml` has the version, files that are
//! installed from the repository repeat it, and templates of `packaging/` never do.

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

/// Files that git hands out as they are, so that they cannot be templates.
const WITH_VERSION: [&str; 7] = [
    "clients/python/pyproject.toml",
    "clients/typescript/package.json",
    "package.json",
    "extension/package.json",
    ".claude-plugin/marketplace.json",
    "packaging/claude-plugin/.claude-plugin/plugin.json",
    "packaging/claude-plugin/.mcp.json",
];

/// Documents with lines to paste that name a release.
const WITH_LINES: [&str; 2] = ["README.md", "docs/ci.md"];

/// The packages of ours in the registry of npm, and the repository as a package.
const PACKAGES: [&str; 6] = [
    "client",
    "pi",
    "linux-arm64",
    "linux-x64",
    "linux-{{cpu}}",
    "repository",
];

/// The scope of our packages; a rival has the bare name.
const SCOPE: &str = "@pi-subagents/";

/// The name in the registry of MCP servers, which two files must have alike.
const MCP_NAME: &str = "\"io.github.pi-subagents/pi-subagents\"";
const WITH_MCP_NAME: [&str; 2] = [
    "extension/package.json",
    "packaging/mcp-registry/server.json",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(version) = tree.text("Cargo.toml").and_then(version) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for file in &tree.files {
        let is_repeated = WITH_VERSION.contains(&file.path.as_str());
        if is_repeated {
            findings.extend(other_versions(file, version));
        } else if file.path.starts_with("packaging/") {
            findings.extend(written_versions(file, version));
        }
        if WITH_LINES.contains(&file.path.as_str()) {
            findings.extend(other_versions_in_lines(file, version));
        }
        if is_repeated || file.path.starts_with("packaging/") {
            findings.extend(unknown_packages(file));
        }
        if WITH_MCP_NAME.contains(&file.path.as_str()) && !file.text.contains(MCP_NAME) {
            let message = format!("does not have the name {MCP_NAME}, which two files share");
            findings.push(Finding::of_file(&file.path, message));
        }
    }
    findings.extend(missing_entry(tree, version));
    findings
}

/// Returns the version of the workspace, which is the first of its file.
fn version(manifest: &str) -> Option<&str> {
    let line = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = \""));
    line?.strip_suffix('"')
}

/// Finds versions of ours that are not the one of the workspace.
fn other_versions(file: &SourceFile, version: &str) -> Vec<Finding> {
    let lines = file.numbered_lines().filter_map(|(number, line)| {
        let found = repeated_version(line)?;
        let message = format!("has the version {found}, and Cargo.toml has {version}");
        (found != version).then(|| Finding::at(&file.path, number, message))
    });
    lines.collect()
}

/// Returns the version in `"version": "1"`, `version = "1"`, `"@pi-subagents/x": "1"` and `@pi-subagents/x@1`.
fn repeated_version(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let field = ["\"version\": \"", "version = \""]
        .iter()
        .find_map(|begin| line.strip_prefix(begin));
    let of_package = || {
        let (_, rest) = line.split_once(SCOPE)?;
        let (_, rest) = rest.split_once("\": \"").or_else(|| rest.split_once('@'))?;
        Some(rest)
    };
    field.or_else(of_package)?.split('"').next()
}

/// Finds names of our packages, archives and the action with another version.
fn other_versions_in_lines(file: &SourceFile, version: &str) -> Vec<Finding> {
    let words = file.numbered_lines().flat_map(|(number, line)| {
        let words = line.split(|one: char| one.is_whitespace() || "`/;".contains(one));
        words
            .filter(|word| word.contains("pi-subagents"))
            .filter_map(move |word| Some((number, version_in(word)?)))
    });
    words
        .filter(|(_, found)| *found != version)
        .map(|(number, found)| {
            let message = format!("names the version {found}, and Cargo.toml has {version}");
            Finding::at(&file.path, number, message)
        })
        .collect()
}

/// Returns the first three numbers with dots between them in a word such as `a_1.2.3_b`.
fn version_in(word: &str) -> Option<&str> {
    let mut parts = word.split(|one: char| !one.is_ascii_digit() && one != '.');
    let part = parts.find(|part| part.trim_matches('.').split('.').count() == 3)?;
    Some(part.trim_matches('.'))
}

fn written_versions(file: &SourceFile, version: &str) -> Vec<Finding> {
    let lines = file
        .numbered_lines()
        .filter(|(_, line)| line.contains(version));
    lines
        .map(|(number, _)| {
            Finding::at(
                &file.path,
                number,
                "is a template: write {{version}} for the version",
            )
        })
        .collect()
}

fn unknown_packages(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in file.numbered_lines() {
        for rest in line.split(SCOPE).skip(1) {
            let name = rest
                .split(['"', '@', '/', ' ', '`'])
                .next()
                .unwrap_or_default();
            if !PACKAGES.contains(&name) {
                let message = format!("names {SCOPE}{name}, which is no package of ours");
                findings.push(Finding::at(&file.path, number, message));
            }
        }
    }
    findings
}

/// Finds a version without a part of the changelog, which pi shows to its users.
fn missing_entry(tree: &Tree, version: &str) -> Option<Finding> {
    let heading = format!("## [{version}]");
    let has_entry = tree
        .text("CHANGELOG.md")?
        .lines()
        .any(|line| line.starts_with(&heading));
    (!has_entry).then(|| Finding::of_file("CHANGELOG.md", format!("has no part {heading}")))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const MANIFEST: (&str, &str) = ("Cargo.toml", "[workspace.package]\nversion = \"0.2.0\"\n");

    #[test]
    fn one_version_and_known_names_are_fine() {
        let package = "  \"version\": \"0.2.0\",\n    \"@pi-subagents/linux-x64\": \"0.2.0\"\n";
        let server = "\"args\": [\"-y\", \"@pi-subagents/pi@0.2.0\", \"mcp\"]\n";
        let template = "\"@pi-subagents/linux-{{cpu}}\", \"{{version}}\"\n";
        let files = [
            MANIFEST,
            ("package.json", package),
            ("packaging/claude-plugin/.mcp.json", server),
            ("packaging/npm/platform.json", template),
            ("CHANGELOG.md", "## [0.2.0] - 2026-12-01\n"),
        ];
        assert_eq!(found(check, &files), [""; 0]);
    }

    #[test]
    fn every_version_that_was_forgotten_is_found() {
        let package = "  \"version\": \"0.1.0\",\n    \"@pi-subagents/linux-x64\": \"0.1.0\"\n";
        let server = "\"args\": [\"-y\", \"@pi-subagents/pi@0.1.0\", \"mcp\"]\n";
        let files = [
            MANIFEST,
            ("package.json", package),
            ("packaging/claude-plugin/.mcp.json", server),
            ("packaging/install.sh", "version=0.2.0\n"),
            (
                "clients/python/pyproject.toml",
                "[project]\nversion = \"0.1.0\"\n",
            ),
            ("CHANGELOG.md", "## [0.1.0]\n"),
        ];
        assert_eq!(
            found(check, &files),
            [
                "package.json:1: has the version 0.1.0, and Cargo.toml has 0.2.0",
                "package.json:2: has the version 0.1.0, and Cargo.toml has 0.2.0",
                "packaging/claude-plugin/.mcp.json:1: has the version 0.1.0, and Cargo.toml has 0.2.0",
                "packaging/install.sh:1: is a template: write {{version}} for the version",
                "clients/python/pyproject.toml:2: has the version 0.1.0, and Cargo.toml has 0.2.0",
                "CHANGELOG.md: has no part ## [0.2.0]",
            ]
        );
    }

    #[test]
    fn a_line_to_paste_with_an_old_version_is_found() {
        let lines = "`apt install ./pi-subagents_0.1.0_amd64.deb` with pi 0.87.1\nuses: pi-subagents/pi-subagents@v0.2.0\nnpm i ./pi-subagents-pi-0.1.0.tgz\n";
        let files = [MANIFEST, ("README.md", lines)];
        assert_eq!(
            found(check, &files),
            [
                "README.md:1: names the version 0.1.0, and Cargo.toml has 0.2.0",
                "README.md:3: names the version 0.1.0, and Cargo.toml has 0.2.0",
            ]
        );
    }

    #[test]
    fn another_name_is_found() {
        let files = [
            MANIFEST,
            (
                "packaging/gemini/gemini-extension.json",
                "\"@pi-subagents/px\"\n",
            ),
            (
                "packaging/mcp-registry/server.json",
                "\"name\": \"io.github.other/x\"\n",
            ),
        ];
        assert_eq!(
            found(check, &files),
            [
                "packaging/gemini/gemini-extension.json:1: names @pi-subagents/px, which is no package of ours",
                "packaging/mcp-registry/server.json: does not have the name \"io.github.pi-subagents/pi-subagents\", which two files share",
            ]
        );
    }
}
