//! Sticky sessions: a conversation goes on after any restart, by either kind of child, and has
//! one writer at a time.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_testkit::llm::{Script, Turn};
use pi_subagents_testkit::{Signal, wait_until};
use pi_subagents_vocabulary::child_protocol::{self, ChildLine, ChildRecord};
use pi_subagents_vocabulary::{Message, ToolChange};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, for_each_pi};
use crate::subagent_stage::{SubagentStage, scout, text};

for_each_pi! {
    a_conversation_goes_on_over_calls_restarts_and_kinds_of_children,
    the_run_directory_links_to_the_session_and_only_its_user_can_read_it,
    a_second_writer_is_told_who_has_the_session,
    a_conversation_goes_on_after_its_owner_was_killed_in_the_middle,
    only_the_first_run_of_a_conversation_tells_all_tools,
    a_conversation_has_the_tools_of_its_definition_as_it_is_now,
}

fn owned_turns(conversation: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(role, text): &(&str, &str)| ((*role).to_owned(), (*text).to_owned());
    conversation.iter().map(own).collect()
}

fn a_conversation_goes_on_over_calls_restarts_and_kinds_of_children(pi: RealPi) {
    let stage = SubagentStage::beside(
        pi,
        Script::new()
            .on("one", [Turn::text("first answer")])
            .on("two", [Turn::text("second answer")])
            .on("three", [Turn::text("third answer")])
            .on("four", [Turn::text("fourth answer")]),
    );
    stage.preset("scout");
    stage.say("embedded", "talk", "say one");
    stage.say("pi", "talk", "say two");
    stage.say("embedded", "talk", "say three");
    let resumed = ["resume", "talk", "say four", "--runner", "embedded", "-q"];
    let output = stage.stage.command(&resumed).run().expect_success();
    assert_eq!(output.stdout, "fourth answer\n");
    assert_eq!(
        stage.last_conversation(),
        owned_turns(&[
            ("user", "say one"),
            ("assistant", "first answer"),
            ("user", "say two"),
            ("assistant", "second answer"),
            ("user", "say three"),
            ("assistant", "third answer"),
            ("user", "say four"),
        ])
    );
    let whole = stage.stage.command(&["session", "talk"]).run();
    insta::allow_duplicates! {
        insta::assert_snapshot!(whole.expect_success(), @"
        --- exit code
        0
        [EOF]
        --- stdout
        === Run 1/4: scout (completed) ===
        [<time>] prompt
        say one

        [<time>] assistant
        first answer

        [<time>] completed
        110 tokens • <$0.01 • <duration>

        === Run 2/4: scout (completed) ===
        [<time>] prompt
        say two

        [<time>] assistant
        second answer

        [<time>] completed
        110 tokens • <$0.01 • <duration>

        === Run 3/4: scout (completed) ===
        [<time>] prompt
        say three

        [<time>] assistant
        third answer

        [<time>] completed
        110 tokens • <$0.01 • <duration>

        === Run 4/4: scout (completed) ===
        [<time>] prompt
        say four

        [<time>] assistant
        fourth answer

        [<time>] completed
        110 tokens • <$0.01 • <duration>
        [EOF]
        --- stderr
        [EOF]
        ");
    }
}

#[test]
fn a_session_belongs_to_a_directory_an_agent_and_an_id() {
    let stage = SubagentStage::new(Script::new().otherwise([Turn::text("ok")]));
    stage.preset("scout");
    stage.preset("code_judge");
    let elsewhere = stage.stage.sandbox.root().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let begins = |call: Value| {
        let output = stage.call(&call).run().expect_success();
        let is_new = output.json()["isNewSession"].clone();
        assert_eq!(
            text(&output).contains("it is new"),
            is_new == true,
            "{output}"
        );
        assert_eq!(stage.last_conversation().len() == 1, is_new == true);
        is_new == true
    };
    let with = |agent: &str, more: Value| {
        let mut call = json!({"agent": agent, "task": "x", "sessionId": "mine"});
        call.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        call
    };
    assert!(begins(with("scout", json!({}))));
    assert!(!begins(with("scout", json!({}))));
    assert!(begins(with("code_judge", json!({}))));
    assert!(begins(with("scout", json!({"cwd": elsewhere}))));
    assert!(begins(with("scout", json!({"sessionId": "yours"}))));
    let project = stage.stage.sandbox.project();
    let link = stage.stage.sandbox.root().join("link");
    std::os::unix::fs::symlink(&project, &link).unwrap();
    assert!(!begins(with("scout", json!({"cwd": link}))));
    let names: Vec<_> = stage
        .sticky_files()
        .iter()
        .filter(|file| file.extension().is_some_and(|kind| kind == "jsonl"))
        .map(|file| file.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(
        sorted,
        [
            "code%5Fjudge_mine.jsonl",
            "scout_mine.jsonl",
            "scout_mine.jsonl",
            "scout_yours.jsonl"
        ]
    );
}

fn the_run_directory_links_to_the_session_and_only_its_user_can_read_it(pi: RealPi) {
    let stage = SubagentStage::beside(pi, Script::new().otherwise([Turn::text("ok")]));
    stage.preset("scout");
    for runner in ["embedded", "pi"] {
        let answer = stage.say(runner, runner, "x");
        let directory = answer["runs"][0]["directory"].as_str().unwrap();
        let link = fs::read_link(format!("{directory}/child-session.jsonl")).unwrap();
        assert!(
            link.ends_with(format!("scout_{runner}.jsonl")),
            "{}",
            link.display()
        );
        let content = fs::read_to_string(&link).unwrap();
        assert!(content.starts_with("{\"type\":\"session\""), "{content}");
    }
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    for file in stage.sticky_files() {
        assert_eq!(mode(&file), 0o600, "{file:?}");
        assert_eq!(mode(file.parent().unwrap()), 0o700);
    }
}

fn a_second_writer_is_told_who_has_the_session(pi: RealPi) {
    let stage = SubagentStage::beside(
        pi,
        Script::new()
            .on("slow", [Turn::text("done").gate("go")])
            .otherwise([Turn::text("ok")]),
    );
    stage.preset("scout");
    let session = json!({"preset": "scout", "task": "slow", "sessionId": "busy"});
    let first = stage.call(&session).spawn();
    stage.server.wait_for_requests(1, Duration::from_mins(1));
    for runner in ["embedded", "pi"] {
        let second = json!({"preset": "scout", "task": "quick", "sessionId": "busy"});
        let command = stage.stage.command(&["run", "--file", "-", "--json"]);
        let command = command.args(["--runner", runner]).stdin(second.to_string());
        let second = stage.with_pi(command).run();
        assert_eq!(second.code, Some(1));
        let hash = stage.sticky_files()[0].parent().unwrap().to_owned();
        let told = text(&second).replace(&hash.display().to_string(), "$STICKY");
        insta::allow_duplicates! {
            insta::assert_snapshot!(stage.stage.sandbox.normalise(&told), @"
            **Status:** ERROR
            **Session ID:** `busy`

            ---

            Session busy ($STICKY/scout_busy.jsonl) is in use by run <run-1>. Wait until it has finished, or stop it.
            ");
        }
    }
    stage.server.release("go");
    _ = first.wait().expect_success();
    // The runs that were kept out are no part of the session.
    let read = |command: &str| stage.stage.command(&[command, "busy"]).run();
    assert_eq!(read("output").expect_success().stdout, "done\n");
    insta::allow_duplicates! {
        insta::assert_snapshot!(read("session").expect_success(), @"
        --- exit code
        0
        [EOF]
        --- stdout
        [<time>] prompt
        slow

        [<time>] assistant
        done

        [<time>] completed
        110 tokens • <$0.01 • <duration>
        [EOF]
        --- stderr
        [EOF]
        ");
    }
    assert_eq!(
        read("wait").expect_success().stdout,
        "scout: completed (session: busy)\n"
    );
    assert_eq!(
        stage.say("embedded", "busy", "again")["runs"][0]["status"],
        "completed"
    );
    let roles: Vec<_> = stage.last_conversation();
    assert_eq!(
        roles,
        owned_turns(&[("user", "slow"), ("assistant", "done"), ("user", "again")])
    );
}

#[test]
fn a_refused_call_does_not_lead_a_session_astray() {
    let stage = SubagentStage::new(Script::new().otherwise([Turn::text("ok")]));
    stage.preset("scout");
    _ = stage.say("embedded", "mine", "one");
    let away = [
        "run",
        "scout",
        "x",
        "--session",
        "mine",
        "--cwd",
        "/nowhere",
    ];
    let refused = stage.stage.command(&away).run();
    assert_eq!(refused.code, Some(2));
    assert_eq!(
        refused.stderr,
        "scout  ✗ failed: cwd does not exist: /nowhere\n✗ scout: error — cwd does not exist: /nowhere (session: mine)\n"
    );
    let resume = ["resume", "mine", "two", "--runner", "embedded"];
    _ = stage.stage.command(&resume).run().expect_success();
    assert_eq!(
        stage.last_conversation(),
        owned_turns(&[("user", "one"), ("assistant", "ok"), ("user", "two")])
    );
}

#[test]
fn the_columns_of_status_are_as_wide_as_the_ids_in_them() {
    let stage = SubagentStage::new(Script::new().otherwise([Turn::text("ok")]));
    stage.preset("scout");
    for session in ["a", "of-many-letters"] {
        _ = stage.say("embedded", session, "x");
    }
    let status = stage.stage.command(&["status", "--all"]).run();
    let lines: Vec<&str> = status.stdout.lines().skip(2).take(3).collect();
    let place = |line: &str, text: &str| line.find(text).map(|at| line[..at].chars().count());
    let column = place(lines[0], "SESSION");
    assert!(column.is_some(), "{}", status.stdout);
    // The newest comes first.
    assert_eq!(place(lines[1], "of-many-letters  "), column);
    assert_eq!(place(lines[2], "a                "), column);
}

#[test]
fn a_session_resumes_from_another_project_with_its_own_definition() {
    let stage = SubagentStage::new(Script::new().otherwise([Turn::text("ok")]));
    stage.stage.sandbox.write(
        "project/.pi/subagents/local.md",
        "---\nname: local\ndescription: of the project\nmodel: fake/fake-model\n---\nYou know this project.\n",
    );
    let call = json!({"preset": "local", "task": "one", "sessionId": "mine"});
    _ = stage.call(&call).arg("--trust").run().expect_success();
    let elsewhere = stage.stage.sandbox.root().join("elsewhere/.pi");
    fs::create_dir_all(&elsewhere).unwrap();
    let resume = ["resume", "mine", "two", "--runner", "embedded", "--trust"];
    let command = stage.stage.command(&resume).cwd(elsewhere);
    _ = command.run().expect_success();
    assert_eq!(
        stage.last_conversation(),
        owned_turns(&[("user", "one"), ("assistant", "ok"), ("user", "two")])
    );
    assert!(
        stage.last_messages()[0]
            .1
            .contains("You know this project.")
    );
}

fn a_conversation_goes_on_after_its_owner_was_killed_in_the_middle(pi: RealPi) {
    let stage = SubagentStage::beside(
        pi,
        Script::new()
            .on_every("one", [Turn::text("first answer")])
            .on_every("two", [Turn::text("lost").gate("never")])
            .otherwise([Turn::text("third answer")]),
    );
    stage.preset("scout");
    for runner in ["embedded", "pi"] {
        stage.say(runner, runner, "say one");
    }
    for runner in ["embedded", "pi"] {
        let asked = stage.server.requests().len();
        let flags = ["--runner", runner, "--session", runner, "--json"];
        let command = stage.stage.command(&["run", "scout", "say two"]);
        let owner = stage.with_pi(command.args(flags)).spawn();
        let patience = Duration::from_mins(1);
        stage.server.wait_for_requests(asked + 1, patience);
        owner.kill(Signal::KILL);
        _ = owner.wait();
        // The keeper has the lock until it has ended the child.
        let again = || {
            let command = stage.stage.command(&["run", "scout", "say three"]);
            let output = stage.with_pi(command.args(flags)).run();
            (output.code == Some(0)).then_some(output)
        };
        let output = wait_until(patience, again).unwrap();
        assert!(!text(&output).contains("it is new"), "{output}");
        let conversation = stage.last_conversation();
        let before = owned_turns(&[("user", "say one"), ("assistant", "first answer")]);
        assert_eq!(conversation[..2], before);
        assert_eq!(
            conversation.last(),
            owned_turns(&[("user", "say three")]).last()
        );
    }
}

/// Returns the tool changes of each run's child, the first run first.
fn tool_changes(stage: &SubagentStage) -> Vec<Vec<ToolChange>> {
    let runs = fs::read_dir(stage.stage.path("project/.pi/subagents/runs")).unwrap();
    let mut directories: Vec<_> = runs.map(|entry| entry.unwrap().path()).collect();
    directories.retain(|path| path.is_dir());
    directories.sort();
    let of_run = |directory: &PathBuf| {
        let events = fs::read_to_string(directory.join("events.jsonl")).unwrap();
        let changes =
            events
                .lines()
                .filter_map(|line| match child_protocol::decode(line.as_bytes()) {
                    ChildLine::Record(ChildRecord::MessageEnded(Message::System(change))) => {
                        Some(change)
                    }
                    _ => None,
                });
        changes.collect()
    };
    directories.iter().map(of_run).collect()
}

fn only_the_first_run_of_a_conversation_tells_all_tools(pi: RealPi) {
    let stage = SubagentStage::beside(pi, Script::new().otherwise([Turn::text("ok")]));
    for (runner, tools) in [("embedded", "read, ls"), ("pi", "read"), ("pi", "grep, ls")] {
        let fields = format!("model: fake/fake-model\ntools: [{tools}]");
        stage.define("subagents", "scout", &fields, "You look around.");
        stage.say(runner, "talk", "x");
    }
    let told: Vec<Vec<bool>> = tool_changes(&stage)
        .iter()
        .map(|changes| changes.iter().map(|change| change.is_first).collect())
        .collect();
    assert_eq!(told, [vec![true], vec![false], vec![false]]);
    let last = tool_changes(&stage).pop().unwrap();
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(|&name| name.into()).collect() };
    assert_eq!(
        last,
        [ToolChange {
            is_first: false,
            added: names(&["grep", "ls"]),
            removed: names(&["read"]),
        }]
    );
}

#[test]
fn a_call_without_a_session_begins_a_new_one() {
    let stage = SubagentStage::new(Script::new().otherwise([Turn::text("ok")]));
    stage.preset("scout");
    let session = || {
        let output = stage.call(&scout("x")).run().expect_success();
        assert!(!text(&output).contains("new"), "{output}");
        output.json()["sessionId"].clone()
    };
    assert_ne!(session(), session());
}

fn a_conversation_has_the_tools_of_its_definition_as_it_is_now(pi: RealPi) {
    let stage = SubagentStage::beside(pi, Script::new().otherwise([Turn::text("ok")]));
    for (runner, fields, expected) in [
        ("pi", "tools: [read, ls]", "ls read"),
        ("pi", "", "bash edit read write"),
        ("embedded", "noTools: true", ""),
        ("pi", "", "bash edit read write"),
        ("pi", "tools: [read]", "read"),
    ] {
        let fields = format!("model: fake/fake-model\n{fields}");
        stage.define("subagents", "scout", &fields, "You look around.");
        stage.say(runner, "talk", "x");
        let mut tools = stage.last_tools();
        tools.sort();
        assert_eq!(tools.join(" "), expected, "{fields}");
    }
}
