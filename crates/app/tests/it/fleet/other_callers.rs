//! Two callers of one worker: a confined run reads neither the keys of the worker nor anything of the
//! other caller.

use std::fs;

use pi_subagents_testkit::fleet::NatsServer;
use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::worker_stage::PATIENCE;
use crate::stage::Stage;

/// Prints every file and every environment that can be read, and keeps the words that are nobody's
/// business. The patterns do not match themselves.
const PRINT_ALL: &str = "{ find $PLACES -type f -print0 2>/dev/null | xargs -0 cat 2>/dev/null; env; \
    cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null; } \
    | grep -aoE 'SU[A-Z2-7]{56}|worker-[k]ey|lamp-of-[a]da' | sed 's/^SU.*/seed/' | sort -u | tr '\\n' ' '; echo finished";

/// Callers and a worker with keys of their own.
struct House {
    server: NatsServer,
    model: LlmServer,
    callers: Stage,
    keys: [Value; 2],
    machine: Stage,
}

impl House {
    fn new() -> Self {
        let machine = Stage::new();
        let callers = Stage::new();
        let key = |stage: &Stage, role: &str, name: &str| {
            let made = stage.command(&["fleet", "key", role, name, "--json"]).run();
            made.expect_success().json()
        };
        let keys = ["ada", "bob"].map(|name| key(&callers, "caller", name));
        let admin = key(&callers, "caller", "admin");
        let worker = key(&machine, "worker", "build-7");
        let entry = |key: &Value| key["serverEntry"].as_str().unwrap().to_owned();
        let public = entry(&admin);
        let public = public.split("nkey: ").nth(1).unwrap().split(',').next();
        let users = [
            entry(&keys[0]),
            entry(&keys[1]),
            entry(&worker),
            format!("{{ nkey: {} }}", public.unwrap()),
        ];
        let users = users.join("\n");
        let accounts =
            format!("accounts {{ FLEET: {{ jetstream: enabled, users: [ {users} ] }} }}");
        let server = NatsServer::with_settings(&accounts);
        let places = machine.sandbox.root().display().to_string();
        let print = PRINT_ALL.replace("$PLACES", &places);
        let model = LlmServer::start(
            Script::new()
                .on(
                    "lamp-of-ada",
                    [Turn::tool_call("bash", json!({"command": "sleep 600"}))],
                )
                .otherwise([
                    Turn::tool_call("bash", json!({"command": print})),
                    Turn::text("Done."),
                ]),
        );
        for (stage, key) in [(&callers, "caller-key"), (&machine, "worker-key")] {
            stage.sandbox.models_json(&model.base_url());
            let file = stage.sandbox.home().join(".pi/agent/models.json");
            let models = fs::read_to_string(&file).unwrap();
            let mut models: Value = serde_json::from_str(&models).unwrap();
            let providers = models["providers"].as_object_mut().unwrap();
            for provider in providers.values_mut() {
                provider["apiKey"] = json!(key);
            }
            fs::write(&file, models.to_string()).unwrap();
            let servers = json!({"mcpServers": {"one": {"command": "true", "env": {"KEY": key}}}});
            let file = file.with_file_name("mcp.json");
            fs::write(file, servers.to_string()).unwrap();
        }
        let house = Self {
            server,
            model,
            callers,
            keys,
            machine,
        };
        house.use_key(&admin);
        let init = house.callers.command(&["fleet", "init"]);
        init.run().expect_success();
        house
            .machine
            .settings(&json!({"fleet": house.fleet(&worker)}));
        house
    }

    fn fleet(&self, key: &Value) -> Value {
        json!({"servers": [self.server.url()], "nkey": key["file"]})
    }

    fn use_key(&self, key: &Value) {
        self.callers.settings(&json!({"fleet": self.fleet(key)}));
    }
}

/// Returns what a task of one caller finds on the worker while a task of another caller runs there.
fn found(level: &str) -> String {
    let house = House::new();
    // Its runs lie among the files of this program, which a sandbox hides.
    let worker = ["fleet", "work", "--name", "build-7", "--slots", "2"];
    let worker = house.machine.command(&worker).spawn();
    worker.wait_for_stderr("takes");
    let call = |prompt: &str| {
        let task = json!({"tasks": [{"name": "a", "prompt": prompt}]});
        let call = house.callers.delegate_to("embedded", &task);
        call.args(["--on", "fleet", "--workspace", "none", "--sandbox", level])
    };
    house.use_key(&house.keys[0]);
    let of_ada = call("Keep the lamp-of-ada.").spawn();
    let is_asked = || (!house.model.requests().is_empty()).then_some(());
    assert!(wait_until(PATIENCE, is_asked).is_some());
    house.use_key(&house.keys[1]);
    let of_bob = call("Print all.").run().expect_success();
    assert_eq!(of_bob.json()["runs"][0]["output"], "Done.", "{of_bob}");
    drop(of_ada);
    let requests = house.model.requests();
    let last = requests.last().unwrap().body["messages"]
        .as_array()
        .unwrap();
    let result = last.iter().rev().find(|message| message["role"] == "tool");
    let result = result.unwrap()["content"].to_string();
    let end = result
        .find("finished")
        .unwrap_or_else(|| panic!("{result}"));
    let begin = result[..end].rfind('"').map_or(0, |quote| quote + 1);
    result[begin..end].trim().to_owned()
}

#[test]
fn a_confined_task_prints_no_key_and_nothing_of_another_caller() {
    let unconfined = found("off");
    assert_eq!(unconfined, "lamp-of-ada seed worker-key");
    assert_eq!(found("read-only"), "");
    assert_eq!(found("workspace-write"), "");
}
