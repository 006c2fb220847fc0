//! The state when everything is over: the runs as the fleet knows them, as the user's records have
//! them, and as the answers named them.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use futures_util::StreamExt as _;
use pi_subagents_fleet_queue::wire::RunEntry;
use pi_subagents_testkit::sandbox::CommandOutput;
use serde_json::Value;

use super::ground::{Ground, side_effects};

/// The figures that must be the same in every round.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expected {
    /// The number of runs in the user's records.
    runs: usize,
    /// The numbers of endings per run among all that was ever written to the fleet. Runs that the
    /// fleet never had are not among them.
    endings: Vec<usize>,
    /// The numbers of ends per run in the index of the user.
    ends: Vec<usize>,
    /// Runs of which the record says another end than the fleet.
    differing: Vec<String>,
    /// Runs whose follower lived, and which have not completed with their own answer.
    unanswered: Vec<String>,
    /// Runs that an answer told twice, or not at all.
    told_wrongly: Vec<String>,
    /// Runs that a command which took over told twice, not at all, or with another end than the
    /// record has.
    taken_over_wrongly: Vec<String>,
    /// Runs whose work was done twice although no worker was killed that had them.
    repeated: Vec<String>,
    /// Orders that are still in the queue.
    queued: u64,
}

impl Expected {
    pub(super) fn of(runs: usize) -> Self {
        Self {
            runs,
            endings: vec![1],
            ends: vec![1],
            differing: Vec::new(),
            unanswered: Vec::new(),
            told_wrongly: Vec::new(),
            taken_over_wrongly: Vec::new(),
            repeated: Vec::new(),
            queued: 0,
        }
    }
}

pub(super) struct Census {
    found: Expected,
    figures: Vec<(String, usize)>,
}

impl Census {
    pub(super) fn take(
        ground: &Ground,
        answers: &[CommandOutput],
        taken_over: &[(Vec<String>, CommandOutput)],
    ) -> Self {
        let listed = ground.listed();
        let told: Vec<Value> = answers.iter().flat_map(runs_of).collect();
        let entries = ground.wait(ground.fleet.entries()).unwrap();
        let endings = ground.wait(endings_written(&ground.cluster.urls()));
        let owners = ground.owners();
        let was_left = |run: &str| {
            let owner = owners.get(run);
            owner.is_none_or(|owner| ground.killed_followers.contains(owner))
        };
        // A run may have lost its worker after its entry was spoilt; then it ends with that reason.
        let is_spoilt = |run: &str| ground.spoilt.iter().any(|one| one == run);
        let load = ground.wait(ground.fleet.pool_load("default")).unwrap();
        let found = Expected {
            runs: listed.len(),
            endings: distinct(endings.values().copied()),
            ends: distinct(ends_in_index(ground).into_values()),
            differing: differing(&listed, &entries),
            unanswered: unanswered(&listed, |run| was_left(run) || is_spoilt(run)),
            told_wrongly: wrongly_reported(&told, &listed, &owners, answers, is_spoilt),
            taken_over_wrongly: taken_over_wrongly(taken_over, &listed),
            repeated: repeated(ground, &listed),
            queued: load.queued + load.running,
        };
        let figures = figures(ground, &listed, &entries);
        Self { found, figures }
    }

    pub(super) fn found(self) -> Expected {
        self.found
    }

    /// Returns the round in figures, as a table.
    pub(super) fn figures(&self, seed: u64, took: Duration) -> String {
        let row = |(what, number): &(String, usize)| format!("{what:<32}{number:>6}");
        let rows: Vec<String> = self.figures.iter().map(row).collect();
        let took = took.as_secs_f32();
        format!(
            "seed {seed}\n{}\n{:<32}{took:>6.0}",
            rows.join("\n"),
            "seconds"
        )
    }
}

/// Counts the endings of each run over everything that was ever written.
async fn endings_written(servers: &[String]) -> BTreeMap<String, usize> {
    let client = async_nats::connect(servers).await.unwrap();
    let streams = async_nats::jetstream::new(client);
    let stream = streams.get_stream("KV_PI_RUNS").await.unwrap();
    let all = stream.cached_info().state.messages;
    let config = async_nats::jetstream::consumer::pull::OrderedConfig::default();
    let consumer = stream.create_consumer(config).await.unwrap();
    let messages = consumer.messages().await.unwrap();
    let mut messages = messages.take(usize::try_from(all).unwrap());
    let mut endings: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(message) = messages.next().await {
        let message = message.unwrap();
        // Wishes are beside the entries.
        if let Ok(entry) = serde_json::from_slice::<RunEntry>(&message.payload) {
            let count = usize::from(matches!(entry, RunEntry::Ended(_)));
            *endings.entry(message.subject.to_string()).or_default() += count;
        }
    }
    endings
}

fn text<'a>(run: &'a Value, field: &str) -> &'a str {
    run[field].as_str().unwrap_or_default()
}

fn runs_of(answer: &CommandOutput) -> Vec<Value> {
    let answer = answer.json();
    answer["runs"].as_array().cloned().unwrap_or_default()
}

fn distinct(counts: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut counts: Vec<usize> = counts.collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// Counts the lines with the end of each run.
fn ends_in_index(ground: &Ground) -> BTreeMap<String, usize> {
    let index = ground
        .user
        .sandbox
        .agent_dir()
        .join("subagents-index.jsonl");
    let index = fs::read_to_string(index).unwrap();
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for line in index.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let count = usize::from(line.get("endedAt").is_some());
        *ends.entry(text(&line, "run").to_owned()).or_default() += count;
    }
    ends
}

fn differing(
    listed: &[Value],
    entries: &std::collections::HashMap<String, RunEntry>,
) -> Vec<String> {
    let differs = |run: &&Value| match entries.get(text(run, "runId")) {
        Some(RunEntry::Ended(ended)) => ended.status != text(run, "status"),
        Some(RunEntry::Running(_) | RunEntry::Released(_)) => true,
        // The fleet never had it: its caller was killed before.
        None => text(run, "status") != "failed",
    };
    listed.iter().filter(differs).map(describe).collect()
}

fn unanswered(listed: &[Value], was_left: impl Fn(&str) -> bool) -> Vec<String> {
    let is_wrong = |run: &&Value| {
        // A call in the foreground that is killed takes its runs with it, and only those.
        !was_left(text(run, "runId")) && text(run, "status") != "completed"
    };
    listed.iter().filter(is_wrong).map(describe).collect()
}

/// Compares what the answers told with the runs whose call has answered.
fn wrongly_reported(
    told: &[Value],
    listed: &[Value],
    owners: &BTreeMap<String, u32>,
    answers: &[CommandOutput],
    is_spoilt: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for run in told {
        *times.entry(text(run, "runId")).or_default() += 1;
    }
    let twice = times.iter().filter(|(_, count)| **count > 1);
    let mut wrong: Vec<String> = twice.map(|(run, _)| format!("{run} twice")).collect();
    let answer = |run: &Value| format!("answer of {}", text(run, "name"));
    let strange = told
        .iter()
        .filter(|run| text(run, "output") != answer(run) && !is_spoilt(text(run, "runId")));
    wrong.extend(strange.map(describe));
    // The calls that answered have all their tasks in their answers.
    let calls: Vec<u32> = told
        .iter()
        .filter_map(|run| owners.get(text(run, "runId")).copied())
        .collect();
    let of_calls = listed.iter().filter(|run| {
        let owner = owners.get(text(run, "runId"));
        owner.is_some_and(|owner| calls.contains(owner))
    });
    let missing = of_calls.filter(|run| !times.contains_key(text(run, "runId")));
    wrong.extend(
        missing.map(|run| format!("{} of {} answers is missing", describe(run), answers.len())),
    );
    wrong
}

/// Returns the times that the work of a run was done, as its side effects tell.
fn times_done(ground: &Ground, run: &Value) -> usize {
    let file = ground.user.path(&side_effects(text(run, "name")));
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().count()
}

/// Returns the runs whose work was done twice although no worker was killed that had them.
fn repeated(ground: &Ground, listed: &[Value]) -> Vec<String> {
    let is_repeated = |run: &&Value| {
        let is_excused = ground
            .had_by_killed
            .iter()
            .any(|one| one == text(run, "runId"));
        times_done(ground, run) > 1 && !is_excused
    };
    listed.iter().filter(is_repeated).map(describe).collect()
}

/// Compares what the commands told that took over with the records of their runs.
fn taken_over_wrongly(
    taken_over: &[(Vec<String>, CommandOutput)],
    listed: &[Value],
) -> Vec<String> {
    let facts =
        |run: &Value| ["runId", "status", "output"].map(|field| text(run, field).to_owned());
    let mut wrong = Vec::new();
    for (runs, answer) in taken_over {
        let is_theirs = |run: &&Value| runs.iter().any(|one| one == text(run, "runId"));
        let mut expected: Vec<_> = listed.iter().filter(is_theirs).map(facts).collect();
        let mut told: Vec<_> = runs_of(answer).iter().map(facts).collect();
        expected.sort();
        told.sort();
        if told != expected {
            wrong.push(format!("{told:?} and not {expected:?}\n{answer}"));
        }
    }
    wrong
}

fn describe(run: &Value) -> String {
    format!(
        "{} {} {} {} {}",
        text(run, "runId"),
        text(run, "name"),
        text(run, "status"),
        text(run, "output"),
        text(run, "errorMessage")
    )
}

fn figures(
    ground: &Ground,
    listed: &[Value],
    entries: &std::collections::HashMap<String, RunEntry>,
) -> Vec<(String, usize)> {
    let kinds = [
        ("workers", "killed workers"),
        ("followers", "killed followers"),
        ("leaders", "killed leaders"),
        ("orders", "times orders were purged"),
        ("entries", "spoilt entries"),
        ("absences", "absences of all servers"),
    ];
    let killed = kinds.map(|(kind, words)| {
        let count = ground.killed.get(kind).copied().unwrap_or_default();
        (words.to_owned(), count)
    });
    let endings = ["completed", "stopped", "failed"].map(|status| {
        let ended = listed.iter().filter(|run| text(run, "status") == status);
        (format!("runs {status}"), ended.count())
    });
    let again = entries
        .values()
        .filter(|entry| matches!(entry, RunEntry::Ended(ended) if ended.attempt > 1));
    let mut figures = vec![("runs".to_owned(), listed.len())];
    figures.extend(killed);
    figures.extend(endings);
    figures.push(("runs begun more than once".to_owned(), again.count()));
    let twice = listed.iter().filter(|run| times_done(ground, run) > 1);
    figures.push(("work done twice, worker killed".to_owned(), twice.count()));
    figures
}
