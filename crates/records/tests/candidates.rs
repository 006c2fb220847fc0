//! The runs that a finder needs for a word are enough: it finds the same among them as among all.
#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

use std::fs;
use std::path::Path;

use pi_subagents_records::{FindScope, Finder, Prefers, Store};
use proptest::prelude::*;

/// Words that mean a run, several runs or none.
const WORDS: [&str; 14] = [
    "last",
    "last~0",
    "last~2",
    "last~40",
    "last~",
    "",
    "run-",
    "run-1",
    "run-3",
    "ses",
    "session-2",
    "name-1",
    "nmae-1",
    "preset-0",
];

/// One line of an index.
#[derive(Debug, Clone)]
struct IndexedLine {
    run: usize,
    kind: u8,
    word: usize,
    sequence: u64,
}

impl IndexedLine {
    fn text(&self) -> String {
        let Self {
            run,
            kind,
            word,
            sequence,
        } = self;
        let begin = format!(
            r#"{{"run":"run-{run}","session":"session-{}","name":"name-{word}","preset":"preset-{word}","model":"m{word}","directory":"/d/run-{run}","project":"/p/{}","acceptedAt":"2026-01-01T00:00:00Z","sequence":{sequence},"owner":{{"pid":1,"startTime":1,"host":"h"}}}}"#,
            word % 3,
            word % 2,
        );
        match kind {
            0..=3 => begin,
            4..=5 => format!(
                r#"{{"run":"run-{run}","status":"completed","exitCode":0,"endedAt":"2026-01-01T00:00:01Z"}}"#
            ),
            6 => format!(
                r#"{{"run":"run-{run}","status":"failed","exitCode":1,"endedAt":"2026-01-01T00:00:02Z","model":"other{word}"}}"#
            ),
            7 => format!(
                r#"{{"run":"run-{run}","removedAt":"2026-01-01T00:00:03Z","session":"s","name":"n","directory":"/d"}}"#
            ),
            8 => begin.replace("2026-", "never-"),
            _ => begin[..begin.len() / 2].to_owned(),
        }
    }
}

fn lines() -> impl Strategy<Value = Vec<IndexedLine>> {
    let line = (0..9_usize, 0..10_u8, 0..4_usize, 0..5_u64);
    let line = line.prop_map(|(run, kind, word, sequence)| IndexedLine {
        run,
        kind,
        word,
        sequence,
    });
    prop::collection::vec(line, 0..40)
}

fn finders() -> [Finder<'static>; 3] {
    let newest = |scope| Finder {
        scope,
        prefers: Prefers::Newest,
    };
    [
        newest(FindScope::Given),
        newest(FindScope::Project(Path::new("/p/0"))),
        Finder {
            scope: FindScope::Project(Path::new("/p/1")),
            prefers: Prefers::Running,
        },
    ]
}

/// Returns the first word by which something else is found, with both results.
fn difference(store: &Store) -> Option<String> {
    let all = store.runs().unwrap();
    finders().into_iter().find_map(|finder| {
        WORDS.into_iter().find_map(|word| {
            let few = store.candidates(finder, &[word]).unwrap();
            let found = format!("{:?}", finder.find(&few, word));
            let among_all = format!("{:?}", finder.find(&all, word));
            (found != among_all).then(|| format!("{finder:?} {word}: {found}\nnot {among_all}"))
        })
    })
}

fn store_with(directory: &Path, lines: &[String]) -> Store {
    let store = Store::new(directory);
    fs::write(store.index(), lines.join("\n") + "\n").unwrap();
    store
}

proptest! {
    #[test]
    fn a_word_means_the_same_among_few_runs_as_among_all(lines in lines()) {
        let home = tempfile::tempdir().unwrap();
        let lines: Vec<String> = lines.iter().map(IndexedLine::text).collect();
        prop_assert_eq!(difference(&store_with(home.path(), &lines)), None);
    }
}

#[test]
fn of_many_runs_few_are_kept() {
    let home = tempfile::tempdir().unwrap();
    let lines = (0..3_000_u64).map(|number| {
        let word = usize::try_from(number % 7).unwrap();
        let line = IndexedLine {
            run: usize::try_from(number).unwrap(),
            kind: 0,
            word,
            sequence: number,
        };
        let own = format!(r#""session":"of-{number}-"#);
        line.text().replace(r#""session":"session-"#, &own)
    });
    let store = store_with(home.path(), &lines.collect::<Vec<_>>());
    assert_eq!(difference(&store), None);
    let kept = store.candidates(Finder::GIVEN, &["last", "run-17"]);
    // The newest five hundred, with which misspelt words are compared, and what begins with the id.
    assert_eq!(kept.unwrap().len(), 611);
}
