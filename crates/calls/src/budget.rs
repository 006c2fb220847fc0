//! The budgets in which the runs of a call count: its own, those of its session and of the day, and
//! those of the run whose child makes the call.

use std::ffi::OsStr;
use std::time::Duration;

use pi_subagents_configuration::BudgetSettings;
use pi_subagents_engine::{BUDGETS, ProcessName};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::random;
use pi_subagents_records::Ledgers;
use pi_subagents_vocabulary::{
    BudgetLimits, BudgetScope, LedgerProblem, OpenedFrom, RunBudgets, RunId, ScopeKind, TimeZone,
    Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::caller::Caller;

/// No run waits longer than this for a person.
const LONGEST_PATIENCE: Duration = Duration::from_hours(7 * 24);

/// The time for which runs wait where a person sees their questions and nobody says another.
const USUAL_PATIENCE: Duration = Duration::from_hours(1);

/// The wishes of a caller about budgets; the settings decide the rest.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BudgetWishes {
    /// The limits of the call or, with a name, of the budget of that name.
    pub limits: BudgetLimits,
    /// The name of a budget that several calls share.
    pub name: Option<String>,
    /// The time for which runs wait until somebody raises a budget that is used up.
    pub patience: Option<Duration>,
    /// The session to which the call belongs, where its door has sessions: the life of an MCP
    /// server.
    pub session: Option<String>,
}

/// The budgets of a call.
#[derive(Debug, Default)]
pub(crate) struct CallBudgets {
    found: Vec<FoundBudget>,
    /// The run whose child makes the call.
    parent: Option<RunId>,
    patience: Duration,
}

/// A budget in which the runs of a call count.
#[derive(Debug)]
struct FoundBudget {
    scope: BudgetScope,
    limits: BudgetLimits,
    /// Who sets these limits; `None` if the budget belongs to the run whose child makes the call:
    /// then it holds as it is.
    set: Option<OpenedFrom>,
}

impl CallBudgets {
    /// Finds the budgets of a call; nothing is written. Fails if a budget cannot be read.
    pub(crate) fn find(
        ledgers: &Ledgers,
        caller: &Caller,
        settings: &BudgetSettings,
        of_call: BudgetLimits,
    ) -> Result<Self, CommandError> {
        let mut budgets = Self::inherited(ledgers, caller)?;
        let wishes = &caller.overrides.budget;
        let mut of_call = of_call;
        if let Some(name) = &wishes.name {
            let scope = scope(ScopeKind::Named, name)?;
            let limits = limits_of_named(ledgers, &scope, settings.session, wishes.limits)?;
            let from = if wishes.limits.is_empty() {
                OpenedFrom::Settings
            } else {
                OpenedFrom::Outside
            };
            budgets.add(scope, limits, from);
        } else {
            of_call = of_call.tightened(wishes.limits);
        }
        let call = random::new_run_id()?;
        budgets.add(
            scope(ScopeKind::Call, call.as_str())?,
            of_call,
            OpenedFrom::Outside,
        );
        if let Some(session) = session_of(caller, wishes) {
            let scope = scope(ScopeKind::Session, &file_name(&session))?;
            budgets.add(scope, settings.session, OpenedFrom::Settings);
        }
        let today = Timestamp::now().to_zoned(TimeZone::system()).date();
        let today = scope(ScopeKind::Day, &today.to_string())?;
        budgets.add(today, settings.day, OpenedFrom::Settings);
        // Nobody can be asked from inside a run.
        let seen = caller.answerers.person.then_some(USUAL_PATIENCE);
        let asks = wishes.patience.or(seen);
        let asks = asks.filter(|_| budgets.parent.is_none());
        budgets.patience = asks.unwrap_or_default().min(LONGEST_PATIENCE);
        Ok(budgets)
    }

    /// Returns the budgets of the run whose child makes the call.
    fn inherited(ledgers: &Ledgers, caller: &Caller) -> Result<Self, CommandError> {
        let Some(value) = caller.places.variables.get(OsStr::new(BUDGETS)) else {
            return Ok(Self::default());
        };
        let value = value.to_string_lossy();
        let wrong = || CommandError::failed(format!("{BUDGETS} names no budgets: {value}"));
        let (run, scopes) = value.split_once(':').ok_or_else(wrong)?;
        let parent = RunId::parse(run).map_err(|_| wrong())?;
        let found = scopes.split(',').map(|name| {
            let scope = BudgetScope::try_from(name.to_owned()).map_err(|_| wrong())?;
            let ledger = ledgers.read(&scope).map_err(|problem| unusable(&problem))?;
            let ledger = ledger.ok_or_else(|| gone(&scope))?;
            Ok(FoundBudget {
                scope,
                limits: ledger.limits(),
                set: None,
            })
        });
        Ok(Self {
            found: found.collect::<Result<_, CommandError>>()?,
            parent: Some(parent),
            patience: Duration::ZERO,
        })
    }

    /// Adds a budget, unless it limits nothing or is there already.
    fn add(&mut self, scope: BudgetScope, limits: BudgetLimits, from: OpenedFrom) {
        let is_there = self.found.iter().any(|found| found.scope == scope);
        if !limits.is_empty() && !is_there {
            self.found.push(FoundBudget {
                scope,
                limits,
                set: Some(match self.parent {
                    Some(_) => OpenedFrom::Inside,
                    None => from,
                }),
            });
        }
    }

    /// Returns what the tightest of them allow.
    pub(crate) fn limits(&self) -> BudgetLimits {
        let all = self.found.iter().map(|found| found.limits);
        all.fold(BudgetLimits::default(), BudgetLimits::tightened)
    }

    /// Returns whether nothing is limited.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns them as the runs of the call get them.
    pub(crate) fn of_runs(&self) -> RunBudgets {
        let scopes = self.found.iter().map(|found| found.scope.clone());
        RunBudgets {
            scopes: scopes.collect(),
            call: self
                .found
                .iter()
                .find(|found| found.scope.kind() == ScopeKind::Call && found.set.is_some())
                .map(|found| found.limits)
                .unwrap_or_default(),
            patience: self.patience,
        }
    }

    /// Opens the budgets that are new, and notes that these runs wait for their turn, so that each
    /// gets its share.
    pub(crate) fn open(&self, ledgers: &Ledgers, runs: &[RunId]) -> Result<(), CommandError> {
        if self.is_empty() || runs.is_empty() {
            return Ok(());
        }
        for FoundBudget { scope, limits, set } in &self.found {
            if let Some(from) = set {
                ledgers
                    .open(scope, *limits, *from)
                    .map_err(|problem| unusable(&problem))?;
            }
        }
        self.expect(ledgers, runs)
    }

    /// Notes that these runs wait for their turn, so that each gets its share.
    pub(crate) fn expect(&self, ledgers: &Ledgers, runs: &[RunId]) -> Result<(), CommandError> {
        if self.is_empty() || runs.is_empty() {
            return Ok(());
        }
        let scopes = self.of_runs().scopes;
        let expected = ledgers.expect(&scopes, runs, self.parent.as_ref());
        expected.map_err(|problem| unusable(&problem))
    }
}

/// Returns the limits of the budget that a caller names: those that they say, else those that it
/// has, else those of the setting.
fn limits_of_named(
    ledgers: &Ledgers,
    scope: &BudgetScope,
    setting: BudgetLimits,
    wished: BudgetLimits,
) -> Result<BudgetLimits, CommandError> {
    let known = ledgers.read(scope).map_err(|problem| unusable(&problem))?;
    let known = known.map(|ledger| ledger.limits()).unwrap_or_default();
    let mut limits = [wished, known, setting].into_iter();
    limits.find(|limits| !limits.is_empty()).ok_or_else(|| {
        CommandError::usage(format!("{scope} has no limit")).hint(
            "Say one, for example --budget-cost 5, or set subagents.budget.session in settings.json.",
        )
    })
}

fn gone(scope: &BudgetScope) -> CommandError {
    CommandError::failed(format!(
        "{scope} is gone, and nothing is started without it"
    ))
}

/// Returns the session in whose budget a call counts. A pi that keeps no session has no id for it;
/// then its host is the session.
fn session_of(caller: &Caller, wishes: &BudgetWishes) -> Option<String> {
    match &caller.pi {
        Some(pi) if pi.session.is_empty() => Some(session_of_this_process()),
        Some(pi) => Some(pi.session.clone()),
        None => wishes.session.clone(),
    }
}

/// Returns the name of the session of this process, for a door whose sessions are processes.
pub fn session_of_this_process() -> String {
    ProcessName::of_this_process().mark()
}

fn scope(kind: ScopeKind, name: &str) -> Result<BudgetScope, CommandError> {
    BudgetScope::new(kind, name)
        .map_err(|error| CommandError::usage(format!("the budget cannot have this name: {error}")))
}

/// Returns the id of a session as a file may be called.
fn file_name(session: &str) -> String {
    let safe = session.chars().map(|letter| {
        let is_safe = letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        if is_safe { letter } else { '_' }
    });
    safe.take(64).collect()
}

/// Fails a call whose budget cannot be kept: what cannot be counted is not started.
fn unusable(problem: &LedgerProblem) -> CommandError {
    CommandError::failed(problem.to_string())
        .hint("Nothing was started. Make the folder subagents-budgets of the agent directory writable, or remove the file that is named.")
}
