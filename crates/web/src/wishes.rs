//! Does to a run what a person on the page wants.

use pi_subagents_page::{Problem, Wish};
use pi_subagents_records::{IndexedRun, Store};
use pi_subagents_vocabulary::text;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::served::problem;
use pi_subagents_calls::start_from_screen::{Starter, WantedRun};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::acts::{
    self, Addressee, Checkout, Reach, ToDiscard, WantedChanges, in_one_worktree,
};
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::merging::{AddedCopies, MergedAs};

/// Does what a person wants, and says what came of it.
pub(super) async fn fulfil(
    wish: Wish,
    run: IndexedRun,
    places: &Places,
    starter: &dyn Starter,
) -> Result<Value, Problem> {
    let name = text::one_line(&text::clean(&run.name));
    match wish {
        Wish::Steer(message) => {
            let reach = Reach::by_owners(places);
            let steered = acts::steer(&reach, &Addressee::from(run), message).await;
            let steered = steered.map_err(|error| problem(&error))?;
            Ok(said(&steered.sentence()))
        }
        Wish::Stop => {
            let reach = Reach::by_owners(places);
            let stopped = acts::stop(&reach, &Addressee::from(run)).await;
            let stopped = stopped.map_err(|error| problem(&error))?;
            Ok(said(&stopped.note().unwrap_or_else(|| stopped.sentence())))
        }
        Wish::Continue(prompt) => {
            let run = Box::new(run);
            let usual = format!("{name} goes on in the background.");
            start(WantedRun::Resumed { run, prompt }, usual, starter).await
        }
        Wish::Again(model) => {
            let usual = format!("The task of {name} is done again by {model}, in the background.");
            let run = Box::new(run);
            start(WantedRun::Again { run, model }, usual, starter).await
        }
        Wish::Merge => {
            let places = places.clone();
            blocking(move || merged(&places, &run)).await
        }
        Wish::Discard => {
            let store = Store::new(&places.agent_dir);
            blocking(move || discarded(&store, run)).await
        }
    }
}

async fn start(wanted: WantedRun, usual: String, starter: &dyn Starter) -> Result<Value, Problem> {
    let begun = starter.start(wanted).await;
    let begun = begun.map_err(|error| problem(&error))?;
    let message = begun.warnings.first().cloned().unwrap_or(usual);
    Ok(json!({"run": begun.run.as_str(), "message": message}))
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
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method alone is not general enough in its lifetime"
        )]
        acts::check(wanted.find(&each)?, |fit| fit.to_json())
    };
    fits().map_err(|error| problem(&error))
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
    let report = acts::merge(changes, MergedAs::Changes, AddedCopies::Refused)?;
    let is_failed = report.merged_count() == 0;
    let lines = [report.lines(), report.warnings.clone()].concat();
    Ok(json!({"message": lines.join("\n"), "failed": is_failed}))
}

fn discarded(store: &Store, run: IndexedRun) -> Result<Value, CommandError> {
    let known = store.runs().map_err(find_failure)?;
    let lines = ToDiscard::find(&known, &[vec![run]]).discard().lines()?;
    Ok(said(&lines.join("\n")))
}

async fn blocking(
    work: impl FnOnce() -> Result<Value, CommandError> + Send + 'static,
) -> Result<Value, Problem> {
    let done = spawn_blocking(work).await;
    let done = done.map_err(|error| Problem::failed(error.to_string()))?;
    done.map_err(|error| problem(&error))
}

fn said(message: &str) -> Value {
    json!({ "message": message })
}
