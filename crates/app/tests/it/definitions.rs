//! Definitions in use: the fields of a profile reach the child, and nothing of a repository does
//! before somebody said yes.

use std::fs;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, answer_text, completed, outcomes};

/// Returns the system prompt of the last request.
fn last_system_prompt(server: &LlmServer) -> String {
    let requests = server.requests();
    let body = &requests[requests.len() - 1].body;
    let message = &body["messages"][0];
    assert!(message["role"] == "system" || message["role"] == "developer");
    match &message["content"] {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap().to_owned(),
    }
}

fn last_tools(server: &LlmServer) -> Vec<String> {
    let requests = server.requests();
    let body = &requests[requests.len() - 1].body;
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
    tools.iter().map(name).collect()
}

fn stage_with_model() -> (Stage, LlmServer) {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(vec![Turn::text("ok"); 20]));
    stage.sandbox.models_json(&server.base_url());
    (stage, server)
}

fn one(name: &str, profile: &str) -> Value {
    json!({"tasks": [{"name": name, "prompt": "hello", "profile": profile}]})
}

#[test]
fn a_profile_reaches_the_model_and_the_summary() {
    let (stage, server) = stage_with_model();
    stage.sandbox.write(
        "home/.pi/agent/agent-profiles/reviewer.md",
        "---\nname: reviewer\nmodel: fake/fake-model\ntools: read, grep\nnoContextFiles: true\n---\nYou review code and nothing else.\n",
    );
    let output = stage.delegate_to("embedded", &one("a", "reviewer")).run();
    assert_eq!(outcomes(&output), [completed("a", "ok")]);
    assert!(last_system_prompt(&server).contains("You review code and nothing else."));
    assert_eq!(last_tools(&server), ["read", "grep"]);
    let answer = output.json();
    assert_eq!(
        stage.sandbox.normalise(answer["text"].as_str().unwrap()),
        "✓ a: completed (session: <session-1>) (profile: reviewer, model=fake/fake-model, custom-system-prompt, tools=[read,grep], sandbox=read-only)\n  saw: no tool call, 1 turn, 110 tokens, <$0.01"
    );
    let directory = answer["runs"][0]["directory"].as_str().unwrap();
    let prompt = fs::read_to_string(format!("{directory}/system-prompt.md")).unwrap();
    assert_eq!(prompt.trim(), "You review code and nothing else.");
}

#[test]
fn a_definition_that_cannot_be_used_says_where_and_why() {
    let stage = Stage::new();
    stage.sandbox.write(
        "home/.pi/agent/agent-profiles/file.md",
        "---\nname: broken\nnoTools: maybe\n---\n",
    );
    stage.sandbox.write(
        "home/.pi/agent/subagents/silent.md",
        "---\nname: silent\nmodel: m\n---\n",
    );
    let output = stage.delegate(&one("a", "broken")).run();
    assert_eq!(
        stage
            .sandbox
            .normalise(outcomes(&output)[0].error.as_deref().unwrap()),
        "Profile \"broken\" cannot be used: $HOME/.pi/agent/agent-profiles/file.md:3:10: \"noTools\" must be true or false, not \"maybe\"; the file is not used"
    );
    let run = stage.command(&["run", "silent", "look"]).run();
    assert_eq!(run.code, Some(2));
    assert_eq!(
        stage.sandbox.normalise(&run.stderr),
        "error: Agent \"silent\" cannot be used: $HOME/.pi/agent/subagents/silent.md:1:1: a preset needs a \"description\"; the file is not used\n"
    );
}

#[test]
fn a_definition_of_an_untrusted_project_is_named_once_where_another_one_is_used() {
    let (stage, _server) = stage_with_model();
    stage.profile("helper", "model: fake/fake-model", "Help.");
    stage.sandbox.write(
        "project/.pi/agent-profiles/helper.md",
        "---\nname: helper\n---\nObey.\n",
    );
    let task = |name: &str| json!({"name": name, "prompt": "hello", "profile": "helper"});
    let call = json!({"tasks": [task("a"), task("b")]});
    let output = stage.delegate_to("embedded", &call).run().expect_success();
    insta::assert_snapshot!(answer_text(&stage, &output.json()), @r#"
    ✓ a: completed (session: <1>) (profile: helper, model=fake/fake-model, custom-system-prompt)
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ✓ b: completed (session: <2>) (profile: helper, model=fake/fake-model, custom-system-prompt)
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ! Ignored 1 agent of $SANDBOX/project, which is not trusted yet: helper. Run "pi-subagents trust" to look at it and allow that.
    "#);
    let silent = json!({"tasks": [{"name": "c", "prompt": "hello"}]});
    let output = stage.delegate_to("embedded", &silent).run();
    assert_eq!(output.json()["warnings"], json!([]));
}

#[test]
fn a_skill_of_an_untrusted_project_is_not_called_unknown_alone() {
    let stage = Stage::new();
    stage.sandbox.write(
        "project/.pi/skills/theirs/SKILL.md",
        "---\nname: theirs\ndescription: of them\n---\nDo.\n",
    );
    stage.profile("loads", "loadSkills: [theirs, nowhere]", "");
    let output = stage.delegate(&one("a", "loads")).run();
    assert_eq!(
        stage
            .sandbox
            .normalise(outcomes(&output)[0].error.as_deref().unwrap()),
        "Unknown skills: \"theirs\", \"nowhere\". Available skills: (none). Ignored 1 skill of $PROJECT, which is not trusted yet: theirs. Run \"pi-subagents trust\" to look at it and allow that."
    );
}

#[test]
fn skills_of_a_project_are_found_wherever_the_task_works() {
    let stage = Stage::new();
    let skill = |folder: &str, name: &str| {
        stage.sandbox.write(
            &format!("{folder}/.pi/skills/{name}/SKILL.md"),
            &format!("---\nname: {name}\ndescription: of {folder}\n---\nDo {name}.\n"),
        )
    };
    skill("project", "ours");
    skill("other", "theirs");
    stage.sandbox.write("project/.pi/settings.json", "{}");
    let other = stage.sandbox.root().join("other");
    for place in [&stage.sandbox.project(), &other] {
        _ = stage
            .command(&["trust", "--yes"])
            .cwd(place)
            .run()
            .expect_success();
    }
    stage.profile("hinted", "suggestedSkills: ours", "");
    stage.profile("loaded", "loadSkills: [ours, theirs]", "");
    let script = |name: &str| json!([{"dumpArgs": stage.path(name)}, {"reply": "ok"}]).to_string();
    let task = |name: &str, profile: &str, cwd: Option<&std::path::Path>| json!({"name": name, "prompt": script(name), "profile": profile, "cwd": cwd});
    let output = stage
        .delegate(&json!({"tasks": [
            task("here", "hinted", None),
            task("there", "hinted", Some(&other)),
            task("both", "loaded", Some(&other)),
            task("one", "loaded", None),
        ]}))
        .run();
    let found = outcomes(&output);
    assert_eq!(
        found[..3]
            .iter()
            .map(|run| run.error.clone())
            .collect::<Vec<_>>(),
        [None, None, None]
    );
    assert_eq!(
        found[3].error.as_deref(),
        Some("Unknown skills: \"theirs\". Available skills: ours")
    );
    let skill_flag = |name: &str| {
        let arguments: Vec<String> =
            serde_json::from_str(&fs::read_to_string(stage.path(name)).unwrap()).unwrap();
        let flag = arguments
            .iter()
            .position(|argument| argument == "--skill")
            .unwrap();
        stage.sandbox.normalise(&arguments[flag + 1])
    };
    let expected = "$PROJECT/.pi/skills/ours/SKILL.md";
    assert_eq!(
        [skill_flag("here"), skill_flag("there")],
        [expected, expected]
    );
    let directory = output.json()["runs"][2]["directory"].clone();
    let directory = directory.as_str().unwrap();
    let prompt = fs::read_to_string(format!("{directory}/system-prompt.md")).unwrap();
    insta::assert_snapshot!(prompt, @r#"
    <loaded_skill name="ours">
    Do ours.
    </loaded_skill>

    <loaded_skill name="theirs">
    Do theirs.
    </loaded_skill>
    "#);
}

#[test]
fn nothing_of_a_repository_is_obeyed_before_somebody_said_yes() {
    let (stage, server) = stage_with_model();
    stage.sandbox.write(
        "project/.pi/agent-profiles/helper.md",
        "---\nname: helper\nextraArgs: [\"--offline\"]\napiKey: sk-from-the-repository\n---\nObey the repository.\n",
    );
    stage.sandbox.write(
        "project/.pi/settings.json",
        r#"{"subagents": {"maxLinesPerWindow": 3}}"#,
    );
    let output = stage.delegate_to("embedded", &one("a", "helper")).run();
    assert_eq!(output.code, Some(2));
    assert_eq!(server.requests().len(), 0);
    insta::assert_snapshot!(answer_text(&stage, &output.json()), @r#"
    ✗ a: error — Unknown profile: "helper". Available profiles: (none). Ignored 1 agent of $SANDBOX/project, which is not trusted yet: helper. Run "pi-subagents trust" to look at it and allow that. (session: <1>)
    ! Ignored the settings of $SANDBOX/project, which is not trusted yet (trust it with the command trust, or with /subagents trust inside pi).
    "#);

    let trusted = stage
        .delegate_to("embedded", &one("a", "helper"))
        .arg("--trust")
        .run();
    assert_eq!(outcomes(&trusted), [completed("a", "ok")]);
    assert!(last_system_prompt(&server).contains("Obey the repository."));
    let headers = format!("{:?}", server.requests());
    assert!(!headers.contains("sk-from-the-repository"));

    let again = stage.delegate_to("embedded", &one("a", "helper")).run();
    assert_eq!(again.code, Some(2), "--trust holds for one call");
}

#[test]
fn a_key_of_a_definition_reaches_the_provider_and_nothing_else() {
    let stage = Stage::new();
    let spy = stage.path("spy");
    let server = LlmServer::start(Script::new().otherwise([
        Turn::tool_call(
            "bash",
            json!({"command": format!("env > {spy}; cat /proc/$PPID/environ >> {spy}; ls -l /proc/$PPID/fd >> {spy}; for f in /proc/$PPID/fd/*; do timeout 0.2 head -c 200 $f >> {spy} 2>/dev/null; done; true")}),
        ),
        Turn::text("ok"),
    ]));
    stage.sandbox.models_json(&server.base_url());
    stage.sandbox.write(
        "home/.pi/agent/agent-profiles/keyed.md",
        "---\nname: keyed\nprovider: fake\nmodel: fake-model\napiKey: sk-very-secret-key-1234\n---\n",
    );
    let output = stage.delegate_to("embedded", &one("a", "keyed")).run();
    assert_eq!(outcomes(&output), [completed("a", "ok")]);
    for request in server.requests() {
        let headers = format!("{:?}", request.headers);
        assert!(
            headers.contains("Bearer sk-very-secret-key-1234"),
            "{headers}"
        );
    }
    let spied = String::from_utf8_lossy(&fs::read(spy).unwrap()).into_owned();
    assert!(!spied.contains("sk-very-secret"), "{spied}");
    assert!(!output.stdout.contains("sk-very-secret"));
    let answer = output.json();
    let directory = answer["runs"][0]["directory"].as_str().unwrap();
    for entry in fs::read_dir(directory).unwrap() {
        let content = fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&content).contains("sk-very-secret"));
    }
}

#[test]
fn a_prompt_definition_must_report_and_is_told_if_it_does_not() {
    let stage = Stage::new();
    let report = |arguments: Value| Turn::tool_call("subagent_finalize", arguments);
    let server = LlmServer::start(Script::new().otherwise([
        Turn::text("I am done, I think."),
        report(json!({"status": "SUCCESS"})),
        Turn::text("Oh."),
        report(json!({"status": "SUCCESS", "result": "The middleware is in app.rs."})),
    ]));
    stage.sandbox.models_json(&server.base_url());
    stage.sandbox.write(
        "home/.pi/agent/agents/scout.md",
        "---\nname: scout\ndescription: looks around\napproved_tools:\n- read\n---\nScout.\n",
    );
    let output = stage.delegate_to("embedded", &one("a", "scout")).run();
    assert_eq!(
        outcomes(&output),
        [completed("a", "The middleware is in app.rs.")]
    );
    assert_eq!(last_tools(&server), ["read", "subagent_finalize"]);
    let session = output.json()["runs"][0]["sessionId"].clone();
    let read = stage.command(&["output", session.as_str().unwrap()]).run();
    assert_eq!(read.stdout, "The middleware is in app.rs.\n");
}
