//! Ledgers on disk, between processes.

use std::fs;
use std::path::Path;

use pi_subagents_vocabulary::{
    Allowance, BudgetLimits, BudgetScope, Measure, OpenedFrom, RunId, ScopeKind, Treasurer as _,
    Usage,
};
use pretty_assertions::assert_eq;

use super::Ledgers;

fn scope(kind: ScopeKind) -> BudgetScope {
    BudgetScope::new(kind, "x").unwrap()
}

fn run(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

fn of_tokens(tokens: u64) -> BudgetLimits {
    BudgetLimits {
        tokens: Some(tokens),
        ..BudgetLimits::default()
    }
}

fn used(input: u64) -> Usage {
    Usage {
        input,
        ..Usage::default()
    }
}

fn granted(tokens: u64) -> Allowance {
    Allowance {
        tokens: Some(tokens),
        cost: None,
    }
}

/// Makes ledgers with one scope of this many tokens, in which one run waits.
fn ledgers(home: &Path, scope: &BudgetScope, tokens: u64) -> Ledgers {
    let ledgers = Ledgers::of(home);
    let opened = ledgers.open(scope, of_tokens(tokens), OpenedFrom::Outside);
    assert_eq!(opened, Ok(of_tokens(tokens)));
    ledgers
        .expect(std::slice::from_ref(scope), &[run("a")], None)
        .unwrap();
    ledgers
}

#[test]
fn the_tightest_scope_decides_and_all_have_the_same_grant() {
    let home = tempfile::tempdir().unwrap();
    let (call, day) = (scope(ScopeKind::Call), scope(ScopeKind::Day));
    let ledgers = ledgers(home.path(), &call, 100_000);
    ledgers
        .open(&day, of_tokens(1_000_000), OpenedFrom::Outside)
        .unwrap();
    let both = [day.clone(), call.clone()];
    let own = Allowance::default();
    let offer = ledgers.grant(&both, &run("a"), own).unwrap();
    assert_eq!(offer.grant, granted(100_000));
    let day_now = ledgers.read(&day).unwrap().unwrap();
    assert_eq!(day_now.left(Measure::Tokens), Some(900_000));
    let standing = ledgers.spend(&both, &run("a"), own, used(90_000)).unwrap();
    assert_eq!(
        (standing.grant, standing.spent),
        (granted(100_000), used(90_000))
    );
    ledgers.close(&both, &run("a")).unwrap();
    for (scope, left) in [(&call, 10_000), (&day, 910_000)] {
        let ledger = Ledgers::of(home.path()).read(scope).unwrap().unwrap();
        assert_eq!(ledger.left(Measure::Tokens), Some(left), "{scope}");
    }
    assert_eq!(Ledgers::of(home.path()).scopes().len(), 2);
}

#[test]
fn a_run_near_its_grant_gets_more_where_there_is_more() {
    let home = tempfile::tempdir().unwrap();
    let named = scope(ScopeKind::Named);
    let ledgers = ledgers(home.path(), &named, 400_000);
    let only = [named];
    let own = Allowance::default();
    let offer = ledgers.grant(&only, &run("a"), own).unwrap();
    assert_eq!(offer.grant, granted(200_000));
    let spend = |tokens| ledgers.spend(&only, &run("a"), own, used(tokens)).unwrap();
    assert_eq!(spend(100_000).grant, granted(200_000));
    assert_eq!(spend(60_000).grant, granted(300_000));
}

#[test]
fn a_torn_line_is_dropped_and_another_that_cannot_be_read_starts_nothing() {
    let home = tempfile::tempdir().unwrap();
    let call = scope(ScopeKind::Call);
    let ledgers_then = ledgers(home.path(), &call, 100_000);
    let file = home.path().join("subagents-budgets/call-x.jsonl");
    let whole = fs::read(&file).unwrap();
    let mut torn = whole.clone();
    torn.extend(br#"{"entry":"spend","run":"a","usa"#);
    fs::write(&file, &torn).unwrap();
    let only = [call.clone()];
    let own = Allowance::default();
    let offer = ledgers_then.grant(&only, &run("a"), own).unwrap();
    assert_eq!(offer.grant, granted(100_000));
    let now = fs::read_to_string(&file).unwrap();
    assert!(now.lines().all(|line| line.ends_with('}')), "{now}");
    fs::write(&file, [whole, b"garbage\n".to_vec()].concat()).unwrap();
    let error = Ledgers::of(home.path()).grant(&only, &run("b"), own);
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("the budget of this call cannot be kept: "),
        "{error}"
    );
    assert!(Ledgers::of(home.path()).read(&call).is_err());
}

#[test]
fn a_ledger_that_cannot_be_written_starts_nothing() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("subagents-budgets"), "a file").unwrap();
    let ledgers = Ledgers::of(home.path());
    let day = scope(ScopeKind::Day);
    let opened = ledgers.open(&day, of_tokens(1), OpenedFrom::Outside);
    assert!(opened.is_err());
    let grant = ledgers.grant(std::slice::from_ref(&day), &run("a"), Allowance::default());
    assert!(grant.is_err());
    assert_eq!(ledgers.read(&day), Ok(None));
}

#[test]
fn a_child_cannot_lift_a_limit_on_disk_either() {
    let home = tempfile::tempdir().unwrap();
    let named = scope(ScopeKind::Named);
    let ledgers = ledgers(home.path(), &named, 100);
    let inside = |tokens| ledgers.open(&named, of_tokens(tokens), OpenedFrom::Inside);
    assert_eq!(inside(500), Ok(of_tokens(100)));
    assert_eq!(inside(40), Ok(of_tokens(40)));
    assert_eq!(inside(500), Ok(of_tokens(40)));
}
