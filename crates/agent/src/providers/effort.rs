//! How hard to think, in the words of each wire format and of the servers that depart from it.

use genai::chat::ReasoningEffort;
use serde_json::{Map, Value, json};

use super::Wire;
use crate::models::{Model, ThinkingLevel};

/// Says nothing. Saying nothing at all would let the library look for a level at the end of
/// the model's name, and take it off: `qwen-max` would become `qwen`.
const UNSAID: ReasoningEffort = ReasoningEffort::Budget(0);
/// Tokens that must be left for the answer itself.
const ANSWER_ROOM: u64 = 1024;

/// What a request says about thinking.
#[derive(Debug)]
pub(super) struct Effort {
    /// In the library's words.
    pub(super) level: ReasoningEffort,
    /// Fields of the request that the library does not know.
    pub(super) body: Map<String, Value>,
    /// Whether the thoughts, and what signs them, are asked for.
    pub(super) shows_thoughts: bool,
}

/// The words for `level`; a model that does not think is told nothing.
pub(super) fn effort(wire: Wire, model: &Model, level: ThinkingLevel) -> Effort {
    let nothing = match wire {
        Wire::Completions | Wire::Responses => UNSAID,
        Wire::Messages | Wire::Google => ReasoningEffort::Zero,
    };
    let mut said = Effort {
        level: nothing,
        body: Map::new(),
        shows_thoughts: false,
    };
    if !model.reasoning {
        return said;
    }
    let word = match model.thinking_levels.get(level.name()) {
        // A level the model does not have; for `off` it means that it always thinks.
        Some(None) => return said,
        Some(Some(own)) => own.clone(),
        None => level.name().to_owned(),
    };
    let is_on = level != ThinkingLevel::Off;
    match wire {
        Wire::Completions => completions(&mut said.body, model, &word, is_on),
        Wire::Responses => responses(&mut said, &word, is_on),
        Wire::Messages if is_on => messages(&mut said, model, &word),
        Wire::Google if is_on => {
            said.level = known(&word);
            said.shows_thoughts = true;
        }
        Wire::Google => said.level = UNSAID,
        Wire::Messages => {}
    }
    said
}

fn completions(body: &mut Map<String, Value>, model: &Model, word: &str, is_on: bool) {
    let takes_effort = model.compat.supports_reasoning_effort;
    let state = if is_on { "enabled" } else { "disabled" };
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    match dialect(model) {
        "openrouter" => {
            let effort = if word == "off" { "none" } else { word };
            set("reasoning", json!({"effort": effort}));
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
}

/// Which variant of the chat format a server speaks, where nobody said so.
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

fn responses(said: &mut Effort, word: &str, is_on: bool) {
    let effort = if word == "off" { "none" } else { word };
    let mut reasoning = json!({"effort": effort});
    if is_on {
        reasoning["summary"] = json!("auto");
        let include = json!(["reasoning.encrypted_content"]);
        said.body.insert("include".to_owned(), include);
    }
    said.body.insert("reasoning".to_owned(), reasoning);
    said.shows_thoughts = is_on;
}

fn messages(said: &mut Effort, model: &Model, word: &str) {
    said.shows_thoughts = true;
    if model.compat.force_adaptive_thinking {
        let thinking = json!({"type": "adaptive", "display": "summarized"});
        said.body.insert("thinking".to_owned(), thinking);
        let effort = if word == "minimal" { "low" } else { word };
        said.body
            .insert("output_config".to_owned(), json!({"effort": effort}));
        return;
    }
    said.level = fitting(known(word), model.max_tokens);
}

/// The budgets the library gives to older models must fit into what the model may say.
fn fitting(wanted: ReasoningEffort, max_tokens: Option<u64>) -> ReasoningEffort {
    let room = max_tokens.unwrap_or(u64::MAX).saturating_sub(ANSWER_ROOM);
    let most = budget(&wanted).min(room);
    [wanted, ReasoningEffort::Medium, ReasoningEffort::Low]
        .into_iter()
        .find(|effort| budget(effort) <= most)
        .unwrap_or(ReasoningEffort::Zero)
}

fn budget(effort: &ReasoningEffort) -> u64 {
    match effort {
        ReasoningEffort::Low | ReasoningEffort::Minimal => 1024,
        ReasoningEffort::Medium => 8000,
        _ => 24_000,
    }
}

fn known(word: &str) -> ReasoningEffort {
    match word.to_lowercase().as_str() {
        "minimal" => ReasoningEffort::Minimal,
        "low" => ReasoningEffort::Low,
        "medium" => ReasoningEffort::Medium,
        "xhigh" => ReasoningEffort::XHigh,
        "max" => ReasoningEffort::Max,
        _ => ReasoningEffort::High,
    }
}
