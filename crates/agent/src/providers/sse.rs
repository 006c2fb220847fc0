//! Cuts a body into server-sent events, looking at each byte once.

use std::collections::VecDeque;

use super::limits::EVENT_BYTES;

/// An event that is longer than any answer of a model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("The server sent an event of more than {EVENT_BYTES} bytes.")]
pub(super) struct EventTooLong;

/// Collects the bytes of a body until they make an event.
///
/// Names of events are not kept: all four wire formats repeat them in the data.
#[derive(Debug, Default)]
pub(super) struct EventReader {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The data of the event that has not ended yet; None before its first line.
    data: Option<Vec<u8>>,
    /// True if the last byte was a carriage return, which a line feed may follow.
    ended_with_return: bool,
    is_past_first_line: bool,
    /// The number of bytes that were looked at or moved. It shows that the work does not grow with
    /// the length of an event.
    #[cfg(test)]
    pub(super) work: usize,
}

impl EventReader {
    /// Takes the next bytes of the body and adds the data of each event that they complete.
    pub(super) fn take(
        &mut self,
        mut bytes: &[u8],
        events: &mut VecDeque<String>,
    ) -> Result<(), EventTooLong> {
        #[cfg(test)]
        {
            self.work += bytes.len();
        }
        while !bytes.is_empty() {
            if std::mem::take(&mut self.ended_with_return)
                && let Some(rest) = bytes.strip_prefix(b"\n")
            {
                bytes = rest;
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', bytes);
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
            if held + piece.len() > EVENT_BYTES {
                return Err(EventTooLong);
            }
            self.line.extend_from_slice(piece);
            let Some(end) = end else {
                return Ok(());
            };
            self.ended_with_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line(events);
        }
        Ok(())
    }

    /// Returns the event at the end of the body, because some servers forget the empty line behind
    /// the last event.
    pub(super) fn finish(mut self) -> Option<String> {
        let mut events = VecDeque::new();
        if !self.line.is_empty() {
            self.end_line(&mut events);
        }
        self.end_event(&mut events);
        events.pop_front()
    }

    fn end_line(&mut self, events: &mut VecDeque<String>) {
        let mut line = std::mem::take(&mut self.line);
        #[cfg(test)]
        {
            self.work += line.len();
        }
        if !std::mem::replace(&mut self.is_past_first_line, true)
            && line.starts_with("\u{feff}".as_bytes())
        {
            line.drain(.."\u{feff}".len());
        }
        if line.is_empty() {
            return self.end_event(events);
        }
        let Some(field) = line.strip_prefix(b"data:") else {
            return;
        };
        let value = field.strip_prefix(b" ").unwrap_or(field);
        if let Some(data) = &mut self.data {
            data.push(b'\n');
            data.extend_from_slice(value);
        } else {
            let begin = line.len() - value.len();
            line.drain(..begin);
            self.data = Some(line);
        }
    }

    fn end_event(&mut self, events: &mut VecDeque<String>) {
        let Some(data) = self.data.take().filter(|data| !data.is_empty()) else {
            return;
        };
        #[cfg(test)]
        {
            self.work += data.len();
        }
        let text = String::from_utf8(data)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        events.push_back(text);
    }
}

#[cfg(test)]
mod tests;
