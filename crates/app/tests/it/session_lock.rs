//! A session that several runs continue has one writer at a time, even if processes are killed.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pi_subagents_engine::{Engine, KnownChildren, Launcher, MeetingPlace, OwnerLimits};
use pi_subagents_testkit::process::{descendants, exists, kill, parent, wait_until_gone};
use pi_subagents_testkit::sandbox::{RunningCommand, SandboxCommand};
use pi_subagents_testkit::{Signal, bin, wait_for_file, wait_until};
use pi_subagents_vocabulary::{
    Allowance, Completion, Ending, Here, Limits, McpServers, ModelChoice, Plan, PlannedTask,
    Program, PromptTexts, QuestionTerms, RunBudgets, RunId, Runner, RunnerChoice, Sandbox,
    SessionId, SessionPolicy, SystemPrompt, Task, TaskPlan, ToolPolicy, Work,
};
use pretty_assertions::assert_eq;
use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};

use crate::stage::Stage;

const PATIENCE: Duration = Duration::from_mins(1);

/// The variable that makes an owner of [`runs_continue_a_session_one_after_another`].
const SCRIPT: &str = "OWNER_OF_THIS_SCRIPT";

/// The variable that makes such an owner want a report.
const REPORT: &str = "OWNER_WANTS_A_REPORT";

/// The variable that makes such an owner start this program for its child.
const CHILD: &str = "OWNER_STARTS_THIS_CHILD";

const SESSION: &str = "sticky/scout_s1.jsonl";
const LOCK: &str = "sticky/scout_s1.jsonl.lock";

/// An owner in a process of its own: this test program, started again for one of its tests.
fn owner(stage: &Stage, script: &Value) -> SandboxCommand {
    stage
        .sandbox
        .command(&std::env::current_exe().unwrap())
        .args([
            "--exact",
            "session_lock::runs_continue_a_session_one_after_another",
            "--nocapture",
        ])
        .env(SCRIPT, script.to_string())
}

/// Runs a script to its end and returns its ending.
fn run(stage: &Stage, script: &Value) -> String {
    ending_of(owner(stage, script))
}

fn ending_of(owner: SandboxCommand) -> String {
    let output = owner.run().expect_success();
    let ended = output.stdout.lines().find(|line| line.contains("ended: "));
    ended
        .and_then(|line| line.split_once("ended: "))
        .unwrap()
        .1
        .to_owned()
}

/// Runs one task on the session and prints its ending.
#[expect(clippy::print_stdout, reason = "it is the answer of this process")]
fn own(script: String) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let ours = |command: &str| Program {
            path: env!("CARGO_BIN_EXE_pi-subagents").into(),
            arguments: vec![command.into()],
            has_mcp: false,
            keeps_tools: false,
        };
        let launcher = Launcher {
            keeper: ours("keeper"),
            confine: ours("confine"),
            warden: ours("warden"),
            known_children: KnownChildren::spare_unknown(),
            meeting_place: MeetingPlace::default(),
            file_limit: None,
            environment: Vec::new(),
            treasurer: None,
            secrets: std::collections::BTreeMap::new(),
        };
        let (engine, dispatcher) = Engine::start(launcher, OwnerLimits::default()).unwrap();
        let outcomes = engine.run(plan(script), Vec::new()).outcomes().await;
        let ending = outcomes[0].ending.as_ref().unwrap();
        let message = ending.message().unwrap_or_else(|| "completed".to_owned());
        println!("ended: {message}");
        drop(engine);
        dispatcher.await.unwrap();
    });
}

fn plan(script: String) -> Plan {
    let project = PathBuf::from(".").canonicalize().unwrap();
    let root = project.parent().unwrap();
    let task = Task::new(
        RunId::parse(&format!("run-of-{}", std::process::id())).unwrap(),
        SessionId::parse("s1").unwrap(),
        "scout",
        script.clone(),
        project.clone(),
    );
    let work = Work {
        prompt: script,
        runner: RunnerChoice::Pi,
        model: ModelChoice::Inherit,
        system_prompt: PromptTexts::default(),
        fallback_models: Vec::new(),
        tools: ToolPolicy::Inherit,
        completion: completion(),
        gates: Vec::new(),
        pollers: Vec::new(),
        limits: Limits {
            timeout: None,
            extension: Duration::ZERO,
            repetitions: 0,
            turns: None,
            allowance: Allowance::default(),
            window_share: None,
            ends_at_once: false,
        },
        sandbox: Sandbox::default(),
        commands: Vec::new(),
        mcp_servers: McpServers::default(),
        questions: QuestionTerms::default(),
        trusted: false,
        arguments: Vec::new(),
    };
    let here = Here {
        runner: Runner::Pi,
        program: Program {
            path: child(),
            arguments: Vec::new(),
            has_mcp: false,
            keeps_tools: false,
        },
        system_prompt: SystemPrompt::Inherit,
        session: SessionPolicy::Shared {
            file: root.join(SESSION),
            lock: root.join(LOCK),
        },
        budgets: RunBudgets::default(),
        setup: None,
        shared: None,
        confinement: None,
        arguments: Vec::new(),
        wrap_up: None,
        ask: None,
        fallbacks: None,
        api_key: None,
        server_variables: std::collections::BTreeMap::new(),
    };
    let work = TaskPlan { work, here };
    Plan::of(vec![PlannedTask::alone(Arc::new(task), Ok(Box::new(work)))])
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test starts itself again and says so by a variable"
)]
fn child() -> PathBuf {
    std::env::var_os(CHILD).map_or_else(|| bin("misbehave"), PathBuf::from)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test starts itself again and says so by a variable"
)]
fn completion() -> Completion {
    match std::env::var_os(REPORT) {
        Some(_) => Completion::Finalized {
            corrections: 3,
            schema: None,
        },
        None => Completion::LastMessage,
    }
}

/// A run on the session whose tree ends only when it is killed.
struct Stubborn {
    owner: RunningCommand,
    child: u32,
    grandchild: u32,
}

impl Stubborn {
    fn start(stage: &Stage) -> Self {
        let pid_file = stage.path("grandchild");
        let script = json!([
            {"ignoreTerm": true}, {"ignoreEof": true}, {"ignoreAbort": true},
            {"fork": {"kind": "ignoresTerm", "pidFile": pid_file}},
            {"hang": true},
        ]);
        let owner = owner(stage, &script).spawn();
        let grandchild = wait_for_file(&pid_file, PATIENCE).trim().parse().unwrap();
        Self {
            owner,
            child: parent(grandchild).unwrap(),
            grandchild,
        }
    }

    fn tree(&self) -> [u32; 2] {
        let tree = [self.child, self.grandchild];
        assert!(tree.iter().all(|pid| exists(*pid)));
        tree
    }
}

fn lock(stage: &Stage) -> File {
    File::open(stage.path(LOCK)).unwrap()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test starts itself again and says so by a variable"
)]
#[test]
fn runs_continue_a_session_one_after_another() {
    if let Ok(script) = std::env::var(SCRIPT) {
        return own(script);
    }
    let stage = Stage::new();
    let descriptors = stage.path("descriptors");
    let arguments = stage.path("arguments");
    let first = json!([{"dumpFds": descriptors}, {"dumpArgs": arguments}, {"reply": "first"}]);
    assert_eq!(run(&stage, &first), "completed");
    assert!(!fs::exists(stage.path(LOCK)).unwrap());
    let seen = fs::read_to_string(descriptors).unwrap();
    assert!(!seen.contains("scout_s1"), "the child has the lock: {seen}");
    let seen = fs::read_to_string(arguments).unwrap();
    assert!(seen.contains(&stage.path(SESSION)), "{seen}");
    assert_eq!(run(&stage, &json!([{"reply": "second"}])), "completed");
}

#[test]
fn a_second_run_is_refused_while_the_first_lives() {
    let stage = Stage::new();
    let first = Stubborn::start(&stage);
    let holder = format!("run-of-{}", first.owner.pid());
    let expected = Ending::SessionInUse {
        session: "s1".to_owned(),
        file: stage.path(SESSION).into(),
        holder: Some(holder),
    };
    let refused = run(&stage, &json!([{"touch": stage.path("started")}]));
    assert_eq!(Some(refused), expected.message());
    assert!(!fs::exists(stage.path("started")).unwrap());
}

#[test]
fn a_child_that_could_not_be_started_leaves_no_lock() {
    let stage = Stage::new();
    let missing = stage.path("missing");
    let failed = ending_of(owner(&stage, &json!([])).env(CHILD, &missing));
    assert!(failed.contains(&missing), "{failed}");
    assert!(!fs::exists(stage.path(LOCK)).unwrap());
    assert_eq!(run(&stage, &json!([{"reply": "second"}])), "completed");
}

#[test]
fn nobody_gets_the_session_between_two_children_of_a_run() {
    let stage = Stage::new();
    let [started, again] = ["started", "again"].map(|name| stage.path(name));
    let done = json!({"status": "SUCCESS", "result": "All of it."});
    let report = json!({"toolCall": {
        "name": "subagent_finalize", "arguments": done, "details": done, "terminate": true,
    }});
    let next = json!([[{"touch": again}, report, {"settle": true}]]);
    let next = stage.sandbox.write("next.json", &next.to_string());
    let first = json!([{"touch": started}, {"say": "Half of it."}, {"exit": 0}]);
    let owner = owner(&stage, &first)
        .env(REPORT, "1")
        .env("MISBEHAVE_NEXT", next)
        .spawn();
    wait_for_file(&started, PATIENCE);
    let lock = lock(&stage);
    let patience = Instant::now() + PATIENCE;
    while !fs::exists(&again).unwrap() {
        let taken = flock(&lock, FlockOperation::NonBlockingLockExclusive);
        // On a busy machine the run may have come to its end since the last look.
        if taken.is_ok() {
            assert!(fs::exists(&again).unwrap(), "the session was free");
            break;
        }
        assert_eq!(taken, Err(rustix::io::Errno::WOULDBLOCK));
        assert!(Instant::now() < patience, "no second child was started");
    }
    assert!(owner.wait().stdout.contains("ended: completed"));
    assert_eq!(
        flock(&lock, FlockOperation::NonBlockingLockExclusive),
        Ok(())
    );
}

#[test]
fn a_killed_owner_leaves_the_session_locked_until_its_tree_is_gone() {
    let stage = Stage::new();
    let first = Stubborn::start(&stage);
    let tree = first.tree();
    first.owner.kill(Signal::KILL);
    let lock = lock(&stage);
    let taken = wait_until(PATIENCE, || {
        flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()
    });
    assert_eq!(taken, Some(()));
    assert_eq!(wait_until_gone(&tree, Duration::ZERO), Ok(()));
}

#[test]
fn what_lives_on_when_everybody_is_killed_is_ended_before_the_next_run_starts() {
    let stage = Stage::new();
    let first = Stubborn::start(&stage);
    let tree = first.tree();
    first.owner.kill(Signal::STOP);
    for process in descendants(first.owner.pid()) {
        if !tree.contains(&process) {
            kill(process, Signal::KILL);
        }
    }
    first.owner.kill(Signal::KILL);
    _ = first.owner.wait_for_exit();
    assert!(tree.iter().all(|pid| exists(*pid)));
    let started = stage.path("started");
    let next = json!([{"touch": started}, {"waitForFile": stage.path("go")}, {"reply": "ok"}]);
    let second = owner(&stage, &next).spawn();
    wait_for_file(&started, PATIENCE);
    assert_eq!(wait_until_gone(&tree, Duration::ZERO), Ok(()));
    fs::write(stage.path("go"), "").unwrap();
    assert!(second.wait().stdout.contains("ended: completed"));
}
