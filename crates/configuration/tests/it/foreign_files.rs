//! Agent files of other tools: anything may lie in their folders, and no file gets more tools than
//! its author gave it.

use pi_subagents_configuration::{Asker, Catalogue};
use pi_subagents_vocabulary::{Definition, READ_TOOLS, SandboxLevel};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use crate::sandbox::Sandbox;

const FOLDERS: [(&str, &str); 7] = [
    (".claude/agents", "md"),
    (".copilot/agents", "md"),
    (".codex/agents", "toml"),
    (".config/opencode/agent", "md"),
    (".gemini/agents", "md"),
    (".cursor/agents", "md"),
    (".pi/agent/agents", "md"),
];

/// Lines that make an agent read-only, in the folders of their tools.
const READERS: [(&str, &str); 3] = [
    (".claude/agents", "permissionMode: plan"),
    (".cursor/agents", "readonly: true"),
    (
        ".pi/agent/agents",
        "systemPromptMode: replace\nacceptanceRole: read-only",
    ),
];

fn keys() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "name",
        "description",
        "tools",
        "disallowedTools",
        "disallowed_tools",
        "permission",
        "permissionMode",
        "hooks",
        "readonly",
        "sandbox_mode",
        "model",
        "skills",
        "isolation",
        "prompt_mode",
        "systemPromptMode",
        "runner",
        "acceptanceRole",
        "mcpServers",
        "max_turns",
        "maxTurns",
        "steps",
        "  indented",
        "- item",
        "x y",
    ])
}

fn values() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "x",
        "Read, Bash",
        "[Read, 'Bash(git:*)']",
        "Bash(git add:*, git log",
        "{bash: deny, '*': allow}",
        "{bash: {'*': ask}}",
        "true",
        "plan",
        "read-only",
        "workspace-write",
        "9",
        "-1",
        "{type: external-cli, adapter: claude-code}",
        "{docs: {command: x}}",
        "a: b: c",
        "\"unclosed",
        "|",
        "&a [*a]",
        "[]",
        "",
        "((((",
        "*",
    ]);
    prop_oneof![known.prop_map(str::to_owned), ".{0,20}"]
}

fn file() -> impl Strategy<Value = String> {
    let line = (
        keys(),
        values(),
        prop::sample::select(vec![": ", " = ", ":\n  - "]),
    );
    let lines = prop::collection::vec(line, 0..8);
    (lines, any::<bool>()).prop_map(|(lines, has_fences)| {
        let lines: Vec<String> = lines
            .iter()
            .map(|(key, value, between)| format!("{key}{between}{value}"))
            .collect();
        let lines = lines.join("\n");
        if has_fences {
            format!("---\nname: x\n{lines}\n---\nbody\n")
        } else {
            lines
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn anything_may_lie_in_the_folders_of_other_tools(
        files in prop::collection::vec((prop::sample::select(FOLDERS.to_vec()), file()), 1..6),
    ) {
        let sandbox = Sandbox::new();
        for (index, ((folder, ending), content)) in files.iter().enumerate() {
            sandbox.write(&format!("{folder}/{index}.{ending}"), content);
        }
        sandbox.write(".claude/agents/good.md", "---\nname: good-one\n---\n");
        let catalogue = sandbox.catalogue();
        prop_assert!(catalogue.find("good-one", Asker::Delegation).is_ok());
        for warning in catalogue.warnings() {
            prop_assert!(!warning.to_string().contains(char::is_control));
        }
    }

    #[test]
    fn a_read_only_agent_has_nothing_that_writes(
        way in prop::sample::select(READERS.to_vec()),
        lines in prop::collection::vec((keys(), values()), 0..4),
        is_first in any::<bool>(),
    ) {
        let (folder, line) = way;
        let sandbox = Sandbox::new();
        let mut written: Vec<String> =
            lines.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        written.insert(if is_first { 0 } else { lines.len() }, line.to_owned());
        let text = format!("---\nname: a\n{}\n---\nbody\n", written.join("\n"));
        sandbox.write(&format!("{folder}/a.md"), text);
        let catalogue = sandbox.catalogue();
        if let Ok(found) = catalogue.find("a", Asker::Delegation) {
            let Definition { tools, no_tools, mcp_servers, sandbox, .. } = found.definition;
            prop_assert_eq!(*sandbox, Some(SandboxLevel::ReadOnly));
            prop_assert!(mcp_servers.is_empty());
            prop_assert_eq!(*no_tools, tools.is_none());
            for tool in tools.iter().flatten() {
                prop_assert!(READ_TOOLS.contains(&tool.as_str()), "{tool}");
            }
        }
    }

    #[test]
    fn a_tool_that_is_not_named_is_not_given(
        names in prop::collection::vec(
            prop::sample::select(vec!["Read", "Grep", "Glob", "Bash", "Edit", "WebFetch", "Bash(git:*)", "x"]),
            0..5,
        ),
    ) {
        let sandbox = Sandbox::new();
        let list = names.join(", ");
        sandbox.write(".claude/agents/a.md", format!("---\nname: a\ntools: {list}\n---\n"));
        let catalogue = sandbox.catalogue();
        if let Ok(found) = catalogue.find("a", Asker::Delegation) {
            let Definition { tools, no_tools, exclude_tools, .. } = found.definition;
            prop_assert_eq!(exclude_tools, &None);
            prop_assert_eq!(*no_tools, tools.is_none());
            let named = |tool: &str| names.iter().any(|name| {
                let name = if *name == "Glob" { "find".to_owned() } else { name.to_lowercase() };
                name == tool
            });
            for tool in tools.iter().flatten() {
                prop_assert!(named(tool), "{tool} of {names:?}");
            }
        }
    }
}

fn tools_of(catalogue: &Catalogue, name: &str) -> Option<Vec<String>> {
    let found = catalogue.find(name, Asker::Delegation).unwrap();
    found.definition.tools.clone()
}

#[test]
fn a_link_out_of_the_project_stays_ignored() {
    let sandbox = Sandbox::new();
    let target = sandbox.write("elsewhere/spy.md", "---\nname: spy\ntools: Read\n---\n");
    sandbox.write(
        "repo/.claude/agents/own.md",
        "---\nname: own\ntools: Read\n---\n",
    );
    let folder = sandbox.project().join(".claude/agents");
    std::os::unix::fs::symlink(target, folder.join("spy.md")).unwrap();
    std::os::unix::fs::symlink(sandbox.home().join("elsewhere"), folder.join("more")).unwrap();
    assert!(sandbox.catalogue().find("own", Asker::Delegation).is_err());
    sandbox.trust();
    let catalogue = sandbox.catalogue();
    assert_eq!(tools_of(&catalogue, "own"), Some(vec!["read".to_owned()]));
    assert!(catalogue.find("spy", Asker::Delegation).is_err());
    let ignored: Vec<&str> = catalogue
        .ignored()
        .map(|(one, _)| one.name.as_str())
        .collect();
    assert_eq!(ignored, ["spy"]);
}

#[test]
fn a_restriction_of_another_tool_keeps_a_file_of_ours_out() {
    let sandbox = Sandbox::new();
    let keys = [
        "disallowedTools: Bash",
        "permission: {bash: deny}",
        "permissionMode: plan",
        "hooks: {}",
        "readonly: true",
        "sandbox_mode: read-only",
        "acceptanceRole: read-only",
    ];
    for (index, key) in keys.iter().enumerate() {
        let text = format!("---\nname: own-{index}\n{key}\n---\n");
        sandbox.write(&format!(".pi/agent/agent-profiles/own-{index}.md"), text);
    }
    let catalogue = sandbox.catalogue();
    assert_eq!(catalogue.effective(Asker::Delegation).len(), 0);
    let first = sandbox.shown(&catalogue.warnings()[0].to_string());
    assert_eq!(
        first,
        "~/.pi/agent/agent-profiles/own-0.md:3:1: \"disallowedTools\" restricts agents of another tool and means nothing here; use \"tools\", \"excludeTools\" or \"noTools\"; the file is not used"
    );
}
