//! Many background runs at once, some of them killed, with several pi's looking on.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use pi_subagents_testkit::{Signal, process, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::background_host::Pi;
use crate::background_stage::{BackgroundStage, PATIENCE, expect_nothing_left, run_id};

const RUNS: usize = 200;
const AT_ONCE: usize = 8;
const WATCHERS: usize = 5;

/// The number of owners that are killed, each some launches after its own.
const KILLS: usize = 20;

#[test]
fn a_crowd_of_runs_is_counted_told_and_ended_without_remainder() {
    let stage = BackgroundStage::new();
    stage.talker(500);
    stage.settings(&json!({"maxBackground": RUNS}));
    let mut watchers = vec![Pi::open(&stage, "crowd", "startup", &[])];
    let mut random = Random(20_261_115);
    let mut killed: BTreeMap<usize, usize> = BTreeMap::new();
    while killed.len() < KILLS {
        killed.insert(random.below(RUNS - AT_ONCE), random.below(AT_ONCE));
    }
    let mut launched: Vec<Value> = Vec::new();
    while launched.len() < RUNS {
        let batch: Vec<u64> = (0..AT_ONCE)
            .map(|index| {
                let task = format!("task {}", launched.len() + index);
                let arguments = json!({"preset": "talker", "task": task});
                watchers[0].begin_call("background_agent", &arguments)
            })
            .collect();
        for id in batch {
            let answer = watchers[0].answer(id);
            let details = &answer["result"]["details"];
            assert!(details["runId"].is_string(), "{answer:#}");
            launched.push(details.clone());
            let now = launched.len() - 1;
            for (index, _) in killed
                .iter()
                .filter(|(index, after)| *index + *after == now)
            {
                kill_owner(&launched[*index]);
            }
        }
        counts_add_up(&mut watchers[0], launched.len());
        if launched.len() >= watchers.len() * RUNS / WATCHERS {
            let entries = watchers[0].entries();
            watchers.push(Pi::open(&stage, "crowd", "resume", &entries));
        }
    }
    watchers[0].wait_for_footer(&format!("bg: 0 running / {RUNS} total"));
    let told = || -> Vec<String> {
        let messages = watchers
            .iter()
            .flat_map(|pi| pi.notifications("message/send"));
        messages
            .map(|message| message["content"].to_string())
            .collect()
    };
    wait_until(PATIENCE, || (told().len() >= RUNS).then_some(())).unwrap();
    let told = told();
    for run in launched.iter().map(run_id) {
        let times = told.iter().filter(|text| text.contains(&run)).count();
        assert_eq!(times, 1, "{run} was told {times} times");
    }
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    let rows = status["runs"].as_array().unwrap();
    let runs: HashSet<String> = rows.iter().map(run_id).collect();
    assert_eq!(runs, launched.iter().map(run_id).collect());
    for row in rows {
        let ended = (
            row["status"].as_str().unwrap(),
            row["errorMessage"].as_str(),
        );
        let lost = ("failed", Some("Lost the sub-agent: owner process exited."));
        assert!(ended == ("completed", None) || ended == lost, "{row:#}");
    }
    let counts = &status["counts"];
    assert_eq!(
        counts["completed"].as_u64().unwrap() + counts["failed"].as_u64().unwrap(),
        RUNS as u64
    );
    assert!(counts["failed"].as_u64().unwrap() > 0, "{counts}");
    watchers.into_iter().for_each(Pi::quit);
    for run in &runs {
        expect_nothing_left(run);
    }
}

/// Every answer counts all runs that were launched, each in one state.
fn counts_add_up(pi: &mut Pi<'_>, launched: usize) {
    let answer = pi.call(
        "background_agent_status",
        &json!({"includeCompleted": true}),
    );
    let details = &answer["result"]["details"];
    let rows = details["runs"].as_array().unwrap();
    assert_eq!(details["counts"]["total"], launched);
    for status in ["running", "completed", "failed", "aborted"] {
        let of_status = rows.iter().filter(|row| row["status"] == status).count();
        assert_eq!(details["counts"][status], of_status);
    }
}

fn kill_owner(details: &Value) {
    let meta = details["artifacts"]["meta"].as_str().unwrap();
    let meta: Value = serde_json::from_slice(&fs::read(Path::new(meta)).unwrap()).unwrap();
    let pid = u32::try_from(meta["owner"]["pid"].as_u64().unwrap()).unwrap();
    // It may be over, and its number somebody else's.
    let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    if command.ends_with("detached\0") {
        process::kill(pid, Signal::KILL);
    }
}

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}
