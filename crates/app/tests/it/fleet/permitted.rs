//! A whole call under exactly the permissions that `fleet key` prints, and not one more.

use pi_subagents_testkit::fleet::NatsServer;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::fleet_stage::git_project;
use crate::stage::call;

#[test]
fn a_repository_travels_and_comes_back_with_the_keys_that_were_printed() {
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
    let entry = |key: &Value| key["serverEntry"].as_str().unwrap().to_owned();
    let public = entry(&admin);
    let public = public.split("nkey: ").nth(1).unwrap().split(',').next();
    let users = [
        entry(&ada),
        entry(&worker),
        format!("{{ nkey: {} }}", public.unwrap()),
    ];
    let users = users.join("\n");
    let accounts = format!("accounts {{ FLEET: {{ jetstream: enabled, users: [ {users} ] }} }}");
    let server = NatsServer::with_settings(&accounts);
    let become_one = |key: &Value| {
        let fleet = json!({"servers": [server.url()], "nkey": key["file"]});
        stage.settings(&json!({"fleet": fleet}));
    };
    become_one(&admin);
    stage.command(&["fleet", "init"]).run().expect_success();
    become_one(&worker);
    let root = stage.path("worker");
    let serving = stage
        .command(&["worker", "--name", "build-7", "--root", &root])
        .spawn();
    serving.wait_for_stderr("takes");
    become_one(&ada);
    let script = json!([{"waitForFile": "readme.md"}, {"touch": "new.txt"}, {"reply": "done"}]);
    let answered = stage
        .delegate(&call(&[("task", script)]))
        .args(["--on", "fleet"])
        .run();
    let answer = answered.expect_success().json();
    assert_eq!(answer["runs"][0]["output"], "done");
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("1 file +0 −0; not merged"), "{warnings}");
    let run = answer["runs"][0]["runId"].as_str().unwrap();
    stage.command(&["merge", run]).run().expect_success();
    assert!(stage.sandbox.project().join("new.txt").exists());
}
