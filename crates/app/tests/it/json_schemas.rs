//! Every command that has `--json` prints what its schema says. The commands are those that
//! `schema` lists, which are those of the parser: a new one fails here until it is tried too.

use std::collections::BTreeSet;

use jsonschema::Validator;
use pi_subagents_testkit::sandbox::CommandOutput;
use pi_subagents_testkit::{wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::background_stage::{BackgroundStage, PATIENCE, run_id};
use crate::stage::{Stage, call};
use crate::{fleet, questions, worktrees};

/// The schemas of this binary, and the names of those that an output was compared with.
pub(crate) struct Schemas {
    stage: Stage,
    checked: BTreeSet<String>,
}

impl Schemas {
    fn new() -> Self {
        Self {
            stage: Stage::new(),
            checked: BTreeSet::new(),
        }
    }

    fn names(&self) -> BTreeSet<String> {
        let listed = self.stage.command(&["schema"]).run().expect_success();
        let names = listed.stdout.lines().filter(|name| *name != "types");
        names.map(str::to_owned).collect()
    }

    /// Returns the validator of a schema, with the types that it refers to.
    fn validator(&self, name: &str) -> Validator {
        let schema = |name: &str| {
            let printed = self.stage.command(&["schema", name]).run().expect_success();
            printed.stdout
        };
        let text = schema(name).replace("types.json#/", "#/");
        let mut whole: Value = serde_json::from_str(&text).unwrap();
        let types: Value = serde_json::from_str(&schema("types")).unwrap();
        whole["$defs"] = types["$defs"].clone();
        jsonschema::validator_for(&whole).unwrap()
    }

    /// Compares what a command printed with its schema.
    #[track_caller]
    pub(crate) fn check(&mut self, name: &str, output: &CommandOutput) {
        self.check_value(name, &output.json());
    }

    #[track_caller]
    pub(crate) fn check_value(&mut self, name: &str, printed: &Value) {
        let validator = self.validator(name);
        let errors = validator.iter_errors(printed);
        let errors: Vec<String> = errors
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}: {printed:#}");
        assert_eq!(printed["schemaVersion"], 1, "{name}: {printed:#}");
        self.checked.insert(name.to_owned());
    }
}

#[test]
fn every_command_prints_what_its_schema_says() {
    let mut schemas = Schemas::new();
    of_calls(&mut schemas);
    of_background_runs(&mut schemas);
    of_agents(&mut schemas);
    questions::check_json(&mut schemas);
    worktrees::check_json(&mut schemas);
    fleet::check_json(&mut schemas);
    assert_eq!(schemas.checked, schemas.names());
}

fn of_calls(schemas: &mut Schemas) {
    let stage = BackgroundStage::new();
    stage.talker(0);
    let run = |arguments: &[&str]| stage.command(arguments).arg("--json").run();
    for arguments in [&["tour"][..], &["tour", "--here"]] {
        schemas.check("tour", &run(arguments).expect_success());
    }
    let tasks = call(&[
        ("good", json!([{"reply": "x"}])),
        ("bad", json!([{"exit": 7}])),
    ]);
    let delegated = stage.stage.delegate_with_details(&tasks).run();
    schemas.check("delegate", &delegated);
    let printed = delegated.json();
    let [good, bad] = [0, 1].map(|place: usize| printed["runs"][place].clone());
    assert_eq!(good["ending"], json!({"kind": "completed"}));
    assert_eq!(bad["ending"]["kind"], "exited", "{bad:#}");
    assert_eq!(bad["status"], "failed");
    schemas.check("run", &run(&["run", "talker", "hello"]).expect_success());
    schemas.check("resume", &run(&["resume", "last", "more"]).expect_success());
    schemas.check("output", &run(&["output", "last"]).expect_success());
    schemas.check(
        "output",
        &run(&["output", "last", "--receipt"]).expect_success(),
    );
    schemas.check("session", &run(&["session", "last"]).expect_success());
    let limited = [
        "run",
        "talker",
        "hello",
        "--budget",
        "b",
        "--budget-runs",
        "9",
    ];
    run(&limited).expect_success();
    schemas.check("budget", &run(&["budget", "b"]).expect_success());
    let raise = ["budget", "raise", "b", "--runs", "+1"];
    schemas.check("budget-raise", &run(&raise).expect_success());
    schemas.check("wait", &run(&["wait", "last"]).expect_success());
    for arguments in [&["status", "--all"][..], &["status", "last"], &["status"]] {
        schemas.check("status", &run(arguments).expect_success());
    }
    // The row of a list is the run that its own call printed.
    let row = |printed: &CommandOutput| {
        let mut row = printed.json()["runs"][0].clone();
        // The record was begun a moment before the run.
        row["acceptedAt"] = json!(null);
        row
    };
    let answered = row(&run(&["run", "talker", "same"]).expect_success());
    assert_eq!(row(&run(&["status", "last"]).expect_success()), answered);
    schemas.check("doctor", &run(&["doctor"]));
    schemas.check("tools", &run(&["tools"]).expect_success());
    schemas.check("trust", &run(&["trust"]).expect_success());
    schemas.check("error", &run(&["status", "nobody"]));
    schemas.check("error", &run(&["status", "--no-such-option"]));
    of_stream(schemas, &stage);
    schemas.check(
        "clean",
        &run(&["clean", "last", "--dry-run"]).expect_success(),
    );
}

/// The lines of `--json-stream`: events, and the result last.
fn of_stream(schemas: &mut Schemas, stage: &BackgroundStage) {
    let arguments = ["run", "talker", "hello", "--json-stream"];
    let streamed = stage.command(&arguments).run().expect_success();
    let lines: Vec<Value> = streamed
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (result, events) = lines.split_last().unwrap();
    schemas.check_value("run", result);
    assert!(events.len() > 3, "{events:#?}");
    for event in events {
        schemas.check_value("event", event);
    }
}

fn of_background_runs(schemas: &mut Schemas) {
    let stage = BackgroundStage::new();
    let told = stage.path("told");
    stage.settings(
        &json!({"onEnd": ["sh", "-c", format!("cat > {told}.part; mv {told}.part {told}")]}),
    );
    let ready = stage.path("ready");
    let script = json!([{"touch": ready}, {"hang": true}]).to_string();
    let spawned = stage.command(&["spawn", "worker", &script, "--json"]).run();
    schemas.check("spawn", &spawned);
    let run = run_id(&spawned.json()["runs"][0]);
    wait_for_file(&ready, PATIENCE);
    let steered = wait_until(PATIENCE, || {
        let steered = stage.command(&["steer", &run, "Look!", "--json"]).run();
        (steered.code == Some(0)).then_some(steered)
    });
    schemas.check("steer", &steered.unwrap());
    let stopped = stage.command(&["stop", &run, "--json"]).run();
    schemas.check("stop", &stopped.expect_success());
    wait_for_file(&told, PATIENCE);
    let given = std::fs::read_to_string(&told).unwrap();
    schemas.check_value("one-run", &serde_json::from_str(&given).unwrap());
}

fn of_agents(schemas: &mut Schemas) {
    let stage = Stage::new();
    let run = |arguments: &[&str]| {
        let command = stage.command(&["agents"]).args(arguments).arg("--json");
        command.run().expect_success()
    };
    let made = [
        "create",
        "scout",
        "--model",
        "test/model",
        "--description",
        "Looks.",
    ];
    schemas.check("agents-create", &run(&made));
    schemas.check("agents-edit", &run(&["edit", "scout", "--timeout", "60"]));
    schemas.check("agents-show", &run(&["show", "scout"]));
    schemas.check("agents-explain", &run(&["explain", "scout"]));
    schemas.check("agents-list", &run(&["list"]));
    schemas.check("agents", &run(&[]));
    schemas.check("agents-delete", &run(&["delete", "scout", "--yes"]));
    schemas.check("agents-add", &run(&["add", "scout"]));
    stage.sandbox.write(
        "home/.claude/agents/theirs.md",
        "---\nname: theirs\ntools: Read, WebFetch\n---\nRead.\n",
    );
    schemas.check("agents-import", &run(&["import", "claude:theirs"]));
    schemas.check("agents-explain", &run(&["explain", "theirs"]));
    let models = stage.command(&["models", "--provider", "anthropic", "--json"]);
    schemas.check("models", &models.run().expect_success());
}
