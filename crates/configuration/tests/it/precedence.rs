//! The order of definitions with the same name, and the files that are ignored.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use pi_subagents_configuration::{
    Asker, Catalogue, CatalogueCache, DefinitionDir, DefinitionPlaces, Trust, Viewpoint,
};
use pi_subagents_vocabulary::{Dialect, Scope};

use crate::sandbox::{Sandbox, global_folder};

/// Returns the descriptions of the effective definition and of those it hides, in this order.
fn order(catalogue: &Catalogue, asker: Asker) -> String {
    let found = catalogue.find("a", asker).unwrap();
    let all = [found.definition].into_iter().chain(found.shadowed);
    let all: Vec<&str> = all
        .map(|one| one.description.as_deref().unwrap_or_default())
        .collect();
    all.join(" > ")
}

#[test]
fn project_beats_global_nearer_beats_farther_and_each_asker_has_its_own_dialect() {
    let sandbox = Sandbox::new();
    sandbox.trust();
    for path in ["agent-profiles", "subagents", "agents"] {
        sandbox.define(&format!(".pi/agent/{path}/a.md"), "a");
        sandbox.define(&format!("repo/.pi/{path}/a.md"), "a");
    }
    sandbox.define("repo/src/.pi/agents/a.md", "a");
    let catalogue = sandbox.catalogue();
    insta::assert_snapshot!(order(&catalogue, Asker::Delegation), @"repo/.pi/agent-profiles/a.md > repo/.pi/subagents/a.md > repo/.pi/agents/a.md > .pi/agent/agent-profiles/a.md > .pi/agent/subagents/a.md > .pi/agent/agents/a.md");
    insta::assert_snapshot!(order(&catalogue, Asker::Subagent), @"repo/.pi/subagents/a.md > repo/.pi/agents/a.md > repo/.pi/agent-profiles/a.md > .pi/agent/subagents/a.md > .pi/agent/agents/a.md > .pi/agent/agent-profiles/a.md");
    let deep = sandbox.catalogue_from(&sandbox.project().join("src/deep"));
    insta::assert_snapshot!(order(&deep, Asker::Delegation), @"repo/src/.pi/agents/a.md > repo/.pi/subagents/a.md > .pi/agent/agent-profiles/a.md > .pi/agent/subagents/a.md > .pi/agent/agents/a.md");
    assert_eq!(deep.effective(Asker::Subagent).len(), 1);
}

#[test]
fn a_folder_without_definitions_is_not_the_nearest_one() {
    let sandbox = Sandbox::new();
    sandbox.trust();
    sandbox.define("repo/.pi/subagents/a.md", "a");
    sandbox.write("repo/src/.pi/subagents/runs/x/meta.json", "{}");
    let deep = sandbox.catalogue_from(&sandbox.project().join("src/deep"));
    assert_eq!(order(&deep, Asker::Subagent), "repo/.pi/subagents/a.md");
}

#[test]
fn the_home_directory_is_no_project() {
    let sandbox = Sandbox::new();
    Trust::remember(&sandbox.agent_dir(), &sandbox.home(), true).unwrap();
    sandbox.define(".pi/agent-profiles/a.md", "a");
    sandbox.define(".pi/subagents/a.md", "a");
    for cwd in [sandbox.home(), sandbox.project()] {
        assert!(
            sandbox
                .catalogue_from(&cwd)
                .effective(Asker::Delegation)
                .is_empty()
        );
    }
}

#[test]
fn folders_of_the_settings_are_read_and_their_keys_tell_the_dialect() {
    let mut sandbox = Sandbox::new();
    sandbox.trust();
    sandbox.define("repo/prompts/a.md", "a");
    sandbox.write("mine/b.md", "---\nname: b\nnoTools: true\n---\n");
    sandbox.define("elsewhere/c.md", "c");
    let dir = |path: &str, scope| DefinitionDir {
        path: sandbox.home().join(path),
        scope,
    };
    let dirs = vec![
        dir("repo/prompts", Scope::Project),
        dir("mine", Scope::Global),
        dir("elsewhere", Scope::Project),
    ];
    sandbox.definition_dirs = dirs;
    let catalogue = sandbox.catalogue();
    let found: Vec<_> = catalogue
        .effective(Asker::Delegation)
        .iter()
        .map(|definition| {
            (
                definition.name.as_str(),
                definition.dialect,
                definition.scope,
            )
        })
        .collect();
    let expected = [
        ("a", Dialect::Prompt, Scope::Project),
        ("b", Dialect::Profile, Scope::Global),
    ];
    assert_eq!(found, expected);
    insta::assert_snapshot!(sandbox.shown(&catalogue.notices("Say yes.").join("\n")), @"Ignored 1 agent of ~/repo, found outside of it: c.");
}

#[test]
fn nothing_of_an_untrusted_project_is_used_and_that_is_said() {
    let sandbox = Sandbox::new();
    sandbox.define("repo/.pi/agent-profiles/a.md", "a");
    sandbox.define("repo/.pi/subagents/b.md", "b");
    sandbox.write("repo/.pi/agents/broken.md", "nothing");
    sandbox.define(".pi/agent/agent-profiles/a.md", "a");
    let catalogue = sandbox.catalogue();
    assert_eq!(
        order(&catalogue, Asker::Delegation),
        ".pi/agent/agent-profiles/a.md"
    );
    assert_eq!(catalogue.warnings(), []);
    let error = catalogue.find("b", Asker::Delegation).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Unknown profile: \"b\". Available profiles: a (.pi/agent/agent-profiles/a.md)"
    );
    assert_eq!(error.ignored.len(), 1);
    insta::assert_snapshot!(sandbox.shown(&catalogue.notices("Say yes.").join("\n")), @"Ignored 2 agents of ~/repo, which is not trusted yet: a, b. Say yes.");
    Trust::remember(&sandbox.agent_dir(), &sandbox.project(), false).unwrap();
    insta::assert_snapshot!(sandbox.shown(&sandbox.catalogue().notices("Say yes.").join("\n")), @"Ignored 2 agents of ~/repo, which is not trusted: a, b.");
    sandbox.trust();
    let catalogue = sandbox.catalogue();
    assert_eq!(catalogue.notices("Say yes."), [""; 0]);
    assert_eq!(catalogue.warnings().len(), 1);
    assert!(catalogue.find("b", Asker::Subagent).is_ok());
}

#[test]
fn a_link_does_not_smuggle_trust() {
    let sandbox = Sandbox::new();
    sandbox.trust();
    sandbox.define("outside/evil.md", "evil");
    sandbox.define("repo/shared/fine.md", "fine");
    sandbox.define("repo/.pi/agent-profiles/a.md", "a");
    let profiles = sandbox.project().join(".pi/agent-profiles");
    symlink(
        sandbox.home().join("outside/evil.md"),
        profiles.join("evil.md"),
    )
    .unwrap();
    symlink("../../shared/fine.md", profiles.join("fine.md")).unwrap();
    symlink(
        sandbox.home().join("outside"),
        sandbox.project().join(".pi/subagents"),
    )
    .unwrap();
    let catalogue = sandbox.catalogue();
    let names: Vec<_> = catalogue
        .effective(Asker::Subagent)
        .iter()
        .map(|definition| definition.name.clone())
        .collect();
    assert_eq!(names, ["a", "fine"]);
    insta::assert_snapshot!(sandbox.shown(&catalogue.notices("Say yes.").join("\n")), @"Ignored 2 agents of ~/repo, found outside of it: evil, evil.");
}

#[test]
fn a_key_of_a_project_is_never_used() {
    let sandbox = Sandbox::new();
    sandbox.trust();
    sandbox.write(
        "repo/.pi/agent-profiles/a.md",
        "---\nname: a\napiKey: sk-proj-abc123def456\nextensions: x.js\nextraArgs: --verbose\n---\n",
    );
    let catalogue = sandbox.catalogue();
    let found = catalogue.find("a", Asker::Delegation).unwrap();
    assert_eq!(found.definition.api_key, None);
    assert_eq!(found.definition.extensions, ["x.js"]);
    let said: Vec<String> = catalogue
        .warnings()
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(sandbox.shown(&said.join("\n")), @r#"~/repo/.pi/agent-profiles/a.md:3:9: "apiKey" is never taken from a file of a project; it is ignored"#);
}

#[test]
fn of_two_files_with_one_name_that_which_is_called_so_counts() {
    let sandbox = Sandbox::new();
    for file in ["0", "a", "b"] {
        sandbox.define(&format!(".pi/agent/agent-profiles/{file}.md"), "a");
    }
    let catalogue = sandbox.catalogue();
    assert_eq!(
        order(&catalogue, Asker::Delegation),
        ".pi/agent/agent-profiles/a.md"
    );
    let said: Vec<String> = catalogue
        .warnings()
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(sandbox.shown(&said.join("\n")), @r#"
    ~/.pi/agent/agent-profiles/0.md: the name "a" is that of ~/.pi/agent/agent-profiles/a.md; the file is not used
    ~/.pi/agent/agent-profiles/b.md: the name "a" is that of ~/.pi/agent/agent-profiles/a.md; the file is not used
    "#);
}

#[test]
fn an_unknown_name_lists_what_there_is() {
    let sandbox = Sandbox::new();
    let nothing = sandbox
        .catalogue()
        .find("x", Asker::Delegation)
        .unwrap_err();
    assert_eq!(
        nothing.to_string(),
        "Unknown profile: \"x\". Available profiles: (none)"
    );
    sandbox.define(".pi/agent/agent-profiles/sandbox.md", "sandbox");
    sandbox.define(".pi/agent/subagents/scout.md", "scout");
    let catalogue = sandbox.catalogue();
    let error = catalogue.find("__proto__", Asker::Subagent).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Unknown agent: \"__proto__\". Available agents: default (a plain sub-agent that needs no file), sandbox (.pi/agent/agent-profiles/sandbox.md), scout [preset] (.pi/agent/subagents/scout.md)"
    );
}

#[test]
fn a_kept_catalogue_is_never_out_of_date() {
    let sandbox = Sandbox::new();
    sandbox.define(".pi/agent/agent-profiles/a.md", "a");
    let folder = sandbox.agent_dir().join("agent-profiles");
    let (places, trust) = (global_folder(&folder), Trust::default());
    let mut cache = CatalogueCache::default();
    let start = Instant::now();
    let mut load = |seconds: u64| {
        cache.load(
            &sandbox.project(),
            &places,
            &trust,
            start + Duration::from_secs(seconds),
        )
    };
    let first = load(0);
    assert!(std::sync::Arc::ptr_eq(&first, &load(4)));
    assert!(!std::sync::Arc::ptr_eq(&first, &load(6)));
    sandbox.define(".pi/agent/agent-profiles/b.md", "b");
    assert_eq!(load(6).effective(Asker::Delegation).len(), 2);
    fs::write(folder.join("b.md"), "---\nname: c\n---\n").unwrap();
    assert!(load(6).find("c", Asker::Delegation).is_ok());
    fs::remove_file(folder.join("b.md")).unwrap();
    assert_eq!(load(6).effective(Asker::Delegation).len(), 1);
}

#[test]
fn a_new_definition_goes_where_it_will_be_found() {
    let sandbox = Sandbox::new();
    let (agent_dir, project) = (sandbox.agent_dir(), sandbox.project());
    let viewpoint = Viewpoint {
        cwd: &project.join("src"),
        own_directories: &[],
        agent_dir: &agent_dir,
        project: &project,
        definition_dirs: &[],
        home: &sandbox.home(),
        foreign: &[],
    };
    let folders: Vec<String> = Dialect::OURS
        .into_iter()
        .flat_map(|dialect| {
            [Scope::Project, Scope::Global]
                .map(|scope| DefinitionPlaces::folder_for(&viewpoint, scope, dialect))
        })
        .map(|folder| sandbox.shown(folder.to_str().unwrap()))
        .collect();
    insta::assert_snapshot!(folders.join("\n"), @"
    ~/repo/src/.pi/agent-profiles
    ~/.pi/agent/agent-profiles
    ~/repo/.pi/subagents
    ~/.pi/agent/subagents
    ~/repo/.pi/agents
    ~/.pi/agent/agents
    ");
}
