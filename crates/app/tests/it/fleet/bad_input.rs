//! What keeps a call from leaving, each with its sentence, before anything is recorded.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::fleet_stage::FleetStage;

/// Returns what `run` says of a call that does not leave, and that nothing was recorded.
fn refused(fleet: &FleetStage, arguments: &[&str]) -> String {
    let said = fleet.said(&[&["run", "Say hello"], arguments].concat());
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
    fleet.said(&["fleet", "init"]);
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
    hint: For this pool: pi-subagents fleet init --pool default
    exit 1

    error: invalid value 'cloud' for '--on <PLACE>': a place is local, fleet, or fleet:POOL with a pool of letters, digits, - and _

    For more information, try '--help'.
    exit 2

    error: --priority counts only in a fleet, and this call stays on this machine
    hint: Add --on fleet, or leave the option out.
    exit 2

    error: --dry-run says what would travel to a fleet, and this call stays on this machine
    hint: Add --on fleet.
    exit 2

    error: the fleet is not set up: it has no consumer gpu-high; run `pi-subagents fleet init`
    hint: For this pool: pi-subagents fleet init --pool gpu
    exit 1

    error: $PROJECT is not in a git repository, so its files cannot travel to a fleet
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
    hint: Nothing was started, because the limits in that file would not have held. Mend it and try again.
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
            .command(&["delegate", "--task", "x=Say hello", "--profile", profile])
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
    failed apiKey: this part of the definition cannot travel to a fleet: a worker has keys of its own. Use --on local, or a definition without it.
    failed extensions: this part of the definition cannot travel to a fleet: /etc/passwd is not in the files that travel. Use --on local, or a definition without it.
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
    fleet.said(&["fleet", "init"]);
    let ready = line(&fleet);
    let begin = ready.find("within ").unwrap() + "within ".len();
    let end = begin + ready[begin..].find(" ms").unwrap();
    let ready = format!("{}<time>{}", &ready[..begin], &ready[end..]);
    fleet.server.kill();
    insta::assert_snapshot!([bare, ready, line(&fleet)].join("\n"), @r#"
    "problem": "nats-server 2.15.1, which has no stream PI_WORK" ["Run pi-subagents fleet init --pool default"]
    "warning": "nats-server 2.15.1, answers within <time> ms, 0 workers in pool default" ["Runs in pool default stay queued until a worker takes them: pi-subagents worker --pool default"]
    "problem": "no server of the fleet can be reached (nats://127.0.0.1:<port>): IO error: Connection refused (os error 111)" ["Check subagents.fleet.servers, and that nats-server runs there; pi-subagents doctor tries every step."]
    "#);
}
