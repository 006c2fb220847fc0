//! A worker dies at each step from the delivery of a run to its end, and another one is there.

use std::time::Duration;

use pi_subagents_fleet_queue::Shape;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::worker_stage::{Yard, order};

/// The steps, and the worker that ends a run whose first worker dies there. The first worker has the
/// name of the step.
const STEPS: [(&str, &str); 6] = [
    ("delivered", "build-9"),
    ("claimed", "build-9"),
    ("begun", "build-9"),
    ("done", "build-9"),
    ("ended", "ended"),
    ("acknowledged", "acknowledged"),
];

#[test]
fn a_run_ends_once_at_whichever_step_its_worker_dies() {
    let yard = Yard::new();
    let pools = STEPS.map(|(step, _)| step.to_owned());
    let shape = Shape {
        lease: Duration::from_secs(6),
        record_bytes: 1_000_000_000,
        pools: pools.to_vec(),
        ..Shape::default()
    };
    yard.wait(yard.fleet.set_up(&shape)).unwrap();
    // Each step has a pool of its own, so that all workers can die at the same time.
    let doomed = STEPS.map(|(step, _)| {
        let stage = yard.caller();
        let command = stage.command(&["fleet", "work", "--name", step, "--pool", step]);
        let worker = command.env("FLEET_DIE_AT", step).spawn();
        worker.wait_for_stderr("takes");
        (stage, worker)
    });
    let orders: Vec<_> = (1..)
        .zip(STEPS)
        .map(|(number, (step, _))| {
            let order = order(number, &json!([{"reply": "done"}]));
            yard.submit_to(step, &order);
            order
        })
        .collect();
    for (_stage, worker) in doomed {
        // None of them ends by itself.
        assert_eq!(worker.wait_for_exit().code, None);
    }
    let others: Vec<&str> = STEPS
        .iter()
        .flat_map(|(step, _)| ["--pool", *step])
        .collect();
    let _second = yard.worker("build-9", &others);
    let ended: Vec<(String, String)> = orders
        .iter()
        .map(|order| {
            let ended = yard.end_of(&order.run);
            (ended.status, ended.worker)
        })
        .collect();
    let expected = STEPS.map(|(_, worker)| ("completed".to_owned(), worker.to_owned()));
    assert_eq!(ended, expected);
    yard.wait_until_empty(&pools);
}
