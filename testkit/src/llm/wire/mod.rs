//! The four wire formats.

mod anthropic;
mod chat;
mod google;
mod responses;

use serde_json::Value;

use super::state::Request;
use super::turn::Turn;

/// A fixed time for everything that carries a time, in seconds.
const CREATED: u64 = 1_763_000_000;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    /// OpenAI chat completions.
    Chat,
    /// OpenAI responses.
    Responses,
    /// Anthropic messages.
    Anthropic,
    /// Google generative AI.
    Google,
}

/// A turn, the model it was asked of and the number of the request, which makes ids unique.
#[derive(Debug)]
pub(super) struct Exchange<'a> {
    pub(super) turn: &'a Turn,
    pub(super) model: &'a str,
    pub(super) number: usize,
}

impl Exchange<'_> {
    /// Returns the id of a tool call, by its place in the turn.
    fn call_id(&self, index: usize) -> String {
        format!("call_{}_{}", self.number, index + 1)
    }
}

impl Wire {
    /// Tells the format by the end of the path.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let (path, _query) = path.split_once('?').unwrap_or((path, ""));
        let (_, last) = path.rsplit_once('/')?;
        match last {
            "completions" => Some(Self::Chat),
            "responses" => Some(Self::Responses),
            "messages" => Some(Self::Anthropic),
            _ if last.contains(":streamGenerateContent") => Some(Self::Google),
            _ if last.contains(":generateContent") => Some(Self::Google),
            _ => None,
        }
    }

    /// Returns the model that was asked for.
    pub(super) fn model(self, request: &Request) -> String {
        match self {
            Self::Google => google::model(&request.path),
            Self::Chat | Self::Responses | Self::Anthropic => {
                text_of(&request.body["model"]).to_owned()
            }
        }
    }

    /// Returns whether the answer is to be streamed.
    pub(super) fn wants_stream(self, request: &Request) -> bool {
        match self {
            Self::Google => request.path.contains(":streamGenerateContent"),
            Self::Chat | Self::Responses | Self::Anthropic => request.body["stream"] == true,
        }
    }

    /// Returns the last words of the user; results of tools are not his words.
    pub(super) fn last_user_text(self, body: &Value) -> String {
        let messages = match self {
            Self::Chat | Self::Anthropic => &body["messages"],
            Self::Responses => &body["input"],
            Self::Google => &body["contents"],
        };
        if let Some(text) = messages.as_str() {
            return text.to_owned();
        }
        let mut texts = messages
            .as_array()
            .into_iter()
            .flatten()
            .rev()
            .filter(|message| message["role"] == "user")
            .map(words);
        texts.find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// Returns the frames of a streamed answer.
    pub(super) fn frames(self, exchange: &Exchange<'_>) -> Vec<String> {
        match self {
            Self::Chat => chat::frames(exchange),
            Self::Responses => responses::frames(exchange),
            Self::Anthropic => anthropic::frames(exchange),
            Self::Google => google::frames(exchange),
        }
    }

    /// Returns the answer as one JSON value.
    pub(super) fn whole(self, exchange: &Exchange<'_>) -> Value {
        match self {
            Self::Chat => chat::whole(exchange),
            Self::Responses => responses::whole(exchange),
            Self::Anthropic => anthropic::whole(exchange),
            Self::Google => google::whole(exchange),
        }
    }

    /// Returns the body of an HTTP error.
    pub(super) fn error(self, status: u16, message: &str) -> Value {
        match self {
            Self::Chat | Self::Responses => chat::error(status, message),
            Self::Anthropic => anthropic::error(status, message),
            Self::Google => google::error(status, message),
        }
    }
}

/// Returns the text blocks of a message, in any format.
fn words(message: &Value) -> String {
    let content = match &message["content"] {
        Value::Null => &message["parts"],
        content => content,
    };
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns a frame without a name.
fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// Returns a frame that is named after the `type` in it.
fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", text_of(&value["type"]))
}
