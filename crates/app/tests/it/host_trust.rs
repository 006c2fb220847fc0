//! The files of a project in calls from pi.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::host_stage::Shim;
use crate::stage::Stage;

/// A project that carries a definition.
fn repository() -> Stage {
    let stage = Stage::new();
    stage.sandbox.write(
        "project/.pi/agent-profiles/theirs.md",
        "---\nname: theirs\nmodel: m\n---\n",
    );
    stage
}

fn calls(shim: &mut Shim, call_id: &str) -> u64 {
    let task = json!({"name": "one", "prompt": json!([{"reply": "done"}]).to_string(), "profile": "theirs"});
    shim.execute(call_id, "delegate_to_subagents", &json!({"tasks": [task]}))
}

/// Returns the answer of a call, without the session.
fn answer(shim: &Shim, stage: &Stage, id: u64) -> String {
    let text = shim.result(id)["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    stage.sandbox.normalise(&text)
}

const UNKNOWN: &str = "✗ one: error — Unknown profile";
const USED: &str = "✓ one: completed";
const IGNORED: &str = "Ignored 1 agent of $PROJECT, which is not trusted yet: theirs. Only the user can allow that, with /subagents trust.";

fn decisions(stage: &Stage) -> Option<Value> {
    let file = stage.sandbox.agent_dir().join("subagents-trust.json");
    let decisions: Value = serde_json::from_str(&fs::read_to_string(file).ok()?).unwrap();
    Some(
        decisions[fs::canonicalize(stage.sandbox.project())
            .unwrap()
            .to_str()
            .unwrap()]
        .clone(),
    )
}

#[test]
fn a_yes_is_asked_for_once_and_remembered() {
    let stage = repository();
    let mut shim = Shim::start(&stage);
    let first = calls(&mut shim, "c1");
    let second = calls(&mut shim, "c2");
    let asked = shim.answer("ui/select", &json!({"value": "Yes, from now on"}));
    assert_eq!(
        stage.sandbox.normalise(asked["title"].as_str().unwrap()),
        "Use the agents (theirs) of $PROJECT for sub-agents?"
    );
    assert_eq!(
        asked["options"],
        json!(["Yes, from now on", "No, ignore it from now on", "Not now"])
    );
    for id in [first, second] {
        assert!(answer(&shim, &stage, id).starts_with(USED));
    }
    assert_eq!(shim.notifications("ui/select").len(), 1);
    assert_eq!(decisions(&stage), Some(true.into()));
}

#[test]
fn a_definition_of_the_user_that_wants_a_skill_of_the_project_is_asked_about() {
    let stage = Stage::new();
    let sandbox = &stage.sandbox;
    sandbox.write(
        "project/.pi/skills/lamps/SKILL.md",
        "---\nname: lamps\ndescription: Mends lamps.\n---\nUse a cloth.\n",
    );
    for (name, fields) in [("keeper", "loadSkills: lamps\n"), ("other", "")] {
        sandbox.write(
            &format!("home/.pi/agent/agent-profiles/{name}.md"),
            &format!("---\nname: {name}\nmodel: m\n{fields}---\n"),
        );
    }
    let mut shim = Shim::start(&stage);
    let mut call = |id: &str, profile: &str| {
        let prompt = json!([{"reply": "done"}]).to_string();
        let task = json!({"name": "one", "prompt": prompt, "profile": profile});
        shim.execute(id, "delegate_to_subagents", &json!({"tasks": [task]}))
    };
    let (unconcerned, wanting) = (call("c1", "other"), call("c2", "keeper"));
    let asked = shim.answer("ui/select", &json!({"value": "Yes, from now on"}));
    assert_eq!(
        sandbox.normalise(asked["title"].as_str().unwrap()),
        "Use the skills (lamps) of $PROJECT for sub-agents?"
    );
    for id in [unconcerned, wanting] {
        let text = answer(&shim, &stage, id);
        assert!(text.starts_with(USED), "{text}");
    }
    assert_eq!(shim.notifications("ui/select").len(), 1);
}

#[test]
fn a_no_is_remembered_and_beats_what_pi_says() {
    let stage = repository();
    let mut shim = Shim::start(&stage);
    let id = calls(&mut shim, "c1");
    shim.answer("ui/select", &json!({"value": "No, ignore it from now on"}));
    let text = answer(&shim, &stage, id);
    assert!(text.starts_with(UNKNOWN), "{text}");
    assert_eq!(decisions(&stage), Some(false.into()));
    shim.caller(json!({"trusted": true, "hasTrustQuestion": true}));
    let id = calls(&mut shim, "c2");
    assert!(answer(&shim, &stage, id).starts_with(UNKNOWN));
    assert_eq!(shim.notifications("ui/select").len(), 1);
}

#[test]
fn who_does_not_answer_is_asked_again_in_the_next_session() {
    let stage = repository();
    let mut shim = Shim::start(&stage);
    let id = calls(&mut shim, "c1");
    shim.answer("ui/select", &json!({}));
    let text = answer(&shim, &stage, id);
    assert!(
        text.starts_with(UNKNOWN) && text.matches(IGNORED).count() == 1,
        "{text}"
    );
    let id = calls(&mut shim, "c2");
    assert!(answer(&shim, &stage, id).contains(IGNORED));
    assert_eq!(decisions(&stage), None);
    shim.session_shutdown();
    shim.session_start("new", "s2", &[]);
    let id = calls(&mut shim, "c3");
    shim.answer("ui/select", &json!({"value": "Not now"}));
    assert!(answer(&shim, &stage, id).contains(IGNORED));
    assert_eq!(decisions(&stage), None);
    let id = shim.command("profile", "list");
    _ = shim.result(id);
    let shown = stage.sandbox.normalise(&shim.shown());
    assert!(
        shown.ends_with(
            "which is not trusted yet: theirs. Only the user can allow that, with /subagents trust."
        ),
        "{shown}"
    );
}

#[test]
fn without_a_ui_nobody_is_asked_and_pis_own_answer_counts() {
    let stage = repository();
    let mut shim = Shim::start(&stage);
    shim.caller(json!({"hasUI": false, "mode": "json"}));
    let id = calls(&mut shim, "c1");
    assert!(answer(&shim, &stage, id).contains(IGNORED));
    // Pi's word counts where it had something to ask about, and only then.
    shim.caller(json!({"trusted": false, "hasTrustQuestion": true}));
    let id = calls(&mut shim, "c2");
    assert!(answer(&shim, &stage, id).contains(IGNORED));
    shim.caller(json!({"trusted": true}));
    let id = calls(&mut shim, "c3");
    let text = answer(&shim, &stage, id);
    assert!(text.starts_with(USED) && !text.contains('!'), "{text}");
    assert_eq!(shim.notifications("ui/select").len(), 0);
    assert_eq!(decisions(&stage), None);
}

#[test]
fn a_call_can_be_cancelled_while_it_asks() {
    let stage = repository();
    let mut shim = Shim::start(&stage);
    let id = calls(&mut shim, "c1");
    shim.next("ui/select");
    shim.notify("tool/cancel", &json!({"callId": "c1"}));
    assert_eq!(
        shim.response(id)["error"]["message"],
        "Stopped before anything was started."
    );
}

#[test]
fn every_tool_that_uses_definitions_asks() {
    for tool in ["subagent", "background_agent"] {
        let stage = repository();
        let mut shim = Shim::start(&stage);
        let task = json!({"preset": "theirs", "task": json!([{"reply": "done"}]).to_string()});
        let call = shim.execute("c1", tool, &task);
        let asked = shim.answer("ui/select", &json!({"value": "No, ignore it from now on"}));
        assert_eq!(
            stage.sandbox.normalise(asked["title"].as_str().unwrap()),
            "Use the agents (theirs) of $PROJECT for sub-agents?",
            "{tool}"
        );
        shim.response(call);
        assert_eq!(decisions(&stage), Some(false.into()), "{tool}");
    }
}

#[test]
fn a_call_that_uses_nothing_of_the_project_does_not_ask() {
    let stage = repository();
    let mut shim = Shim::start(&stage);
    let plain = shim.delegate("c1", &[("one", json!([{"reply": "done"}]))]);
    assert!(answer(&shim, &stage, plain).starts_with(USED));
    let list = shim.execute("c2", "list_subagent_profiles", &json!({}));
    assert!(answer(&shim, &stage, list).contains(IGNORED));
    assert_eq!(shim.notifications("ui/select").len(), 0);
    // The settings of a project would apply to every run.
    let settings = json!({"subagents": {"maxConcurrency": 1}});
    let file = "project/.pi/settings.json";
    stage.sandbox.write(file, &settings.to_string());
    let asking = shim.delegate("c3", &[("one", json!([{"reply": "done"}]))]);
    let asked = shim.answer("ui/select", &json!({"value": "Not now"}));
    assert_eq!(
        stage.sandbox.normalise(asked["title"].as_str().unwrap()),
        "Use the settings and agents (theirs) of $PROJECT for sub-agents?"
    );
    assert!(answer(&shim, &stage, asking).starts_with(USED));
}

#[test]
fn a_program_that_drives_pi_has_a_minute_to_answer_and_a_person_has_all_the_time() {
    for (mode, timeout) in [("rpc", json!(60_000)), ("tui", Value::Null)] {
        let stage = repository();
        let mut shim = Shim::start(&stage);
        shim.caller(json!({"mode": mode}));
        let id = calls(&mut shim, "c1");
        let asked = shim.answer("ui/select", &json!({}));
        assert_eq!(asked["timeout"], timeout, "{mode}");
        assert!(answer(&shim, &stage, id).contains(IGNORED));
    }
}

#[test]
fn a_person_can_change_their_mind() {
    let stage = repository();
    let mut shim = Shim::start(&stage);
    let say = |shim: &mut Shim, words: &str| {
        let id = shim.command("subagents", words);
        _ = shim.result(id);
        let said = shim.notifications("ui/notify").pop().unwrap();
        stage.sandbox.normalise(said["message"].as_str().unwrap())
    };
    insta::assert_snapshot!(say(&mut shim, "trust no"), @"$PROJECT is not trusted (decided for $PROJECT): what it contains for sub-agents is ignored.");
    let id = calls(&mut shim, "c1");
    assert!(answer(&shim, &stage, id).starts_with(UNKNOWN));
    assert_eq!(decisions(&stage), Some(false.into()));

    let command = shim.command("subagents", "trust");
    let asked = shim.answer(
        "ui/select",
        &json!({"value": "yes: use its agents, settings and skills"}),
    );
    assert_eq!(
        asked["options"],
        json!([
            "yes: use its agents, settings and skills",
            "no: ignore them",
            "ask me again"
        ])
    );
    _ = shim.result(command);
    let id = calls(&mut shim, "c2");
    assert!(answer(&shim, &stage, id).starts_with(USED));

    insta::assert_snapshot!(say(&mut shim, "trust ask"), @"Nobody has decided about $PROJECT: you are asked when a call needs it.");
    assert_eq!(decisions(&stage), Some(Value::Null));
    let id = calls(&mut shim, "c3");
    shim.answer("ui/select", &json!({"value": "Yes, from now on"}));
    assert!(answer(&shim, &stage, id).starts_with(USED));
    insta::assert_snapshot!(say(&mut shim, "trust maybe"), @r#"
    there is no answer "maybe" to /subagents trust
    hint: Use /subagents trust yes, /subagents trust no or /subagents trust ask.
    "#);
}
