//! Does to a run what a person on the page wants.

use pi_subagents_calls::start_from_screen::WantedRun;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_records::{IndexedRun, Store};
use pi_subagents_runs::acts::{
    self, Addressee, Checkout, Reach, ToDiscard, WantedChanges, in_one_worktree,
};
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::merging::{HeldBackFiles, MergedAs};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::answers::ServedRuns;
use super::problem::Problem;
use super::rows::clean_name;

impl ServedRuns {
    /// Sends a run a message, which it gets before its next turn.
    pub(crate) async fn steer(&self, run: String, message: String) -> Result<Value, Problem> {
        let run = self.wanted(run).await?;
        let reach = Reach::by_owners(&self.places);
        let steered = acts::steer(&reach, &Addressee::from(run), message).await?;
        Ok(message_json(&steered.sentence()))
    }

    /// Ends a run now, with all its processes.
    pub(crate) async fn stop(&self, run: String) -> Result<Value, Problem> {
        let run = self.wanted(run).await?;
        let reach = Reach::by_owners(&self.places);
        let stopped = acts::stop(&reach, &Addressee::from(run)).await?;
        Ok(message_json(
            &stopped.note().unwrap_or_else(|| stopped.sentence()),
        ))
    }

    /// Continues the session of a run with a prompt.
    pub(crate) async fn go_on(&self, run: String, prompt: String) -> Result<Value, Problem> {
        let run = Box::new(self.wanted(run).await?);
        let usual = format!("{} continues in the background.", clean_name(&run.name));
        self.start(WantedRun::Resumed { run, prompt }, usual).await
    }

    /// Starts a new run that does the same task with a model.
    pub(crate) async fn again(&self, run: String, model: String) -> Result<Value, Problem> {
        let run = Box::new(self.wanted(run).await?);
        let name = clean_name(&run.name);
        let usual = format!("The task of {name} is done again by {model}, in the background.");
        self.start(WantedRun::Again { run, model }, usual).await
    }

    /// Puts the changes of a run into the checkout that it was started in.
    pub(crate) async fn merge(&self, run: String) -> Result<Value, Problem> {
        let run = self.wanted(run).await?;
        let places = self.places.clone();
        let merged = spawn_blocking(move || merged(&places, &run)).await?;
        self.board.look_at_results();
        Ok(merged?)
    }

    /// Removes the worktree of a run, with what it has changed there.
    pub(crate) async fn discard(&self, run: String) -> Result<Value, Problem> {
        let run = self.wanted(run).await?;
        let store = Store::new(&self.places.agent_dir);
        let discarded = spawn_blocking(move || discarded(&store, run)).await?;
        self.board.look_at_results();
        Ok(discarded?)
    }

    pub(super) async fn wanted(&self, run: String) -> Result<IndexedRun, Problem> {
        let this = self.clone();
        spawn_blocking(move || this.one(&run)).await?
    }

    pub(super) async fn start(&self, wanted: WantedRun, usual: String) -> Result<Value, Problem> {
        let begun = self.starter.start(wanted).await?;
        let message = begun.warnings.first().cloned().unwrap_or(usual);
        Ok(json!({"run": begun.run.as_str(), "message": message}))
    }
}

/// Says which results fit the checkout that their runs were started in.
pub(super) fn fits(places: &Places, runs: &[IndexedRun]) -> Result<Value, Problem> {
    let fits = || {
        if runs.is_empty() {
            return Err(CommandError::usage("no run was named"));
        }
        let known = Store::new(&places.agent_dir).runs().map_err(find_failure)?;
        let wanted = WantedChanges {
            places,
            known: &known,
            checkout: Checkout::OfRun,
        };
        let each: Vec<_> = runs
            .iter()
            .map(|run| in_one_worktree(run, &known))
            .collect();
        acts::check(wanted.find(&each)?, |fit| json!(fit.printed()))
    };
    fits().map_err(Problem::from)
}

/// Merges a result into the checkout that its run was started in.
fn merged(places: &Places, run: &IndexedRun) -> Result<Value, CommandError> {
    let known = Store::new(&places.agent_dir).runs().map_err(find_failure)?;
    let wanted = WantedChanges {
        places,
        known: &known,
        checkout: Checkout::OfRun,
    };
    let changes = wanted.find(&[in_one_worktree(run, &known)])?;
    let report = acts::merge(changes, MergedAs::Changes, HeldBackFiles::Refused)?;
    let is_failed = report.merged_count() == 0;
    let lines = [report.lines(), report.warnings.clone()].concat();
    Ok(json!({"message": lines.join("\n"), "failed": is_failed}))
}

fn discarded(store: &Store, run: IndexedRun) -> Result<Value, CommandError> {
    let known = store.runs().map_err(find_failure)?;
    let lines = ToDiscard::find(&known, &[vec![run]]).discard().lines()?;
    Ok(message_json(&lines.join("\n")))
}

fn message_json(message: &str) -> Value {
    json!({ "message": message })
}
