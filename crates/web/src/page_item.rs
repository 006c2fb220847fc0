//! The items of a run's story as the page reads them: with their places in the record, and only the
//! beginning of long texts. The page asks for a whole text when somebody wants to read it.

use pi_subagents_view::preview::{self, CallOutcome};
use pi_subagents_view::story::{self, Item, Remark, RemarkKind, What};
use pi_subagents_view::{Line, PreviewContext};
use pi_subagents_vocabulary::{AssistantMessage, Ending, ToolCall, ToolResult, text};
use serde::Serialize;
use serde_json::Value;

use super::markdown::markdown;
use super::texts::arguments_text;
use pi_subagents_runs::spans::{SpanKind, changed_file};

/// The number of bytes of a message that are sent at once.
const LONGEST_MESSAGE: usize = 64 << 10;

/// The number of bytes of a thought, of a result or of another long text that are sent at once.
const LONGEST_TEXT: usize = 400;

/// The part of a run's texts that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextExtent {
    /// The beginning; the rest is asked for.
    Beginning,
    /// This number of bytes, for a file that cannot be asked for more.
    UpTo(usize),
}

/// An item. Fields that say nothing are left out: a long record has very many of them, and a browser
/// would read and keep each. `types.js` describes the same shape.
#[derive(Debug, Serialize)]
pub(crate) struct PageItem {
    #[serde(flatten)]
    what: PageWhat,
    /// The place of its line in the record.
    p: u64,
    /// Its number among the items of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<usize>,
    /// Its time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    t: Option<i64>,
}

/// The kinds of items that the page draws or folds into a call.
#[derive(Debug, Serialize)]
#[serde(tag = "k", rename_all = "lowercase")]
enum PageWhat {
    /// A line of the record that cannot be read.
    Unreadable,
    Task {
        md: Value,
    },
    Told {
        md: Value,
    },
    Said {
        md: Value,
        #[serde(skip_serializing_if = "is_false")]
        cut: bool,
    },
    Thought {
        text: String,
        #[serde(skip_serializing_if = "is_false")]
        cut: bool,
    },
    Call(CallFields),
    Begun {
        id: String,
    },
    Done {
        id: String,
        #[serde(skip_serializing_if = "is_false")]
        failed: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        changes: Option<(usize, usize)>,
        #[serde(skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
    },
    Result(ResultFields),
    Turn {
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// Input, output, read from the cache, written to it, and the cost.
        usage: (u64, u64, u64, u64, Option<f64>),
    },
    Started {
        text: String,
    },
    Steered {
        text: String,
    },
    Corrected {
        text: String,
    },
    Warned {
        text: String,
    },
    Remark {
        text: String,
    },
    Ended {
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
}

#[derive(Debug, Serialize)]
struct CallFields {
    id: String,
    tool: String,
    kind: &'static str,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
}

#[derive(Debug, Serialize)]
struct ResultFields {
    id: String,
    #[serde(skip_serializing_if = "is_false")]
    failed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<String>,
    lines: usize,
    text: String,
    #[serde(skip_serializing_if = "is_false")]
    cut: bool,
}

impl PageItem {
    /// Makes the item of a line that cannot be read.
    pub(crate) fn unreadable(place: u64) -> Self {
        Self {
            what: PageWhat::Unreadable,
            p: place,
            n: None,
            t: None,
        }
    }

    /// Makes an item that warns of something at a place.
    pub(crate) fn warning(words: &str, place: u64) -> Self {
        Self {
            what: PageWhat::Warned {
                text: words.to_owned(),
            },
            p: place,
            n: Some(0),
            t: None,
        }
    }
}

/// Turns items into those of the page.
pub(crate) struct PageItems {
    /// The home and the directory of the run, which are left out of the titles of calls.
    pub(crate) context: PreviewContext,
    /// The part of each text that is sent.
    pub(crate) extent: TextExtent,
}

impl PageItems {
    /// Returns an item whose line begins at a place; `None` if the page does not show it.
    pub(crate) fn of(&self, item: &Item<'_>, place: u64) -> Option<PageItem> {
        Some(PageItem {
            what: self.what(&item.what)?,
            p: place,
            n: Some(item.number),
            t: Some(item.at.as_millisecond()),
        })
    }

    fn what(&self, what: &What<'_>) -> Option<PageWhat> {
        Some(match what {
            What::Task(words) => PageWhat::Task {
                md: markdown(self.message(words)),
            },
            What::Prompt(words) => PageWhat::Told {
                md: markdown(self.message(words)),
            },
            What::Words(words) => {
                let shown = self.message(words);
                PageWhat::Said {
                    md: markdown(shown),
                    cut: shown.len() < words.len(),
                }
            }
            What::Thought(words) => {
                let (text, cut) = self.text(words);
                PageWhat::Thought { text, cut }
            }
            What::Picture(mime_type) => PageWhat::Remark {
                text: story::picture(mime_type),
            },
            What::Call(call) => PageWhat::Call(self.call(call)),
            What::Begun { call } => PageWhat::Begun {
                id: (*call).to_owned(),
            },
            What::Done {
                call,
                is_error,
                details,
            } => PageWhat::Done {
                id: (*call).to_owned(),
                failed: *is_error,
                changes: details.and_then(preview::changes),
                diff: self.diff(*details),
            },
            What::Answer(result) => PageWhat::Result(self.result(result)),
            What::Turn(answer) => turn(answer),
            What::Retry(retry) => {
                let words = if retry.is_explained {
                    retry.brief()
                } else {
                    retry.words()
                };
                PageWhat::Warned {
                    text: text::clean(&words),
                }
            }
            What::Remark(remark) => self.remark(remark)?,
            What::Ended(ending) => ended(ending),
        })
    }

    /// Returns a remark; `None` for lines that the child printed, which the record shows.
    fn remark(&self, remark: &Remark<'_>) -> Option<PageWhat> {
        let (text, line) = (text::clean(&remark.text), text::clean(&remark.line()));
        Some(match remark.kind {
            RemarkKind::Started => PageWhat::Started { text },
            RemarkKind::Steered => PageWhat::Steered { text },
            RemarkKind::Corrected => PageWhat::Corrected { text },
            RemarkKind::Warning => PageWhat::Warned { text },
            RemarkKind::ExtensionFailed
            | RemarkKind::Report { is_met: false }
            | RemarkKind::FellBack
            | RemarkKind::Stuck
            | RemarkKind::Told
            | RemarkKind::Asked
            | RemarkKind::Paused
            | RemarkKind::Queued
            | RemarkKind::WentOn
            | RemarkKind::GateFailed => PageWhat::Warned { text: line },
            RemarkKind::Report { is_met: true }
            | RemarkKind::GateBegan
            | RemarkKind::GatePassed
            | RemarkKind::Answered
            | RemarkKind::Compacting
            | RemarkKind::Compacted => PageWhat::Remark { text: line },
            RemarkKind::Other(_) => PageWhat::Remark {
                text: self.text(&line).0,
            },
            RemarkKind::Printed | RemarkKind::Complained => return None,
        })
    }

    fn call(&self, call: &ToolCall) -> CallFields {
        let lines = preview::call(&call.name, &call.arguments, &self.context);
        let title: Vec<String> = lines.iter().map(Line::text).collect();
        CallFields {
            id: call.id.clone(),
            tool: text::clean(&call.name),
            kind: SpanKind::of_tool(&call.name).as_str(),
            title: title.join(" ").trim().to_owned(),
            path: changed_file(call),
            arguments: match self.extent {
                TextExtent::Beginning => None,
                TextExtent::UpTo(limit) => Some(text::cut_bytes(arguments_text(call), limit)),
            },
        }
    }

    /// Returns the changes of a file, for a reader who cannot ask for them.
    fn diff(&self, details: Option<&Value>) -> Option<String> {
        let diff = details?.get("diff")?.as_str()?;
        (self.extent != TextExtent::Beginning).then(|| self.text(diff).0)
    }

    fn result(&self, result: &ToolResult) -> ResultFields {
        let all = text::clean(&story::words(&result.parts));
        let (text, cut) = self.text(&all);
        let words = match CallOutcome::of(result) {
            CallOutcome::Failed(failure) => Some(failure.to_string()),
            CallOutcome::Done {
                summary: Some(summary),
                ..
            } => Some(summary.text().trim().to_owned()),
            _ => None,
        };
        ResultFields {
            id: result.call_id.clone(),
            failed: result.is_error,
            words,
            lines: all.lines().count(),
            text,
            cut,
        }
    }

    fn message<'a>(&self, words: &'a str) -> &'a str {
        let limit = match self.extent {
            TextExtent::Beginning => LONGEST_MESSAGE,
            TextExtent::UpTo(limit) => limit.max(LONGEST_MESSAGE),
        };
        &words[..words.floor_char_boundary(limit)]
    }

    /// Returns the beginning of a text, and whether there is more.
    fn text(&self, words: &str) -> (String, bool) {
        let limit = match self.extent {
            TextExtent::Beginning => LONGEST_TEXT,
            TextExtent::UpTo(limit) => limit,
        };
        let shown = &words[..words.floor_char_boundary(limit)];
        (text::clean(shown), shown.len() < words.len())
    }
}

fn turn(answer: &AssistantMessage) -> PageWhat {
    let usage = answer.usage;
    PageWhat::Turn {
        model: answer.model.clone(),
        error: answer.error.as_deref().map(text::clean),
        usage: (
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write,
            usage.cost,
        ),
    }
}

fn ended(ending: &Ending) -> PageWhat {
    PageWhat::Ended {
        status: ending.status().as_str(),
        text: ending.message().map(|words| text::clean(&words)),
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a field by reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}
