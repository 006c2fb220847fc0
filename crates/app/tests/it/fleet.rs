//! Calls on other machines: a real server, and workers with homes of their own.

mod bad_input;
mod calls;
mod changes;
mod chaos;
mod conversations;
mod end_notices;
mod exact_permissions;
mod fault_survival;
mod fields;
mod files;
mod finished_work;
mod fleet_stage;
mod full_disk;
mod full_store;
mod kept_sessions;
mod lost_orders;
mod many_tasks;
mod merges;
mod operations;
mod other_callers;
mod other_machines;
mod server_outage;
mod setting_up;
mod steps;
mod worker;
mod worker_stage;
mod wrong_clock;

pub(crate) use fleet_stage::git_project;

use self::fleet_stage::FleetStage;
use crate::json_schemas::Schemas;

/// Compares the JSON of commands about a fleet with their schemas.
pub(crate) fn check_json(schemas: &mut Schemas) {
    let fleet = FleetStage::new();
    let run = |arguments: &[&str]| {
        let command = fleet.stage.command(arguments).arg("--json");
        command.run().expect_success()
    };
    schemas.check("fleet-init", &run(&["fleet", "init"]));
    schemas.check("fleet-key", &run(&["fleet", "key", "caller", "ada"]));
    let _worker = fleet.worker("build-7");
    schemas.check("fleet-workers", &run(&["fleet", "workers"]));
    schemas.check("status", &run(&["status", "--fleet"]));
    let dry = [
        "run",
        "hello",
        "--on",
        "fleet",
        "--workspace",
        "none",
        "--dry-run",
    ];
    schemas.check("run", &run(&dry));
}
