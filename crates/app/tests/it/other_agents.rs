//! Agents of others as children: a scripted agent over the Agent Client Protocol.

use std::time::Duration;

use pi_subagents_testkit::process::wait_until_gone;
use pi_subagents_testkit::sandbox::CommandOutput;
use pi_subagents_testkit::{Signal, bin, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::Stage;

const PATIENCE: Duration = Duration::from_mins(1);

/// A stage with the agent `helper`, whose work the scripted agent does. `fields` are further lines of
/// its file.
fn stage(fields: &str) -> Stage {
    let stage = Stage::new();
    profile(&stage, "helper", fields);
    stage
}

fn profile(stage: &Stage, name: &str, fields: &str) {
    let program = bin("acp-agent");
    let command = format!(
        "runner: acp\ncommand: [\"{}\"]\n{fields}",
        program.display()
    );
    stage.profile(name, command.trim_end(), "Be brief.");
}

fn run(stage: &Stage, prompt: &str) -> CommandOutput {
    stage.command(&["run", "helper", prompt, "--json"]).run()
}

/// The only run of an output, as far as a reader of this test wants it.
fn told(output: &CommandOutput) -> Value {
    let run = &output.json()["runs"][0];
    let commands = run["receipt"]["commands"].as_array().into_iter().flatten();
    let commands: Vec<String> = commands
        .map(|seen| format!("{} {} {}", seen["command"], seen["exit"], seen["cut"]))
        .collect();
    json!({
        "status": run["status"], "output": run["output"], "error": run["errorMessage"],
        "commands": commands, "changed": run["receipt"]["files"]["changed"],
        "tests": run["receipt"]["tests"]["state"],
    })
}

#[test]
fn an_agent_reads_runs_and_writes_and_its_record_says_so() {
    let stage = stage("");
    let prompt = "Do it.\n> notice\n> unknown\n> say I look.\n> run exit 3\n> run echo ok\n> write new.txt hello\n> say Done.";
    let output = run(&stage, prompt);
    assert_eq!(
        told(&output),
        json!({
            "status": "completed", "output": "Done.", "error": null,
            "commands": ["\"exit 3\" 3 null", "\"echo ok\" 0 null"],
            "changed": ["new.txt"], "tests": "notSeen",
        }),
        "{}",
        output.stderr
    );
    let run = &output.json()["runs"][0];
    assert_eq!(run["runner"], "acp");
    assert_eq!(run["model"], "small");
    assert_eq!(run["usage"]["input"], 100);
    let text = std::fs::read_to_string(stage.sandbox.project().join("new.txt")).unwrap();
    assert_eq!(text, "hello\n");
}

#[test]
fn an_exit_code_that_is_not_told_is_unknown_and_never_counts_as_passed() {
    let stage = stage("");
    let output = run(&stage, "> run-untold make test\n> say All tests pass.");
    let seen = told(&output);
    assert_eq!(seen["tests"], "unclear", "{}", output.stderr);
    assert_eq!(seen["commands"], json!(["\"make test\" null \"notTold\""]));
    let told = run(&stage, "> run-untold true\n> say So.");
    let id = told.json()["runs"][0]["runId"].as_str().unwrap().to_owned();
    let receipt = stage.command(&["output", &id, "--receipt"]).run().stdout;
    assert!(receipt.contains("→ ?"), "{receipt}");
}

#[test]
fn a_list_of_tools_that_cannot_be_kept_refuses_and_permissions_follow_the_list() {
    let stage = stage("");
    let output = run(&stage, "> ask execute\n> ask read\n> say .");
    assert_eq!(
        told(&output)["output"],
        "asked: \"once\". asked: \"once\". ."
    );
    profile(&stage, "helper", "tools: read, grep");
    let refused = run(&stage, "> say No.");
    assert_eq!(
        told(&refused)["error"],
        "the agent cannot keep this list of tools (only read, grep): nobody knows how it would keep one. Change the list, or use --runner embedded, which keeps every list."
    );
    for (fields, error) in [
        ("sandbox: read-only", "The sandbox (read-only"),
        (
            "noContextFiles: true",
            "Profile \"helper\" sets noContextFiles, which the agent does not know.",
        ),
        (
            "model: huge",
            "the agent has no model \"huge\". It has: small, large.",
        ),
    ] {
        profile(&stage, "helper", fields);
        let said = told(&run(&stage, "> say No."));
        let said = said["error"].as_str().unwrap().to_owned();
        assert!(said.starts_with(error), "{said}");
    }
}

#[test]
fn a_report_comes_through_our_own_server_and_must_meet_its_schema() {
    let schema =
        "outputSchema:\n  type: object\n  required: [n]\n  properties:\n    n: {type: integer}";
    let stage = stage(schema);
    let prompt = r#"> report {"status": "SUCCESS", "result": {"n": "x"}}
> report {"status": "SUCCESS", "result": {"n": 2}}
> hang"#;
    let output = run(&stage, prompt);
    let found = &output.json()["runs"][0];
    assert_eq!(found["status"], "completed", "{}", output.stderr);
    assert_eq!(found["structured"], json!({"n": 2}));
    assert_eq!(found["receipt"]["schema"]["attempts"], 2);
}

#[test]
fn a_bad_agent_costs_its_run_and_nothing_stays() {
    let stage = stage("");
    for (prompt, status, error) in [
        (
            "> die",
            "failed",
            "the agent: it exited with code 7 while it worked",
        ),
        (
            "> refuse",
            "failed",
            "the agent: Internal error: out of quota",
        ),
        (
            "> loop",
            "failed",
            "Loop detected: sub-agent is repeating the same tool calls\nbash true ×5",
        ),
    ] {
        let seen = told(&run(&stage, prompt));
        assert_eq!(
            (&seen["status"], &seen["error"]),
            (&json!(status), &json!(error))
        );
    }
    let huge = told(&run(&stage, "> huge 100000000\n> say After it."));
    assert_eq!(huge["output"], "After it.");
    let program = bin("acp-agent").display().to_string();
    let fields = format!("runner: acp\ncommand: [\"{program}\", \"--no-session\"]");
    stage.profile("helper", &fields, "Be brief.");
    let refused = told(&run(&stage, "> say No."));
    assert_eq!(
        refused["error"],
        "the agent could not begin: session/new failed: Authentication required"
    );
    stage.profile(
        "helper",
        "runner: acp\ncommand: [\"/no/such/agent\"]",
        "Be brief.",
    );
    let missing = told(&run(&stage, "> say No."));
    assert_eq!(missing["status"], "failed");
}

#[test]
fn a_heartbeat_does_not_extend_a_deadline_and_an_agent_that_stays_is_ended() {
    let stage = Stage::new();
    let program = bin("acp-agent").display().to_string();
    let fields = format!("runner: acp\ncommand: [\"{program}\", \"--stay\"]");
    stage.profile("helper", &fields, "Be brief.");
    stage.settings(&json!({"extend_timeout_debounce": 1}));
    let ready = stage.path("ready");
    let prompt = format!("> run echo $PPID >{ready}\n> heartbeat");
    let output = stage
        .command(&["run", "helper", &prompt, "--json", "--timeout", "2"])
        .run();
    let error = told(&output)["error"].to_string();
    assert!(error.starts_with("\"Timed out after 2s."), "{error}");
    assert_gone(&ready);
}

#[test]
fn an_agent_is_gone_when_its_owner_is_killed_or_its_run_is_stopped() {
    for way in ["kill", "stop"] {
        let stage = stage("");
        let ready = stage.path("ready");
        let prompt = format!(
            "> run echo $PPID >{ready}.new && mv {ready}.new {ready}\n> say So far.\n> hang"
        );
        let owner = stage.command(&["run", "helper", &prompt, "--json"]).spawn();
        wait_for_file(&ready, PATIENCE);
        if way == "kill" {
            owner.kill(Signal::KILL);
        } else {
            let stopped = stage.command(&["stop", "--all"]).run();
            assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
        }
        assert_gone(&ready);
    }
}

/// Waits until the process whose number is in a file is gone.
fn assert_gone(file: &str) {
    let text = std::fs::read_to_string(file).unwrap();
    let pid: u32 = text.trim().parse().unwrap();
    assert_eq!(wait_until_gone(&[pid], PATIENCE), Ok(()));
}

#[test]
fn a_session_goes_on_as_the_agents_own_session() {
    let stage = stage("");
    stage.settings(&json!({"resume": "session"}));
    let first = run(&stage, "> say One.");
    let id = first.json()["runs"][0]["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    let second = stage
        .command(&["resume", &id, "> say Two.", "--json"])
        .run();
    assert_eq!(told(&second)["output"], "Two.", "{}", second.stderr);
    let file = second.json()["runs"][0]["artifacts"]["childSession"].clone();
    let kept = std::fs::read_to_string(file.as_str().unwrap()).unwrap();
    assert_eq!(
        kept.matches("\"session\":\"session-1\"").count(),
        2,
        "{kept}"
    );
}

#[test]
fn a_message_that_an_agent_does_not_read_is_told() {
    let stage = stage("");
    let ready = stage.path("ready");
    let prompt = format!("> run touch {ready}\n> hang");
    let owner = stage.command(&["run", "helper", &prompt, "--json"]).spawn();
    wait_for_file(&ready, PATIENCE);
    let steered = stage.command(&["steer", "last", "Left."]).run();
    assert_eq!(steered.code, Some(0), "{}", steered.stderr);
    let stopped = stage.command(&["stop", "--all"]).run();
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    let warnings = owner.wait().json()["runs"][0]["warnings"].to_string();
    assert!(
        warnings.contains(
            "the message did not reach the model: the agent reads no message while it works"
        ),
        "{warnings}"
    );
}

#[test]
fn a_gate_and_a_worktree_hold_for_an_agent_of_others() {
    let stage = Stage {
        sandbox: pi_subagents_testkit::sandbox::Sandbox::with_git(),
    };
    let commit = "git -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m first";
    let made = stage
        .sandbox
        .command("/bin/sh".as_ref())
        .args(["-c", commit])
        .run();
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    profile(
        &stage,
        "helper",
        "isolation: worktree\ngate: test -f new.txt",
    );
    let output = run(&stage, "> write new.txt hello\n> say Done.");
    let seen = told(&output);
    assert_eq!(seen["status"], "completed", "{}", output.stderr);
    assert_eq!(seen["changed"], json!(["new.txt"]));
    assert!(!stage.sandbox.project().join("new.txt").exists());
}

#[test]
fn without_its_program_an_agent_is_refused_with_a_line_to_paste() {
    let stage = Stage::new();
    let refused = |runner: &str| {
        let run = ["run", "Do it.", "--json", "--runner", runner];
        let output = stage.command(&run).env("PATH", "/nowhere").run();
        told(&output)["error"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let said = ["claude", "copilot", "acp"].map(refused);
    insta::assert_snapshot!(said.join("\n"));
}

/// Makes the scripted agent the program of an agent that is known by name, and the agent `helper` one
/// of its users.
fn stage_of(runner: &str, fields: &str, more: &Value) -> Stage {
    let stage = Stage::new();
    let mut settings = json!({"runners": {runner: {"command": [bin("acp-agent")]}}});
    for (key, value) in more.as_object().into_iter().flatten() {
        settings[key] = value.clone();
    }
    stage.settings(&settings);
    stage.profile(
        "helper",
        &format!("runner: {runner}\n{fields}"),
        "Be brief.",
    );
    stage
}

/// Waits until a question is open, and returns it.
fn question(stage: &Stage) -> Value {
    let listed = || {
        let inbox = stage.command(&["inbox", "--json"]).run().json();
        inbox["questions"].as_array()?.first().cloned()
    };
    wait_until(PATIENCE, listed).unwrap()
}

#[test]
fn a_request_for_permission_goes_to_the_inbox_where_somebody_can_answer() {
    let can_ask = json!({"parkAfter": 600});
    let list = "tools: read, grep";
    for (fields, reply, said) in [
        (list, "yes", "asked: \"once\". ."),
        (list, "no", "asked: \"no\". ."),
        ("permissions: person", "yes", "asked: \"once\". ."),
        ("permissions: person", "no", "asked: \"no\". ."),
    ] {
        let stage = stage_of("codex", fields, &can_ask);
        let owner = stage
            .command(&["run", "helper", "> ask execute\n> say .", "--json"])
            .spawn();
        let asked = question(&stage);
        assert_eq!(
            [
                &asked["kind"],
                &asked["form"],
                &asked["text"],
                &asked["context"]
            ],
            ["dialog", "yesNo", "May Codex use bash?", "make"]
        );
        let id = asked["id"].as_str().unwrap();
        stage.command(&["answer", id, reply]).run().expect_success();
        let output = owner.wait();
        assert_eq!(told(&output)["output"], said, "{fields} {reply} {output}");
    }
}

#[test]
fn without_anybody_to_ask_the_list_of_tools_decides() {
    for (fields, said) in [
        ("tools: read, grep", "asked: \"no\". ."),
        ("permissions: person", "asked: \"once\". ."),
    ] {
        let stage = stage_of("codex", fields, &json!({}));
        let output = run(&stage, "> ask execute\n> say .");
        assert_eq!(told(&output)["output"], said, "{fields} {output}");
    }
    let stage = stage_of("codex", "", &json!({"parkAfter": 600}));
    let output = run(&stage, "> ask execute\n> say .");
    assert_eq!(told(&output)["output"], "asked: \"once\". .");
}

#[test]
fn a_run_that_waits_for_a_permission_can_be_stopped() {
    let stage = stage_of("codex", "permissions: person", &json!({"parkAfter": 600}));
    let owner = stage
        .command(&["run", "helper", "> ask execute\n> say .", "--json"])
        .spawn();
    _ = question(&stage);
    stage.command(&["stop", "--all"]).run().expect_success();
    assert_eq!(told(&owner.wait())["status"], "stopped");
}

#[test]
fn an_agent_gets_the_servers_of_its_definition_and_keeps_its_own_limits() {
    let servers = "mcpServers:\n  docs:\n    command: docs-server\n    args: [-x]\n    env: {PLACE: \"${PLACE:-here}\"}\n  web:\n    url: https://example.com/mcp";
    let stage = stage_of("claude", servers, &json!({}));
    let output = stage
        .command(&["run", "helper", "> servers", "--json"])
        .run();
    let given: Value = serde_json::from_str(told(&output)["output"].as_str().unwrap()).unwrap();
    assert_eq!(
        given,
        json!([
            {"name": "docs", "command": "docs-server", "args": ["-x"], "env": [{"name": "PLACE", "value": "here"}]},
            {"type": "http", "name": "web", "url": "https://example.com/mcp", "headers": []},
        ])
    );
    let output = stage
        .command(&["run", "helper", "> meta", "--json"])
        .args(["--max-turns", "2", "--max-cost", "0.5"])
        .run();
    let meta: Value = serde_json::from_str(told(&output)["output"].as_str().unwrap()).unwrap();
    assert_eq!(
        meta["claudeCode"]["options"],
        json!({"maxTurns": 3, "maxBudgetUsd": 0.5})
    );
    for (field, why) in [
        (
            "required: true",
            "nobody sees whether it starts, and it is required",
        ),
        (
            "tools: [a]",
            "it would have all of its tools, and a list names some",
        ),
        ("cwd: /w", "it would not start in its cwd"),
    ] {
        let fields = format!("mcpServers:\n  docs:\n    command: docs-server\n    {field}");
        let stage = stage_of("claude", &fields, &json!({}));
        let error = told(&run(&stage, "> say No."))["error"].clone();
        assert_eq!(
            error,
            format!(
                "Claude Code cannot be given the MCP server \"docs\": {why}. Use \"runner: embedded\"."
            )
        );
    }
}
