//! What a ledger grants, for any order of events.

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;
use crate::{Allowance, Dollars, RunId, Timestamp, Usage};

fn run(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

fn call() -> BudgetScope {
    BudgetScope::new(ScopeKind::Call, "c").unwrap()
}

fn owner(pid: u32) -> LedgerOwner {
    LedgerOwner {
        pid,
        start_time: 1,
        host: "here".to_owned(),
        since: Timestamp::UNIX_EPOCH,
    }
}

fn tokens(tokens: u64) -> Allowance {
    Allowance {
        tokens: Some(tokens),
        cost: None,
    }
}

fn used(input: u64) -> Usage {
    Usage {
        input,
        ..Usage::default()
    }
}

/// A ledger whose entries are applied as they are made.
struct Book(Ledger, BudgetScope);

impl Book {
    fn new(limits: BudgetLimits) -> Self {
        let mut book = Self(Ledger::default(), call());
        book.apply(&LedgerEntry::Open {
            limits,
            from: OpenedFrom::Outside,
        });
        book
    }

    fn of_tokens(tokens: u64) -> Self {
        Self::new(BudgetLimits {
            tokens: Some(tokens),
            ..BudgetLimits::default()
        })
    }

    fn apply(&mut self, entry: &LedgerEntry) {
        // Every entry takes the way through its line.
        let line = serde_json::to_string(entry).unwrap();
        self.0.apply(&serde_json::from_str(&line).unwrap());
    }

    fn expect(&mut self, name: &str, parent: Option<&str>) {
        self.apply(&LedgerEntry::Expect {
            run: run(name),
            owner: owner(1),
            parent: parent.map(run),
        });
    }

    fn start(&mut self, name: &str) -> Result<Allowance, String> {
        self.start_with(name, Allowance::default())
    }

    fn start_with(&mut self, name: &str, own: Allowance) -> Result<Allowance, String> {
        let offer = self
            .0
            .offer(&self.1, &run(name), own, Timestamp::UNIX_EPOCH);
        let grant = offer.map_err(|denial| denial.to_string())?.grant;
        self.grant(name, grant);
        Ok(grant)
    }

    fn grant(&mut self, name: &str, grant: Allowance) {
        let at = Timestamp::UNIX_EPOCH;
        self.apply(&LedgerEntry::Grant {
            run: run(name),
            at,
            grant,
        });
    }

    fn spend(&mut self, name: &str, input: u64) {
        self.apply(&LedgerEntry::Spend {
            run: run(name),
            usage: used(input),
        });
    }

    fn close(&mut self, name: &str) {
        self.apply(&LedgerEntry::Close { run: run(name) });
    }
}

#[test]
fn tasks_that_wait_get_equal_shares_and_what_is_not_used_returns() {
    let mut book = Book::of_tokens(400_000);
    for name in ["a", "b", "c", "d"] {
        book.expect(name, None);
    }
    assert_eq!(book.start("a"), Ok(tokens(100_000)));
    assert_eq!(book.start("b"), Ok(tokens(100_000)));
    book.spend("a", 40_000);
    book.close("a");
    // 400 - 40 - 100 are left for two.
    assert_eq!(book.start("c"), Ok(tokens(130_000)));
    assert_eq!(book.start("d"), Ok(tokens(130_000)));
}

#[test]
fn a_run_that_needs_more_leaves_the_others_their_shares() {
    let mut book = Book::of_tokens(400_000);
    for name in ["a", "b", "c", "d"] {
        book.expect(name, None);
    }
    book.start("a").unwrap();
    let more = |book: &Book, own| book.0.more(&book.1, &run("a"), own);
    // 300 are left for a and three that wait.
    assert_eq!(more(&book, Allowance::default()), tokens(175_000));
    // A limit of its own is never raised.
    assert_eq!(more(&book, tokens(110_000)), tokens(110_000));
}

#[test]
fn small_shares_are_rounded_up_until_nothing_is_left() {
    let mut book = Book::of_tokens(50_000);
    for name in ["a", "b", "c", "d"] {
        book.expect(name, None);
    }
    assert_eq!(book.start("a"), Ok(tokens(20_000)));
    assert_eq!(book.start("b"), Ok(tokens(20_000)));
    let waits = "the budget of this call has nothing left to give (0 of 50000 tokens used, the rest is granted to running runs)";
    assert_eq!(book.start("c"), Err(waits.to_owned()));
    for name in ["a", "b"] {
        book.spend(name, 20_000);
        book.close(name);
    }
    let over = "the budget of this call is used up (40000 of 50000 tokens)";
    assert_eq!(book.start("c"), Err(over.to_owned()));
}

#[test]
fn a_small_budget_starts_one_run_and_0_starts_none() {
    let mut book = Book::of_tokens(900);
    assert_eq!(book.start("a"), Ok(tokens(900)));
    let mut book = Book::new(BudgetLimits {
        cost: Some(Dollars::new(0.0)),
        ..BudgetLimits::default()
    });
    let over = "the budget of this call is used up ($0.00 of $0.00)";
    assert_eq!(book.start("a"), Err(over.to_owned()));
}

#[test]
fn the_limit_of_a_run_is_granted_whole_and_in_both_measures() {
    let mut book = Book::new(BudgetLimits {
        cost: Some(Dollars::new(2.0)),
        ..BudgetLimits::default()
    });
    book.expect("a", None);
    book.expect("b", None);
    let own = Allowance {
        tokens: Some(7),
        cost: Some(Dollars::new(1.5)),
    };
    assert_eq!(book.start_with("a", own), Ok(own));
    let half = Allowance {
        tokens: None,
        cost: Some(Dollars::new(0.5)),
    };
    assert_eq!(book.start("b"), Ok(half));
}

#[test]
fn a_call_that_comes_later_finds_something_in_a_scope_of_several() {
    let mut book = Book::of_tokens(400_000);
    book.1 = BudgetScope::new(ScopeKind::Named, "nightly").unwrap();
    assert_eq!(book.start("a"), Ok(tokens(200_000)));
    assert_eq!(book.start("b"), Ok(tokens(100_000)));
}

#[test]
fn runs_and_seconds_are_limited_too() {
    let limits = BudgetLimits {
        runs: Some(1),
        seconds: Some(std::time::Duration::from_mins(1)),
        ..BudgetLimits::default()
    };
    let mut book = Book::new(limits);
    let at = |seconds| Timestamp::from_second(seconds).unwrap();
    let offer = |book: &Book, second| {
        let offer = book
            .0
            .offer(&book.1, &run("b"), Allowance::default(), at(second));
        offer.map_err(|denial| denial.to_string())
    };
    let offered = offer(&book, 0).unwrap();
    assert_eq!(offered.time, Some(std::time::Duration::from_mins(1)));
    book.grant("a", Allowance::default());
    assert_eq!(
        offer(&book, 10),
        Err("the budget of this call is used up (1 of 1 runs)".to_owned())
    );
    assert_eq!(
        offer(&book, 61),
        Err("the budget of this call is used up (61 of 60 s)".to_owned())
    );
}

#[test]
fn descendants_take_from_the_grant_of_their_parent_and_leave_its_last_answer() {
    let mut book = Book::of_tokens(200_000);
    book.expect("a", None);
    book.start("a").unwrap();
    book.spend("a", 30_000);
    book.expect("b", Some("a"));
    // The whole scope is granted to a. A tenth of it is kept for its last answer, and the rest is
    // shared with b.
    assert_eq!(book.start("b"), Ok(tokens(75_000)));
    let stands = |book: &Book, name| book.0.standing(&run(name));
    let of_a = BudgetStanding {
        grant: tokens(200_000),
        free: tokens(125_000),
        spent: used(30_000),
    };
    assert_eq!(stands(&book, "a"), of_a);
    // It needs more, again and again, until only the last answer of a is left.
    while let more @ Allowance {
        tokens: Some(1..150_000),
        ..
    } = book.0.more(&book.1, &run("b"), Allowance::default())
    {
        book.grant("b", more);
    }
    book.grant("b", tokens(150_000));
    book.spend("b", 150_000);
    book.expect("c", Some("a"));
    let over = "the budget of this call is used up (180000 of 200000 tokens)";
    assert_eq!(book.start("c"), Err(over.to_owned()));
    book.close("b");
    assert_eq!(book.start("c"), Err(over.to_owned()));
    // They are counted once, and what is left is the last answer.
    assert_eq!(book.0.spent(), used(180_000));
    assert_eq!(stands(&book, "a").spent, used(180_000));
    assert_eq!(book.0.left(Measure::Tokens), Some(0));
    book.close("a");
    assert_eq!(book.0.left(Measure::Tokens), Some(20_000));
}

#[test]
fn what_a_gone_owner_was_granted_returns() {
    let mut book = Book::of_tokens(100_000);
    book.expect("a", None);
    book.start("a").unwrap();
    book.spend("a", 10_000);
    assert_eq!(book.0.left(Measure::Tokens), Some(0));
    book.0.close_gone(|owner| owner.pid != 1);
    assert_eq!(book.0.left(Measure::Tokens), Some(90_000));
    assert_eq!(book.0.started(), 1);
}

#[test]
fn a_child_can_tighten_a_scope_and_never_lift_it() {
    let limit = |tokens| BudgetLimits {
        tokens: Some(tokens),
        ..BudgetLimits::default()
    };
    let mut book = Book::of_tokens(100);
    let mut open = |limits, from| {
        let before = book.0.limits();
        let changes = book.0.changes(limits, from);
        book.apply(&LedgerEntry::Open { limits, from });
        assert_eq!(changes, before != book.0.limits());
        book.0.limits()
    };
    assert_eq!(open(limit(500), OpenedFrom::Inside), limit(100));
    assert_eq!(
        open(BudgetLimits::default(), OpenedFrom::Inside),
        limit(100)
    );
    assert_eq!(open(limit(50), OpenedFrom::Inside), limit(50));
    assert_eq!(open(limit(500), OpenedFrom::Outside), limit(500));
}

#[test]
fn what_a_person_raises_stays_until_they_name_another_limit() {
    let mut book = Book::of_tokens(100);
    let limit = |tokens| BudgetLimits {
        tokens: Some(tokens),
        cost: Some(Dollars::new(5.0)),
        ..BudgetLimits::default()
    };
    let of_settings = BudgetLimits {
        cost: None,
        ..limit(100)
    };
    book.apply(&LedgerEntry::Raise { limits: limit(500) });
    // Only what is limited is raised.
    let raised = BudgetLimits {
        tokens: Some(500),
        ..BudgetLimits::default()
    };
    assert_eq!(book.0.limits(), raised);
    assert!(!book.0.changes(of_settings, OpenedFrom::Settings));
    book.apply(&LedgerEntry::Open {
        limits: of_settings,
        from: OpenedFrom::Settings,
    });
    assert_eq!(book.0.limits(), raised);
    book.apply(&LedgerEntry::Raise { limits: limit(1) });
    assert_eq!(book.0.limits(), raised);
    assert!(book.0.changes(of_settings, OpenedFrom::Outside));
    book.apply(&LedgerEntry::Open {
        limits: of_settings,
        from: OpenedFrom::Outside,
    });
    assert_eq!(book.0.limits(), of_settings);
}

#[test]
fn a_scope_is_read_from_its_own_name_alone() {
    for bad in ["", "x", "call-", "call-a/b", "day-..", "call"] {
        let read = serde_json::from_value::<BudgetScope>(bad.into());
        assert!(read.is_err(), "{bad}");
    }
    let scope: BudgetScope = serde_json::from_value("named-nightly".into()).unwrap();
    assert_eq!((scope.kind(), scope.name()), (ScopeKind::Named, "nightly"));
}

/// One step of a schedule: a run, and what its next answer consumes.
#[derive(Debug, Clone)]
enum Step {
    Start(usize),
    Answer(usize, u64),
    End(usize),
    Kill(usize),
}

const RUNS: usize = 12;

fn step() -> impl Strategy<Value = Step> {
    let run = 0..RUNS;
    prop_oneof![
        3 => run.clone().prop_map(Step::Start),
        8 => (run.clone(), 0..90_000_u64).prop_map(|(run, size)| Step::Answer(run, size)),
        1 => run.clone().prop_map(Step::End),
        1 => run.prop_map(Step::Kill),
    ]
}

/// A run of the play.
#[derive(Debug, Clone, Copy, Default)]
struct Played {
    has_started: bool,
    is_over: bool,
    /// True while it gives its last answer.
    wraps_up: bool,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever runs answer, end and die, in any order, all of them together spend at most the
    /// limit and, for each run that reached it, the answer that did so. A run that may give a last
    /// answer has used at most a fifth more than it was granted before that.
    #[test]
    fn together_they_spend_at_most_the_limit_and_one_answer_each(
        limit in 0..2_000_000_u64,
        kind in 0..2,
        has_last_answers: bool,
        steps in prop::collection::vec(step(), 1..200),
    ) {
        let mut book = Book::of_tokens(limit);
        if kind == 1 {
            book.1 = BudgetScope::new(ScopeKind::Day, "d").unwrap();
        }
        let mut runs = [Played::default(); RUNS];
        let mut total = 0;
        let mut beyond = 0;
        let name = |number: usize| format!("r{number}");
        for step in steps {
            match step {
                Step::Start(number) if !runs[number].has_started && !runs[number].is_over => {
                    // A third of them is started by the child of another, also of such a one.
                    let parent = (number % 3 != 0).then(|| name(number - 1));
                    book.apply(&LedgerEntry::Expect {
                        run: run(&name(number)),
                        owner: owner(u32::try_from(number).unwrap()),
                        parent: parent.as_deref().map(run),
                    });
                    runs[number].has_started = book.start(&name(number)).is_ok();
                }
                Step::Answer(number, size) if runs[number].has_started && !runs[number].is_over => {
                    total += size;
                    book.spend(&name(number), size);
                    if runs[number].wraps_up {
                        beyond += size;
                        runs[number].is_over = true;
                        book.close(&name(number));
                        continue;
                    }
                    let id = run(&name(number));
                    if book.0.standing(&id).is_near() {
                        let more = book.0.more(&book.1, &id, Allowance::default());
                        book.grant(&name(number), more);
                    }
                    let BudgetStanding { free, spent, .. } = book.0.standing(&id);
                    let free = free.tokens.unwrap();
                    if spent.counted() >= free {
                        beyond += size.min(spent.counted() - free);
                        let is_far = spent.counted() > free + free / 5;
                        runs[number].wraps_up = has_last_answers && !is_far;
                        runs[number].is_over = !runs[number].wraps_up;
                        if runs[number].is_over {
                            book.close(&name(number));
                        }
                    }
                }
                Step::End(number) if runs[number].has_started && !runs[number].is_over => {
                    runs[number].is_over = true;
                    book.close(&name(number));
                }
                Step::Kill(number) if runs[number].has_started && !runs[number].is_over => {
                    runs[number].is_over = true;
                    let gone = u32::try_from(number).unwrap();
                    book.0.close_gone(|owner| owner.pid != gone);
                }
                Step::Start(_) | Step::Answer(..) | Step::End(_) | Step::Kill(_) => {}
            }
        }
        prop_assert_eq!(total, book.0.spent().counted());
        prop_assert!(total <= limit + beyond, "{} of {} and {}", total, limit, beyond);
    }
}
