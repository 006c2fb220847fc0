//! Finds on this machine what the work of another machine needs: its program and its model.

use pi_subagents_vocabulary::{RunBudgets, Work};

use super::definition::Unusable;
use super::model::ChosenModel;
use super::place::RunPlace;
use super::resolver::Resolver;
use super::sandbox::SandboxOrigin;
use super::task::FoundHere;
use crate::runner::ChosenRunner;

impl Resolver<'_> {
    /// Finds the program for some work, and checks its model. Fails with the reason why this machine
    /// lacks one of them.
    pub fn find_here(&self, work: &Work) -> Result<FoundHere, String> {
        let ChosenRunner {
            runner,
            program: _,
            warning,
        } = self.runners.resolve(work.runner, &[])?;
        let model = ChosenModel::ordered(work.model.clone());
        let doubts = self.models.check(&model, runner, None);
        let doubts = doubts.map_err(|why| match why {
            Unusable::Task(refusal) => refusal.message,
            Unusable::Call(error) => error.sentence(),
        })?;
        let found = self
            .models
            .fallbacks(&work.fallback_models, &work.model, None);
        let found = found.map_err(|refusal| refusal.message)?;
        let mut doubts = doubts;
        doubts.extend(found.doubts);
        Ok(FoundHere {
            runner,
            requested_model: None,
            resolved_model: model.resolved,
            patch: None,
            skills: Vec::new(),
            fallbacks: found.fallbacks,
            api_key: None,
            budgets: RunBudgets::default(),
            place: RunPlace::Checkout,
            sandbox_origin: SandboxOrigin::Chosen,
            warning,
            doubts,
        })
    }
}
