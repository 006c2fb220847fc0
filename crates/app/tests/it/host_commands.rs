//! `/profile` and `/subagents`, as pi's person types them.

use std::fs;

use pi_subagents_testkit::{Signal, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::host_stage::{PATIENCE, Shim};
use crate::stage::Stage;

fn with_profiles() -> Stage {
    let stage = Stage::new();
    for name in ["reviewer", "writer"] {
        let text = format!("---\nname: {name}\nmodel: m-{name}\n---\nYou are a {name}.\n");
        stage
            .sandbox
            .write(&format!("home/.pi/agent/agent-profiles/{name}.md"), &text);
    }
    stage
}

/// Runs a command to its end.
fn run(shim: &mut Shim, command: &str, arguments: &str) {
    let id = shim.command(command, arguments);
    assert_eq!(shim.result(id), json!({}));
}

/// The last notice.
fn notice(shim: &Shim) -> Value {
    shim.notifications("ui/notify").pop().unwrap_or_default()
}

#[test]
fn profiles_are_listed_shown_and_explained() {
    let stage = with_profiles();
    let mut shim = Shim::start(&stage);
    let mut pages = Vec::new();
    for arguments in [
        "",
        "ls",
        "show writer",
        "writer",
        "explain writer",
        "--help",
    ] {
        run(&mut shim, "profile", arguments);
        pages.push(shim.shown());
    }
    insta::assert_snapshot!(stage.sandbox.normalise(&pages.join("\n\n")));
    run(&mut shim, "profile", "show nobody");
    assert_eq!(
        notice(&shim),
        json!({"level": "error", "message": "Unknown profile: \"nobody\". Available profiles: reviewer, writer"})
    );
    run(&mut shim, "profile", "create x --system-prompt -");
    assert_eq!(
        notice(&shim),
        json!({"level": "error", "message": "- reads stdin, which does not exist inside pi"})
    );
    run(&mut shim, "profile", "create");
    assert_eq!(
        notice(&shim)["message"],
        "/profile create needs a name\nhint: Use /profile create NAME."
    );
    run(&mut shim, "profile", "list --loud");
    assert_eq!(
        notice(&shim)["message"],
        "unexpected argument '--loud' found\nhint: Use /profile --help to see what you can type."
    );
}

#[test]
fn words_between_quotes_belong_together() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    run(
        &mut shim,
        "profile",
        "create scout --description \"Looks around\" --model m",
    );
    let file = stage.sandbox.agent_dir().join("agent-profiles/scout.md");
    let written = fs::read_to_string(file).unwrap();
    assert!(written.contains("description: Looks around\n"), "{written}");
    run(&mut shim, "profile", "show \"scout");
    assert_eq!(
        notice(&shim)["message"],
        "a quote in /profile show \"scout is not closed\nhint: Put words that belong together between two quotes, as in a shell."
    );
}

#[test]
fn a_profile_is_made_changed_and_deleted_by_dialogs() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let id = shim.command("profile", "create helper");
    let mut asked = Vec::new();
    let mut answer = |shim: &mut Shim, kind: &str, result: Value| {
        let question = shim.answer(&format!("ui/{kind}"), &result);
        asked.push(format!("{kind} {question}"));
        question
    };
    let kind = "Profile: its text replaces the system prompt";
    answer(&mut shim, "select", json!({"value": kind}));
    let scopes = answer(
        &mut shim,
        "select",
        json!({"value": "Global (~/.pi/agent/agent-profiles/)"}),
    )["options"]
        .clone();
    assert_eq!(scopes.as_array().unwrap().len(), 2);
    answer(&mut shim, "input", json!({"value": "Helps."}));
    answer(&mut shim, "input", json!({"value": ""}));
    answer(&mut shim, "input", json!({"value": "fast-model"}));
    answer(&mut shim, "select", json!({"value": "Yes"}));
    answer(&mut shim, "editor", json!({"value": "You help.\nAlways."}));
    answer(&mut shim, "select", json!({"value": "No"}));
    answer(&mut shim, "select", json!({"value": "Yes"}));
    answer(&mut shim, "select", json!({"value": "low"}));
    answer(&mut shim, "select", json!({"value": "Yes"}));
    answer(
        &mut shim,
        "select",
        json!({"value": "Allowlist: only the tools you name"}),
    );
    for chosen in [
        "[ ] read",
        "[ ] bash",
        "[ ] edit",
        "[x] edit",
        "Continue with these",
    ] {
        answer(&mut shim, "select", json!({"value": chosen}));
    }
    answer(&mut shim, "select", json!({"value": "No"}));
    answer(&mut shim, "select", json!({"value": "No"}));
    answer(&mut shim, "confirm", json!({"confirmed": true}));
    assert_eq!(shim.result(id), json!({}));
    insta::assert_snapshot!(stage.sandbox.normalise(&asked.join("\n")));
    let file = stage.sandbox.agent_dir().join("agent-profiles/helper.md");
    let written = fs::read_to_string(&file).unwrap();
    insta::assert_snapshot!(written, @"
    ---
    name: helper
    description: Helps.
    model: fast-model
    thinkingLevel: low
    tools: read,bash
    ---

    You help.
    Always.
    ");
    assert!(
        shim.shown().contains("Created profile helper"),
        "{}",
        shim.shown()
    );

    let id = shim.command("profile", "delete helper");
    shim.answer("ui/select", &json!({"value": "No"}));
    _ = shim.result(id);
    assert_eq!(notice(&shim)["message"], "Nothing was deleted.");
    assert!(file.exists());
    let id = shim.command("profile", "rm helper");
    shim.answer("ui/select", &json!({"value": "Yes"}));
    _ = shim.result(id);
    assert!(!file.exists());
}

#[test]
fn without_a_ui_nothing_is_asked() {
    let stage = with_profiles();
    let mut shim = Shim::start(&stage);
    shim.caller(json!({"hasUI": false}));
    run(&mut shim, "profile", "delete writer");
    assert_eq!(
        notice(&shim)["message"],
        "refusing to delete profile \"writer\" without confirmation\nhint: Add --yes."
    );
    run(&mut shim, "profile", "edit writer --model other");
    assert!(
        shim.shown().contains("Changed profile writer"),
        "{}",
        shim.shown()
    );
    run(&mut shim, "subagents", "");
    assert_eq!(
        notice(&shim)["message"],
        "No sub-agent has run in this session yet."
    );
}

#[test]
fn arguments_are_completed() {
    let stage = with_profiles();
    let mut shim = Shim::start(&stage);
    assert_eq!(
        shim.completions("profile", ""),
        [
            "list", "show", "create", "edit", "delete", "explain", "reviewer", "writer"
        ]
    );
    assert_eq!(shim.completions("profile", "e"), ["edit", "explain"]);
    assert_eq!(
        shim.completions("profile", "edit "),
        ["edit reviewer", "edit writer"]
    );
    assert_eq!(shim.completions("profile", "rm w"), ["rm writer"]);
    assert_eq!(
        shim.completions("profile", "create w"),
        Vec::<String>::new()
    );
    assert_eq!(shim.completions("subagents", "st"), ["stop", "steer"]);
    let session = shim.delegated("one", json!([{"reply": "done"}]));
    assert_eq!(
        shim.completions("subagents", "show "),
        [format!("show {session}")]
    );
    assert_eq!(shim.completions("subagents", "stop "), Vec::<String>::new());
}

#[test]
fn sub_agents_are_listed_shown_steered_and_stopped() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let done = shim.delegated("done", json!([{"reply": "the answer"}]));
    let script = json!([{"say": "at it"}, {"touch": stage.path("ready")}, {"hang": true}]);
    let id = shim.delegate("c2", &[("going", script)]);
    wait_for_file(stage.path("ready"), PATIENCE);
    let model_is_known = || {
        let updates = shim.notifications("tool/update");
        updates.last()?["details"]["windows"][0]["model"]
            .as_str()
            .map(str::to_owned)
    };
    wait_until(PATIENCE, model_is_known).unwrap();

    run(&mut shim, "subagents", "list");
    let list = stage.sandbox.normalise(&shim.shown());
    insta::assert_snapshot!(list, @r#"
    /subagents list
    ⏳ going • <session-1> • running • 110 tokens • <$0.01 • <duration> • [{"say":"at it"},{"touch":"$SANDBOX/ready"},{"hang"...
    ✓ done • <session-2> • completed • 110 tokens • <$0.01 • <duration> • [{"reply":"the answer"}]
    "#);

    run(&mut shim, "subagents", &format!("show {done}"));
    assert!(shim.shown().ends_with("the answer"), "{}", shim.shown());

    // A run that is over can be shown, and so can what was seen of it.
    let command = shim.command("subagents", "");
    let runs = shim.next("ui/select");
    let line = runs["params"]["options"][1].clone();
    shim.line(&json!({"jsonrpc": "2.0", "id": runs["id"], "result": {"value": line}}).to_string());
    let receipt = "Show its receipt: tool calls, files, commands, tests";
    let actions = shim.answer("ui/select", &json!({"value": receipt}));
    assert_eq!(
        actions,
        json!({"title": "done", "options": ["Show what was said", receipt]})
    );
    let view = shim.answer("ui/view", &json!({}));
    assert_eq!(view["title"], "Receipt of done");
    shim.answer("ui/select", &json!({"value": "Show what was said"}));
    assert_eq!(shim.result(command), json!({}));
    let shown = shim.shown();
    let shown: Vec<&str> = shown.lines().collect();
    assert_eq!(shown[..2], ["/subagents", line.as_str().unwrap()]);
    assert_eq!(shown.last(), Some(&"the answer"));

    let command = shim.command("subagents", "");
    let runs = shim.next("ui/select");
    let line = runs["params"]["options"][0].clone();
    assert!(line.as_str().unwrap().starts_with("⏳ going • "), "{line}");
    shim.line(&json!({"jsonrpc": "2.0", "id": runs["id"], "result": {"value": line}}).to_string());
    let actions = shim.answer("ui/select", &json!({"value": "Say something to it"}));
    assert_eq!(
        actions,
        json!({"title": "going", "options": ["Show what was said", receipt, "Say something to it", "Stop it"]})
    );
    shim.answer("ui/input", &json!({"value": "hurry up"}));
    assert_eq!(shim.result(command), json!({}));
    assert_eq!(
        notice(&shim),
        json!({"level": "info", "message": "going reads it before its next turn."})
    );

    let session = runs["params"]["options"][0]
        .as_str()
        .unwrap()
        .split(" • ")
        .nth(1)
        .unwrap()
        .to_owned();
    run(&mut shim, "subagents", &format!("steer {session}"));
    assert_eq!(
        notice(&shim)["message"],
        "the text must not be empty\nhint: Use /subagents steer ID TEXT."
    );
    run(&mut shim, "subagents", &format!("stop {}", &session[..10]));
    assert_eq!(
        notice(&shim)["message"],
        "going was stopped, and all its processes are gone."
    );
    let answer = shim.result(id);
    assert!(
        answer["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("Stopped on request.")
    );
    // A stopped run has the same word in every list.
    run(&mut shim, "subagents", "list");
    assert!(
        shim.shown()
            .contains(&format!("✗ going • {session} • stopped • ")),
        "{}",
        shim.shown()
    );
    run(&mut shim, "subagents", "stop nobody");
    assert_eq!(
        notice(&shim)["message"],
        "there is no run or session \"nobody\"\nhint: /subagents list shows the sub-agents of this session."
    );
    run(&mut shim, "subagents", &format!("stop {session}"));
    let stopped = notice(&shim);
    assert_eq!(stopped["level"], "error");
    let message = stopped["message"].as_str().unwrap();
    assert!(
        message.starts_with("going is not running (run "),
        "{message}"
    );
    run(&mut shim, "subagents", "fly");
    assert_eq!(
        notice(&shim)["message"],
        "there is no command \"/subagents fly\"\nhint: Use /subagents; /subagents show, receipt, diff, merge, discard or stop ID; /subagents stop all; /subagents steer ID TEXT; /subagents answer ID; /subagents review; or /subagents trust."
    );
}

#[test]
fn a_name_that_fits_several_is_asked_about_and_all_can_be_stopped() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let calls = ["one", "two", "three"].map(|name| {
        let ready = stage.path(name);
        let script = json!([{"touch": ready}, {"hang": true}]);
        let id = shim.delegate(name, &[("default", script)]);
        wait_for_file(stage.path(name), PATIENCE);
        id
    });
    let command = shim.command("subagents", "stop default");
    let asked = shim.next("ui/select");
    assert_eq!(
        asked["params"]["title"],
        "3 sub-agents are called default. Which one?"
    );
    let second = asked["params"]["options"][1].clone();
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"value": second}});
    shim.line(&answer.to_string());
    assert_eq!(shim.result(command), json!({}));
    let stopped = "default was stopped, and all its processes are gone.";
    assert_eq!(notice(&shim)["message"], stopped);
    run(&mut shim, "subagents", "list");
    let list = shim.shown();
    assert_eq!(list.matches("• running •").count(), 2, "{list}");
    run(&mut shim, "subagents", "stop all");
    assert_eq!(notice(&shim)["message"], stopped);
    for id in calls {
        let text = shim.result(id)["content"][0]["text"].to_string();
        assert!(text.contains("Stopped on request."), "{text}");
    }
    run(&mut shim, "subagents", "stop all");
    assert_eq!(
        notice(&shim)["message"],
        "no sub-agent of this session is running"
    );
}

#[test]
fn the_model_in_pi_looks_after_the_runs_of_its_session() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let script = json!([{"touch": stage.path("ready")}, {"hang": true}]);
    let call = shim.delegate("long", &[("going", script)]);
    wait_for_file(stage.path("ready"), PATIENCE);
    let foreign = stage.delegate(&call_of("foreign", &stage)).spawn();
    wait_for_file(stage.path("foreign"), PATIENCE);
    let listed = shim.execute("list", "subagent_runs", &json!({}));
    let listed = shim.result(listed)["content"][0]["text"].to_string();
    assert!(listed.contains("Your sub-agents: 1 running"), "{listed}");
    let stop = json!({"action": "stop", "ids": ["going"]});
    let stopped = shim.execute("stop", "subagent_runs", &stop);
    let stopped = shim.result(stopped)["content"][0]["text"].to_string();
    assert!(stopped.contains("Stopped; now they are"), "{stopped}");
    let text = shim.result(call)["content"][0]["text"].to_string();
    assert!(text.contains("Stopped on request."), "{text}");
    foreign.kill(Signal::TERM);
    _ = foreign.wait();
}

fn call_of(name: &str, stage: &Stage) -> Value {
    let script = json!([{"touch": stage.path(name)}, {"hang": true}]);
    crate::stage::call(&[(name, script)])
}

#[test]
fn a_run_is_named_by_its_name_and_shown_with_its_calls_and_its_answer() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let report = "# Report\n\nAll **walls** are `painted`.\n\n- one\n- two";
    let long = "a name that is longer than any terminal would like to show";
    _ = shim.delegated(long, json!([{"reply": report}]));
    _ = shim.delegated("later", json!([{"reply": "Later."}]));
    run(&mut shim, "subagents", &format!("show {long}"));
    let shown = stage.sandbox.normalise(&shim.shown());
    let page: Vec<&str> = shown.lines().skip(3).collect();
    insta::assert_snapshot!(page.join("\n"));
    run(&mut shim, "subagents", "show last");
    assert!(shim.shown().ends_with("Later."), "{}", shim.shown());
    run(&mut shim, "subagents", "list");
    let ids = shim.shown();
    for line in ids.lines().skip(1) {
        let id = line.split(" • ").nth(1).unwrap();
        assert!(text_before(line, id) < 60 - id.len(), "{line}");
    }
    assert_eq!(shim.completions("subagents", "show lat").len(), 1);
}

/// Returns the number of characters before a word.
fn text_before(line: &str, word: &str) -> usize {
    line.split_once(word).unwrap().0.chars().count()
}
