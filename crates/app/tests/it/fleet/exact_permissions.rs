//! A whole call under exactly the permissions that `fleet key` prints, and not one more.

use pi_subagents_testkit::fleet::NatsServer;
use pi_subagents_testkit::sandbox::{CommandOutput, RunningCommand};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::fleet_stage::git_project;
use crate::stage::{Stage, call};

/// A user with the keys of an administrator, a caller and a worker, and a server that knows them.
pub(super) struct Keys {
    pub(super) stage: Stage,
    server: NatsServer,
    admin: Value,
    ada: Value,
    worker: Value,
}

impl Keys {
    /// Makes the keys, and a server with the entries that were printed for them, which somebody may
    /// have changed.
    fn with_entries(change: impl Fn(String) -> String) -> Self {
        let stage = git_project();
        let key = |role: &str, name: &str| {
            let made = stage.command(&["fleet", "key", role, name, "--json"]).run();
            made.expect_success().json()
        };
        let (admin, ada, worker) = (
            key("caller", "admin"),
            key("caller", "ada"),
            key("worker", "build-7"),
        );
        let entry = |key: &Value| change(key["serverEntry"].as_str().unwrap().to_owned());
        let public = entry(&admin);
        let public = public.split("nkey: ").nth(1).unwrap().split(',').next();
        let users = [
            entry(&ada),
            entry(&worker),
            format!("{{ nkey: {} }}", public.unwrap()),
        ];
        let users = users.join("\n");
        let accounts =
            format!("accounts {{ FLEET: {{ jetstream: enabled, users: [ {users} ] }} }}");
        let server = NatsServer::with_settings(&accounts);
        let keys = Self {
            stage,
            server,
            admin,
            ada,
            worker,
        };
        keys.use_key(&keys.admin);
        let init = keys.stage.command(&["fleet", "init"]);
        init.run().expect_success();
        keys
    }

    /// Makes the keys, and a server with the entries that were printed for them.
    pub(super) fn of_three() -> Self {
        Self::with_entries(|entry| entry)
    }

    /// Starts a worker that reads its seed from standard input, and removes the file of the seed.
    /// Returns the seed too.
    pub(super) fn start_worker_by_standard_input(&self) -> (String, RunningCommand) {
        let file = self.worker["file"].as_str().unwrap();
        let content = std::fs::read_to_string(file).unwrap();
        std::fs::remove_file(file).unwrap();
        let seed = content.lines().find(|line| line.starts_with("SU")).unwrap();
        let root = self.stage.path("worker");
        let worker = [
            "fleet", "work", "--name", "build-7", "--root", &root, "--nkey", "-",
        ];
        let worker = self.stage.command(&worker).stdin(content.clone()).spawn();
        worker.wait_for_stderr("takes");
        (seed.to_owned(), worker)
    }

    /// Makes a call to the fleet with the key of a caller.
    pub(super) fn call_as_ada(&self, call: &Value) -> CommandOutput {
        self.use_key(&self.ada);
        let delegate = self.stage.delegate(call);
        delegate
            .args(["--on", "fleet", "--workspace", "none"])
            .run()
    }

    /// Names a key in the settings.
    fn use_key(&self, key: &Value) {
        let fleet = json!({"servers": [self.server.url()], "nkey": key["file"]});
        let worker = json!({"name": "build-7"});
        self.stage
            .settings(&json!({"fleet": fleet, "worker": worker}));
    }

    fn start_worker(&self) -> RunningCommand {
        self.use_key(&self.worker);
        let root = self.stage.path("worker");
        let worker = ["fleet", "work", "--name", "build-7", "--root", &root];
        let worker = self.stage.command(&worker).spawn();
        worker.wait_for_stderr("takes");
        worker
    }

    /// Returns what `doctor` says of the fleet, without what differs from test to test.
    fn doctor(&self) -> String {
        let report = self.stage.command(&["doctor", "--json"]).run().json();
        let checks = report["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["name"] == "fleet");
        let check = check.unwrap();
        let hints: Vec<&str> = check["hints"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let text = check["text"].as_str().unwrap();
        let text = text.split(", answers within").next().unwrap();
        format!("{}: {text}\n{}", check["mark"], hints.join("\n"))
    }
}

#[test]
fn a_repository_travels_and_comes_back_with_the_keys_that_were_printed() {
    let keys = Keys::with_entries(|entry| entry);
    let stage = &keys.stage;
    let _serving = keys.start_worker();
    keys.use_key(&keys.ada);
    let script = json!([{"waitForFile": "readme.md"}, {"touch": "new.txt"}, {"reply": "done"}]);
    let answered = stage
        .delegate(&call(&[("task", script)]))
        .args(["--on", "fleet"])
        .run();
    let answer = answered.expect_success().json();
    assert_eq!(answer["runs"][0]["output"], "done");
    assert_eq!(answer["runs"][0]["workspace"]["state"], "captured");
    let run = answer["runs"][0]["runId"].as_str().unwrap();
    stage.command(&["merge", run]).run().expect_success();
    assert!(stage.sandbox.project().join("new.txt").exists());
}

#[test]
fn doctor_tries_each_permission_and_names_those_that_are_missing() {
    let whole = Keys::with_entries(|entry| entry);
    let of_keys = |keys: &Keys| {
        [&keys.admin, &keys.ada, &keys.worker].map(|key| {
            keys.use_key(key);
            keys.doctor()
        })
    };
    let fine = of_keys(&whole);
    let lacking = Keys::with_entries(|entry| {
        let without = ["pi.ctl.>", "pi.ctl.build-7.>", "$KV.PI_RUNS.>", "pi.say.>"];
        without
            .iter()
            .fold(entry, |entry, line| entry.replace(line, "pi.none"))
    });
    let lacking = of_keys(&lacking);
    insta::assert_snapshot!([fine.join("\n"), lacking.join("\n")].join("\n---\n"), @r#"
    "warning": nats-server 2.15.1
    Runs in pool default stay queued until a worker takes them: pi-subagents fleet work --pool default
    "warning": nats-server 2.15.1
    Runs in pool default stay queued until a worker takes them: pi-subagents fleet work --pool default
    "warning": nats-server 2.15.1
    Runs in pool default stay queued until a worker takes them: pi-subagents fleet work --pool default
    ---
    "warning": nats-server 2.15.1
    Runs in pool default stay queued until a worker takes them: pi-subagents fleet work --pool default
    "problem": nats-server 2.15.1, where our key lacks 3 permissions that a caller needs
    Missing: publish "pi.ctl.>"
    Missing: publish "$KV.PI_RUNS.>"
    Missing: subscribe "pi.say.>"
    pi-subagents fleet key caller NAME prints all permissions for the server's file.
    "problem": nats-server 2.15.1, where our key lacks 3 permissions that a worker needs
    Missing: publish "pi.say.>"
    Missing: publish "$KV.PI_RUNS.>"
    Missing: subscribe "pi.ctl.build-7.>"
    pi-subagents fleet key worker NAME prints all permissions for the server's file.
    "#);
}

#[test]
fn a_caller_who_may_not_read_records_is_told_at_once() {
    let keys = Keys::with_entries(|entry| entry.replace("CONSUMER.CREATE.PI_REC", "CONSUMER.NONE"));
    let _serving = keys.start_worker();
    keys.use_key(&keys.ada);
    let script = json!([{"reply": "done"}]);
    let answered = keys.stage.delegate(&call(&[("task", script)]));
    let answer = answered
        .args(["--on", "fleet", "--workspace", "none"])
        .run()
        .json();
    let warnings = answer["warnings"].to_string();
    assert!(
        warnings.contains("nothing of this run can be shown: our key may not do this in the fleet"),
        "{warnings}"
    );
    assert_eq!(answer["runs"][0]["status"], "completed", "{answer}");
}

#[test]
fn a_caller_who_may_not_give_orders_is_told_at_once_and_nothing_waits() {
    let keys = Keys::with_entries(|entry| entry.replace("pi.work.>", "pi.none"));
    keys.use_key(&keys.ada);
    let answered = keys.stage.delegate(&call(&[("task", json!([]))]));
    let on_fleet = ["--on", "fleet", "--workspace", "none"];
    let answer = answered.args(on_fleet).run().json();
    let run = &answer["runs"][0];
    let said = format!("{}: {}", run["status"], run["errorMessage"]);
    let id = run["runId"].as_str().unwrap();
    insta::assert_snapshot!(said.replace(id, "RUN"), @r#""failed": "our key may not do this in the fleet: Permissions Violation for Publish to \"pi.work.default.normal.RUN\"\nhint: pi-subagents fleet key prints the permissions that a caller and a worker need in the server's file.""#);
    let listed = keys.stage.command(&["status", "--json"]).run().json();
    assert_eq!(listed["runs"], json!([]));
}
