//! Everything that happened in a run, from its beginning: the items of its story as entries that a
//! person can open, bounded in number and size.

mod call;
mod rows;

use std::collections::{HashMap, VecDeque};

use pi_subagents_view::story::{Item, Story, What};
use pi_subagents_view::{Line, remarks};
use pi_subagents_vocabulary::{RunEvent, Status, text};

pub(crate) use call::Call;
pub(crate) use rows::{can_open, rows_of};

/// The number of entries of a run that are held; its record has all of them.
const MOST_ENTRIES: usize = 100_000;
const MOST_BYTES: usize = 32 << 20;

/// The number of bytes of one text that are held.
const LONGEST_TEXT: usize = 1 << 20;

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    /// A prompt.
    Prompt(String),
    /// A text of the model.
    Speech(String),
    /// A tool that the model called, and the outcome.
    Call(Box<Call>),
    /// A remark of ours about the run, or a line that its child printed.
    Remark(Line),
}

/// The entries of a run. Each has a number, which it keeps when older entries are dropped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript {
    story: Story,
    entries: VecDeque<Entry>,
    /// The number of older entries that were dropped.
    dropped: usize,
    bytes: usize,
    /// The numbers of the calls whose results are to come.
    waiting: HashMap<String, usize>,
}

impl Transcript {
    /// Makes a transcript of one text.
    pub(crate) fn of_text(words: &str) -> Self {
        let mut transcript = Self::default();
        transcript.push(Entry::Speech(held(words)));
        transcript
    }

    /// Makes a transcript of lines that are drawn as they are.
    pub(crate) fn of_lines(lines: Vec<Line>) -> Self {
        let mut transcript = Self::default();
        for line in lines {
            transcript.push(Entry::Remark(line));
        }
        transcript
    }

    /// Adds events from the run's record.
    pub(crate) fn apply(&mut self, events: &[RunEvent]) {
        for event in events {
            for item in self.story.apply(event) {
                self.add(&item);
            }
        }
    }

    /// Returns the numbers of the entries that are held.
    pub(crate) fn numbers(&self) -> std::ops::Range<usize> {
        self.dropped..self.dropped + self.entries.len()
    }

    pub(crate) fn entry(&self, number: usize) -> Option<&Entry> {
        self.entries.get(number.checked_sub(self.dropped)?)
    }

    /// Returns how many entries were dropped because there was no room.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped
    }

    fn add(&mut self, item: &Item<'_>) {
        match &item.what {
            What::Task(words) => _ = self.push(Entry::Prompt(held(words.trim()))),
            What::Prompt(words) => _ = self.push(Entry::Prompt(held(words.trim()))),
            What::Words(words) => _ = self.push(Entry::Speech(held(words.trim()))),
            What::Call(call) => {
                let number = self.push(Entry::Call(Box::new(Call::new(call, item.at))));
                self.waiting.insert(call.id.clone(), number);
            }
            What::Done {
                call,
                is_error,
                details,
            } => {
                let number = self.waiting.get(*call).copied();
                if let Some(call) = number.and_then(|number| self.call_mut(number)) {
                    call.state.end(*is_error, *details);
                }
            }
            What::Answer(result) => {
                let number = self.waiting.remove(&result.call_id);
                if let Some(call) = number.and_then(|number| self.call_mut(number)) {
                    call.answer(result, item.at);
                    let size = call.answer_size();
                    self.bytes += size;
                    self.drop_oldest();
                }
            }
            What::Ended(ending) => {
                let is_completed = ending.status() == Status::Completed;
                let waiting = std::mem::take(&mut self.waiting);
                for number in waiting.into_values() {
                    if let Some(call) = self.call_mut(number) {
                        call.state.close(is_completed);
                    }
                }
            }
            What::Retry(_) | What::Remark(_) => {
                for line in remarks(&item.what) {
                    self.push(Entry::Remark(line));
                }
            }
            What::Thought(_) | What::Picture(_) | What::Begun { .. } | What::Turn(_) => {}
        }
    }

    fn call_mut(&mut self, number: usize) -> Option<&mut Call> {
        match self.entries.get_mut(number.checked_sub(self.dropped)?)? {
            Entry::Call(call) => Some(call),
            Entry::Prompt(_) | Entry::Speech(_) | Entry::Remark(_) => None,
        }
    }

    /// Adds an entry, and returns its number.
    fn push(&mut self, entry: Entry) -> usize {
        let number = self.numbers().end;
        self.bytes += entry.size();
        self.entries.push_back(entry);
        self.drop_oldest();
        number
    }

    fn drop_oldest(&mut self) {
        while self.entries.len() > MOST_ENTRIES || self.bytes > MOST_BYTES {
            let Some(oldest) = self.entries.pop_front() else {
                return;
            };
            self.dropped += 1;
            self.bytes -= oldest.size();
            if let Entry::Call(call) = oldest {
                self.waiting.remove(&call.id);
            }
        }
    }
}

impl Entry {
    /// Returns about how many bytes it holds.
    fn size(&self) -> usize {
        match self {
            Self::Prompt(words) | Self::Speech(words) => words.len(),
            Self::Call(call) => call.size(),
            Self::Remark(line) => line.text().len(),
        }
    }

    /// Returns whether it contains these words anywhere, in small letters, also in its closed part.
    pub(crate) fn contains_words(&self, words: &str) -> bool {
        let has = |text: &str| text.to_lowercase().contains(words);
        match self {
            Self::Prompt(text) | Self::Speech(text) => has(text),
            Self::Call(call) => call.texts().iter().any(|text| has(text)),
            Self::Remark(line) => has(&line.text()),
        }
    }
}

/// Returns a text as it is held: clean, and not longer than it may be.
fn held(words: &str) -> String {
    let beginning = &words[..words.floor_char_boundary(LONGEST_TEXT)];
    text::clean(beginning)
}
