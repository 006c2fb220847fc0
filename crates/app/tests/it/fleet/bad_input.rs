//! The obstacles that keep a call from leaving, each with its sentence, before anything is
//! recorded.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use pi_subagents_testkit::fleet::NatsServer;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::fleet_stage::FleetStage;
use crate::stage::Stage;

/// Returns the error of a call that does not leave, and checks that nothing was recorded.
fn refused(fleet: &FleetStage, arguments: &[&str]) -> String {
    let said = fleet.printed(&[&["run", "Say hello"], arguments].concat());
    let listed = fleet
        .stage
        .command(&["status", "--all", "--json"])
        .run()
        .json();
    assert_eq!(listed["runs"], json!([]), "{said}");
    said
}

#[test]
fn a_call_that_cannot_leave_says_why_and_leaves_no_trace() {
    let mut fleet = FleetStage::new();
    let not_set_up = refused(&fleet, &["--on", "fleet", "--workspace", "none"]);
    let bad_place = refused(&fleet, &["--on", "cloud"]);
    let at_home = refused(&fleet, &["--priority", "high"]);
    let dry = refused(&fleet, &["--dry-run"]);
    fleet.printed(&["fleet", "init"]);
    let no_pool = refused(&fleet, &["--on", "fleet:gpu", "--workspace", "none"]);
    let no_repository = refused(&fleet, &["--on", "fleet"]);
    fleet.server.kill();
    let no_server = refused(&fleet, &["--on", "fleet", "--workspace", "none"]);
    let all = [
        not_set_up,
        bad_place,
        at_home,
        dry,
        no_pool,
        no_repository,
        no_server,
    ];
    insta::assert_snapshot!(all.join("\n"), @"
    error: the fleet is not set up: it has no stream PI_WORK; run `pi-subagents fleet init`
    hint: pi-subagents fleet init --pool default makes it; its administrator may do that.
    exit 1

    error: invalid value 'cloud' for '--on <PLACE>': a place is local, fleet, or fleet:POOL with a pool of letters, digits, - and _

    For more information, try '--help'.
    exit 2

    error: --priority counts only in a fleet, and this call stays on this machine
    hint: Add --on fleet, or leave the option out.
    exit 2

    error: --dry-run lists the files that would be sent to a fleet, and this call stays on this machine
    hint: Add --on fleet.
    exit 2

    error: the fleet has no pool gpu
    hint: pi-subagents fleet init --pool gpu makes it; its administrator may do that.
    exit 1

    error: $PROJECT is not in a git repository, so its files cannot be sent to a fleet
    hint: Use --workspace none to work in an empty directory, or --workspace shared if the workers see this directory under the same path.
    exit 2

    error: no server of the fleet can be reached (nats://127.0.0.1:<port>): IO error: Connection refused (os error 111)
    hint: Check subagents.fleet.servers, and that nats-server runs there; pi-subagents doctor tries every step.
    exit 1
    ");
}

#[test]
fn a_project_that_names_a_server_keeps_calls_from_starting() {
    let fleet = FleetStage::new();
    let settings = json!({"subagents": {"fleet": {"servers": ["nats://127.0.0.1:1"]}}});
    fleet
        .stage
        .sandbox
        .write("project/.pi/settings.json", &settings.to_string());
    insta::assert_snapshot!(refused(&fleet, &["--trust"]), @"
    error: $PROJECT/.pi/settings.json:1:24: subagents.fleet.servers: a project may set only pool and history of a fleet; the rest belongs into your own settings
    hint: Nothing was started, because the limits in that file would not have held. Fix it and try again.
    exit 2
    ");
}

#[test]
fn what_cannot_travel_is_refused_by_its_name() {
    let fleet = FleetStage::set_up();
    let stage = &fleet.stage;
    stage.profile("keyed", "model: a/b\napiKey: secret", "Work.");
    stage.profile("armed", "extensions:\n  - /etc/passwd", "Work.");
    let said = ["keyed", "armed"].map(|profile| {
        let output = stage
            .command(&["delegate", "--task", "x=Say hello", "--agent", profile])
            .args(["--on", "fleet", "--workspace", "none", "--json"])
            .run();
        let run = &output.json()["runs"][0];
        format!(
            "{} {}",
            run["status"].as_str().unwrap(),
            run["errorMessage"].as_str().unwrap()
        )
    });
    insta::assert_snapshot!(said.join("\n"), @"
    failed apiKey: this part of the agent cannot be sent to a fleet: a worker has its own keys. Use --on local, or an agent without it.
    failed extensions: this part of the agent cannot be sent to a fleet: /etc/passwd is not among the files that are sent. Use --on local, or an agent without it.
    ");
}

#[test]
fn doctor_tries_the_fleet() {
    let mut fleet = FleetStage::new();
    let line = |fleet: &FleetStage| {
        let report = fleet.stage.command(&["doctor", "--json"]).run().json();
        let checks = report["checks"].as_array().unwrap();
        let check = checks
            .iter()
            .find(|check| check["name"] == "fleet")
            .unwrap();
        let text = format!("{}: {} {}", check["mark"], check["text"], check["hints"]);
        text.replace(&fleet.server.port().to_string(), "<port>")
    };
    let bare = line(&fleet);
    fleet.printed(&["fleet", "init"]);
    let ready = line(&fleet);
    let begin = ready.find("within ").unwrap() + "within ".len();
    let end = begin + ready[begin..].find(" ms").unwrap();
    let ready = format!("{}<time>{}", &ready[..begin], &ready[end..]);
    let begin = ready.find("keeps ").unwrap() + "keeps ".len();
    let end = begin + ready[begin..].find('"').unwrap();
    let ready = format!("{}<size>{}", &ready[..begin], &ready[end..]);
    fleet.server.kill();
    insta::assert_snapshot!([bare, ready, line(&fleet)].join("\n"), @r#"
    "problem": "nats-server 2.15.1, which has no stream PI_WORK" ["Run pi-subagents fleet init --pool default"]
    "warning": "nats-server 2.15.1, answers within <time> ms, 0 workers in pool default, keeps <size>" ["Runs in pool default stay queued until a worker takes them: pi-subagents fleet work --pool default"]
    "problem": "no server of the fleet can be reached (nats://127.0.0.1:<port>): IO error: Connection refused (os error 111)" ["Check subagents.fleet.servers, and that nats-server runs there; pi-subagents doctor tries every step."]
    "#);
}

#[test]
fn a_key_that_the_server_does_not_know_is_refused_before_anything_is_recorded() {
    let stage = Stage::new();
    let key = |name: &str| {
        let made = stage.command(&["fleet", "key", "caller", name, "--json"]);
        made.run().expect_success().json()
    };
    let (known, unknown) = (key("ada"), key("eve"));
    let public = known["publicKey"].as_str().unwrap();
    let users = format!("authorization {{ users: [{{ nkey: {public} }}] }}");
    let server = NatsServer::with_settings(&users);
    let fleet = FleetStage { stage, server };
    let with = |nkey: &serde_json::Value| {
        let settings = json!({"servers": [fleet.server.url()], "nkey": nkey});
        fleet.stage.settings(&json!({"fleet": settings}));
        refused(&fleet, &["--on", "fleet", "--workspace", "none"])
    };
    let wrong = with(&unknown["file"]);
    let none = with(&json!(null));
    insta::assert_snapshot!([wrong, none].join("\n"), @"
    error: the fleet's server nats://127.0.0.1:<port> refuses our key; is its entry in the server's file?
    hint: Name your key in subagents.fleet.nkey; pi-subagents fleet key makes one and prints its entry for the server's file.
    exit 1

    error: the fleet's server nats://127.0.0.1:<port> refuses our key; is its entry in the server's file?
    hint: Name your key in subagents.fleet.nkey; pi-subagents fleet key makes one and prints its entry for the server's file.
    exit 1
    ");
}

#[test]
fn a_key_of_another_role_name_or_pool_is_named_at_once() {
    let stage = Stage::new();
    let key = |role: &str, name: &str| {
        let made = stage.command(&["fleet", "key", role, name, "--json"]);
        made.run().expect_success().json()
    };
    let keys = [
        key("admin", "root"),
        key("caller", "ada"),
        key("worker", "build-7"),
    ];
    let entries = keys.iter().map(|key| key["serverEntry"].as_str().unwrap());
    let entries: Vec<&str> = entries.collect();
    let users = format!(
        "accounts {{ FLEET: {{ jetstream: enabled, users: [\n{}\n] }} }}",
        entries.join("\n")
    );
    let server = NatsServer::with_settings(&users);
    let fleet = FleetStage { stage, server };
    let with = |key: &serde_json::Value| {
        let settings = json!({"servers": [fleet.server.url()], "nkey": key["file"]});
        fleet.stage.settings(&json!({"fleet": settings}));
    };
    let [root, ada, worker] = &keys;
    with(worker);
    let root = root["file"].as_str().unwrap();
    fleet
        .stage
        .command(&["fleet", "init", "--nkey", root])
        .run()
        .expect_success();
    let as_caller = refused(&fleet, &["--on", "fleet", "--workspace", "none"]);
    let as_other = fleet.printed(&["fleet", "work", "--name", "build-9"]);
    let in_other_pool = fleet.printed(&["fleet", "work", "--name", "build-7", "--pool", "gpu"]);
    let sets_up = fleet.printed(&["fleet", "init"]);
    with(ada);
    let as_worker = fleet.printed(&["fleet", "work", "--name", "build-7"]);
    let name = ada["publicKey"].as_str().unwrap();
    let public = worker["publicKey"].as_str().unwrap();
    let all = [as_caller, as_other, in_other_pool, sets_up, as_worker].join("\n");
    let all = all
        .replace(&name[..32], "<ada>")
        .replace(&public[..32], "<build-7>");
    insta::assert_snapshot!(all, @r#"
    error: our key was made for another name or role: the fleet's server does not let it hear answers as <build-7>
    hint: A worker needs the key that was made for its name: pi-subagents fleet key worker NAME. A caller needs one of pi-subagents fleet key caller NAME.
    exit 1

    error: our key was made for another name or role: the fleet's server does not let it hear answers as build-9
    hint: A worker needs the key that was made for its name: pi-subagents fleet key worker NAME. A caller needs one of pi-subagents fleet key caller NAME.
    exit 1

    error: the key of build-7 may not take runs from all of these pools: gpu
      caused by: our key may not do this in the fleet: Permissions Violation for Publish to "$JS.API.CONSUMER.INFO.PI_WORK.gpu-high"
    hint: pi-subagents fleet key worker build-7 --pool gpu makes a key that may.
    exit 1

    error: our key was made for another name or role: the fleet's server does not let it hear answers as <build-7>
    hint: fleet init needs the key of an administrator: pi-subagents fleet key admin NAME makes one, and --nkey FILE names it.
    exit 1

    error: our key was made for another name or role: the fleet's server does not let it hear answers as build-7
    hint: A worker needs the key that was made for its name: pi-subagents fleet key worker NAME. A caller needs one of pi-subagents fleet key caller NAME.
    exit 1
    "#);
}

#[test]
fn a_server_that_is_too_old_is_refused_before_anything_is_recorded() {
    let fleet = FleetStage::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || listener.incoming().flatten().for_each(play_old_server));
    let servers = json!([format!("nats://127.0.0.1:{port}")]);
    fleet
        .stage
        .settings(&json!({"fleet": {"servers": servers}}));
    let said = refused(&fleet, &["--on", "fleet", "--workspace", "none"]);
    insta::assert_snapshot!(said, @"
    error: the fleet's server attic has version 2.9.0, and a fleet needs 2.12 or newer; update nats-server
    exit 1
    ");
}

/// Says who it is, and answers pings.
fn play_old_server(mut connection: TcpStream) {
    let info = r#"{"server_id":"A","server_name":"attic","version":"2.9.0","headers":true,"max_payload":1048576,"jetstream":true}"#;
    // A client that has read enough leaves.
    _ = write!(connection, "INFO {info}\r\n");
    let mut lines = BufReader::new(connection.try_clone().unwrap());
    let mut line = String::new();
    while lines.read_line(&mut line).unwrap_or(0) > 0 {
        if line.starts_with("PING") && connection.write_all(b"PONG\r\n").is_err() {
            return;
        }
        line.clear();
    }
}

#[test]
fn a_model_that_no_worker_has_ends_the_run_with_that_reason() {
    let fleet = FleetStage::set_up();
    let _workers = ["build-7", "build-9"].map(|name| fleet.worker(name));
    let answered = fleet
        .stage
        .command(&["delegate", "--task", "x=Say hello", "--runner", "embedded"])
        .args([
            "--model",
            "nowhere/none",
            "--on",
            "fleet",
            "--workspace",
            "none",
            "--json",
        ])
        .run();
    let run = &answered.json()["runs"][0];
    let said = format!("{}: {}", run["status"], run["errorMessage"]);
    insta::assert_snapshot!(said, @r#""failed": "no worker of pool default could do it; workers build-7, build-9 say: There is no model \"nowhere/none\" and no provider \"nowhere\". List it in models.json, or name another one.""#);
}
