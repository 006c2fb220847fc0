//! Every field of a task travels with its order, or is refused by its name before anything is
//! submitted.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pi_subagents_fleet_queue::{Address, Fleet};
use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::SandboxCommand;
use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::fleet_stage::{FleetStage, git_project};
use super::worker_stage::{PATIENCE, Yard};
use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{call, outcomes};

for_each_pi! {
    a_result_is_checked_on_the_worker_and_comes_home_as_data,
}

/// Returns the names of the fields of a task, as a tool offers them to models.
fn offered(tool: &str) -> BTreeSet<String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../extension/manifest.json");
    let manifest: Value = serde_json::from_str(&fs::read_to_string(manifest).unwrap()).unwrap();
    let tools = manifest["tools"].as_array().unwrap();
    let tool = tools.iter().find(|one| one["name"] == tool).unwrap();
    let fields = &tool["parameters"]["properties"]["tasks"]["items"]["properties"];
    fields.as_object().unwrap().keys().cloned().collect()
}

/// Starts a command that gives orders, takes them as a worker would, and returns them by their names.
fn orders(fleet: &FleetStage, command: SandboxCommand, count: usize) -> Map<String, Value> {
    let caller = command.spawn();
    let taken = Runtime::new().unwrap().block_on(async {
        let address = Address::new(&fleet.server.url(), "build-7");
        let fleet = Fleet::connect(&address).await.unwrap();
        let mut puller = fleet.puller(&["default".to_owned()], 0).await.unwrap();
        let mut taken = Vec::new();
        let all = async {
            while taken.len() < count {
                taken.extend(puller.pull(count - taken.len()).await.unwrap());
            }
        };
        assert!(timeout(PATIENCE, all).await.is_ok(), "too few orders came");
        let read = |payload: &[u8]| serde_json::from_slice::<Value>(payload).unwrap();
        let named = taken.iter().map(|delivery| {
            let order = read(delivery.payload());
            (order["name"].as_str().unwrap().to_owned(), order)
        });
        named.collect()
    });
    drop(caller);
    taken
}

#[test]
fn every_field_of_a_task_is_in_its_order() {
    let fleet = FleetStage::with_git();
    let stage = &fleet.stage;
    stage.profile("careful", "tools: read", "Be careful.");
    let inside = stage.sandbox.write("project/inside/notes.txt", "notes\n");
    let earlier = call(&[("earlier", json!([{"reply": "The lamp is green."}]))]);
    let earlier = stage.delegate(&earlier).run().json();
    let schema = json!({"type": "object", "required": ["n"]});
    // Each task says one thing: the field, its value, and where its order has it.
    let rows = [
        ("name", json!("name"), "name", json!("name")),
        ("prompt", json!("Look."), "asked", json!("Look.")),
        (
            "cwd",
            json!(inside.parent().unwrap()),
            "relativeCwd",
            json!("inside"),
        ),
        (
            "profile",
            json!("careful"),
            "work/systemPrompt/replace",
            json!("Be careful."),
        ),
        ("timeout", json!(77), "work/limits/timeout", json!(77.0)),
        // On its worker every run has a directory of its own.
        (
            "isolation",
            json!("worktree"),
            "workspace/bundle/fromHead",
            json!(null),
        ),
        (
            "base",
            json!("head"),
            "workspace/bundle/fromHead",
            json!(true),
        ),
        (
            "sandbox",
            json!("read-only"),
            "work/sandbox/level",
            json!("read-only"),
        ),
        (
            "network",
            json!("model"),
            "work/sandbox/network",
            json!("model"),
        ),
        (
            "resume",
            earlier["runs"][0]["sessionId"].clone(),
            "work/prompt",
            json!("The lamp is green."),
        ),
        (
            "files",
            json!(["readme.md"]),
            "work/prompt",
            json!("A lamp."),
        ),
        (
            "gate",
            json!("test -e x"),
            "work/gates/0/command",
            json!("test -e x"),
        ),
        ("maxTurns", json!(9), "work/limits/turns", json!(9)),
        (
            "wrapUp",
            json!(false),
            "work/limits/endsAtOnce",
            json!(true),
        ),
        (
            "fallbackModels",
            json!(["fake/second"]),
            "work/fallbackModels",
            json!(["fake/second"]),
        ),
        (
            "outputSchema",
            schema.clone(),
            "work/completion/finalized/schema",
            schema.clone(),
        ),
    ];
    let named = rows.iter().map(|(field, ..)| (*field).to_owned());
    let of_subagent = ["preset", "agent", "task", "model", "sessionId"].map(str::to_owned);
    // These say how the tasks of a call depend on each other, and their caller keeps them.
    let of_call = [
        "needs",
        "afterFailure",
        "forEach",
        "attempts",
        "models",
        "pick",
    ];
    let of_call = of_call.map(str::to_owned);
    let of_orders = &offered("delegate_to_subagents") - &BTreeSet::from(of_call);
    assert_eq!(named.clone().collect::<BTreeSet<_>>(), of_orders);
    let known: BTreeSet<String> = named.chain(of_subagent).collect();
    let unknown: Vec<String> = offered("subagent").difference(&known).cloned().collect();
    assert_eq!(unknown, [""; 0], "a field of subagent is in no row");
    let tasks = rows.iter().map(|(field, value, ..)| {
        let mut task = json!({"name": field, "prompt": "Work."});
        task[*field] = value.clone();
        if *field == "network" {
            task["sandbox"] = json!("workspace-write");
        }
        if *field == "base" {
            task["isolation"] = json!("worktree");
        }
        task
    });
    let call = json!({"tasks": tasks.collect::<Vec<_>>()});
    let on_fleet = stage.delegate(&call).args(["--on", "fleet"]);
    let taken = orders(&fleet, on_fleet, rows.len());
    for (field, _, place, expected) in &rows {
        let found = taken[*field]
            .pointer(&format!("/{place}"))
            .unwrap_or(&Value::Null);
        let is_there = match (found, expected) {
            (Value::String(found), Value::String(part)) => found.contains(part),
            _ => found == expected,
        };
        assert!(is_there, "{field}: {}", taken[*field]);
    }
    assert_eq!(taken["gate"]["requires"], json!(["gate"]));
    assert_eq!(taken["outputSchema"]["requires"], json!(["outputSchema"]));
}

#[test]
fn the_fields_of_a_task_for_an_agent_are_in_its_order() {
    let fleet = FleetStage::with_git();
    let stage = &fleet.stage;
    let preset = "---\nname: scout\ndescription: looks\n---\nYou look.\n";
    stage
        .sandbox
        .write("home/.pi/agent/subagents/scout.md", preset);
    let run = ["run", "scout", "Look around", "--model", "fake/small"];
    let session = ["--session", "talk", "--on", "fleet"];
    let taken = orders(&fleet, stage.command(&run).args(session), 1);
    let (_, order) = taken.into_iter().next().unwrap();
    let facts = json!({
        "agent": order["definition"]["name"],
        "task": order["asked"],
        "model": order["work"]["model"],
        "sessionId": order["session"],
        "conversation": order["conversation"]["sticky"]["agent"],
    });
    let expected = json!({
        "agent": "scout",
        "task": "Look around",
        "model": {"model": "fake/small"},
        "sessionId": "talk",
        "conversation": "scout",
    });
    assert_eq!(facts, expected, "{order}");
}

#[test]
fn a_base_or_a_worktree_that_cannot_travel_is_refused_by_its_name() {
    let fleet = FleetStage::with_git();
    let stage = &fleet.stage;
    let kept = json!({"tasks": [{
        "name": "kept", "isolation": "worktree",
        "prompt": json!([{"touch": "new.txt"}, {"reply": "done"}]).to_string(),
    }]});
    let kept = stage.delegate(&kept).run().json();
    let task = |more: &Value| {
        let mut task = json!({"name": "x", "prompt": "Work."});
        let fields = task.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        json!({"tasks": [task]})
    };
    let refused = |more: &Value, options: &[&str]| {
        let delegated = stage.delegate(&task(more)).args(["--on", "fleet"]);
        let output = delegated.args(options).run();
        let error = outcomes(&output)[0].error.clone();
        stage
            .sandbox
            .normalise(&error.unwrap_or_else(|| output.to_string()))
    };
    let worktree = json!({"isolation": "worktree"});
    let main = json!({"isolation": "worktree", "base": "main"});
    let head = json!({"isolation": "worktree", "base": "head"});
    let goes_on = json!({"resume": kept["runs"][0]["sessionId"]});
    let all = [
        refused(&main, &[]),
        refused(&head, &["--workspace", "none"]),
        refused(&worktree, &["--workspace", "shared"]),
        refused(&goes_on, &[]),
    ];
    let path = kept["runs"][0]["workspace"]["path"].as_str().unwrap();
    let path = stage.sandbox.normalise(path);
    insta::assert_snapshot!(all.join("\n").replace(&path, "<worktree>"), @"
    base is main, and only the commit that is checked out is sent to a fleet. Check main out, set base to working or head, or use --on local.
    base is head, and with --workspace none there are no files to begin from. Use --workspace bundle, or leave base out.
    isolation: with --workspace shared a sub-agent works in the shared directory itself, and not in a worktree. Use --workspace bundle, or leave isolation out.
    isolation: the changes of this session are in <worktree>, which is not sent to a fleet. Merge or discard them first, or use --on local.
    ");
}

#[test]
fn a_run_that_begins_from_head_sees_and_returns_nothing_uncommitted() {
    let fleet = FleetStage::with_git();
    let stage = &fleet.stage;
    let _worker = fleet.worker("build-7");
    stage.sandbox.write("project/dirty.txt", "dirty\n");
    let work = "(ls; git status --porcelain) > seen.txt";
    let script = json!([{"shell": work}, {"reply": "done"}]);
    let output = stage
        .delegate(&call(&[("task", script)]))
        .args(["--on", "fleet", "--isolation", "worktree", "--base", "head"])
        .run();
    assert_eq!(outcomes(&output)[0].status, "completed", "{output}");
    let run = output.json()["runs"][0]["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    let diff = stage.command(&["diff", &run, "--stat"]).run();
    assert_eq!(diff.stdout, "seen.txt  +3 −0  added\n", "{diff}");
    let git = stage.sandbox.command(Path::new("git"));
    let name = format!("refs/pi-subagents/runs/{run}/result:seen.txt");
    let seen = git.args(["show", &name]).run().expect_success().stdout;
    assert_eq!(seen, "readme.md\nseen.txt\n?? seen.txt\n");
}

/// A result that does not fit goes back to its sub-agent on the worker; one that does comes home.
fn a_result_is_checked_on_the_worker_and_comes_home_as_data(pi: RealPi) {
    let yard = Yard::new();
    let report = |result: Value| {
        let report = json!({"status": "SUCCESS", "result": result});
        Turn::tool_call("subagent_finalize", report)
    };
    for runner in ["embedded", "pi"] {
        let turns = [report(json!({"n": 0})), report(json!({"n": 3}))];
        let model = LlmServer::start(Script::new().otherwise(turns.to_vec()));
        let machine = || {
            let stage = git_project();
            stage.sandbox.models_json(&model.base_url());
            stage.settings(&json!({"fleet": {"servers": [yard.server.url()]}}));
            stage
        };
        let (caller, worker) = (machine(), machine());
        let working = worker
            .command(&["fleet", "work", "--name", &format!("build-{runner}")])
            .env("PI_SUBAGENTS_PI", pi.program())
            .env("PI_OFFLINE", "1")
            .spawn();
        working.wait_for_stderr("takes");
        let schema =
            json!({"type": "object", "required": ["n"], "properties": {"n": {"minimum": 1}}});
        let task = json!({"tasks": [{"name": "a", "prompt": "Count.", "outputSchema": schema}]});
        let output = delegate(pi, &caller, runner, &task)
            .args(["--on", "fleet"])
            .run();
        let run = output.json()["runs"][0].clone();
        let facts = json!([run["status"], run["structured"], run["receipt"]["schema"]]);
        let expected = json!(["completed", {"n": 3}, {"state": "met", "attempts": 2}]);
        assert_eq!(facts, expected, "{runner}: {output}");
        // Another machine that copies the record reads the same result out of it.
        let third = machine();
        let id = run["runId"].as_str().unwrap();
        let read = third.command(&["output", id]).run();
        assert_eq!(read.stdout, "{\n  \"n\": 3\n}\n", "{runner}: {read}");
    }
}

/// The setting of a worker comes before the order, and a confined run sees neither keys of the worker
/// nor the files of its other runs.
#[test]
fn a_worker_confines_runs_whose_orders_ask_for_nothing() {
    let yard = Yard::new();
    let look = "find $HOME -type f -size -50k -exec cat {} +; \
        grep -rs private \"$(dirname \"$PWD\")\" && echo FOUND; git log --oneline; echo looked; \
        echo x > made || exit 1";
    let turns = [
        Turn::tool_call("bash", json!({"command": look})),
        Turn::text("Done."),
    ];
    let model = LlmServer::start(Script::new().otherwise(turns.to_vec()));
    let machine = || {
        let stage = git_project();
        stage.sandbox.models_json(&model.base_url());
        stage.settings(&json!({"fleet": {"servers": [yard.server.url()]}}));
        stage
    };
    let (caller, worker) = (machine(), machine());
    let made = worker.command(&["fleet", "key", "worker", "build-7", "--json"]);
    let seed = made.run().expect_success().json()["file"].clone();
    let seed = seed.as_str().unwrap();
    let fleet =
        json!({"servers": [yard.server.url()], "nkey": seed, "sandboxMinimum": "read-only"});
    worker.settings(&json!({"fleet": fleet}));
    let seed = fs::read_to_string(seed).unwrap();
    let auth = r#"{"other": {"type": "api_key", "key": "KEY-OF-WORKER"}}"#;
    worker.sandbox.write("home/.pi/agent/auth.json", auth);
    let root = worker.sandbox.root().join("root");
    let other = root.join("ws/other/notes.txt");
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::write(other, "private").unwrap();
    let working = worker
        .command(&["fleet", "work", "--name", "build-7", "--root"])
        .arg(root.display().to_string())
        .spawn();
    working.wait_for_stderr("takes");
    let output = caller
        .command(&["run", "Look.", "--on", "fleet", "--json"])
        .args(["--runner", "embedded"])
        .run();
    assert_eq!(outcomes(&output)[0].status, "completed", "{output}");
    let requests = model.requests();
    let messages = requests.last().unwrap().body["messages"].clone();
    let told = messages.as_array().unwrap().last().unwrap().to_string();
    assert!(told.contains("looked") && told.contains("lamp"), "{told}");
    assert!(told.contains("made: Read-only file system"), "{told}");
    for secret in ["KEY-OF-WORKER", "FOUND", "private", seed.trim()] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}
