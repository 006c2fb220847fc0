//! The lines of several events of a run, by file, which go to the disk in one write.

use bytes::Bytes;
use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{Happening, Message, RunEvent};

use crate::format::recorded_line;
use crate::log::{Log, Origin};
use crate::recorded_time::RecordedTime;
use crate::transcript;

/// The longest message that goes into a log for people.
const LONGEST_FOR_PEOPLE: usize = 256 << 10;

/// A longer line is handed on as it is instead of being copied.
const SHORT: usize = 16 << 10;

/// Lines that wait to be written, without their last newline.
#[derive(Debug, Default)]
pub(crate) struct WriteBatch {
    /// The pieces, in the order of their first lines; a file with a long line has several.
    pieces: Vec<(Log, Origin, Piece)>,
    bytes: usize,
}

#[derive(Debug)]
enum Piece {
    Several(Vec<u8>),
    Long(Bytes),
}

impl WriteBatch {
    /// The number of bytes that are written at once.
    pub(crate) const ENOUGH: usize = 128 << 10;

    /// Adds the lines of an event to the files they belong to. A line with the time comes first if
    /// the events do not have it yet.
    pub(crate) fn add(&mut self, event: &RunEvent, time: &mut RecordedTime) {
        match &event.happening {
            Happening::Said { line, record } => {
                if let Some(time) = time.line_before(event.at) {
                    self.copy(Log::Events, Origin::Child, &time);
                }
                self.share(Log::Events, line);
                if let ChildRecord::MessageEnded(message) = record {
                    self.add_for_people(message, line.len());
                }
            }
            Happening::Printed(line) => self.share(Log::Stdout, line),
            Happening::Complained(text) => self.copy(Log::Stderr, Origin::Child, text.as_bytes()),
            _ => {
                if let Some(line) = recorded_line(event) {
                    time.stands(event.at);
                    self.copy(Log::Events, Origin::Owner, &line);
                }
            }
        }
    }

    fn add_for_people(&mut self, message: &Message, bytes: usize) {
        if bytes > LONGEST_FOR_PEOPLE {
            let note = format!("[a message of {bytes} bytes: see events.jsonl]");
            return self.copy(Log::Transcript, Origin::Child, note.as_bytes());
        }
        for line in transcript::lines_for_people(message) {
            self.copy(Log::Transcript, Origin::Child, line.as_bytes());
        }
    }

    fn share(&mut self, log: Log, line: &Bytes) {
        if line.len() <= SHORT {
            return self.copy(log, Origin::Child, line);
        }
        self.bytes += line.len();
        let piece = Piece::Long(line.clone());
        self.pieces.push((log, Origin::Child, piece));
    }

    fn copy(&mut self, log: Log, origin: Origin, line: &[u8]) {
        self.bytes += line.len() + 1;
        let last = self.pieces.iter_mut().rfind(|(of, ..)| *of == log);
        match last {
            Some((_, whose, Piece::Several(lines))) if *whose == origin => {
                lines.push(b'\n');
                lines.extend_from_slice(line);
            }
            _ => {
                let piece = Piece::Several(line.to_vec());
                self.pieces.push((log, origin, piece));
            }
        }
    }

    pub(crate) fn is_enough(&self) -> bool {
        self.bytes >= Self::ENOUGH
    }

    /// Returns the lines for each file, and is empty afterwards.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (Log, Origin, Bytes)> + use<> {
        self.bytes = 0;
        let pieces = std::mem::take(&mut self.pieces).into_iter();
        pieces.map(|(log, origin, piece)| match piece {
            Piece::Several(lines) => (log, origin, Bytes::from(lines)),
            Piece::Long(line) => (log, origin, line),
        })
    }
}
