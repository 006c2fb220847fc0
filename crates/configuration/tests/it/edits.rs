//! Saving and deleting.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::Duration;

use pi_subagents_configuration::{Asker, RunnerChoice, SaveError, delete, save};
use pi_subagents_vocabulary::{Definition, Dialect, Gate, Scope, Secret, ThinkingLevel};

use crate::sandbox::Sandbox;

const WRITTEN: &str = "---
# Who it is
name: reviewer
color: blue   # not ours
model: haiku # fast
tools: [read, ls]
appendSystemPrompt: |
  One.
  Two.
nested:
  deep: [1, 2]
# the end
---

You are.
";

fn mode(file: &Path) -> u32 {
    fs::metadata(file).unwrap().permissions().mode() & 0o777
}

fn reviewer(sandbox: &Sandbox, content: &str) -> Definition {
    sandbox.write(".pi/agent/agent-profiles/reviewer.md", content);
    let catalogue = sandbox.catalogue();
    catalogue
        .find("reviewer", Asker::Delegation)
        .unwrap()
        .definition
        .clone()
}

fn full(sandbox: &Sandbox, dialect: Dialect) -> Definition {
    let folder = ["agent-profiles", "subagents", "agents"][dialect as usize];
    let file = sandbox.agent_dir().join(folder).join("full.md");
    Definition {
        description: Some("no: \"plain\" text, # really".into()),
        provider: Some("on".into()),
        model: Some("1e3".into()),
        thinking: Some(ThinkingLevel::Off),
        tools: Some(vec!["read".into(), "null".into()]),
        extensions: vec!["/a,b.js".into(), "~/c.ts".into()],
        no_extensions: true,
        suggested_skills: vec!["true".into()],
        load_skills: vec!["a".into(), "b".into()],
        no_context_files: true,
        body: Some("# Title\n\n---\n\nText: 'x'".into()),
        append_system_prompt: Some("One.\n\n  Two: {x}\n---\n".trim().into()),
        api_key: Some(Secret::new("sk-proj-\"abc\"")),
        extra_args: vec!["--x".into(), " a,b".into(), "5".into()],
        runner: Some(RunnerChoice::Embedded),
        timeout: Some(Duration::from_millis(1500)),
        finalize: false,
        ..Definition::new("full", dialect, Scope::Global, file)
    }
}

#[test]
fn a_new_file_reads_back_as_it_was_meant() {
    let sandbox = Sandbox::new();
    let mut texts = Vec::new();
    for dialect in Dialect::OURS {
        let definition = full(&sandbox, dialect);
        save(&definition).unwrap();
        assert_eq!(mode(&definition.file), 0o600);
        texts.push(fs::read_to_string(&definition.file).unwrap());
    }
    let catalogue = sandbox.catalogue();
    assert_eq!(catalogue.warnings(), []);
    assert_eq!(
        catalogue
            .find("full", Asker::Delegation)
            .unwrap()
            .shadowed
            .len(),
        2
    );
    insta::assert_snapshot!(texts.join("======\n"));
    let bare = Definition::new(
        "bare",
        Dialect::Profile,
        Scope::Project,
        sandbox.project().join(".pi/agent-profiles/bare.md"),
    );
    save(&bare).unwrap();
    assert_eq!(
        fs::read_to_string(&bare.file).unwrap(),
        "---\nname: bare\n---\n"
    );
    assert_ne!(mode(&bare.file), 0o600);
}

#[test]
fn a_saved_file_keeps_its_comments_its_order_and_what_is_not_ours() {
    let sandbox = Sandbox::new();
    let mut definition = reviewer(&sandbox, WRITTEN);
    save(&definition).unwrap();
    assert_eq!(fs::read_to_string(&definition.file).unwrap(), WRITTEN);
    definition.model = Some("claude: sonnet".into());
    definition.tools = Some(vec!["read".into(), "bash".into()]);
    definition.thinking = Some(ThinkingLevel::Off);
    definition.append_system_prompt = None;
    definition.no_skills = true;
    definition.body = Some("You were.".into());
    save(&definition).unwrap();
    insta::assert_snapshot!(fs::read_to_string(&definition.file).unwrap());
}

#[test]
fn line_ends_and_marks_stay() {
    let sandbox = Sandbox::new();
    let before = "\u{feff}---\r\nname: reviewer\r\nmodel: a\r\n---\r\nOne.\r\nTwo.\r\n";
    let mut definition = reviewer(&sandbox, before);
    definition.model = Some("b".into());
    save(&definition).unwrap();
    let after = fs::read_to_string(&definition.file).unwrap();
    assert_eq!(after, before.replace("model: a", "model: b"));
}

#[test]
fn a_key_makes_a_file_private_and_a_link_stays_a_link() {
    let sandbox = Sandbox::new();
    let target = sandbox.write("elsewhere.md", "---\nname: reviewer\n---\n");
    fs::create_dir_all(sandbox.agent_dir().join("agent-profiles")).unwrap();
    let link = sandbox.agent_dir().join("agent-profiles/reviewer.md");
    symlink(&target, &link).unwrap();
    let catalogue = sandbox.catalogue();
    let mut definition = catalogue
        .find("reviewer", Asker::Delegation)
        .unwrap()
        .definition
        .clone();
    definition.model = Some("x".into());
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    save(&definition).unwrap();
    assert_eq!(mode(&target), 0o640);
    definition.api_key = Some(Secret::new("sk-test-abc123"));
    save(&definition).unwrap();
    assert_eq!(mode(&target), 0o600);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    delete(&link).unwrap();
    assert!(target.exists());
    delete(&link).unwrap_err();
}

#[test]
fn what_cannot_be_saved_leaves_the_old_file_alone() {
    let sandbox = Sandbox::new();
    let definition = reviewer(&sandbox, "---\nname: reviewer\n---\n");
    let named = Definition {
        name: "../x".into(),
        ..definition.clone()
    };
    assert!(matches!(save(&named), Err(SaveError::Name(_))));
    let project = Definition {
        scope: Scope::Project,
        api_key: Some(Secret::new("k")),
        ..definition.clone()
    };
    assert!(matches!(save(&project), Err(SaveError::KeyInProject)));
    let untrimmed = Definition {
        model: Some(" x".into()),
        ..definition.clone()
    };
    assert!(matches!(save(&untrimmed), Err(SaveError::Unfaithful(_))));
    fs::write(&definition.file, "---\nname: [\n---\n").unwrap();
    assert!(matches!(save(&definition), Err(SaveError::Broken { .. })));
    assert_eq!(
        fs::read_to_string(&definition.file).unwrap(),
        "---\nname: [\n---\n"
    );
}

#[test]
fn a_gate_with_a_comma_takes_the_place_of_a_list() {
    let sandbox = Sandbox::new();
    let mut definition = reviewer(
        &sandbox,
        "---\nname: reviewer\ngate:\n  - cargo fmt\n  - cargo test\n---\n",
    );
    definition.gates = vec![Gate::new("cargo test -p a,b")];
    save(&definition).unwrap();
    let catalogue = sandbox.catalogue();
    let found = catalogue.find("reviewer", Asker::Delegation).unwrap();
    assert_eq!(found.definition.gates, definition.gates);
}
