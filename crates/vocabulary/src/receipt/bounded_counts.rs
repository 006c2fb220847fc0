//! Bounded counts: names come from models, which may invent as many as they like.

use std::collections::BTreeMap;

use super::SeenModel;
use crate::{AssistantMessage, Usage, text};

/// The number of tool names that are kept.
const MAX_TOOLS: usize = 50;

/// The name under which all further tools are counted.
const OTHER_TOOLS: &str = "(others)";

/// The number of models that are kept.
const MAX_MODELS: usize = 20;

/// The number of characters of a name that are kept.
const MAX_NAME: usize = 100;

/// Counts a call of a tool.
pub(super) fn count_tool(tools: &mut BTreeMap<String, usize>, name: &str) {
    let name = text::cut_characters(name, MAX_NAME);
    let is_full = tools.len() >= MAX_TOOLS && !tools.contains_key(&name);
    let name = if is_full {
        OTHER_TOOLS.to_owned()
    } else {
        name
    };
    *tools.entry(name).or_default() += 1;
}

/// Counts an answer for the model that gave it.
pub(super) fn count_answer(models: &mut Vec<(SeenModel, Usage)>, answer: &AssistantMessage) {
    add_usage(models, answer, 1);
}

/// Counts the tokens of a request that got no answer, if the model counted any.
pub(super) fn count_failure(models: &mut Vec<(SeenModel, Usage)>, answer: &AssistantMessage) {
    if answer.usage.total() > 0 {
        add_usage(models, answer, 0);
    }
}

/// Lists a model that could not be asked, by its name with its provider.
pub(super) fn name_model(models: &mut Vec<(SeenModel, Usage)>, full: &str) {
    let (provider, model) = match full.split_once('/') {
        Some((provider, model)) => (Some(provider.to_owned()), model),
        None => (None, full),
    };
    let unheard = AssistantMessage {
        provider,
        model: Some(text::cut_characters(model, MAX_NAME)),
        ..AssistantMessage::default()
    };
    add_usage(models, &unheard, 0);
}

fn add_usage(models: &mut Vec<(SeenModel, Usage)>, answer: &AssistantMessage, answers: usize) {
    let is_its = |(seen, _): &&mut (SeenModel, Usage)| {
        seen.provider == answer.provider && seen.model == answer.model
    };
    if let Some((seen, usage)) = models.iter_mut().find(is_its) {
        seen.answers += answers;
        *usage += answer.usage;
    } else if models.len() < MAX_MODELS {
        let seen = SeenModel {
            provider: answer.provider.clone(),
            model: answer.model.clone(),
            answers,
            ..SeenModel::default()
        };
        models.push((seen, answer.usage));
    }
}

/// Returns the models with the usage of their answers.
pub(super) fn with_usage(models: &[(SeenModel, Usage)]) -> Vec<SeenModel> {
    let with_usage = models.iter().map(|(seen, usage)| SeenModel {
        tokens: usage.total(),
        cost: usage.cost.filter(|_| !usage.cost_is_at_least),
        ..seen.clone()
    });
    with_usage.collect()
}
