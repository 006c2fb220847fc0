//! The acts of a person at a screen with the queue of a review. Every screen does them here, so that
//! the terminal and the page do the same.

use std::collections::BTreeMap;

use pi_subagents_git::SavedEdits;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_records::{IndexedRun, RunDir};
use pi_subagents_runs::acts::ToDiscard;
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::review::undo::undo;
use pi_subagents_runs::review::{
    AcceptAll, AcceptNews, AcceptReport, ResultsToReturn, ReturnedResult, ReviewGates, ReviewNote,
    WantedParts, note_later, raise_for,
};
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::review::{RiskTier, SentBack};
use pi_subagents_vocabulary::text::{clean, one_line};

use crate::start_from_screen::{ScreenStarter, WantedRun, beside};
use crate::user_variables;

/// The queue of one project, on the desk of a person.
pub struct ReviewDesk<'a> {
    pub places: &'a Places,
    pub index: &'a KnownIndex,
}

/// The results that a person wants to accept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WantedAccept {
    /// These, whatever their risk is; all up to the tier *careful* if none is named.
    pub only: Vec<RunId>,
    /// The gates that the person was asked about; `None` if a screen does not ask.
    pub confirmed: Option<Vec<String>>,
    /// The parts of results that are wanted, by their runs; the others are wanted whole.
    pub parts: BTreeMap<RunId, WantedParts>,
}

impl WantedAccept {
    /// Returns the same with these results and no others.
    #[must_use]
    pub fn only(self, runs: Vec<RunId>) -> Self {
        Self { only: runs, ..self }
    }

    /// Returns the same where a person has said yes to these gates; `None` if nobody was asked.
    #[must_use]
    pub fn confirmed(self, gates: Option<Vec<String>>) -> Self {
        Self {
            confirmed: gates,
            ..self
        }
    }
}

impl ReviewDesk<'_> {
    /// Returns the gate that the settings name for reviews, if they name one.
    pub fn gate(&self) -> Result<Option<String>, CommandError> {
        let configuration = Configuration::read_once(self.places, false);
        configuration.check()?;
        Ok(configuration.settings.review_gate)
    }

    /// Accepts results as far as they stay green, in one step.
    pub fn accept(
        &self,
        wanted: WantedAccept,
        news: &mut dyn FnMut(AcceptNews<'_>),
    ) -> Result<AcceptReport, CommandError> {
        let configuration = Configuration::read_once(self.places, false);
        configuration.check()?;
        let settings = configuration.settings;
        let WantedAccept {
            only,
            confirmed,
            parts,
        } = wanted;
        let gates = if only.is_empty() {
            ReviewGates::Run(settings.review_gate)
        } else {
            ReviewGates::IfAny(settings.review_gate)
        };
        let accepting = AcceptAll {
            places: self.places,
            index: self.index,
            gates,
            up_to: RiskTier::Careful,
            only: (!only.is_empty()).then_some(only),
            parts,
            confirmed,
            worktrees: settings.worktrees,
            variables: user_variables(self.places),
            keys: settings.fleet.nkey.into_iter().collect(),
        };
        accepting.run(news)
    }

    /// Raises the budgets that a run waits for by half, and says what they got. It continues by itself.
    pub fn raise(&self, run: &IndexedRun) -> Result<String, CommandError> {
        raise_for(self.places, run)
    }

    /// Takes the last accept back, and says what came back.
    pub fn undo(&self) -> Result<String, CommandError> {
        let report = undo(self.places, self.index, SavedEdits::Refused)?;
        let lines = [vec![report.line()], report.warnings.clone()].concat();
        Ok(lines.join("\n"))
    }

    /// Discards a result, and says what went.
    pub fn discard(&self, run: IndexedRun) -> Result<String, CommandError> {
        let known = self.index.runs().map_err(find_failure)?;
        let lines = ToDiscard::find(&known, &[vec![run]]).discard().lines()?;
        Ok(lines.join(" "))
    }
}

/// Marks a run as something to look at later, or takes the mark away; says which.
pub fn look_later(run: &IndexedRun) -> Result<String, CommandError> {
    let is_later = note_later(&run.directory)
        .map_err(|error| CommandError::failed("it cannot be marked").because(&error))?;
    let words = if is_later {
        "is for later"
    } else {
        "waits now again"
    };
    Ok(format!("{} {words}", shown(run)))
}

/// Lists a failed run no more.
pub fn dismiss(run: &IndexedRun) -> Result<String, CommandError> {
    let mut note = ReviewNote::read(&run.directory);
    note.is_dismissed = true;
    let written = note.write(&run.directory);
    written.map_err(|error| CommandError::failed("it cannot be dismissed").because(&error))?;
    Ok(format!("{} is listed no more", shown(run)))
}

/// A result that a person sends back.
#[derive(Debug, Clone, PartialEq)]
pub struct Return {
    pub run: IndexedRun,
    /// The words of the person.
    pub sent: SentBack,
    /// The result on whose top it is to be done again.
    pub on: Option<RunId>,
}

/// A result that went back to its sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WentBack {
    /// The run that goes on with it.
    pub run: RunId,
    /// The words for the person.
    pub sentence: String,
}

/// Sends a result back: the checkout as it is now is merged into its directory, and the comments and
/// the note become the next prompt of its session.
pub async fn send_back(starter: &ScreenStarter, back: Return) -> Result<WentBack, CommandError> {
    let Return { run, sent, on } = back;
    let (places, returned) = (starter.places().clone(), run.clone());
    let returned = beside(move || {
        let index = KnownIndex::of(&places);
        let results = ResultsToReturn {
            places: &places,
            index: &index,
        };
        results.find(&returned, on.as_ref())
    })
    .await?;
    let ReturnedResult {
        state,
        worktree,
        on,
    } = returned;
    let (directory, name) = (run.directory.clone(), shown(&run));
    let (run, prompt) = (Box::new(run), sent.prompt(&state));
    let wanted = match worktree {
        Some(worktree) => WantedRun::Returned {
            run,
            prompt,
            worktree: Box::new(worktree),
        },
        None => WantedRun::Resumed { run, prompt },
    };
    let begun = starter.start(wanted).await?;
    note_return(starter.places(), &directory, &begun.run, &on);
    let merged = state.merged.map(|merged| merged.came_in());
    let with = merged.map_or_else(String::new, |came| format!("; came in: {came}"));
    Ok(WentBack {
        run: begun.run,
        sentence: format!("{name} continues in the background with your text{with}"),
    })
}

/// Notes that a result went back, and what the run that goes on stands on. Without the note the next
/// look only does not know.
fn note_return(places: &Places, before: &RunDir, begun: &RunId, on: &[RunId]) {
    let mut note = ReviewNote::read(before);
    note.sent_back += 1;
    _ = note.write(before);
    if on.is_empty() {
        return;
    }
    let runs = KnownIndex::of(places).runs();
    let runs = runs.ok();
    let directory = runs
        .as_ref()
        .and_then(|runs| runs.iter().find(|one| one.run == *begun));
    if let Some(run) = directory {
        let note = ReviewNote {
            on: on.iter().map(RunId::to_string).collect(),
            ..ReviewNote::default()
        };
        _ = note.write(&run.directory);
    }
}

fn shown(run: &IndexedRun) -> String {
    one_line(&clean(&run.name))
}
