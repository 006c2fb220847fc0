//! Makes the index short: only the existing runs and the latest removals stay in it.

use std::collections::HashMap;

use pi_subagents_vocabulary::Timestamp;

use super::line::{IndexLine, Kind};

/// The number of removals that are remembered.
const MOST_REMOVALS: usize = 1000;

/// The number of hours for which a removal is remembered: half a year.
const LONGEST: i64 = 183 * 24;

/// The lines that are kept of one run, as they were written, so that a field of a newer version stays.
struct Kept<'a> {
    begin: &'a str,
    end: Option<&'a str>,
}

/// Returns the content of an index without superfluous lines: those of removed runs, those that a
/// later line replaced, and those that cannot be read.
pub(super) fn compacted(content: &str, now: Timestamp) -> String {
    let mut runs: Vec<Option<Kept<'_>>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut removals: HashMap<String, (usize, Timestamp, &str)> = HashMap::new();
    for (number, text) in content.lines().enumerate() {
        let Some(line) = IndexLine::parse(text) else {
            continue;
        };
        let run = line.run.as_ref();
        let place = places.get(run).copied();
        match line.kind() {
            Kind::Begin => {
                removals.remove(run);
                let place = place.unwrap_or_else(|| {
                    runs.push(None);
                    runs.len() - 1
                });
                places.insert(run.to_owned(), place);
                runs[place] = Some(Kept {
                    begin: text,
                    end: None,
                });
            }
            Kind::End => {
                if let Some(Some(kept)) = place.map(|place| &mut runs[place]) {
                    kept.end = Some(text);
                }
            }
            Kind::Removed => {
                if let Some(place) = place {
                    runs[place] = None;
                }
                let at = line.removed_at.parse().unwrap_or_default();
                removals.insert(run.to_owned(), (number, at, text));
            }
        }
    }
    let kept = runs.iter().flatten();
    let lines = kept.flat_map(|kept| [Some(kept.begin), kept.end]).flatten();
    let mut compacted = String::with_capacity(content.len());
    for line in remembered(removals, now).into_iter().chain(lines) {
        compacted.push_str(line);
        compacted.push('\n');
    }
    compacted
}

/// Chooses the removals that are worth remembering, oldest first.
fn remembered(removals: HashMap<String, (usize, Timestamp, &str)>, now: Timestamp) -> Vec<&str> {
    let mut removals: Vec<_> = removals.into_values().collect();
    removals.retain(|(_, at, _)| now.duration_since(*at).as_hours() < LONGEST);
    removals.sort_unstable_by_key(|(number, _, _)| *number);
    let first = removals.len().saturating_sub(MOST_REMOVALS);
    let latest = removals.drain(first..);
    latest.map(|(_, _, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn begin(run: &str, directory: &str) -> String {
        format!(
            r#"{{"run":"{run}","session":"s","name":"n","directory":"{directory}","project":"/p","acceptedAt":"2026-01-01T00:00:00Z","sequence":1,"owner":{{"pid":1,"startTime":1,"host":"h","socket":null}},"newField":7}}"#
        )
    }

    fn end(run: &str) -> String {
        format!(
            r#"{{"run":"{run}","status":"completed","exitCode":0,"endedAt":"2026-01-01T00:00:01Z"}}"#
        )
    }

    fn removed(run: &str, at: &str) -> String {
        format!(
            r#"{{"run":"{run}","removedAt":"{at}","session":"s","name":"n","directory":"/d/{run}"}}"#
        )
    }

    fn text(lines: &[String]) -> String {
        let ends = lines.iter().flat_map(|line| [line.as_str(), "\n"]);
        ends.collect()
    }

    fn now() -> Timestamp {
        "2026-06-01T00:00:00Z".parse().unwrap()
    }

    #[test]
    fn what_was_replaced_or_removed_or_spoilt_goes() {
        let recent = "2026-05-31T00:00:00Z";
        let content = text(&[
            begin("a", "/old"),
            end("a"),
            begin("b", "/b"),
            "{\"run\":\"torn".to_owned(),
            end("unknown"),
            begin("c", "/c"),
            end("b"),
            begin("a", "/new"),
            removed("b", recent),
            removed("d", "2025-01-01T00:00:00Z"),
            end("a"),
            begin("e", "/e"),
            removed("e", recent),
            begin("e", "/e"),
        ]);
        let expected = text(&[
            removed("b", recent),
            begin("a", "/new"),
            end("a"),
            begin("c", "/c"),
            begin("e", "/e"),
        ]);
        assert_eq!(compacted(&content, now()), expected);
        assert_eq!(compacted(&expected, now()), expected);
    }

    #[test]
    fn the_latest_removals_are_remembered() {
        let lines: Vec<String> = (0..MOST_REMOVALS + 5)
            .map(|number| removed(&format!("r{number}"), "2026-05-31T00:00:00Z"))
            .collect();
        assert_eq!(compacted(&text(&lines), now()), text(&lines[5..]));
    }
}
