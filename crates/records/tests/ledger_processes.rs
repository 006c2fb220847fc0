//! Sixteen processes on one ledger, and some of them are killed: what they spend together never
//! exceeds the limit by more than one answer per run that was running.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test starts processes, and panics if it cannot go on"
)]

use std::env;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use pi_subagents_records::Ledgers;
use pi_subagents_vocabulary::{
    Allowance, BudgetLimits, BudgetScope, Ledger, OpenedFrom, RunId, ScopeKind, Treasurer as _,
    Usage,
};

/// The variable that makes this program a worker: the home of the ledger.
const HOME: &str = "LEDGER_TEST_HOME";

/// The variable with the number of a worker.
const NUMBER: &str = "LEDGER_TEST_NUMBER";

const WORKERS: u64 = 16;

/// The tokens of the largest answer.
const LARGEST_ANSWER: u64 = 6_000;

const LIMIT: u64 = 3_000_000;

fn scope() -> BudgetScope {
    BudgetScope::new(ScopeKind::Named, "shared").unwrap()
}

fn spent(home: &Path) -> Ledger {
    Ledgers::of(home).read(&scope()).unwrap().unwrap()
}

/// Is a worker if the variables say so: does runs, one after another, until nothing is left.
#[test]
fn worker() {
    let (Some(home), Ok(number)) = (env::var_os(HOME), env::var(NUMBER)) else {
        return;
    };
    let ledgers = Ledgers::of(Path::new(&home));
    let scopes = [scope()];
    let mut chance: u64 = number.parse::<u64>().unwrap() * 7919 + 17;
    for turn in 0.. {
        let run = RunId::parse(&format!("w{number}-{turn}")).unwrap();
        ledgers
            .expect(&scopes, std::slice::from_ref(&run), None)
            .unwrap();
        let own = Allowance::default();
        if ledgers.grant(&scopes, &run, own).is_err() {
            // Others may return something, but sixteen are enough to use up the rest.
            return;
        }
        for _ in 0..20 {
            chance = chance
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let usage = Usage {
                output: 1 + (chance >> 33) % LARGEST_ANSWER,
                ..Usage::default()
            };
            let standing = ledgers.spend(&scopes, &run, own, usage).unwrap();
            if standing.free.exceeded_by(&standing.spent).is_some() {
                break;
            }
        }
        ledgers.close(&scopes, &run).unwrap();
    }
}

fn start(home: &Path, number: u64) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "worker", "--test-threads=1"])
        .env(HOME, home)
        .env(NUMBER, number.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn sixteen_processes_with_kills_spend_at_most_one_answer_each_beyond_the_limit() {
    let home = tempfile::tempdir().unwrap();
    let limits = BudgetLimits {
        tokens: Some(LIMIT),
        ..BudgetLimits::default()
    };
    Ledgers::of(home.path())
        .open(&scope(), limits, OpenedFrom::Outside)
        .unwrap();
    let mut workers: Vec<Child> = (0..WORKERS)
        .map(|number| start(home.path(), number))
        .collect();
    // Half of them are killed in the middle of whatever they do, and replaced.
    for victim in 0..WORKERS / 2 {
        let goal = LIMIT / WORKERS * (victim + 1) / 2;
        for _ in 0..2_000 {
            let now = spent(home.path()).spent().counted();
            if now >= goal {
                break;
            }
            sleep(Duration::from_millis(5));
        }
        let worker = &mut workers[usize::try_from(victim).unwrap()];
        worker.kill().unwrap();
        worker.wait().unwrap();
        *worker = start(home.path(), WORKERS + victim);
    }
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let ledger = spent(home.path());
    let total = ledger.spent().counted();
    println!("{total} of {LIMIT} tokens in {} runs", ledger.started());
    assert!(total <= LIMIT + WORKERS * LARGEST_ANSWER, "{total}");
    // Nothing that a killed process was granted is lost: the rest was too little to start with.
    assert!(ledger.accounts().all(|(_, account)| account.is_closed()));
    assert!(total > LIMIT / 2, "{total}");
}
