//! Finds on this machine what a task of another machine needs: its program and its model.

use pi_subagents_vocabulary::{ModelChoice, Runner, RunnerChoice};

use super::definition::Unusable;
use super::model::ChosenModel;
use super::resolver::Resolver;
use crate::runner::ChosenRunner;

/// The parts of a task that belong to the machine on which it is done.
pub struct FoundHere {
    pub runner: Runner,
    pub model: ChosenModel,
    /// The warning about the program that was chosen.
    pub warning: Option<String>,
    /// The warnings about the model.
    pub doubts: Vec<String>,
}

impl Resolver<'_> {
    /// Finds the program of a choice, and checks a model. Fails with the reason why this machine
    /// lacks one of them.
    pub fn find_here(&self, choice: RunnerChoice, model: ModelChoice) -> Result<FoundHere, String> {
        let ChosenRunner {
            runner,
            program: _,
            warning,
        } = self.runners.resolve(choice)?;
        let model = ChosenModel::ordered(model);
        let doubts = self.models.check(&model, runner, None);
        let doubts = doubts.map_err(|why| match why {
            Unusable::Task(refusal) => refusal.message,
            Unusable::Call(error) => error.sentence(),
        })?;
        Ok(FoundHere {
            runner,
            model,
            warning,
            doubts,
        })
    }
}
