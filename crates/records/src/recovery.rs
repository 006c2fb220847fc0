//! Recovers the messages that a killed owner did not write down: its child kept a session of its
//! own, in pi's format, which has each message as soon as it is complete.

use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};

use bytes::Bytes;
use pi_subagents_files as files;
use pi_subagents_vocabulary::child_protocol::{ChildLine, ChildRecord, decode};
use pi_subagents_vocabulary::{Happening, RunEvent, RunId, Timestamp};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::format::{MessageEntry, RecoveredMessage, ToldMessage};
use crate::run_dir::RunDir;

/// The number of bytes at the end of a session that are read. That is enough, because an owner
/// loses only the messages of its last milliseconds, or those that came while it was stopped.
const MOST_READ: u64 = 64 << 20;

/// The messages that the events of a run have.
#[derive(Debug, Default)]
pub(crate) struct KnownMessages {
    /// Their contents, in their order.
    known: Vec<u64>,
    /// The time at which the run was accepted, or at which a child started before any message was
    /// known.
    since: Option<Timestamp>,
}

impl KnownMessages {
    /// Takes one more event of the run.
    pub(crate) fn add_event(&mut self, event: &RunEvent) {
        match &event.happening {
            Happening::Accepted(_) => self.since = Some(event.at),
            Happening::Started(_) if self.known.is_empty() => self.since = Some(event.at),
            Happening::Said {
                line,
                record: ChildRecord::MessageEnded(_),
            } => {
                let told: Option<ToldMessage<'_>> = serde_json::from_slice(line).ok();
                self.known
                    .extend(told.and_then(|told| fingerprint(told.message)));
            }
            _ => {}
        }
    }

    /// Returns the messages in the session of the run's child that come after the known ones.
    pub(crate) fn missing_in(&self, directory: &RunDir, run: &RunId) -> Vec<RunEvent> {
        // A session that cannot be read has no messages for us.
        self.missing(directory, run).unwrap_or_default()
    }

    fn missing(&self, directory: &RunDir, run: &RunId) -> io::Result<Vec<RunEvent>> {
        let mut missing = Vec::new();
        let mut known = self.known.as_slice();
        let mut lines = last_lines(&directory.child_session())?;
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            if let Some(entry) = self.entry_of_run(&line) {
                // Messages are printed in the order of the session, so the missing ones come last.
                let print = fingerprint(entry.message);
                match known.iter().position(|one| Some(*one) == print) {
                    Some(place) => {
                        known = &known[place + 1..];
                        missing.clear();
                    }
                    None => missing.extend(event_of(&entry, run)),
                }
            }
            line.clear();
        }
        Ok(missing)
    }

    /// Returns the message in a line if it belongs to this run: several runs may share a session.
    fn entry_of_run<'a>(&self, line: &'a [u8]) -> Option<MessageEntry<'a>> {
        let entry: MessageEntry<'a> = serde_json::from_slice(line).ok()?;
        let (said, since) = (entry.written_at()?, self.since?);
        // The session has milliseconds.
        let is_of_run = said.as_millisecond() >= since.as_millisecond();
        (entry.kind == "message" && is_of_run).then_some(entry)
    }
}

/// Opens the end of a file, behind the first line that may be cut.
fn last_lines(path: &std::path::Path) -> io::Result<BufReader<io::Take<File>>> {
    let mut file = files::open_own(path)?;
    let length = file.metadata()?.len();
    let is_cut = length > MOST_READ;
    file.seek(SeekFrom::Start(length.saturating_sub(MOST_READ)))?;
    let mut lines = BufReader::new(file.take(MOST_READ));
    if is_cut {
        lines.skip_until(b'\n')?;
    }
    Ok(lines)
}

fn event_of(entry: &MessageEntry<'_>, run: &RunId) -> Option<RunEvent> {
    let line = serde_json::to_vec(&RecoveredMessage::of(entry.message)).ok()?;
    let line = Bytes::from(line);
    match decode(&line) {
        ChildLine::Record(record @ ChildRecord::MessageEnded(_)) => Some(RunEvent {
            run: run.clone(),
            at: entry.written_at()?,
            happening: Happening::Said { line, record },
        }),
        ChildLine::Record(_) | ChildLine::Text => None,
    }
}

/// Returns a number that tells a message from others, however its JSON is written.
fn fingerprint(message: &RawValue) -> Option<u64> {
    let message: Value = serde_json::from_str(message.get()).ok()?;
    let mut hasher = DefaultHasher::new();
    message.hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn message(text: &str, second: i64) -> Value {
        json!({"role": "assistant", "content": [{"type": "text", "text": text}],
            "timestamp": at(second).as_millisecond()})
    }

    fn entry(text: &str, second: i64) -> String {
        json!({"type": "message", "id": "x", "timestamp": at(second).to_string(),
            "message": message(text, second)})
        .to_string()
    }

    /// Returns the messages that recovery adds to a run that started at 10.
    fn missing(told: &[(&str, i64)], session: &[String]) -> Vec<(String, i64)> {
        let home = tempfile::tempdir().unwrap();
        let directory = RunDir::new(home.path());
        fs::write(directory.child_session(), session.join("\n")).unwrap();
        let run = RunId::parse("run-1").unwrap();
        let mut known = KnownMessages {
            known: Vec::new(),
            since: Some(at(10)),
        };
        for (text, second) in told {
            let line = json!({"message": message(text, *second), "type": "message_end"});
            let line = Bytes::from(line.to_string());
            let ChildLine::Record(record) = decode(&line) else {
                panic!("{line:?} is no record");
            };
            known.add_event(&RunEvent {
                run: run.clone(),
                at: at(*second),
                happening: Happening::Said { line, record },
            });
        }
        let missing = known.missing_in(&directory, &run).into_iter();
        missing
            .map(|event| {
                let Happening::Said { line, .. } = event.happening else {
                    panic!("{event:?}");
                };
                let line: Value = serde_json::from_slice(&line).unwrap();
                let text = line["message"]["content"][0]["text"].as_str().unwrap();
                (text.to_owned(), event.at.as_second() - at(0).as_second())
            })
            .collect()
    }

    #[test]
    fn what_stands_behind_the_last_known_message_is_missing() {
        let session = [
            json!({"type": "session", "version": 3}).to_string(),
            entry("an earlier run", 5),
            entry("one", 10),
            json!({"type": "model_change", "timestamp": at(11).to_string()}).to_string(),
            entry("two", 12),
            entry("one", 13),
            "{\"type\":\"message\",\"mess".to_owned(),
        ];
        let said = |text: &str, second| (text.to_owned(), second);
        let all = [said("one", 10), said("two", 12), said("one", 13)];
        assert_eq!(missing(&[], &session), all);
        assert_eq!(missing(&[("one", 10)], &session), all[1..]);
        assert_eq!(missing(&[("one", 10), ("two", 12)], &session), all[2..]);
        let told = [("one", 10), ("two", 12), ("one", 13)];
        assert_eq!(missing(&told, &session), []);
        // A message that the session never had does not make the messages behind it count as
        // missing.
        assert_eq!(
            missing(&[("one", 10), ("a note", 11), ("two", 12)], &session),
            all[2..]
        );
    }

    #[test]
    fn a_session_that_is_not_there_lacks_nothing() {
        let home = tempfile::tempdir().unwrap();
        let known = KnownMessages::default();
        let run = RunId::parse("run-1").unwrap();
        assert!(known.missing_in(&RunDir::new(home.path()), &run).is_empty());
    }
}
