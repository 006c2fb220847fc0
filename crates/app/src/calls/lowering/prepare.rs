//! Resolves everything about a task that can refuse it, before anything is made.

use std::path::PathBuf;

use pi_subagents_delegation::{Program, Refusal, Runner};

use super::asked::{Asked, Family};
use super::model::{ChosenModel, Sources};
use crate::calls::caller::Caller;
use crate::calls::definition_use::{DefinitionUse, Unusable, find_definition, use_definition};
use crate::calls::owner::Owner;
use crate::calls::runner::{ChosenRunner, Runners};
use crate::calls::working_directory::working_directory;
use crate::configuration::Configuration;
use crate::error::CommandError;

/// Lowers the calls of a family for an owner.
pub(crate) struct Lowering<'a> {
    pub(crate) family: Family,
    pub(crate) caller: &'a Caller,
    pub(crate) configuration: &'a Configuration,
    pub(crate) owner: &'a Owner,
}

/// A task whose directory, definition, model and child are known.
pub(crate) struct Prepared {
    pub(crate) cwd: PathBuf,
    pub(crate) runner: Runner,
    pub(crate) program: Program,
    pub(crate) definition: Option<DefinitionUse>,
    pub(crate) model: ChosenModel,
    /// What the caller should know about the program that was chosen.
    pub(crate) warning: Option<String>,
}

impl Lowering<'_> {
    /// Prepares all tasks of a call. Fails only for what fails the call as a whole; whatever is
    /// wrong with a single task refuses that task.
    pub(crate) fn prepare(
        &self,
        tasks: &[Asked<'_>],
    ) -> Result<Vec<Result<Prepared, Refusal>>, CommandError> {
        let runners = Runners::new(self.caller);
        tasks
            .iter()
            .map(|asked| match self.try_prepare(asked, &runners) {
                Ok(prepared) => Ok(Ok(prepared)),
                Err(Unusable::Task(refusal)) => Ok(Err(refusal)),
                Err(Unusable::Call(error)) => Err(error.into()),
            })
            .collect()
    }

    /// What the answer of a call must say beside what its runs tell: what is wrong with settings,
    /// and which definitions of the same names were ignored.
    pub(crate) fn warnings(&self, tasks: &[Asked<'_>]) -> Vec<String> {
        let catalogue = &self.configuration.catalogue;
        // One that is unknown says by itself why.
        let is_used = |name: &str| {
            let mut named = tasks.iter().filter_map(|task| task.definition);
            named.any(|used| used == name) && catalogue.find(name, self.family.asker).is_ok()
        };
        let ignored = catalogue.notices_of(self.caller.door.how_to_trust(), is_used);
        let mut warnings = self.configuration.warnings.clone();
        warnings.extend(ignored);
        warnings
    }

    fn try_prepare(&self, asked: &Asked<'_>, runners: &Runners<'_>) -> Result<Prepared, Unusable> {
        let overrides = &self.caller.overrides;
        let cwd = working_directory(asked.cwd, overrides.cwd.as_deref(), &self.caller.places)
            .map_err(Unusable::Task)?;
        let definition = asked
            .definition
            .map(|name| {
                find_definition(
                    name,
                    self.family.asker,
                    self.configuration,
                    self.caller.door,
                )
            })
            .transpose()
            .map_err(Unusable::Task)?;
        let choice = overrides
            .runner
            .or(definition.and_then(|definition| definition.runner))
            .unwrap_or(self.configuration.settings.runner);
        let ChosenRunner {
            runner,
            program,
            warning,
        } = runners
            .resolve(choice)
            .map_err(|message| Unusable::Task(Refusal { message }))?;
        let wished = asked.model.or(overrides.model.as_deref());
        let model = ChosenModel::choose(Sources {
            wished,
            definition,
            pi: self.caller.pi.as_ref(),
            default_model: self.configuration.settings.default_model.as_deref(),
            runner,
        })
        .map_err(Unusable::Task)?;
        let definition = definition
            .map(|found| use_definition(found, runner, &cwd, (self.caller, self.configuration)))
            .transpose()?;
        Ok(Prepared {
            cwd,
            runner,
            program,
            definition,
            model,
            warning,
        })
    }
}
