//! The lines of one window, bounded in number and size.

use std::collections::VecDeque;

use pi_subagents_vocabulary::ToolResult;
use serde_json::Value;

use crate::held_call::HeldCall;
use crate::preview::{CallOutcome, CallPreview, PreviewContext};
use crate::room::Room;
use crate::window_line::WindowLine;

/// The newest lines of a window, oldest first.
#[derive(Debug, Clone)]
pub(crate) struct History {
    room: Room,
    /// The width of the previews of calls.
    width: usize,
    lines: VecDeque<Held>,
    bytes: usize,
}

#[derive(Debug, Clone)]
struct Held {
    line: WindowLine,
    part: HeldPart,
}

/// The kind of a held line: words, or part of a call.
#[derive(Debug, Clone)]
enum HeldPart {
    Words,
    /// The first line of a call, which knows it.
    Call(Box<HeldCall>),
    /// A further line of the call above.
    Continuation,
}

impl Held {
    fn size(&self) -> usize {
        match &self.part {
            HeldPart::Call(call) => self.line.size() + call.size(),
            HeldPart::Words | HeldPart::Continuation => self.line.size(),
        }
    }

    fn call_mut(&mut self) -> Option<&mut HeldCall> {
        match &mut self.part {
            HeldPart::Call(call) => Some(call),
            HeldPart::Words | HeldPart::Continuation => None,
        }
    }
}

impl History {
    pub(crate) fn new(room: Room, width: usize) -> Self {
        Self {
            room,
            width,
            lines: VecDeque::new(),
            bytes: 0,
        }
    }

    pub(crate) fn room(&self) -> Room {
        self.room
    }

    pub(crate) fn push(&mut self, line: WindowLine) {
        let part = HeldPart::Words;
        self.insert(self.lines.len(), Held { line, part });
        self.forget_oldest();
    }

    /// Adds a call whose result comes later.
    pub(crate) fn push_call(&mut self, call: HeldCall) {
        self.insert_call(self.lines.len(), call);
        self.forget_oldest();
    }

    /// Changes a call that has no result yet, and returns whether it is held.
    pub(crate) fn change_call(&mut self, id: &str, change: impl FnOnce(&mut HeldCall)) -> bool {
        let is_it = |held: &mut Held| held.call_mut().is_some_and(|call| call.is_open(id));
        let Some(place) = self.lines.iter_mut().rposition(is_it) else {
            return false;
        };
        if let Some(mut call) = self.remove_call(place) {
            change(&mut call);
            self.insert_call(place, call);
            self.forget_oldest();
        }
        true
    }

    /// Adds the important part of a result whose call is not held any more.
    pub(crate) fn push_answer(&mut self, result: &ToolResult) {
        let lines = match CallOutcome::of(result) {
            outcome @ CallOutcome::Failed(_) => {
                let context = PreviewContext::default();
                let preview = CallPreview::new(&result.tool, &Value::Null, &context);
                preview.lines(&outcome, self.width)
            }
            CallOutcome::Done { summary, .. } => summary.into_iter().collect(),
            _ => Vec::new(),
        };
        for line in WindowLine::call(lines.clone(), lines) {
            self.push(line);
        }
    }

    /// Returns whether a call has no answer yet.
    pub(crate) fn has_open_call(&self) -> bool {
        let is_open = |held: &Held| match &held.part {
            HeldPart::Call(call) => call.state.is_open(),
            HeldPart::Words | HeldPart::Continuation => false,
        };
        self.lines.iter().any(is_open)
    }

    /// Notes for all calls without a result that there will be none. That is no fault if their run
    /// is completed.
    pub(crate) fn close_calls(&mut self, is_completed: bool) {
        self.redraw(|call| call.state.close(is_completed));
    }

    /// Draws all calls anew, for a screen of another width.
    pub(crate) fn set_width(&mut self, width: usize) {
        if std::mem::replace(&mut self.width, width) != width {
            self.redraw(|_| {});
        }
    }

    fn redraw(&mut self, change: impl Fn(&mut HeldCall)) {
        let mut place = 0;
        while place < self.lines.len() {
            if let Some(mut call) = self.remove_call(place) {
                let rest = self.lines.len() - place;
                change(&mut call);
                self.insert_call(place, call);
                place = self.lines.len() - rest;
            } else {
                place += 1;
            }
        }
        self.forget_oldest();
    }

    /// Takes out all lines of a call, if a call is at this place.
    fn remove_call(&mut self, place: usize) -> Option<HeldCall> {
        if !matches!(self.lines.get(place)?.part, HeldPart::Call(_)) {
            return None;
        }
        let first = self.lines.remove(place)?;
        self.bytes -= first.size();
        while let Some(next) = self.lines.get(place)
            && matches!(next.part, HeldPart::Continuation)
        {
            self.bytes -= next.size();
            self.lines.remove(place);
        }
        match first.part {
            HeldPart::Call(call) => Some(*call),
            HeldPart::Words | HeldPart::Continuation => None,
        }
    }

    fn insert_call(&mut self, place: usize, call: HeldCall) {
        let lines = WindowLine::call(call.lines(self.width), call.whole());
        let mut call = Some(Box::new(call));
        for (number, line) in lines.into_iter().enumerate() {
            let part = call.take().map_or(HeldPart::Continuation, HeldPart::Call);
            self.insert(place + number, Held { line, part });
        }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &WindowLine> + ExactSizeIterator {
        self.lines.iter().map(|held| &held.line)
    }

    pub(crate) fn get(&self, place: usize) -> Option<&WindowLine> {
        self.lines.get(place).map(|held| &held.line)
    }

    /// Returns the newest lines, at most `limit`, oldest first.
    pub(crate) fn newest(&self, limit: usize) -> impl Iterator<Item = &WindowLine> {
        self.iter().skip(self.lines.len().saturating_sub(limit))
    }

    fn insert(&mut self, place: usize, held: Held) {
        self.bytes += held.size();
        self.lines.insert(place, held);
    }

    /// Drops the oldest lines that there is no room for. The newest line stays, however long it is:
    /// a window that shows nothing would look as if nothing happened.
    fn forget_oldest(&mut self) {
        while self.lines.len() > 1
            && (self.lines.len() > self.room.lines || self.bytes > self.room.bytes)
            && let Some(oldest) = self.lines.pop_front()
        {
            self.bytes -= oldest.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::Part;

    use super::*;
    use crate::Role;

    fn words(words: &str) -> WindowLine {
        WindowLine::words(Role::Plain, words, Room::ROLLING).unwrap()
    }

    #[test]
    fn a_window_is_bounded_in_lines_and_in_bytes() {
        let mut history = History::new(Room::ROLLING, 100);
        for number in 0..600 {
            history.push(words(&format!("line {number}")));
        }
        assert_eq!(history.iter().len(), Room::ROLLING.lines);
        assert_eq!(history.iter().next().unwrap().text(), "line 100");
        for _ in 0..100 {
            history.push(words(&"x".repeat(1 << 20)));
        }
        let bytes: usize = history.iter().map(|line| line.text().len()).sum();
        assert!(bytes <= Room::ROLLING.bytes, "{bytes}");
        assert!(history.iter().len() > 1);
    }

    #[test]
    fn the_newest_line_stays_although_it_needs_more_than_all_the_room() {
        let mut history = History::new(Room::LAST_LINE, 100);
        history.push(words("before"));
        let command = format!("echo {}", "x".repeat(3000));
        let arguments = serde_json::json!({ "command": command });
        let preview = CallPreview::new("bash", &arguments, &PreviewContext::default());
        history.push_call(HeldCall::new("1".to_owned(), preview));
        let lines = texts(&history);
        assert!(
            lines.len() == 1 && lines[0].starts_with("bash → echo x"),
            "{lines:?}"
        );
        assert!(history.change_call("1", |call| call.state.close(true)));
    }

    fn call(id: &str, path: &str) -> HeldCall {
        let arguments = serde_json::json!({ "path": path });
        let preview = CallPreview::new("ls", &arguments, &PreviewContext::default());
        HeldCall::new(id.to_owned(), preview)
    }

    fn result(files: &str) -> ToolResult {
        ToolResult {
            tool: "ls".to_owned(),
            parts: vec![Part::Text(files.to_owned())],
            ..ToolResult::default()
        }
    }

    fn texts(history: &History) -> Vec<String> {
        history.iter().map(WindowLine::text).collect()
    }

    #[test]
    fn a_result_stands_under_its_call_and_is_taken_once() {
        let mut history = History::new(Room::ROLLING, 100);
        history.push_call(call("1", "a"));
        history.push_call(call("2", "b"));
        assert!(history.change_call("1", |call| call.answer(&result("x"))));
        assert!(history.change_call("2", |call| call.answer(&result("x\ny"))));
        assert!(!history.change_call("2", |call| call.answer(&result("z"))));
        assert!(!history.change_call("gone", |call| call.answer(&result("z"))));
        let expected = ["ls → a", "  1 file", "ls → b", "  2 files"];
        assert_eq!(texts(&history), expected);
    }

    #[test]
    fn calls_are_drawn_anew_for_another_width_and_closed_at_the_end() {
        let mut history = History::new(Room::ROLLING, 100);
        history.push(words("before"));
        history.push_call(call("1", "some/long/path/that/goes/on"));
        history.push(words("after"));
        history.set_width(28);
        let narrow = ["before", "ls → some/long/... (running)", "after"];
        assert_eq!(texts(&history), narrow);
        history.set_width(100);
        history.close_calls(false);
        let closed = "✗ ls → some/long/path/that/goes/on  no result";
        assert_eq!(texts(&history), ["before", closed, "after"]);
    }
}
