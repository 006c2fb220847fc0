//! Refuses a task whose cost is limited and whose model has no known price: the limit would hold
//! nothing back.

use pi_subagents_agent::AskedModel;
use pi_subagents_vocabulary::{BudgetLimits, Refusal};

use super::model_check::asked;
use super::resolver::Resolver;
use super::task::{ResolvedTask, ResolvedWork};
use crate::first_requests::{FirstRequest, PricedRequest};

impl Resolver<'_> {
    /// Checks that a limit of cost can be kept for a task, in budgets with these limits. If tokens
    /// are limited too, the task runs under that limit and its caller is told.
    pub(crate) fn check_price(&self, task: &mut ResolvedTask, budgets: &BudgetLimits) {
        let Ok(work) = &mut task.work else {
            return;
        };
        let own = work.work.limits.allowance;
        let is_cost_limited = own.cost.or(budgets.cost).is_some();
        if !is_cost_limited {
            return;
        }
        let unpriced = self.unpriced(work);
        let Some(model) = unpriced.first() else {
            return;
        };
        if own.tokens.or(budgets.tokens).is_some() {
            work.here.doubts.push(format!(
                "the price of {model} is not known, so only the limit of tokens holds"
            ));
            return;
        }
        let (provider, id) = model.split_once('/').unwrap_or(("PROVIDER", model));
        let message = format!(
            "The price of {model} is not known, so its cost cannot be limited. Limit tokens, for example with --max-tokens 500k, or say the price in models.json: \"providers\": {{\"{provider}\": {{\"models\": [{{\"id\": \"{id}\", \"cost\": {{\"input\": 0, \"output\": 0, \"cacheRead\": 0, \"cacheWrite\": 0}}}}]}}}}"
        );
        task.work = Err(Refusal { message });
    }

    /// Prices the first request of a task, as far as its model is known.
    pub(crate) fn priced(
        &self,
        request: FirstRequest,
        task: &ResolvedTask,
        work: &ResolvedWork,
    ) -> PricedRequest {
        let named = asked(&work.work.model);
        let default = self.configuration.settings.default_model.as_deref();
        let is_named = named.provider.is_some() || named.model.is_some();
        // A conversation has its own model.
        let of_conversation = request.earlier.as_ref().and_then(|part| part.model.clone());
        let unnamed = of_conversation.or_else(|| default.map(str::to_owned));
        let unnamed = unnamed.filter(|_| !is_named);
        let known = work.here.resolved_model.clone();
        let model = known.or_else(|| unnamed.clone());
        let asked = AskedModel {
            model: named.model.or(unnamed.as_deref()),
            ..named
        };
        let is_known = asked.provider.is_some() || asked.model.is_some();
        request.priced(&task.request.name, model, |tokens| {
            let catalogue = is_known.then(|| self.models.catalogue())?;
            catalogue.sending_cost(asked, tokens)
        })
    }

    /// Returns the names of the models of a task that have no known price, those that may take over
    /// too. A model that the child chooses by itself is not known here.
    fn unpriced(&self, work: &ResolvedWork) -> Vec<String> {
        let default = self.configuration.settings.default_model.as_deref();
        let first = self.models.unpriced(&work.work.model, default);
        let others = work.here.fallbacks.iter().flat_map(|found| &found.others);
        let others = others.filter_map(|other| {
            let name = &other.model;
            let asked = AskedModel {
                provider: Some(&name.provider),
                model: Some(&name.id),
            };
            self.models.unpriced_model(asked)
        });
        first.into_iter().chain(others).collect()
    }
}
