//! The error reference of the documents, row by row and word for word.

use std::time::Duration;

use pi_subagents_testkit::wait_for_file;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, call, outcomes};

/// Profiles with a fault each: name, fields, and the error of the task or the call.
const PROFILES: &[(&str, &str, &str)] = &[
    (
        "suggests",
        "suggestedSkills: bad-name",
        r#"Unknown skills: "bad-name". Available skills: skill-a, skill-b"#,
    ),
    (
        "loads",
        "loadSkills: [skill-a, bad-name]",
        r#"Unknown skills: "bad-name". Available skills: skill-a, skill-b"#,
    ),
    (
        "null-byte",
        "extraArgs: [\"a\\0b\"]",
        "Invalid extraArg: contains null byte",
    ),
    (
        "shell",
        "extraArgs: [\"| ls\"]",
        "Refusing extraArg: potentially unsafe argument '| ls...'",
    ),
    (
        "lifts",
        "tools: read\nextraArgs: [\"--tools=bash\"]",
        r#"Refusing extraArg "--tools=bash" which would override profile tool restrictions. Use the dedicated profile fields instead."#,
    ),
    (
        "engine",
        "extraArgs: [\"--api-key\"]",
        r#"Refusing extraArg "--api-key": it is set by the engine."#,
    ),
    (
        "attaches",
        "extraArgs: [\"@secrets\"]",
        r#"Refusing extraArg "@secrets": a file is given with the task."#,
    ),
    (
        "extends",
        "extensions: /no/such/extension.js",
        "Extension not found: /no/such/extension.js",
    ),
];

/// Profiles that contradict themselves, which fails the call.
const CONTRADICTIONS: &[(&str, &str, &str)] = &[
    (
        "suggested",
        "noSkills: true\nsuggestedSkills: skill-a",
        r#"Profile "suggested" has both "suggestedSkills" and "noSkills" set. These are mutually exclusive — --no-skills would override --skill flags."#,
    ),
    (
        "loaded",
        "noSkills: true\nloadSkills: skill-a",
        r#"Profile "loaded" has both "loadSkills" and "noSkills" set. These are mutually exclusive — --no-skills disables skill discovery."#,
    ),
    (
        "listed",
        "tools: read\nexcludeTools: bash",
        r#"Profile "listed" has both "tools" and "excludeTools" set. These are mutually exclusive."#,
    ),
];

fn stage_with(profiles: &[(&str, &str, &str)]) -> Stage {
    let stage = Stage::new();
    for skill in ["skill-a", "skill-b"] {
        stage.sandbox.write(
            &format!("home/.pi/agent/skills/{skill}/SKILL.md"),
            &format!("---\nname: {skill}\ndescription: what {skill} does\n---\nDo it.\n"),
        );
    }
    for (name, fields, _) in profiles {
        stage.profile(name, fields, "");
    }
    stage
}

fn using(profile: &str) -> Value {
    json!({"name": profile, "prompt": json!([{"reply": "fine"}]).to_string(), "profile": profile})
}

/// The runs there have been.
fn runs(stage: &Stage) -> Value {
    stage.command(&["status", "--all", "--json"]).run().json()["counts"]["total"].clone()
}

#[test]
fn what_is_wrong_with_a_definition_is_said_by_its_task_and_the_others_go_on() {
    let stage = stage_with(PROFILES);
    let mut tasks: Vec<Value> = PROFILES.iter().map(|(name, ..)| using(name)).collect();
    tasks.push(using("nobody"));
    tasks.push(json!({"name": "fine", "prompt": json!([{"reply": "fine"}]).to_string()}));
    let output = stage.delegate(&json!({"tasks": tasks})).run();
    assert_eq!(output.code, Some(4), "{output}");
    let found: Vec<(String, Option<String>)> = outcomes(&output)
        .into_iter()
        .map(|run| (run.name, run.error))
        .collect();
    let row = |name: &str, error: &str| (name.to_owned(), Some(error.to_owned()));
    let mut expected: Vec<_> = PROFILES
        .iter()
        .map(|(name, _, error)| row(name, error))
        .collect();
    expected.push(row(
        "nobody",
        r#"Unknown profile: "nobody". Available profiles: attaches, engine, extends, lifts, loads, null-byte, shell, suggests"#,
    ));
    expected.push(("fine".to_owned(), None));
    assert_eq!(found, expected);
}

#[test]
fn a_contradiction_fails_the_call_before_anything_starts() {
    for profile @ (name, _, error) in CONTRADICTIONS {
        let stage = stage_with(&[*profile]);
        let fine = json!({"name": "fine", "prompt": json!([{"reply": "fine"}]).to_string()});
        let output = stage.delegate(&json!({"tasks": [fine, using(name)]})).run();
        assert_eq!(output.code, Some(2), "{output}");
        assert_eq!(output.json()["error"]["message"], *error);
        assert_eq!(runs(&stage), 0);
    }
}

#[test]
fn without_any_profile_none_is_available() {
    let stage = Stage::new();
    let output = stage
        .delegate(&json!({"tasks": [using("code-reviewer")]}))
        .run();
    assert_eq!(
        outcomes(&output)[0].error.as_deref(),
        Some(r#"Unknown profile: "code-reviewer". Available profiles: (none)"#)
    );
}

#[test]
fn a_session_that_runs_or_is_unknown_or_is_wanted_twice_is_not_resumed() {
    let stage = Stage::new();
    let (ready, go) = (stage.path("ready"), stage.path("go"));
    let script = json!([{"touch": ready}, {"waitForFile": go}, {"reply": "done"}]);
    let owner = stage.delegate(&call(&[("busy", script)])).spawn();
    wait_for_file(&ready, Duration::from_mins(1));
    let status = stage.command(&["status", "--json"]).run().json();
    let session = status["runs"][0]["sessionId"].as_str().unwrap();
    let fine = json!({"name": "fine", "prompt": json!([{"reply": "fine"}]).to_string()});
    let resuming = |session: &str| json!({"name": "b", "prompt": "p", "resume": session});
    let refused = |tasks: &[Value]| {
        let output = stage.delegate(&json!({"tasks": tasks})).run();
        let message = output.json()["error"]["message"]
            .as_str()
            .unwrap()
            .to_owned();
        (output.code, message)
    };
    let running = format!(
        "Cannot resume: session \"{session}\" is still running. Wait for it to complete before resuming."
    );
    assert_eq!(
        refused(&[fine.clone(), resuming(session)]),
        (Some(1), running.clone())
    );
    let unknown = "Cannot resume: session \"a1b2c3d4e5f6a7b8\" not found. The session may have expired or the ID is incorrect.";
    assert_eq!(
        refused(&[fine, resuming("a1b2c3d4e5f6a7b8")]),
        (Some(3), unknown.to_owned())
    );
    std::fs::write(go, "").unwrap();
    _ = owner.wait().expect_success();
    assert_eq!(
        refused(&[resuming(session), resuming(session)]),
        (Some(1), running)
    );
    assert_eq!(runs(&stage), 1);
}
