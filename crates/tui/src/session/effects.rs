//! Carries out the work that the model wants done.

use pi_subagents_vocabulary::HeldMessages;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use pi_subagents_records::{IndexedRun, history};
use pi_subagents_view::Role;
use pi_subagents_vocabulary::Door;

use super::Session;
use crate::clipboard::copy_sequence;
use crate::message::{Effect, Message, Notice};
use crate::owners;
use crate::results::{self, Listed};
use crate::screen::Screen;
use pi_subagents_calls::acts::StartedRun;
use pi_subagents_calls::start_from_screen::WantedRun;
use pi_subagents_ground::bell;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::find::status_of;
use pi_subagents_runs::workspace::Workspace;

impl Session {
    /// Carries out effects. Returns a break if one of them is to leave.
    pub(super) async fn do_all(&mut self, effects: Vec<Effect>) -> io::Result<ControlFlow<()>> {
        for effect in effects {
            match effect {
                Effect::Leave => return Ok(ControlFlow::Break(())),
                Effect::Pause => self.pause().await?,
                Effect::Copy(text) => Screen::send(&copy_sequence(&text))?,
                Effect::UseMouse(is_used) => Screen::use_mouse(is_used)?,
                Effect::RunsEnded(runs) => {
                    let ended: Vec<(&str, &str)> = runs
                        .iter()
                        .map(|run| (run.name.as_str(), status_of(run).as_str()))
                        .collect();
                    bell::ring_for_ended(&ended);
                }
                effect => self.begin(effect),
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn listed(&self, run: IndexedRun) -> Listed {
        Listed {
            places: self.places.clone(),
            known: Arc::clone(&self.known),
            run,
        }
    }

    /// Begins an effect that takes its time.
    fn begin(&mut self, effect: Effect) {
        match effect {
            Effect::Look => self.pace.look_again(),
            Effect::Steer(run, message) => {
                let steered = owners::steer(self.places.clone(), run, message);
                self.deeds.spawn(async { Message::Finished(steered.await) });
            }
            Effect::Answer(run, question, words) => {
                let answered = owners::answer(self.places.clone(), run, question, words);
                self.deeds
                    .spawn(async { Message::Finished(answered.await) });
            }
            Effect::Stop(run) => {
                let stopped = owners::stop(self.places.clone(), run);
                self.deeds.spawn(async { Message::Finished(stopped.await) });
            }
            Effect::Start(wanted) => {
                let name = name_of(&wanted);
                let starter = self.starter.clone();
                self.deeds
                    .spawn(async move { start_message(&name, starter.start(wanted).await) });
            }
            Effect::ReadAnswer(run, wanted) => {
                self.jobs.spawn_blocking(move || {
                    let answer = history(&run.directory, HeldMessages::LastText)
                        .ok()
                        .and_then(|run| run.output());
                    Message::AnswerRead(run.run, wanted, answer)
                });
            }
            Effect::ReadDefinitions => {
                let starter = self.starter.clone();
                self.jobs
                    .spawn_blocking(move || Message::DefinitionsRead(starter.definitions()));
            }
            Effect::ReadChangedFiles(run) => {
                self.jobs.spawn_blocking(move || {
                    let workspace = Workspace::read(run.directory.path());
                    let files = workspace.and_then(|workspace| workspace.changed_paths());
                    Message::ChangedFilesRead(run.run, files)
                });
            }
            Effect::ReadDiff(run) => {
                let listed = self.listed(run);
                self.jobs.spawn_blocking(move || {
                    let lines = results::diff(&listed);
                    Message::DiffRead(
                        listed.run.run,
                        lines.map_err(|error| error.to_answer(Door::Attach)),
                    )
                });
            }
            Effect::CheckMerge(run) => {
                let listed = self.listed(run);
                self.jobs.spawn_blocking(move || {
                    let fitting = results::check(&listed);
                    Message::MergeChecked(
                        listed.run.run,
                        fitting.map_err(|error| error.to_answer(Door::Attach)),
                    )
                });
            }
            Effect::Merge(run) => {
                let listed = self.listed(run);
                self.deeds
                    .spawn_blocking(move || finished(results::merge_one(&listed)));
            }
            Effect::Discard(run) => {
                let listed = self.listed(run);
                self.deeds
                    .spawn_blocking(move || finished(results::discard_one(&listed)));
            }
            Effect::OpenPage(run) => {
                let opened = (self.open_page)(&run.run, &self.places);
                let words = "The page opens in your browser; pi-subagents web prints its address.";
                let opened = opened.map(|()| Notice::new(Role::Success, words));
                self.jobs.spawn(async { finished(opened) });
            }
            Effect::Leave
            | Effect::Pause
            | Effect::Copy(_)
            | Effect::UseMouse(_)
            | Effect::RunsEnded(_) => {}
        }
    }
}

/// Tells what came of a request.
fn finished(outcome: Result<Notice, CommandError>) -> Message {
    let failed = |error: CommandError| Notice::new(Role::Failed, error.to_answer(Door::Attach));
    Message::Finished(outcome.unwrap_or_else(failed))
}

fn name_of(wanted: &WantedRun) -> String {
    match wanted {
        WantedRun::New { definition, .. } => definition.clone(),
        WantedRun::Resumed { run, .. }
        | WantedRun::Returned { run, .. }
        | WantedRun::Again { run, .. } => run.name.clone(),
    }
}

/// Returns the message about the outcome of a wish for a run.
fn start_message(name: &str, begun: Result<StartedRun, CommandError>) -> Message {
    match begun {
        Ok(begun) => {
            let notice = match begun.warnings.first() {
                None => Notice::new(Role::Success, format!("{name} runs in the background.")),
                Some(warning) => Notice::new(Role::Warning, warning.clone()),
            };
            Message::Began(begun.run, notice)
        }
        Err(error) => Message::Finished(Notice::new(Role::Failed, error.to_answer(Door::Attach))),
    }
}
