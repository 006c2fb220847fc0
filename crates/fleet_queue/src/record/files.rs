//! Decides which files of a run directory travel.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use pi_subagents_files::Directory;

/// The number of files of one run that travel; the record of a run that writes more says so.
pub const MOST_FILES: usize = 256;

/// The logs that every run has.
const LOGS: [&str; 4] = ["events.jsonl", "stdout.log", "stderr.log", "transcript.log"];

/// Files that a run writes beside its logs, by how their names begin and end.
const OTHERS: [(&str, &str); 3] = [
    ("long-line-", ".txt"),
    ("pi-bash-", ".log"),
    ("gate-", ".log"),
];

/// More entries of a run directory are not looked at.
const MOST_ENTRIES: usize = 10_000;

/// The length of the longest middle of such a name.
const LONGEST_MIDDLE: usize = 64;

/// Returns whether a file of this name is part of the record that travels. Its reader asks too: the
/// name comes from another machine.
pub fn travels(name: &str) -> bool {
    let is_other = OTHERS.iter().any(|(begin, end)| {
        let rest = name.strip_prefix(begin);
        rest.and_then(|rest| rest.strip_suffix(end))
            .is_some_and(is_plain)
    });
    is_other || LOGS.contains(&name)
}

/// Returns the files of a run directory that travel, with their lengths.
pub fn record_lengths(directory: &Directory) -> io::Result<BTreeMap<String, u64>> {
    let entries = directory.list(MOST_ENTRIES)?;
    let names = entries.into_iter().filter(|entry| !entry.is_link);
    let names = names.filter_map(|entry| entry.name.into_string().ok());
    let files = names.filter(|name| travels(name)).take(MOST_FILES);
    files
        .map(|name| {
            let length = directory.open_file(Path::new(&name))?.metadata()?.len();
            Ok((name, length))
        })
        .collect()
}

fn is_plain(middle: &str) -> bool {
    (1..=LONGEST_MIDDLE).contains(&middle.len())
        && middle
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::travels;

    #[test]
    fn only_the_logs_of_a_run_travel() {
        let names = [
            "events.jsonl",
            "stderr.log",
            "long-line-12.txt",
            "pi-bash-aB3.log",
        ];
        for name in names {
            assert!(travels(name), "{name}");
        }
        let others = [
            "",
            "meta.json",
            "result.json",
            "child-session.jsonl",
            "long-line-.txt",
            "long-line-../../x.txt",
            "pi-bash-a/b.log",
            "../events.jsonl",
            "events.jsonl/",
        ];
        for name in others {
            assert!(!travels(name), "{name}");
        }
    }
}
