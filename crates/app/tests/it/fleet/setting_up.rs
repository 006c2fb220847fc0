//! `fleet init` and `fleet key`, and their errors.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use pi_subagents_testkit::fleet::NatsServer;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::fleet_stage::FleetStage;
use crate::stage::Stage;

#[test]
fn a_fleet_is_set_up_once_and_again() {
    let fleet = FleetStage::new();
    let first = fleet.printed(&["fleet", "init", "--pool", "default", "--pool", "gpu"]);
    assert_eq!(
        first,
        fleet.printed(&["fleet", "init", "--pool", "default", "--pool", "gpu"])
    );
    insta::assert_snapshot!(first, @r#"
    The fleet is set up on nats-server 2.15.1, with the pools default, gpu.

    Start a worker:   pi-subagents fleet work
    Send it a task:   pi-subagents run --on fleet "PROMPT"
    exit 0
    "#);
}

#[test]
fn without_a_fleet_in_the_settings_the_way_to_one_is_said() {
    let stage = Stage::new();
    let output = stage.command(&["fleet", "init"]).run();
    insta::assert_snapshot!(stage.printed(&output), @r#"
    error: no fleet is configured
    hint: Name its server in settings.json: {"subagents": {"fleet": {"servers": ["nats://127.0.0.1:4222"]}}}
    hint: The page fleet.md of the documentation shows how to set up two workers.
    "#);
}

#[test]
fn a_server_that_is_not_there_is_named_in_bounded_time() {
    let mut fleet = FleetStage::new();
    fleet.server.kill();
    insta::assert_snapshot!(fleet.printed(&["fleet", "init"]), @"
    error: no server of the fleet can be reached (nats://127.0.0.1:<port>): IO error: Connection refused (os error 111)
    hint: Check subagents.fleet.servers, and that nats-server runs there; pi-subagents doctor tries every step.
    exit 1
    ");
}

#[test]
fn a_key_is_written_for_its_owner_alone_and_never_overwritten() {
    let stage = Stage::new();
    let made = stage
        .command(&["fleet", "key", "worker", "build-7", "--pool", "gpu"])
        .run();
    let text = stage.printed(&made);
    let public = text
        .split("nkey: ")
        .nth(1)
        .unwrap()
        .split(',')
        .next()
        .unwrap();
    insta::assert_snapshot!(text.replace(public, "<public>"), @r#"
    # build-7
    { nkey: <public>, permissions: {
      publish: { allow: [
        "pi.rec.>"
        "pi.say.>"
        "$KV.PI_RUNS.>"
        "$KV.PI_SESSIONS.>"
        "$KV.PI_WORKERS.build-7"
        "$O.PI_BLOBS.>"
        "$JS.API.STREAM.INFO.*"
        "$JS.API.CONSUMER.INFO.PI_WORK.gpu-high"
        "$JS.API.CONSUMER.MSG.NEXT.PI_WORK.gpu-high"
        "$JS.ACK.PI_WORK.gpu-high.>"
        "$JS.API.CONSUMER.INFO.PI_WORK.gpu-normal"
        "$JS.API.CONSUMER.MSG.NEXT.PI_WORK.gpu-normal"
        "$JS.ACK.PI_WORK.gpu-normal.>"
        "$JS.API.CONSUMER.INFO.PI_WORK.gpu-low"
        "$JS.API.CONSUMER.MSG.NEXT.PI_WORK.gpu-low"
        "$JS.ACK.PI_WORK.gpu-low.>"
        "$JS.API.INFO"
        "$JS.FC.>"
        "$JS.API.DIRECT.GET.KV_PI_RUNS"
        "$JS.API.DIRECT.GET.KV_PI_RUNS.>"
        "$JS.API.CONSUMER.CREATE.KV_PI_RUNS"
        "$JS.API.CONSUMER.CREATE.KV_PI_RUNS.>"
        "$JS.API.CONSUMER.DELETE.KV_PI_RUNS.>"
        "$JS.API.CONSUMER.MSG.NEXT.KV_PI_RUNS.>"
        "$JS.API.DIRECT.GET.KV_PI_LEASES"
        "$JS.API.DIRECT.GET.KV_PI_LEASES.>"
        "$JS.API.CONSUMER.CREATE.KV_PI_LEASES"
        "$JS.API.CONSUMER.CREATE.KV_PI_LEASES.>"
        "$JS.API.CONSUMER.DELETE.KV_PI_LEASES.>"
        "$JS.API.CONSUMER.MSG.NEXT.KV_PI_LEASES.>"
        "$JS.API.DIRECT.GET.KV_PI_WORKERS"
        "$JS.API.DIRECT.GET.KV_PI_WORKERS.>"
        "$JS.API.CONSUMER.CREATE.KV_PI_WORKERS"
        "$JS.API.CONSUMER.CREATE.KV_PI_WORKERS.>"
        "$JS.API.CONSUMER.DELETE.KV_PI_WORKERS.>"
        "$JS.API.CONSUMER.MSG.NEXT.KV_PI_WORKERS.>"
        "$JS.API.DIRECT.GET.KV_PI_SESSIONS"
        "$JS.API.DIRECT.GET.KV_PI_SESSIONS.>"
        "$JS.API.CONSUMER.CREATE.KV_PI_SESSIONS"
        "$JS.API.CONSUMER.CREATE.KV_PI_SESSIONS.>"
        "$JS.API.CONSUMER.DELETE.KV_PI_SESSIONS.>"
        "$JS.API.CONSUMER.MSG.NEXT.KV_PI_SESSIONS.>"
        "$JS.API.DIRECT.GET.OBJ_PI_BLOBS"
        "$JS.API.DIRECT.GET.OBJ_PI_BLOBS.>"
        "$JS.API.CONSUMER.CREATE.OBJ_PI_BLOBS"
        "$JS.API.CONSUMER.CREATE.OBJ_PI_BLOBS.>"
        "$JS.API.CONSUMER.DELETE.OBJ_PI_BLOBS.>"
        "$JS.API.CONSUMER.MSG.NEXT.OBJ_PI_BLOBS.>"
      ] }
      subscribe: { allow: [
        "_INBOX_build-7.>"
        "pi.ctl.build-7.>"
      ] }
      allow_responses: { max: 100000, expires: "1h" }
    } }
    Wrote the key of build-7 to $HOME/.pi/agent/fleet-build-7.nk; keep it secret.
    Put this entry into accounts.FLEET.users of the server's file, and reload the server:


    Copy it to ~/.pi/agent on build-7, set "nkey": "~/.pi/agent/fleet-build-7.nk" under subagents.fleet in settings.json there, and start it with pi-subagents fleet work --name build-7.
    "#);
    let file = stage.sandbox.agent_dir().join("fleet-build-7.nk");
    let permissions = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(permissions, 0o600);
    assert!(fs::read_to_string(&file).unwrap().starts_with("SU"));
    let again = stage.command(&["fleet", "key", "worker", "build-7"]).run();
    insta::assert_snapshot!(stage.printed(&again), @"
    error: $HOME/.pi/agent/fleet-build-7.nk is there already, and a key is never overwritten
    hint: Remove the file, or name another with --file.
    ");
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let fleet = FleetStage::new();
    let stage = &fleet.stage;
    stage
        .command(&["fleet", "key", "caller", "ada"])
        .run()
        .expect_success();
    let file = stage.sandbox.agent_dir().join("fleet-ada.nk");
    stage.settings(&json!({"fleet": {"servers": [fleet.server.url()], "nkey": file}}));
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    insta::assert_snapshot!(fleet.printed(&["fleet", "init"]), @"
    error: the key of the fleet, $HOME/.pi/agent/fleet-ada.nk, can be read by others (its mode is 0644)
    hint: Run chmod 600 $HOME/.pi/agent/fleet-ada.nk
    exit 1
    ");
}

#[test]
fn a_server_with_keys_lets_in_who_has_an_entry_and_nobody_else() {
    let stage = Stage::new();
    let key = |role: &str, name: &str| {
        let made = stage.command(&["fleet", "key", role, name, "--json"]).run();
        made.expect_success().json()
    };
    let (ada, eve) = (key("caller", "ada"), key("caller", "eve"));
    let root = key("admin", "root");
    let entries = [&ada, &root].map(|made| made["serverEntry"].as_str().unwrap());
    let entries = entries.join("\n");
    let users = format!("accounts {{ FLEET: {{ jetstream: enabled, users: [ {entries} ] }} }}");
    let server = NatsServer::with_settings(&users);
    let said = |file: &serde_json::Value| {
        stage.settings(&json!({"fleet": {"servers": [server.url()], "nkey": file}}));
        let output = stage.command(&["fleet", "init"]).run();
        stage
            .printed(&output)
            .replace(&server.port().to_string(), "<port>")
    };
    // A caller may give orders, and may not make queues.
    let told = [said(&ada["file"]), said(&eve["file"])].join("\n");
    insta::assert_snapshot!(told, @r#"
    error: our key may not do this in the fleet: Permissions Violation for Publish to "$JS.API.STREAM.CREATE.PI_WORK"
    hint: fleet init needs the key of an administrator: pi-subagents fleet key admin NAME makes one, and --nkey FILE names it.

    error: the fleet's server nats://127.0.0.1:<port> refuses our key; is its entry in the server's file?
    hint: Name your key in subagents.fleet.nkey; pi-subagents fleet key makes one and prints its entry for the server's file.
    "#);
    // An administrator may.
    let made = said(&root["file"]);
    assert!(
        made.starts_with("The fleet is set up on nats-server"),
        "{made}"
    );
}

#[test]
fn records_take_less_where_the_server_has_less_room_and_a_given_size_is_never_changed() {
    let stage = Stage::new();
    let limited = "accounts { FLEET: { jetstream: { max_file: 6G, max_mem: 1G }, users: [{ user: a, password: b }] } }\nno_auth_user: a";
    let server = NatsServer::with_settings(limited);
    stage.settings(&json!({"fleet": {"servers": [server.url()]}}));
    let fleet = FleetStage { stage, server };
    let kept = |more: &[&str]| {
        let init = fleet.stage.command(&["fleet", "init", "--json"]).args(more);
        init.run().expect_success().json()["recordGigabytes"].clone()
    };
    let too_much = fleet.printed(&["fleet", "init", "--records", "50"]);
    let nothing = fleet.printed(&["fleet", "init", "--records", "0"]);
    assert_eq!([kept(&[]), kept(&["--records", "3"])], [json!(5), json!(3)]);
    let fitting = fleet.printed(&["fleet", "init"]);
    insta::assert_snapshot!([too_much, nothing, fitting].join("\n"), @r#"
    error: the server has no room for 50 GB of records
      caused by: the fleet's server refuses $JS.API.STREAM.CREATE.PI_REC: insufficient storage resources available (error 10047)
    hint: Give it more with jetstream { max_file: 50G } in its file, or less to the fleet with --records GB.
    exit 1

    error: invalid value '0' for '--records <GB>': 0 is not in 1..=100000

    For more information, try '--help'.
    exit 2

    The fleet is set up on nats-server 2.15.1, with the pool default.
    It keeps up to 5 GB of records, because the server has no room for more.

    Start a worker:   pi-subagents fleet work
    Send it a task:   pi-subagents run --on fleet "PROMPT"
    exit 0
    "#);
}
