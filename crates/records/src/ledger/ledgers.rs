//! All ledgers of a user, and the acts of runs on several of them at once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use pi_subagents_files as files;
use pi_subagents_os::{Machine as _, ProcessName, System};
use pi_subagents_vocabulary::{
    Allowance, BudgetDenial, BudgetLimits, BudgetScope, BudgetStanding, GrantError, Ledger,
    LedgerEntry, LedgerOwner, LedgerProblem, Offer, OpenedFrom, RunId, Timestamp, Treasurer, Usage,
};

use super::file::{HeldLedger, KnownLedger};

/// The ledgers of a user, for one process that owns runs.
#[derive(Debug)]
pub struct Ledgers {
    folder: PathBuf,
    known: Mutex<HashMap<BudgetScope, KnownLedger>>,
}

/// One ledger that nobody else writes to.
struct Held<'a> {
    scope: &'a BudgetScope,
    known: KnownLedger,
    file: HeldLedger,
}

impl Ledgers {
    /// Finds the ledgers of an agent directory; nothing is made before something is written.
    pub fn of(agent_dir: &Path) -> Self {
        Self {
            folder: agent_dir.join("subagents-budgets"),
            known: Mutex::default(),
        }
    }

    /// Sets the limits of a scope, which is made if it is not there, and returns those that hold.
    pub fn open(
        &self,
        scope: &BudgetScope,
        limits: BudgetLimits,
        from: OpenedFrom,
    ) -> Result<BudgetLimits, LedgerProblem> {
        self.act(std::slice::from_ref(scope), |held| {
            let [held] = held else {
                return Ok(limits);
            };
            if held.known.ledger.changes(limits, from) {
                held.add(&[LedgerEntry::Open { limits, from }])?;
            }
            Ok(held.known.ledger.limits())
        })
    }

    /// Raises the limits of a scope to at least these, and returns those that hold. Runs that wait
    /// for that see it when they look next.
    pub fn raise(
        &self,
        scope: &BudgetScope,
        limits: BudgetLimits,
    ) -> Result<BudgetLimits, LedgerProblem> {
        self.act(std::slice::from_ref(scope), |held| {
            let [held] = held else {
                return Ok(limits);
            };
            held.add(&[LedgerEntry::Raise { limits }])?;
            Ok(held.known.ledger.limits())
        })
    }

    /// Notes runs that wait for their turn, so that each gets its share.
    pub fn expect(
        &self,
        scopes: &[BudgetScope],
        runs: &[RunId],
        parent: Option<&RunId>,
    ) -> Result<(), LedgerProblem> {
        let owner = this_owner();
        let entries: Vec<_> = runs
            .iter()
            .map(|run| LedgerEntry::Expect {
                run: run.clone(),
                owner: owner.clone(),
                parent: parent.cloned(),
            })
            .collect();
        self.act(scopes, |held| {
            held.iter_mut().try_for_each(|held| held.add(&entries))
        })
    }

    /// Reads one ledger, with the runs of owners that are gone closed; `None` if there is none.
    pub fn read(&self, scope: &BudgetScope) -> Result<Option<Ledger>, LedgerProblem> {
        let mut known = KnownLedger::default();
        match known.read_on(&self.path(scope)) {
            Ok(_) => {
                known.ledger.close_gone(is_alive);
                Ok(Some(known.ledger))
            }
            Err(error) if files::is_absent(&error) => Ok(None),
            Err(error) => Err(problem(scope, &error)),
        }
    }

    /// Returns all scopes that have a ledger, the latest first.
    pub fn scopes(&self) -> Vec<BudgetScope> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut found: Vec<_> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let scope = name.strip_suffix(".jsonl")?.to_owned();
                let changed = entry.metadata().and_then(|file| file.modified()).ok()?;
                Some((changed, BudgetScope::try_from(scope).ok()?))
            })
            .collect();
        found.sort();
        found.into_iter().rev().map(|(_, scope)| scope).collect()
    }

    fn path(&self, scope: &BudgetScope) -> PathBuf {
        self.folder.join(format!("{}.jsonl", scope.as_str()))
    }

    /// Holds the ledgers of all scopes, in one order for all processes, while something is decided.
    fn act<T, E: From<LedgerProblem>>(
        &self,
        scopes: &[BudgetScope],
        decide: impl FnOnce(&mut [Held<'_>]) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sorted: Vec<_> = scopes.iter().collect();
        sorted.sort();
        sorted.dedup();
        let mut held = Vec::new();
        for scope in sorted {
            let known = all.remove(scope).unwrap_or_default();
            held.push(self.hold(scope, known)?);
        }
        let decided = decide(&mut held);
        if decided.is_ok() {
            let known = held
                .into_iter()
                .map(|held| (held.scope.clone(), held.known));
            all.extend(known);
        }
        decided
    }

    fn hold<'a>(
        &self,
        scope: &'a BudgetScope,
        mut known: KnownLedger,
    ) -> Result<Held<'a>, LedgerProblem> {
        // Without the directory there is no file either, and that error names it.
        _ = files::create_directories(&self.folder);
        let file = HeldLedger::hold(&self.path(scope), &mut known);
        let file = file.map_err(|error| problem(scope, &error))?;
        known.ledger.close_gone(is_alive);
        Ok(Held { scope, known, file })
    }
}

impl Held<'_> {
    fn add(&mut self, entries: &[LedgerEntry]) -> Result<(), LedgerProblem> {
        let added = self.file.add(&mut self.known, entries);
        added.map_err(|error| problem(self.scope, &error))
    }

    fn grant(&mut self, run: &RunId, grant: Allowance) -> Result<(), LedgerProblem> {
        let mut entries = Vec::new();
        if self.known.ledger.account_of(run).is_none() {
            // Nobody has announced it: without an owner it would count as closed.
            entries.push(LedgerEntry::Expect {
                run: run.clone(),
                owner: this_owner(),
                parent: None,
            });
        }
        entries.push(LedgerEntry::Grant {
            run: run.clone(),
            at: Timestamp::now(),
            grant,
        });
        self.add(&entries)
    }
}

impl Treasurer for Ledgers {
    fn raise_to(&self, scope: &BudgetScope, limits: BudgetLimits) -> Result<(), LedgerProblem> {
        self.raise(scope, limits).map(drop)
    }

    fn grant(
        &self,
        scopes: &[BudgetScope],
        run: &RunId,
        own: Allowance,
    ) -> Result<Offer, GrantError> {
        self.act(scopes, |held| {
            let mut offer = Offer {
                grant: own,
                time: None,
            };
            for held in held.iter() {
                let ledger = &held.known.ledger;
                offer = offer.and(ledger.offer(held.scope, run, own, Timestamp::now())?);
            }
            for held in held {
                held.grant(run, offer.grant)?;
            }
            Ok(offer)
        })
    }

    fn spend(
        &self,
        scopes: &[BudgetScope],
        run: &RunId,
        own: Allowance,
        usage: Usage,
    ) -> Result<BudgetStanding, LedgerProblem> {
        self.act(scopes, |held| {
            let run_name = run.clone();
            let spend = [LedgerEntry::Spend {
                run: run_name,
                usage,
            }];
            for held in held.iter_mut() {
                held.add(&spend)?;
            }
            renewed(held, run, own)
        })
    }

    fn look(
        &self,
        scopes: &[BudgetScope],
        run: &RunId,
        own: Allowance,
    ) -> Result<BudgetStanding, LedgerProblem> {
        self.act(scopes, |held| renewed(held, run, own))
    }

    fn used_up(
        &self,
        scopes: &[BudgetScope],
        run: &RunId,
    ) -> Result<Option<BudgetDenial>, LedgerProblem> {
        self.act(scopes, |held| {
            let mut denials = held
                .iter()
                .filter_map(|held| held.known.ledger.used_up(held.scope, run));
            Ok(denials.next())
        })
    }

    fn close(&self, scopes: &[BudgetScope], run: &RunId) -> Result<(), LedgerProblem> {
        let close = [LedgerEntry::Close { run: run.clone() }];
        self.act(scopes, |held| {
            held.iter_mut().try_for_each(|held| held.add(&close))
        })
    }
}

/// Returns where a run stands, and grants it more if it needs more and there is more.
fn renewed(
    held: &mut [Held<'_>],
    run: &RunId,
    own: Allowance,
) -> Result<BudgetStanding, LedgerProblem> {
    let now = standing(held, run);
    if !now.is_near() {
        return Ok(now);
    }
    let more = held
        .iter()
        .map(|held| held.known.ledger.more(held.scope, run, own));
    let grant = more.reduce(Allowance::tightened).unwrap_or(now.grant);
    if grant == now.grant {
        return Ok(now);
    }
    for held in held.iter_mut() {
        held.grant(run, grant)?;
    }
    Ok(standing(held, run))
}

/// Returns where a run stands in the tightest of its scopes.
fn standing(held: &[Held<'_>], run: &RunId) -> BudgetStanding {
    let all = held.iter().map(|held| held.known.ledger.standing(run));
    let tightest = all.reduce(|one, other| BudgetStanding {
        grant: one.grant.tightened(other.grant),
        free: one.free.tightened(other.free),
        spent: if one.spent.counted() < other.spent.counted() {
            other.spent
        } else {
            one.spent
        },
    });
    tightest.unwrap_or_default()
}

fn problem(scope: &BudgetScope, error: &io::Error) -> LedgerProblem {
    LedgerProblem {
        scope: scope.clone(),
        reason: error.to_string(),
    }
}

fn this_owner() -> LedgerOwner {
    let process = ProcessName::of_this_process();
    LedgerOwner {
        pid: process.pid,
        start_time: process.start_time,
        host: System::host(),
        since: Timestamp::now(),
    }
}

/// Returns whether an owner is still there. An owner on another machine counts as alive for a day,
/// because this machine cannot know.
fn is_alive(owner: &LedgerOwner) -> bool {
    if owner.host != System::host() {
        return Timestamp::now().duration_since(owner.since).as_hours() < 24;
    }
    ProcessName {
        pid: owner.pid,
        start_time: owner.start_time,
    }
    .is_alive()
}
