//! The thinking level, in the words of each wire format and of the servers that depart from it.

use pi_subagents_vocabulary::ThinkingLevel;
use serde_json::{Map, Value, json};

use super::messages::Claude;
use crate::models::Model;

/// Tokens that must be left for the answer itself.
const ANSWER_ROOM: u64 = 1024;
/// Tokens for thoughts, from little to much, where a format counts them.
const BUDGETS: [u64; 3] = [1024, 8000, 24_000];

/// Returns the model's own word for a level; None if the request does not mention thinking.
fn word(model: &Model, level: ThinkingLevel) -> Option<String> {
    if !model.reasoning {
        return None;
    }
    match model.thinking_levels.get(level.as_str()) {
        // A level the model does not have; for `off` it means that it always thinks.
        Some(own) => own.clone(),
        None => Some(level.as_str().to_owned()),
    }
}

/// Returns the fields of a chat completion that set the thinking level.
pub(super) fn completions(model: &Model, level: ThinkingLevel) -> Map<String, Value> {
    let mut body = Map::new();
    let Some(word) = word(model, level) else {
        return body;
    };
    let is_on = level != ThinkingLevel::Off;
    let takes_effort = model.compat.supports_reasoning_effort;
    let state = if is_on { "enabled" } else { "disabled" };
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    match dialect(model) {
        "openrouter" => {
            set("reasoning", json!({"effort": none_for_off(&word)}));
        }
        "deepseek" => {
            set("thinking", json!({"type": state}));
            if is_on && takes_effort != Some(false) {
                set("reasoning_effort", json!(word));
            }
        }
        "zai" => {
            set("thinking", json!({"type": state}));
            if is_on && takes_effort == Some(true) {
                set("reasoning_effort", json!(word));
            }
        }
        "qwen" => {
            set("enable_thinking", json!(is_on));
        }
        "qwen-chat-template" => {
            set("chat_template_kwargs", json!({"enable_thinking": is_on}));
        }
        "together" => {
            set("reasoning", json!({"enabled": is_on}));
        }
        _ if is_on && takes_effort != Some(false) => {
            set("reasoning_effort", json!(word));
        }
        _ => {}
    }
    body
}

/// Guesses the variant of the chat format of a server, if the configuration does not name it.
fn dialect(model: &Model) -> &str {
    if let Some(named) = &model.compat.thinking_format {
        return named;
    }
    match model.provider.as_str() {
        "openrouter" => "openrouter",
        "deepseek" => "deepseek",
        "together" => "together",
        provider if provider.starts_with("zai") => "zai",
        provider if provider.starts_with("qwen") => "qwen",
        _ => "openai",
    }
}

fn none_for_off(word: &str) -> &str {
    if word == "off" { "none" } else { word }
}

/// Returns the fields of a response that set the thinking level.
pub(super) fn responses(model: &Model, level: ThinkingLevel) -> Map<String, Value> {
    let mut body = Map::new();
    let Some(word) = word(model, level) else {
        return body;
    };
    let mut reasoning = json!({"effort": none_for_off(&word)});
    if level != ThinkingLevel::Off {
        reasoning["summary"] = json!("auto");
        let include = json!(["reasoning.encrypted_content"]);
        body.insert("include".to_owned(), include);
    }
    body.insert("reasoning".to_owned(), reasoning);
    body
}

/// Returns the fields of a message that set the thinking level.
pub(super) fn messages(model: &Model, level: ThinkingLevel) -> Map<String, Value> {
    let claude = Claude::named(&model.id);
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    let word = word(model, level).filter(|_| level != ThinkingLevel::Off);
    let Some(word) = word else {
        if claude.thinks_unasked() {
            set("thinking", json!({"type": "disabled"}));
        }
        return body;
    };
    let is_forced = model.compat.force_adaptive_thinking;
    if is_forced || claude.takes_effort() {
        let effort = match word.as_str() {
            "minimal" => "low",
            "xhigh" if !is_forced && !claude.takes_xhigh() => "high",
            "max" if !is_forced && !claude.is_adaptive() => "high",
            word => word,
        };
        set("output_config", json!({"effort": effort}));
        if is_forced || claude.is_adaptive() {
            set(
                "thinking",
                json!({"type": "adaptive", "display": "summarized"}),
            );
        }
    } else if let Some(budget) = fitting(&word, model.max_tokens) {
        set(
            "thinking",
            json!({"type": "enabled", "budget_tokens": budget}),
        );
    } else if claude.thinks_unasked() {
        set("thinking", json!({"type": "disabled"}));
    }
    body
}

/// Returns the largest budget for thoughts that a word allows and that leaves room for the answer.
fn fitting(word: &str, max_tokens: Option<u64>) -> Option<u64> {
    let room = max_tokens.unwrap_or(u64::MAX).saturating_sub(ANSWER_ROOM);
    let wanted = budget(word);
    let smaller = BUDGETS.into_iter().rev();
    smaller
        .filter(|budget| *budget <= wanted)
        .find(|budget| *budget <= room)
}

fn budget(word: &str) -> u64 {
    match word.to_lowercase().as_str() {
        "minimal" | "low" => BUDGETS[0],
        "medium" => BUDGETS[1],
        _ => BUDGETS[2],
    }
}

/// Returns how hard Google's models are to think; None leaves it out of the request.
pub(super) fn google(model: &Model, level: ThinkingLevel) -> Option<Value> {
    let word = word(model, level)?;
    let names_levels = ["gemini-3", "gemma-4"];
    let names_levels = names_levels.iter().any(|name| model.id.contains(name));
    match (level != ThinkingLevel::Off, names_levels) {
        (true, true) => {
            let level = match word.to_lowercase().as_str() {
                known @ ("minimal" | "low" | "medium") => known.to_uppercase(),
                _ => "HIGH".to_owned(),
            };
            Some(json!({"thinkingLevel": level, "includeThoughts": true}))
        }
        // Google's own number for a little.
        (true, false) => {
            let budget = budget(&word);
            let budget = if budget == BUDGETS[0] { 1000 } else { budget };
            Some(json!({"thinkingBudget": budget, "includeThoughts": true}))
        }
        (false, true) => None,
        (false, false) => Some(json!({"thinkingBudget": 0})),
    }
}
