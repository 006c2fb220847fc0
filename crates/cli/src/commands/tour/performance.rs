//! The tour of the main job: three sub-agents in worktrees, a gate that fails once, a conflict, a
//! merge and a receipt. Everything is done as the commands do that are named on the screen; only the
//! model is a script.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use pi_subagents_files::read_own_text;
use pi_subagents_git::demand_git;
use pi_subagents_view::{AtEnd, Line, Role, receipt_lines};
use pi_subagents_vocabulary::{Gate, Isolation, RunSummary, Status, Task};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::task::spawn_blocking;

use super::project::{self, GATE, GATED, TASKS};
use super::stage::{PROJECT, Stage};
use super::{Afterwards, Pace, epilogue, overrides};
use crate::commands::answer_output::CallResult;
use crate::commands::call::answer_through;
use crate::commands::merge::{changes_of, print_fit};
use crate::commands::output::print_facts;
use crate::commands::summary::summary_line;
use crate::places::find_places;
use crate::view;
use pi_subagents_calls::Answer;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::families::delegation::DelegateCall;
use pi_subagents_calls::service::CallService;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_ground::signals::Signals;
use pi_subagents_runs::acts;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::merging::{HeldBackFiles, MergeReport, MergedAs, PrintedMerge};
use pi_subagents_runs::typed_ids::TypedIds;

/// The tools that the sub-agents need for their tasks.
const TOOLS: [&str; 5] = ["read", "edit", "write", "bash", "grep"];

/// The log of a gate is not read beyond this.
const LARGEST_LOG: u64 = 64 * 1024;

/// The JSON of a tour that has made a project.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TourResult<'a> {
    /// The directory of the project, if it was kept.
    project: Option<PathBuf>,
    #[serde(flatten)]
    call: CallResult,
    /// The merge of the three results into the checkout.
    merge: PrintedMerge<'a>,
}

pub(super) fn run(
    afterwards: Afterwards,
    printer: Printer<'static>,
) -> Result<ExitCode, CommandError> {
    demand_git().map_err(|error| {
        CommandError::failed(format!("the tour shows worktrees and merges, and {error}"))
            .hint("pi-subagents tour --here shows running sub-agents without git.")
    })?;
    let own = find_places()?;
    let stage = Stage::set_up(&own)?;
    let performance = Performance {
        places: stage.places(&own)?,
        pace: Pace::of(&own, printer),
        printer,
    };
    let played = performance.play()?;
    let left = stage.leave(afterwards).map_err(|error| {
        CommandError::failed("the project of the tour could not be removed").because(&error)
    })?;
    Ok(performance.close(&played, left.as_deref()))
}

/// A tour in its project.
struct Performance {
    places: Places,
    pace: Pace,
    printer: Printer<'static>,
}

/// The end of a performance.
enum Played {
    /// All acts were played.
    Whole { answer: Answer, merged: MergeReport },
    /// A run did not complete, so that there was nothing to show further.
    Broken(Answer),
    /// A signal of this number ended it.
    Interrupted(i32),
}

impl Performance {
    /// Plays all acts. If a signal ends the tour, all its processes are gone when this returns.
    fn play(&self) -> Result<Played, CommandError> {
        block_on(async {
            let mut signals = Signals::listen_to_pause()?;
            let service = CallService::open(&self.places, TASKS.len())?;
            let mut signal = None;
            let played = {
                let acts = self.acts(&service);
                tokio::pin!(acts);
                loop {
                    tokio::select! {
                        played = &mut acts => break played,
                        told = signals.next_signal() => {
                            signal = service.owner.obey(told).await.or(signal);
                        }
                    }
                }
            };
            service.owner.leave().await;
            match signal {
                Some(number) => Ok(Played::Interrupted(number)),
                None => played,
            }
        })
    }

    async fn acts(&self, service: &CallService) -> Result<Played, CommandError> {
        self.opening();
        let answer = self.delegate(service).await?;
        self.show_runs(&answer);
        let is_complete = |(_, run): (&Task, &RunSummary)| run.status() == Status::Completed;
        if !answer.tasks().all(is_complete) {
            return Ok(Played::Broken(answer));
        }
        self.rest(service).await?;
        self.show_gate(&answer);
        let ids = answer.tasks().map(|(task, _)| task.run.to_string());
        let ids: Vec<String> = ids.collect();
        self.rest(service).await?;
        self.check(ids.clone()).await?;
        self.rest(service).await?;
        let merged = self.merge(ids).await?;
        self.rest(service).await?;
        self.show_receipt(&answer);
        Ok(Played::Whole { answer, merged })
    }

    /// Gives a person time to read. Fails if a signal has ended the tour.
    async fn rest(&self, service: &CallService) -> Result<(), CommandError> {
        tokio::select! {
            biased;
            () = service.owner.interrupted() => {
                Err(CommandError::interrupted("the tour was interrupted"))
            }
            () = sleep(self.pace.pause()) => Ok(()),
        }
    }

    fn opening(&self) {
        self.print(
            "A small project was made for this tour. Its files, git, the processes and the checks \
             are real.\nOnly the model is a script, so the tour needs no network and no key.",
        );
        self.act(
            "1. Three sub-agents work at once, each in its own git worktree",
            &project::command(),
        );
    }

    async fn delegate(&self, service: &CallService) -> Result<Answer, CommandError> {
        let call = DelegateCall::new(project::tasks())
            .map_err(|error| CommandError::failed(error.to_string()))?;
        let mut options = overrides(self.pace, &TOOLS);
        options.terms.isolation = Some(Isolation::Worktree);
        options.terms.gates = Some(vec![Gate::new(GATE)]);
        let caller = Caller {
            overrides: options,
            columns: view::live_columns(&self.places),
            ..Caller::at(self.places.clone())
        };
        let configuration = Configuration::read_once(&self.places, false);
        let at_end = AtEnd::Vanish;
        answer_through(service, call, &caller, configuration, self.printer, at_end).await
    }

    fn show_runs(&self, answer: &Answer) {
        for (task, run) in answer.tasks() {
            self.print(&summary_line(task, run));
            for line in run.receipt().iter().flat_map(receipt_lines) {
                self.print(&line);
            }
        }
    }

    /// Shows what the gate printed each time that it was run for the task that it sent back.
    fn show_gate(&self, answer: &Answer) {
        self.heading(&format!(
            "2. The gate sent {GATED} back: it said that it was done, and was not"
        ));
        let mut tasks = answer.tasks().map(|(task, _)| task);
        let directory = tasks
            .find(|task| task.name == GATED)
            .and_then(|task| task.directory.clone());
        for log in ["gate-1.log", "gate-2.log"] {
            let file = directory.as_ref().map(|directory| directory.join(log));
            let text = file.and_then(|file| read_own_text(&file, LARGEST_LOG).ok());
            for line in text.unwrap_or_default().lines() {
                if !line.is_empty() {
                    self.print(&format!("  {line}"));
                }
            }
        }
    }

    async fn check(&self, ids: Vec<String>) -> Result<(), CommandError> {
        self.act(
            "3. Two of the results do not fit together, and the conflict is named",
            &format!("pi-subagents merge {} --check", names()),
        );
        let printer = self.printer;
        self.beside(move |places| {
            let index = KnownIndex::of(places);
            let changes = changes_of(TypedIds::newest(&index, places, printer), &ids)?;
            acts::check(changes, |fit| {
                if !printer.is_json() {
                    print_fit(fit, printer);
                }
            })
        })
        .await
    }

    async fn merge(&self, ids: Vec<String>) -> Result<MergeReport, CommandError> {
        self.act(
            "4. What fits is merged into the checkout, the rest is left out",
            &format!("pi-subagents merge {}", names()),
        );
        let printer = self.printer;
        let merged = self.beside(move |places| {
            let index = KnownIndex::of(places);
            let changes = changes_of(TypedIds::newest(&index, places, printer), &ids)?;
            acts::merge(changes, MergedAs::Changes, HeldBackFiles::Refused)
        });
        let merged = merged.await?;
        for line in merged.lines() {
            self.print(&line);
        }
        Ok(merged)
    }

    fn show_receipt(&self, answer: &Answer) {
        let command = format!("pi-subagents output {GATED} --receipt");
        self.act(
            "5. The receipt has what was seen, not what a model says",
            &command,
        );
        let mut tasks = answer.tasks();
        let receipt = tasks
            .find(|(task, _)| task.name == GATED)
            .and_then(|(_, run)| run.receipt());
        if let Some(receipt) = receipt.filter(|_| !self.printer.is_json()) {
            print_facts(&receipt, &self.places, self.printer);
        }
    }

    /// Runs blocking work on a thread of its own, so that signals are served meanwhile.
    async fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Places) -> Result<T, CommandError> + Send + 'static,
    ) -> Result<T, CommandError> {
        let places = self.places.clone();
        let done = spawn_blocking(move || work(&places)).await;
        done.unwrap_or_else(|error| Err(CommandError::defect("the tour broke off", &error)))
    }

    /// Prints the end of the tour, and returns its exit code. The directory is given if it stays.
    fn close(&self, played: &Played, left: Option<&Path>) -> ExitCode {
        match played {
            Played::Interrupted(number) => {
                self.printer.note(&epilogue::place(left));
                exit::of_signal(*number)
            }
            Played::Broken(answer) => {
                self.printer.note(epilogue::BROKEN);
                exit::of_runs(answer.exit_codes())
            }
            Played::Whole { answer, merged } => {
                if self.printer.is_json() {
                    self.printer.json(&TourResult {
                        project: left.map(|directory| directory.join(PROJECT)),
                        call: CallResult::of(answer, false),
                        merge: merged.printed(),
                    });
                }
                self.heading(&epilogue::place(left));
                self.print(&epilogue::next_steps(left));
                exit::of_runs(answer.exit_codes())
            }
        }
    }

    /// Prints the heading of an act with the command that does it.
    fn act(&self, heading: &str, command: &str) {
        self.heading(heading);
        self.painted(Role::Muted, &format!("$ {command}"));
        self.print("");
    }

    fn heading(&self, heading: &str) {
        self.print("");
        self.painted(Role::Title, heading);
        self.print("");
    }

    fn painted(&self, role: Role, text: &str) {
        if self.printer.is_json() {
            return;
        }
        let sheet = Sheet::of_stdout(&self.places);
        let lines: Vec<Line> = text.lines().map(|line| Line::new(role, line)).collect();
        self.printer.painted(&sheet.text(&lines));
    }

    /// Prints a part of the story. A program gets it as JSON at the end.
    fn print(&self, text: &str) {
        if !self.printer.is_json() {
            self.printer.data(text);
        }
    }
}

async fn sleep(time: Duration) {
    // Even a sleep of no time would wait for the next tick of the timer.
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

/// Returns the names of the tasks, as a person types them.
fn names() -> String {
    TASKS.map(|(name, _)| name).join(" ")
}
