//! The lines of the log: which events become lines, and the form of a line.

use std::fmt::{self, Debug, Write as _};
use std::io;
use std::sync::Arc;

use pi_subagents_vocabulary::Timestamp;
use tracing::field::Field;
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer, debug_fn};
use tracing_subscriber::fmt::{self as lines, FmtContext};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::{LookupSpan, Registry};

use super::parts::Parts;

/// The beginning of the targets of our own crates. The events of other crates may hold headers and
/// bodies of requests, and with them keys and prompts.
const OURS: &str = "pi_subagents";

/// Longer values are cut after this many characters.
const LONGEST_VALUE: usize = 500;

/// Returns the subscriber that writes the events of our own crates, as far as their level is wanted.
/// `run` is the run that this process belongs to, if it belongs to exactly one.
pub(super) fn subscriber(
    level: LevelFilter,
    log: Arc<Parts>,
    run: Option<String>,
) -> impl Subscriber + Send + Sync {
    let written = lines::layer()
        .event_format(LineFormat { run })
        .fmt_fields(debug_fn(write_field).delimited(" "))
        .with_writer(log);
    let ours = Targets::new().with_target(OURS, level);
    Registry::default().with(ours).with(written)
}

/// Returns the line with which a file begins.
pub(super) fn first_line(at: Timestamp, command: &str, pid: &str, level: LevelFilter) -> String {
    let begun = Beginning(at, Level::INFO, OURS);
    let version = env!("CARGO_PKG_VERSION");
    format!("{begun}log began command={command} version={version} pid={pid} level={level}\n")
}

/// The form of a line: time, level, target, words, and the fields as `key=value`.
struct LineFormat {
    run: Option<String>,
}

impl<S, N> FormatEvent<S, N> for LineFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        let begun = Beginning(Timestamp::now(), *metadata.level(), metadata.target());
        write!(writer, "{begun}")?;
        context.format_fields(writer.by_ref(), event)?;
        if let Some(run) = &self.run {
            write!(writer, " run={run}")?;
        }
        writeln!(writer)
    }
}

/// The part of a line that every line has.
struct Beginning<'a>(Timestamp, Level, &'a str);

impl fmt::Display for Beginning<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(at, level, target) = self;
        write!(formatter, "{at:.3} {level:5} {target} ")
    }
}

/// Writes the words of an event, or one of its fields.
fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    let mut written = BoundedValue::default();
    // A value that cannot be written is cut where it failed.
    _ = write!(written, "{value:?}");
    match field.name() {
        "message" => writer.write_str(&written.text),
        name => write!(writer, "{name}={}", quoted_if_needed(&written.text)),
    }
}

/// Puts a value in quotes if a reader could not see its end without them. A text has its quotes
/// already.
fn quoted_if_needed(value: &str) -> String {
    let is_plain = |value: &str| !value.is_empty() && !value.contains([' ', '=', '"', '\\']);
    let inside = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'));
    match inside {
        Some(inside) if is_plain(inside) => inside.to_owned(),
        Some(_) => value.to_owned(),
        None if is_plain(value) => value.to_owned(),
        None => format!("\"{}\"", value.replace('"', "\\\"")),
    }
}

/// A value that stays on its line and is no longer than allowed.
#[derive(Default)]
struct BoundedValue {
    text: String,
    characters: usize,
}

impl fmt::Write for BoundedValue {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            self.characters += 1;
            match self.characters {
                ..=LONGEST_VALUE => self.write_safely(character),
                over if over == LONGEST_VALUE + 1 => self.text.push('…'),
                _ => return Ok(()),
            }
        }
        Ok(())
    }
}

impl BoundedValue {
    /// Escapes the characters that would end the line, move a cursor or turn the text around.
    fn write_safely(&mut self, character: char) {
        let turns_text = matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        );
        if character.is_control() || turns_text {
            self.text.extend(character.escape_default());
        } else {
            self.text.push(character);
        }
    }
}

impl io::Write for &Parts {
    /// Takes one line; the library hands over each line as a whole.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.write_line(&String::from_utf8_lossy(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pi_subagents_files::Directory;
    use pretty_assertions::assert_eq;

    use super::*;

    /// Returns the log of some events at this level, without times.
    fn logged(level: LevelFilter, events: impl FnOnce()) -> Vec<String> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().to_owned();
        let open = move || Directory::open(&path);
        let log = Arc::new(Parts::new(Box::new(open), "1".into(), String::new(), 9999));
        log.open().unwrap();
        let subscriber = subscriber(level, log, Some("r1".into()));
        tracing::subscriber::with_default(subscriber, events);
        let text = fs::read_to_string(place.path().join("1.log")).unwrap();
        let lines = text.lines();
        lines
            .map(|line| line.split_once(' ').unwrap().1.to_owned())
            .collect()
    }

    #[test]
    fn events_of_others_are_left_out() {
        let lines = logged(LevelFilter::TRACE, || {
            tracing::error!(target: "h2::codec", "authorization: Bearer sk-secret");
            tracing::trace!(target: "pi_subagents_engine::keeper", pid = 7, "child started");
        });
        assert_eq!(
            lines,
            ["TRACE pi_subagents_engine::keeper child started pid=7 run=r1"]
        );
    }

    #[test]
    fn a_level_includes_those_before_it() {
        let lines = logged(LevelFilter::INFO, || {
            tracing::warn!(target: "pi_subagents", word = "a b", "one");
            tracing::info!(target: "pi_subagents", path = %"/x", "two");
            tracing::debug!(target: "pi_subagents", "three");
        });
        assert_eq!(
            lines,
            [
                "WARN  pi_subagents one word=\"a b\" run=r1",
                "INFO  pi_subagents two path=/x run=r1"
            ]
        );
    }

    #[test]
    fn a_value_stays_on_its_line_and_inside_its_quotes() {
        let odd = "x=\"1\"\r\n\u{1b}[2J\u{202e}";
        let long = "é".repeat(LONGEST_VALUE + 9);
        let lines = logged(LevelFilter::INFO, || {
            tracing::info!(target: "pi_subagents", a = "two words", b = "", c = "plain", "one");
            tracing::info!(target: "pi_subagents", text = odd, error = %odd, "two");
            tracing::info!(target: "pi_subagents", long = %long, "three");
        });
        let cut = "é".repeat(LONGEST_VALUE);
        assert_eq!(
            lines,
            [
                "INFO  pi_subagents one a=\"two words\" b=\"\" c=plain run=r1".to_owned(),
                "INFO  pi_subagents two text=\"x=\\\"1\\\"\\r\\n\\u{1b}[2J\\u{202e}\" error=\"x=\\\"1\\\"\\r\\n\\u{1b}[2J\\u{202e}\" run=r1".to_owned(),
                format!("INFO  pi_subagents three long={cut}… run=r1"),
            ]
        );
    }

    #[test]
    fn a_file_begins_with_the_facts_of_its_process() {
        let at: Timestamp = "2026-11-16T09:30:00.0071Z".parse().unwrap();
        let line = first_line(at, "run", "7", LevelFilter::INFO);
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            line,
            format!(
                "2026-11-16T09:30:00.007Z INFO  pi_subagents log began command=run version={version} pid=7 level=info\n"
            )
        );
    }
}
