//! Serializable types exist only at the edges: the inside never depends on a format.

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

/// The edges, and the data that crosses them. An edge is a file, or a directory with a `/` at its
/// end.
const EDGES: [(&str, &str); 39] = [
    ("crates/agent/src/event.rs", "records the agent prints"),
    (
        "crates/agent/src/message.rs",
        "messages as records and session files hold them",
    ),
    ("crates/agent/src/models/", "models.json and auth.json"),
    ("crates/agent/src/output.rs", "records the agent prints"),
    (
        "crates/agent/src/providers/",
        "requests to and answers from models, scripts",
    ),
    (
        "crates/agent/src/rpc/",
        "commands the agent reads, and its responses",
    ),
    ("crates/agent/src/sections.rs", "contents of messages"),
    ("crates/agent/src/session/", "session files"),
    ("crates/agent/src/tools/", "arguments and details of tools"),
    ("crates/agent/src/usage.rs", "usage as records hold it"),
    (
        "crates/calls/src/",
        "tool calls and answers, orders to a detached process, the remembered version of pi",
    ),
    (
        "crates/cli/src/json_stream.rs",
        "events as programs follow them",
    ),
    (
        "crates/cli/src/message_json.rs",
        "what session --json prints",
    ),
    (
        "crates/calls/src/fleet/packed/base.rs",
        "the note of what a fleet has of a repository",
    ),
    (
        "crates/cli/src/read_conversation.rs",
        "what session --json prints",
    ),
    (
        "crates/cli/src/commands/status/seen.rs",
        "rows and counts as programs read them",
    ),
    (
        "crates/pi_host/src/wire.rs",
        "what pi and host tell each other",
    ),
    (
        "crates/ground/src/error.rs",
        "errors, as a detached process answers them",
    ),
    (
        "crates/runs/src/",
        "rows and counts as programs read them, and what pi's sessions keep of runs",
    ),
    (
        "crates/configuration/src/edit/",
        "frontmatter that is written",
    ),
    ("crates/configuration/src/formats/", "frontmatter"),
    ("crates/configuration/src/settings.rs", "settings.json"),
    (
        "crates/vocabulary/src/allowance.rs",
        "allowances, in orders to a detached process",
    ),
    (
        "crates/vocabulary/src/child_protocol/",
        "records and commands of children",
    ),
    (
        "crates/vocabulary/src/gate.rs",
        "gates, in orders to a detached process",
    ),
    (
        "crates/vocabulary/src/receipt/",
        "receipts, in records, rows and answers",
    ),
    (
        "crates/vocabulary/src/isolation.rs",
        "where a run is to work, in orders to a detached process",
    ),
    (
        "crates/vocabulary/src/place.rs",
        "where a call works, in orders to a detached process",
    ),
    (
        "crates/vocabulary/src/runner_choice.rs",
        "the wished kind of child, in orders to a detached process",
    ),
    (
        "crates/engine/src/keeper/wire.rs",
        "what owner and keeper tell each other",
    ),
    ("crates/engine/src/owner/wire.rs", "requests to an owner"),
    (
        "crates/fleet/src/wire/",
        "what the machines of a fleet tell each other",
    ),
    (
        "crates/pi_files/src/skills.rs",
        "skills of the caller, in orders to a detached process",
    ),
    ("crates/pi_files/src/yaml.rs", "frontmatter"),
    ("crates/records/src/format/", "the record on disk"),
    ("crates/records/src/index/line.rs", "lines of the index"),
    ("crates/records/src/used.rs", "lines of the index"),
    (
        "crates/records/src/owner.rs",
        "the owner as the record names it",
    ),
    ("testkit/", "scripts, and the wire formats of models"),
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let inner = tree.files.iter().filter(|file| is_inner(file));
    inner.flat_map(serializable_lines).collect()
}

fn is_inner(file: &SourceFile) -> bool {
    let is_at =
        |edge: &str| file.path == edge || (edge.ends_with('/') && file.path.starts_with(edge));
    file.has_extension(&["rs"])
        && file.path.contains("src/")
        && !EDGES.iter().any(|(edge, _)| is_at(edge))
}

fn serializable_lines(file: &SourceFile) -> Vec<Finding> {
    let mut inside_derive = false;
    let mut findings = Vec::new();
    for (number, line) in file.numbered_lines() {
        let code = line.split("//").next().unwrap_or_default();
        inside_derive |= code.contains("derive(");
        let names_it = code.contains("Serialize") || code.contains("Deserialize");
        let is_impl = code.trim_start().starts_with("impl") && code.contains(" for ");
        if names_it && (inside_derive || is_impl) {
            let message = "serializable types belong to the edges; keep the format apart from \
                           this type, or add the file to xtask/tests/tidy/rules/serialization.rs \
                           with what crosses there";
            findings.push(Finding::at(&file.path, number, message));
        }
        inside_derive &= !code.contains(")]");
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<String> {
        found(check, &[(path, text)])
            .iter()
            .filter_map(|finding| finding.split(": ").next().map(str::to_owned))
            .collect()
    }

    #[test]
    fn serializable_types_inside_are_found_however_they_are_written() {
        let path = "crates/vocabulary/src/plan.rs";
        let at = |line: usize| [format!("{path}:{line}")];
        assert_eq!(
            lines(path, "#[derive(Debug, serde::Serialize)]\nstruct A;\n"),
            at(1)
        );
        assert_eq!(
            lines(
                path,
                "#[derive(\n    Debug,\n    Deserialize,\n)]\nstruct A;\n"
            ),
            at(3)
        );
        assert_eq!(
            lines(path, "#[cfg_attr(test, derive(Serialize))]\nstruct A;\n"),
            at(1)
        );
        assert_eq!(
            lines(path, "\nimpl<'de> Deserialize<'de> for A {}\n"),
            at(2)
        );
    }

    #[test]
    fn edges_uses_and_comments_are_fine() {
        let derive = "#[derive(Serialize)]\nstruct A;\n";
        let none: [String; 0] = [];
        assert_eq!(lines("crates/records/src/format/meta.rs", derive), none);
        assert_eq!(lines("crates/engine/src/owner/wire.rs", derive), none);
        assert_eq!(lines("crates/records/tests/it/main.rs", derive), none);
        let inside = "/// derive(Serialize) is not for us.\n#[derive(Debug)]\nstruct A;\nfn a(line: &impl Serialize) {}\n";
        assert_eq!(lines("crates/engine/src/unit.rs", inside), none);
    }
}
