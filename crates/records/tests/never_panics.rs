//! Reading the files of a run never panics, never hangs, and gives no more than the files hold,
//! whatever has become of them.
#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

use pi_subagents_vocabulary::HeldMessages;
use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_records::transcript::Prompts;
use pi_subagents_records::{
    Finder, FinishedRun, IndexedRun, RecordTail, RecordedRun, RunDir, Store, SurveyDepth, history,
    read_events, transcript,
};
use proptest::prelude::*;
use proptest::sample::Index;

/// The project of the runs in the corpus.
const PROJECT: &str = "/home/user/project";

/// The files of a run that are read again.
const FILES: [&str; 3] = ["meta.json", "events.jsonl", "result.json"];

/// The number of bytes of a growing record that are read at once.
const PIECE: usize = 1000;

/// The directories of runs that were recorded, each a case of its own.
fn corpus() -> Vec<PathBuf> {
    let folder = format!("{}/tests/corpus", env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut runs: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    runs.sort();
    runs
}

/// A careless edit: where, how much is taken away, and what is put there.
type Edit = (Index, usize, Vec<u8>);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let inserted = prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 0..6),
        1 => prop::sample::select(vec![b"\n".to_vec(), b"null".to_vec(), b"{".to_vec(), vec![0; 40]]),
    ];
    let removed = prop_oneof![4 => 0..20_usize, 1 => 0..5000_usize];
    prop::collection::vec((any::<Index>(), removed, inserted), 0..4)
}

fn edited(mut bytes: Vec<u8>, edits: &[Edit]) -> Vec<u8> {
    for (at, removed, inserted) in edits {
        let start = at.index(bytes.len() + 1);
        let end = bytes.len().min(start + removed);
        bytes.splice(start..end, inserted.iter().copied());
    }
    bytes
}

/// Copies a recorded run, with edits in one of its files.
fn copy(run: &Path, to: &Path, file: &str, edits: &[Edit]) -> RunDir {
    fs::create_dir_all(to).unwrap();
    for name in FILES {
        let bytes = fs::read(run.join(name)).unwrap_or_default();
        let edits = if name == file { edits } else { &[] };
        fs::write(to.join(name), edited(bytes, edits)).unwrap();
    }
    RunDir::new(to)
}

/// Reads a record in every way there is; returns how many events it has.
fn read_all(directory: &RunDir) -> usize {
    let mut events = 0;
    // A record that cannot be read is an error, which is all that is wanted of it.
    _ = read_events(directory, |_| events += 1);
    if let Ok(history) = history(directory, HeldMessages::Newest) {
        let texts = [
            transcript::for_reading(std::slice::from_ref(&history), Prompts::Marked),
            transcript::for_resuming(std::slice::from_ref(&history)),
        ];
        assert!(texts.iter().all(|text| text.len() < 1 << 20));
    }
    if let Ok(run) = RecordedRun::read(directory) {
        let _ = run.status();
    }
    let mut tail = RecordTail::new(directory);
    let size = fs::metadata(directory.events()).map_or(0, |file| file.len());
    let most = usize::try_from(size).unwrap() / PIECE + 2;
    for _ in 0..most {
        if tail.next(PIECE).is_err() {
            break;
        }
    }
    events
}

#[test]
fn what_was_recorded_is_read_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let counts: Vec<usize> = corpus()
        .iter()
        .enumerate()
        .map(|(number, run)| {
            let to = directory.path().join(number.to_string());
            read_all(&copy(run, &to, "", &[]))
        })
        .collect();
    assert!(counts.iter().all(|count| *count > 3), "{counts:?}");
}

#[test]
fn both_readers_of_a_spoilt_index_agree_about_the_runs_in_progress() {
    let index = fs::read_to_string(corpus_file("index.jsonl")).unwrap();
    let lines: Vec<&str> = index.lines().collect();
    let (begin, end) = (lines[1], lines[2]);
    let status = r#","status":"failed""#;
    let (run, _) = end.split_once(status).unwrap();
    let (_, owner) = lines[4].split_once(r#","owner""#).unwrap();
    let two_in_one = format!(r#"{run}{status},"owner"{owner}"#);
    let (late_begin, late_end) = (format!(" {begin}"), format!(" {end}"));
    let cases = [
        ("as it was written", vec![begin, end], 0),
        (
            "an end that became the beginning of a line",
            vec![begin, &two_in_one],
            1,
        ),
        ("a beginning after a space", vec![&late_begin, end], 0),
        ("an end after a space", vec![begin, &late_end], 0),
        ("a torn end", vec![begin, &end[..end.len() - 1]], 1),
        ("entered again", vec![begin, end, begin], 1),
    ];
    for (case, lines, expected) in cases {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path());
        fs::write(store.index(), lines.join("\n") + "\n").unwrap();
        let mut open = store.runs().unwrap();
        open.retain(IndexedRun::is_open);
        assert_eq!(store.open_runs().unwrap(), open, "{case}");
        assert_eq!(finished(&store), runs_of_corpus_project(&store), "{case}");
        assert_eq!(open.len(), expected, "{case}");
    }
}

fn by_id(mut runs: Vec<IndexedRun>) -> Vec<IndexedRun> {
    runs.sort_by(|one, other| one.run.cmp(&other.run));
    runs
}

/// Returns the finished runs of the project of the corpus, as a survey reads them.
fn finished(store: &Store) -> Vec<IndexedRun> {
    let survey = store
        .survey(Path::new(PROJECT), SurveyDepth::Facts)
        .unwrap();
    let read = |run: &FinishedRun| survey.read(run).unwrap().unwrap();
    let runs: Vec<IndexedRun> = survey.finished.iter().map(|run| read(run)).collect();
    let counted = store
        .survey(Path::new(PROJECT), SurveyDepth::Counts)
        .unwrap();
    assert_eq!(counted.counts.total(), runs.len());
    runs
}

/// Returns the same runs, as the whole index has them.
fn runs_of_corpus_project(store: &Store) -> Vec<IndexedRun> {
    let mut runs = store.runs().unwrap();
    runs.retain(|run| !run.is_open() && run.project == Path::new(PROJECT));
    runs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_spoilt_record_is_read_as_far_as_it_goes(
        run in prop::sample::select(corpus()),
        file in prop::sample::select(FILES.to_vec()),
        edits in edits(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let spoilt = copy(&run, &directory.path().join("run"), file, &edits);
        let lines = fs::read(spoilt.events()).unwrap();
        let most = lines.split(|byte| *byte == b'\n').count() + 4;
        prop_assert!(read_all(&spoilt) <= most);
    }

    #[test]
    fn a_spoilt_index_costs_its_spoilt_lines_only(edits in edits(), id in "[0-9a-f-]{1,12}") {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path());
        let index = fs::read(corpus_file("index.jsonl")).unwrap();
        let good = index.split(|byte| *byte == b'\n').next().unwrap().to_vec();
        let spoilt = [edited(index, &edits), b"\n".to_vec(), good, b"\n".to_vec()].concat();
        fs::write(store.index(), spoilt).unwrap();
        let runs = store.runs().unwrap();
        prop_assert!(runs.iter().any(|run| run.name == "count"));
        let open: Vec<_> = runs.iter().filter(|run| run.is_open()).cloned().collect();
        // A spoilt line may decide which of two runs with the same number comes first.
        prop_assert_eq!(by_id(store.open_runs().unwrap()), by_id(open));
        for word in [id.as_str(), "last", "last~1", "count", "odd", "2026"] {
            let few = store.candidates(Finder::GIVEN, &[word]).unwrap();
            let found = Finder::GIVEN.find(&few, word);
            let among_all = Finder::GIVEN.find(&runs, word);
            prop_assert_eq!(format!("{found:?}"), format!("{among_all:?}"));
        }
    }
}

fn corpus_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(name)
}
