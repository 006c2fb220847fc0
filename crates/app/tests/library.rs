//! The library door, used as a program would. It is a test binary of its own, because a process
//! that opens a team becomes a subreaper.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests make the repositories and files that they read"
)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pi_subagents::vocabulary::Happening;
use pi_subagents::{
    Delegated, EventSink, HostTools, MergeOutcome, Outcome, RunEvent, RunId, RunSummary,
    RunnerChoice, Status, Task, TaskWorkspaceState, Team, TeamErrorKind, TeamOptions, schemars,
};
use pi_subagents_testkit::fleet::NatsServer;
use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::Sandbox;
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const BINARY: &str = env!("CARGO_BIN_EXE_pi-subagents");

fn options(sandbox: &Sandbox) -> TeamOptions {
    TeamOptions::new()
        .cwd(sandbox.project())
        .home(sandbox.home())
        .binary(BINARY)
        .runner(RunnerChoice::Embedded)
}

/// The example of this name, built beside our binary.
fn example(name: &str) -> PathBuf {
    let example = Path::new(BINARY).with_file_name("examples").join(name);
    assert!(
        example.exists(),
        "{} is not built; build it with `cargo build -p pi-subagents --examples`",
        example.display()
    );
    example
}

/// A sandbox whose model answers only when it is released.
fn waiting_model() -> (Sandbox, LlmServer) {
    let sandbox = Sandbox::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("late").gate("never")]));
    sandbox.models_json(&server.base_url());
    (sandbox, server)
}

/// Tells which runs have started a child.
struct Started(UnboundedSender<RunId>);

impl Started {
    fn sink() -> (Vec<Box<dyn EventSink>>, UnboundedReceiver<RunId>) {
        let (sender, receiver) = unbounded_channel();
        (vec![Box::new(Self(sender))], receiver)
    }
}

impl EventSink for Started {
    fn on_events(&mut self, events: &[RunEvent], _: &RunSummary) {
        for event in events {
            if let Happening::Started(_) = event.happening {
                self.0.send(event.run.clone()).unwrap();
            }
        }
    }
}

/// Writes down the names of events, each with the status in the run's summary at that time.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<(&'static str, Status)>>>);

impl EventSink for Diary {
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        let words = events.iter().filter_map(|event| match event.happening {
            Happening::Accepted(_) => Some("accepted"),
            Happening::Started(_) => Some("started"),
            Happening::Ended(_) => Some("ended"),
            _ => None,
        });
        let standing = words.map(|word| (word, summary.status()));
        self.0.lock().unwrap().extend(standing);
    }
}

fn statuses(sandbox: &Sandbox) -> Vec<String> {
    let status = sandbox
        .command(Path::new(BINARY))
        .args(["status", "--all", "--json"])
        .run()
        .json();
    let runs = status["runs"].as_array().unwrap().iter();
    runs.map(|run| run["status"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_example_prints_what_its_sub_agents_answered() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "home/.pi/agent/agent-profiles/reviewer.md",
        "---\nname: reviewer\ndescription: Reviews.\n---\n",
    );
    sandbox.write("project/README.md", "# Teapot\n\nA project about tea.\n");
    sandbox.write("project/main.c", "int main() { /* TODO: pour */ }\n");
    let output = sandbox
        .command(&example("team"))
        .env("PI_SUBAGENTS_BIN", BINARY)
        .run();
    insta::assert_snapshot!(output, @"
    --- exit code
    0
    [EOF]
    --- stdout
    agents: 1
    about: In README.md it says:

    # Teapot

    A project about tea.
    ends: Lines marked as open: 1. The first ones:

    main.c:1: int main() { /* TODO: pour */ }
    events: 35
    [EOF]
    --- stderr
    [EOF]
    ");
}

#[test]
fn without_the_binary_the_example_says_what_to_do() {
    let sandbox = Sandbox::new();
    let output = sandbox
        .command(&example("team"))
        .env("PATH", "/nowhere")
        .run();
    insta::assert_snapshot!(output, @"
    --- exit code
    1
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    Error: the binary pi-subagents is not on PATH
    Build it with cargo build --release, and put it on PATH or name it with PI_SUBAGENTS_BIN.
    [EOF]
    ");
}

/// Turns in which a model calls the function of the example, and says what it got.
fn asks_for_order(tool: &str) -> serde_json::Value {
    json!([
        {"toolCalls": [{"name": tool, "arguments": {"number": 7}}]},
        {"text": format!("{{{{toolResult.{tool}}}}}")},
    ])
}

#[test]
fn the_example_gives_its_sub_agent_a_function() {
    let sandbox = Sandbox::new();
    let script = json!({"rules": [{"turns": asks_for_order("mcp__shop__find_order")}]});
    let script = sandbox.write("script.json", &script.to_string());
    let output = sandbox
        .command(&example("host_tools"))
        .arg(format!("scripted/{}", script.display()))
        .env("PI_SUBAGENTS_BIN", BINARY)
        .run();
    assert_eq!(
        output.stdout, "It left the warehouse this morning.\n",
        "{output}"
    );
}

#[derive(schemars::JsonSchema, serde::Deserialize)]
struct Order {
    number: u32,
}

/// Says when a call is no longer there.
struct Leaves(UnboundedSender<&'static str>);

impl Drop for Leaves {
    fn drop(&mut self) {
        // The test may have seen enough.
        _ = self.0.send("left");
    }
}

/// Functions of this test: one that answers or fails, one that never ends, and one that panics. The
/// second says when it is called and when its call is gone.
fn shop(says: UnboundedSender<&'static str>) -> HostTools {
    HostTools::new("shop")
        .tool("find_order", "Finds an order.", |order: Order| async move {
            match order.number {
                7 => Ok("on its way".to_owned()),
                number => Err(format!("there is no order {number}")),
            }
        })
        .tool("wait", "Waits.", move |_: Order| {
            says.send("called").unwrap();
            let leaves = Leaves(says.clone());
            async move {
                std::future::pending::<()>().await;
                drop(leaves);
                Ok::<_, String>(String::new())
            }
        })
        .tool("fail", "Fails.", |order: Order| async move {
            assert_eq!(order.number, 0, "a function of a program may panic");
            Ok::<_, String>(String::new())
        })
}

/// Returns what the tool calls of a task brought: the texts that its model got.
fn tool_results(outcome: &Outcome) -> Vec<String> {
    let directory = outcome.directory.as_ref().unwrap();
    let events = std::fs::read_to_string(directory.join("events.jsonl")).unwrap();
    let events = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    events
        .filter(|event: &serde_json::Value| event["type"] == "tool_execution_end")
        .map(|event| {
            event["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[tokio::test]
async fn sub_agents_call_functions_of_the_program_also_from_a_sandbox() {
    let sandbox = Sandbox::new();
    let call = |tool: &str, number: u32| {
        let arguments = json!({"number": number});
        json!({"toolCalls": [{"name": format!("mcp__shop__{tool}"), "arguments": arguments}]})
    };
    let look = "env | grep PI_SUBAGENTS_HOST; echo looked";
    let turns = json!([
        call("find_order", 7),
        call("find_order", 8),
        {"toolCalls": [{"name": "mcp__shop__find_order", "arguments": {"number": "x"}}]},
        call("fail", 1),
        {"toolCalls": [{"name": "bash", "arguments": {"command": look}}]},
        {"text": "Done."},
    ]);
    let script = json!({"rules": [{"turns": turns}]});
    let script = sandbox.write("script.json", &script.to_string());
    let box_file = |fields: &str| format!("---\nname: box\n{fields}\n---\nBe brief.\n");
    let agent = "home/.pi/agent/agent-profiles/box.md";
    let expected = [
        "on its way",
        "there is no order 8",
        "the arguments do not fit: invalid type: string \"x\", expected u32",
        "the function ended without an answer",
        "looked\n",
    ];
    for fields in [
        "sandbox: off",
        "sandbox: read-only",
        "sandbox: workspace-write\nnetwork: full",
    ] {
        sandbox.write(agent, &box_file(fields));
        let options = options(&sandbox).model(format!("scripted/{}", script.display()));
        let team = Team::open(options.host_tools(shop(unbounded_channel().0)))
            .await
            .unwrap();
        let task = Task::new("a", "Go.").agent("box");
        let delegated = team.delegate([task], Vec::new()).await.unwrap();
        let outcome = &delegated.outcomes[0];
        assert_eq!(
            outcome.report.output.as_deref(),
            Some("Done."),
            "{fields}: {outcome:?}"
        );
        assert_eq!(tool_results(outcome), expected, "{fields}");
        team.close().await;
    }
}

#[tokio::test]
async fn a_call_of_a_function_ends_with_its_run() {
    let sandbox = Sandbox::new();
    let turns = json!([{"toolCalls": [{"name": "mcp__shop__wait", "arguments": {"number": 1}}]}]);
    let script = json!({"rules": [{"turns": turns}]});
    let script = sandbox.write("script.json", &script.to_string());
    let (says, mut said) = unbounded_channel();
    let options = options(&sandbox).model(format!("scripted/{}", script.display()));
    let team = Team::open(options.host_tools(shop(says))).await.unwrap();
    let (sinks, mut started) = Started::sink();
    let calling = team.delegate([Task::new("a", "Go.")], sinks);
    let stopping = async {
        let run = started.recv().await.unwrap();
        assert_eq!(said.recv().await, Some("called"));
        team.stop(&run).await
    };
    let (delegated, was_running) = tokio::join!(calling, stopping);
    assert!(was_running);
    assert_eq!(
        delegated.unwrap().outcomes[0].report.status,
        Status::Stopped
    );
    assert_eq!(said.recv().await, Some("left"));
    team.close().await;
}

#[tokio::test]
async fn a_task_that_cannot_be_given_the_functions_is_refused_in_words() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "home/.pi/agent/agent-profiles/keeper.md",
        "---\nname: keeper\nmcpServers:\n  shop: {command: x}\n---\nBe brief.\n",
    );
    let options = options(&sandbox).model("scripted/tour");
    let team = Team::open(options.host_tools(shop(unbounded_channel().0)))
        .await
        .unwrap();
    let tasks = [Task::new("twice", "Go.").agent("keeper")];
    let delegated = team.delegate(tasks, Vec::new()).await.unwrap();
    let said = delegated.outcomes[0].report.error_message.as_deref();
    insta::assert_snapshot!(said.unwrap(), @"The tools of the calling program are the MCP server shop, and the agent of the task has one of this name too.");
    team.close().await;
    let odd = HostTools::new("a b");
    let refused = Team::open(
        TeamOptions::new()
            .home(sandbox.home())
            .binary(BINARY)
            .host_tools(odd),
    );
    assert_eq!(refused.await.err().unwrap().kind(), TeamErrorKind::Usage);
}

#[tokio::test]
async fn a_task_with_a_definition_is_done_in_the_home_that_was_given() {
    let sandbox = Sandbox::new();
    let server = LlmServer::start(Script::new().on_model("fake-model", [Turn::text("reviewed")]));
    sandbox.models_json(&server.base_url());
    sandbox.write(
        "home/.pi/agent/agent-profiles/reviewer.md",
        "---\nname: reviewer\n---\nYou review code.\n",
    );
    sandbox.write("project/a.txt", "alpha\n");
    let team = Team::open(options(&sandbox)).await.unwrap();
    let names: Vec<String> = team.agents().into_iter().map(|known| known.name).collect();
    assert_eq!(names, ["reviewer"]);
    let diary = Diary::default();
    let task = Task::new("review", "Look at it.")
        .agent("reviewer")
        .file("a.txt")
        .timeout(Duration::from_mins(1));
    let missing = Task::new("refused", "Look at it.").agent("nobody");
    let delegated = team
        .delegate([task, missing], vec![Box::new(diary.clone())])
        .await
        .unwrap();
    let told: Vec<(&str, Status, Option<&str>, Option<&str>)> = delegated
        .outcomes
        .iter()
        .map(|Outcome { report, .. }| {
            let (output, error) = (report.output.as_deref(), report.error_message.as_deref());
            (report.name.as_str(), report.status, output, error)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("review", Status::Completed, Some("reviewed"), None),
            (
                "refused",
                Status::Failed,
                None,
                Some("Unknown profile: \"nobody\". Available profiles: reviewer")
            ),
        ]
    );
    assert_eq!(delegated.warnings, Vec::<String>::new());
    assert_eq!(
        *diary.0.lock().unwrap(),
        [
            ("accepted", Status::Queued),
            ("accepted", Status::Queued),
            ("ended", Status::Failed),
            ("started", Status::Running),
            ("ended", Status::Completed),
        ]
    );
    let asked = server.requests()[0].body.to_string();
    assert!(asked.contains("You review code."), "{asked}");
    assert!(asked.contains("alpha"), "{asked}");
    let again = Task::new("again", "And now?").resume(&delegated.outcomes[0].report.session_id);
    let resumed = team.delegate([again], Vec::new()).await.unwrap();
    let session = |done: &Delegated| done.outcomes[0].report.session_id.clone();
    assert_eq!(session(&resumed), session(&delegated));
    team.close().await;
    assert_eq!(statuses(&sandbox), ["completed", "failed", "completed"]);
}

#[tokio::test]
async fn whoever_stops_waiting_stops_the_runs() {
    let (sandbox, _server) = waiting_model();
    let team = Team::open(options(&sandbox)).await.unwrap();
    let (sinks, mut started) = Started::sink();
    let tasks = [Task::new("a", "Wait."), Task::new("b", "Wait.")];
    tokio::select! {
        _ = team.delegate(tasks, sinks) => panic!("the model never answers"),
        () = async { for _ in 0..2 { started.recv().await.unwrap(); } } => {}
    }
    // The sinks of a call are dropped when its runs are over.
    let over = tokio::time::timeout(Duration::from_mins(1), started.recv()).await;
    assert_eq!(over, Ok(None));
    team.close().await;
    assert_eq!(statuses(&sandbox), ["stopped", "stopped"]);
}

#[tokio::test]
async fn a_team_that_is_dropped_leaves_nothing_behind() {
    let (sandbox, _server) = waiting_model();
    let team = Team::open(options(&sandbox)).await.unwrap();
    let (sinks, mut started) = Started::sink();
    tokio::select! {
        _ = team.delegate([Task::new("a", "Wait.")], sinks) => panic!("the model never answers"),
        _ = started.recv() => {}
    }
    drop(team);
    let over = tokio::time::timeout(Duration::from_mins(1), started.recv()).await;
    assert_eq!(over, Ok(None));
    assert_eq!(statuses(&sandbox), ["stopped"]);
}

/// Futures of a team go wherever a program has them work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_team_is_shared_between_tasks_of_a_runtime() {
    let sandbox = Sandbox::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("there")]));
    sandbox.models_json(&server.base_url());
    let team = Arc::new(Team::open(options(&sandbox)).await.unwrap());
    let calls = ["one", "two"].map(|name| {
        let team = Arc::clone(&team);
        let task = Task::new(name, "Say where you are.");
        tokio::spawn(async move { team.delegate([task], Vec::new()).await })
    });
    for (call, name) in calls.into_iter().zip(["one", "two"]) {
        let outcome = call.await.unwrap().unwrap().outcomes.remove(0).report;
        assert_eq!(
            (outcome.name.as_str(), outcome.output.as_deref()),
            (name, Some("there"))
        );
    }
    let team = Arc::into_inner(team).unwrap();
    tokio::spawn(team.close()).await.unwrap();
}

#[tokio::test]
async fn a_run_can_be_stopped_by_its_id() {
    let (sandbox, _server) = waiting_model();
    let team = Team::open(options(&sandbox)).await.unwrap();
    let (sinks, mut started) = Started::sink();
    let stop = async {
        let run = started.recv().await.unwrap();
        (team.stop(&run).await, team.stop(&run).await)
    };
    let (delegated, stopped) = tokio::join!(team.delegate([Task::new("a", "Wait.")], sinks), stop);
    assert_eq!(stopped, (true, false));
    let outcome = &delegated.unwrap().outcomes[0].report;
    assert_eq!(outcome.status, Status::Stopped);
    assert_eq!(
        outcome.error_message.as_deref(),
        Some("Stopped on request.")
    );
    team.close().await;
}

/// Makes the project of a sandbox a repository with one commit.
fn with_repository(sandbox: &Sandbox) {
    sandbox.write("project/kept.txt", "one\ntwo\n");
    let name = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "kept.txt"],
        &["commit", "--quiet", "-m", "first"],
    ] {
        let git = std::process::Command::new("git")
            .args(name)
            .args(arguments)
            .current_dir(sandbox.project())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .status();
        assert!(git.unwrap().success());
    }
}

#[tokio::test]
async fn results_are_compared_merged_and_discarded() {
    let sandbox = Sandbox::new();
    with_repository(&sandbox);
    let edit = |word: &str| {
        let command = serde_json::json!({"command": format!("sed -i s/two/{word}/ kept.txt")});
        [Turn::tool_call("bash", command), Turn::text("Done.")]
    };
    let script = Script::new()
        .on("Say api.", edit("api"))
        .on("Say ui.", edit("ui"));
    let script = script.on("Look.", [Turn::text("Seen.")]);
    let server = LlmServer::start(script);
    sandbox.models_json(&server.base_url());
    let team = Team::open(options(&sandbox)).await.unwrap();
    let tasks = ["Say api.", "Say ui.", "Look."].map(|words| Task::new(words, words).isolated());
    let outcomes = team.delegate(tasks, Vec::new()).await.unwrap().outcomes;
    let states: Vec<_> = outcomes
        .iter()
        .map(|outcome| outcome.workspace.as_ref().unwrap().state)
        .collect();
    let (waiting, unchanged) = (TaskWorkspaceState::Waiting, TaskWorkspaceState::Unchanged);
    assert_eq!(states, [waiting, waiting, unchanged]);
    let [api, ui, look] = [0, 1, 2].map(|place: usize| outcomes[place].report.run_id.clone());
    let check = team.check_merge(&[api.clone(), ui.clone()]).await.unwrap();
    assert!(!check.is_clean);
    let clashes: Vec<_> = check
        .clashes
        .iter()
        .map(|clash| {
            (
                &clash.run,
                clash.with.as_ref(),
                clash.conflicts[0].path.display(),
            )
        })
        .map(|(run, with, path)| (run.clone(), with.cloned(), path.to_string()))
        .collect();
    assert_eq!(
        clashes,
        [(api.clone(), Some(ui.clone()), "kept.txt".to_owned())]
    );
    let merged = team.merge(&[api.clone(), ui.clone(), api]).await.unwrap();
    let kinds: Vec<&str> = merged
        .iter()
        .map(|merged| match &merged.outcome {
            MergeOutcome::Merged(files) if files[0].lines == Some((1, 1)) => "merged",
            MergeOutcome::Conflicts(_) => "conflicts",
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["merged", "conflicts"]);
    let kept = std::fs::read_to_string(sandbox.project().join("kept.txt"));
    assert_eq!(kept.unwrap(), "one\napi\n");
    let discarded = team.discard(&ui).await.unwrap();
    assert_eq!(
        discarded,
        Some(format!("refs/pi-subagents/discarded/{ui}/result"))
    );
    assert_eq!(team.discard(&ui).await.unwrap(), None);
    let nothing = team.merge(&[look]).await.unwrap_err();
    assert_eq!(nothing.kind(), TeamErrorKind::Failed);
    let unnamed = team.merge(&[]).await.unwrap_err();
    assert_eq!(unnamed.kind(), TeamErrorKind::Usage);
    team.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_stops_waiting_while_runs_are_opened_leaves_none_open() {
    let (sandbox, _server) = waiting_model();
    with_repository(&sandbox);
    let team = Team::open(options(&sandbox)).await.unwrap();
    // A worktree takes a while, so the first runs are open long before the last.
    let tasks = (0..16).map(|number| Task::new(number.to_string(), "Wait.").isolated());
    tokio::select! {
        _ = team.delegate(tasks, Vec::new()) => panic!("the model never answers"),
        () = opened(&sandbox) => {}
    }
    let is_over = || {
        let statuses = statuses(&sandbox);
        statuses
            .iter()
            .all(|status| status == "stopped")
            .then_some(())
    };
    assert_eq!(wait_until(Duration::from_mins(1), is_over), Some(()));
    team.close().await;
}

/// Waits until a run of a sandbox has a record.
async fn opened(sandbox: &Sandbox) {
    let index = sandbox.home().join(".pi/agent/subagents-index.jsonl");
    while std::fs::read(&index).unwrap_or_default().is_empty() {
        tokio::task::yield_now().await;
    }
}

/// Is set for a process whose own home must not be used.
const OTHER_HOME: &str = "PI_SUBAGENTS_TEST_OTHER_HOME";

#[tokio::test]
async fn a_team_with_a_home_never_looks_at_the_home_of_its_process() {
    if std::env::var_os(OTHER_HOME).is_none() {
        return in_a_process_with_another_home();
    }
    let sandbox = Sandbox::new();
    with_repository(&sandbox);
    let command = json!({"command": "sed -i s/two/three/ kept.txt"});
    let turns = [Turn::tool_call("bash", command), Turn::text("Done.")];
    let server = LlmServer::start(Script::new().on_model("fake-model", turns));
    sandbox.models_json(&server.base_url());
    let team = Team::open(options(&sandbox)).await.unwrap();
    let task = Task::new("edit", "Say three.").isolated();
    let delegated = team.delegate([task], Vec::new()).await.unwrap();
    assert_eq!(delegated.warnings, Vec::<String>::new());
    let outcome = &delegated.outcomes[0];
    let report = &outcome.report;
    assert_eq!(
        (report.status, &report.error_message),
        (Status::Completed, &None)
    );
    let merged = team
        .merge(std::slice::from_ref(&report.run_id))
        .await
        .unwrap();
    assert!(matches!(merged[0].outcome, MergeOutcome::Merged(_)));
    team.close().await;
}

/// Runs the test again in a process with a home in which every file is wrong, so that whoever reads
/// one fails, and in which whoever writes one is seen.
fn in_a_process_with_another_home() {
    let wrong = Sandbox::new();
    let files = [
        ".pi/agent/settings.json",
        ".pi/agent/models.json",
        ".pi/agent/auth.json",
        ".pi/agent/trust.json",
    ];
    for file in files {
        wrong.write(&format!("home/{file}"), "[no JSON\n");
    }
    let before = all_files(&wrong.home());
    let again = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("a_team_with_a_home_never_looks_at_the_home_of_its_process")
        .env("HOME", wrong.home())
        .env("PI_CODING_AGENT_DIR", wrong.home().join(".pi/agent"))
        .env(OTHER_HOME, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
    assert_eq!(all_files(&wrong.home()), before);
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all_files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn what_is_wrong_as_a_whole_is_an_error_with_a_hint() {
    let sandbox = Sandbox::new();
    let team = Team::open(options(&sandbox)).await.unwrap();
    let empty = team.delegate([], Vec::new()).await.unwrap_err();
    assert_eq!(empty.to_string(), "tasks must have at least 1 task");
    team.close().await;
    let nowhere = options(&sandbox).binary(sandbox.root().join("nowhere"));
    let error = Team::open(nowhere).await.err().unwrap();
    assert_eq!(
        [empty.kind(), error.kind()],
        [TeamErrorKind::Usage, TeamErrorKind::NotFound]
    );
    insta::assert_snapshot!(sandbox.normalise(&error.to_string()), @"
    there is no binary at $SANDBOX/nowhere
    Build it with cargo build --release, and put it on PATH or name it with PI_SUBAGENTS_BIN.
    ");
}

#[tokio::test]
async fn settings_that_are_not_json_fail_the_call_until_they_are_mended() {
    let sandbox = Sandbox::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    sandbox.models_json(&server.base_url());
    sandbox.write(
        "home/.pi/agent/settings.json",
        "{\"subagents\": {\"maxCost\": 1,}}",
    );
    let team = Team::open(options(&sandbox)).await.unwrap();
    let error = team
        .delegate([Task::new("a", "hello")], Vec::new())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), TeamErrorKind::Usage);
    assert_eq!(
        sandbox.normalise(&error.to_string()).lines().next(),
        Some(
            "$HOME/.pi/agent/settings.json:1:28 is not JSON: there is a comma with nothing after it"
        )
    );
    sandbox.models_json(&server.base_url());
    let done = team.delegate([Task::new("a", "hello")], Vec::new()).await;
    assert_eq!(done.unwrap().outcomes[0].report.status, Status::Completed);
    team.close().await;
}

/// Tells the warnings of runs.
struct Warned(UnboundedSender<String>);

impl EventSink for Warned {
    fn on_events(&mut self, events: &[RunEvent], _: &RunSummary) {
        for event in events {
            if let Happening::Warned(warning) = &event.happening {
                self.0.send(warning.clone()).unwrap();
            }
        }
    }
}

#[tokio::test]
async fn a_program_hears_that_the_servers_of_its_fleet_are_away_and_does_not_wait_for_ever() {
    const AWAY: &str = "the servers of the fleet have been away since";
    let (caller, model) = waiting_model();
    let worker = Sandbox::new();
    worker.models_json(&model.base_url());
    let mut server = NatsServer::start();
    for sandbox in [&caller, &worker] {
        let fleet = json!({"servers": [server.url()], "on": "fleet", "workspace": "none",
            "patience": 7});
        let settings = json!({"subagents": {"fleet": fleet}}).to_string();
        sandbox.write("home/.pi/agent/settings.json", &settings);
    }
    let command = |sandbox: &Sandbox| sandbox.command(Path::new(BINARY));
    let init = command(&caller).args(["fleet", "init"]);
    init.run().expect_success();
    let working = command(&worker)
        .args(["fleet", "work", "--name", "build-7"])
        .spawn();
    working.wait_for_stderr("takes");
    let team = Team::open(options(&caller).model("fake/fake-model")).await;
    let team = team.unwrap();
    let (mut sinks, mut started) = Started::sink();
    let (sender, mut warned) = unbounded_channel();
    sinks.push(Box::new(Warned(sender)));
    let delegated = team.delegate([Task::new("one", "Wait.")], sinks);
    let watching = async {
        started.recv().await.unwrap();
        server.kill();
        warned.recv().await.unwrap()
    };
    let (delegated, warning) = tokio::join!(delegated, watching);
    assert!(
        warning.starts_with("lost contact with the fleet at"),
        "{warning}"
    );
    let Delegated {
        outcomes, warnings, ..
    } = delegated.unwrap();
    let [outcome] = outcomes.try_into().unwrap();
    let outcome = outcome.report;
    let error = outcome.error_message.unwrap();
    assert!(
        error.starts_with(&format!("Its end was not seen: {AWAY}")),
        "{error}"
    );
    assert_eq!(
        (outcome.status, outcome.output, warnings),
        (Status::Running, None, Vec::new())
    );
    team.close().await;
}
