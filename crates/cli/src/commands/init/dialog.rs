//! Asks a person about each proposal, and does what they agree to.

use std::collections::HashSet;
use std::process::ExitCode;

use pi_subagents_definition_commands::ask::{DialogEnd, Person, nothing_written};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;

use super::journal::{FileChange, Journal};
use super::proposals::{Action, InitPlan, Proposal};
use super::survey::Survey;
use super::{page, test_call, tilde};

/// The exit code that shells use for a command that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// A walk through the proposals.
pub(super) struct Dialog<'a> {
    pub(super) person: &'a dyn Person,
    pub(super) places: &'a Places,
    pub(super) journal: &'a Journal,
    pub(super) printer: Printer<'a>,
}

/// What was done so far.
#[derive(Default)]
struct Progress {
    has_changed: bool,
    has_client: bool,
    has_failed: bool,
}

impl Dialog<'_> {
    /// Asks about one proposal after the other. What fails does not keep the others from being asked.
    /// What was agreed to may change a file that a later proposal is about, so the plan is made again.
    pub(super) fn lead(&self, mut survey: Survey) -> Result<ExitCode, CommandError> {
        let mut plan = InitPlan::of(&survey);
        self.printer.data(&page::beginning(&plan));
        let (mut asked, mut progress) = (HashSet::new(), Progress::default());
        while let Some(proposal) = plan
            .proposals
            .iter()
            .find(|proposal| !asked.contains(&proposal.title))
        {
            asked.insert(proposal.title.clone());
            match self.is_wanted(proposal) {
                Ok(false) => {}
                Ok(true) => {
                    self.act(proposal, &mut progress);
                    survey.look_at_settings(self.places);
                    plan = InitPlan::of(&survey);
                }
                Err(DialogEnd::Interrupted) => {
                    self.close(&plan, &progress);
                    return Ok(ExitCode::from(INTERRUPTED));
                }
                Err(DialogEnd::Failed(error)) => return Err(error),
            }
        }
        self.close(&plan, &progress);
        Ok(ExitCode::from(u8::from(progress.has_failed)))
    }

    fn is_wanted(&self, proposal: &Proposal) -> Result<bool, DialogEnd> {
        self.person.show(&page::shown(proposal))?;
        let answer = self.person.yes(&proposal.question, false)?;
        Ok(answer.unwrap_or(false))
    }

    fn act(&self, proposal: &Proposal, progress: &mut Progress) {
        let done = match &proposal.action {
            Action::TestCall(model) => {
                let answer = test_call::ask(model, self.places);
                answer.map(|sentence| self.printer.note(&sentence))
            }
            Action::Install(install) => {
                let installed = install.run(self.journal, self.places);
                installed.map(|()| {
                    progress.has_changed = true;
                    self.printer
                        .note("pi has the package. It counts from the next start of pi.");
                })
            }
            Action::Write {
                files,
                advice,
                is_client,
            } => self.write(files).map(|()| {
                progress.has_changed = true;
                progress.has_client |= is_client;
                if let Some(advice) = advice {
                    self.printer.note(advice);
                }
            }),
        };
        if let Err(error) = done {
            progress.has_failed = true;
            self.printer.fail(&error);
        }
    }

    fn write(&self, files: &[FileChange]) -> Result<(), CommandError> {
        for change in files {
            let shown = tilde(&change.path, &self.places.home);
            let written = self.journal.write(change, &self.places.home);
            written.map_err(|error| {
                CommandError::failed(format!("{shown} was not written"))
                    .because(&error)
                    .hint("To look again and be asked again: pi-subagents init")
            })?;
            self.printer.note(&format!("Wrote {shown}."));
        }
        Ok(())
    }

    fn close(&self, plan: &InitPlan, progress: &Progress) {
        self.printer.note("");
        if !progress.has_changed {
            nothing_written(self.printer);
            return;
        }
        if let Some(advice) = &plan.client_advice
            && progress.has_client
        {
            self.printer.note(advice);
        }
        self.printer
            .note("To check everything: pi-subagents doctor\nTo take all of it back: pi-subagents init --undo");
    }
}
