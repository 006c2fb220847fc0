//! A session file is read as far as it goes, or refused, whatever has become of it.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use super::record::Recorded;

/// Sessions of both kinds of child, each a case of its own.
fn corpus() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
    let files = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_session_of_the_corpus_is_read() {
    let counts: Vec<(String, usize)> = corpus()
        .iter()
        .map(|file| {
            let recorded = Recorded::read(file).unwrap().unwrap();
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            (name, recorded.messages.len())
        })
        .collect();
    let expected = [("circle", 3), ("embedded-broken", 3), ("embedded-count", 6)];
    assert_eq!(
        counts,
        expected.map(|(name, count)| (name.to_owned(), count))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_spoilt_session_is_read_or_refused(
        sample in prop::sample::select(corpus()),
        edits in prop::collection::vec(
            (any::<Index>(), 0..200_usize, prop::collection::vec(any::<u8>(), 0..6)), 0..4),
    ) {
        let mut bytes = fs::read(sample).unwrap();
        for (at, removed, inserted) in edits {
            let start = at.index(bytes.len() + 1);
            let end = bytes.len().min(start + removed);
            bytes.splice(start..end, inserted);
        }
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("session.jsonl");
        fs::write(&file, &bytes).unwrap();
        if let Ok(Some(recorded)) = Recorded::read(&file) {
            let lines = bytes.split(|byte| *byte == b'\n').count();
            prop_assert!(recorded.messages.len() <= lines);
        }
    }

    #[test]
    fn entries_that_point_anywhere_are_read(parents in prop::collection::vec(0..12_usize, 1..12)) {
        let header = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}"#;
        // A parent may be itself, come later, or be missing.
        let entries = parents.iter().enumerate().map(|(number, parent)| {
            json!({
                "type": "message", "id": number.to_string(), "parentId": parent.to_string(),
                "message": {"role": "user", "content": "x", "timestamp": 1},
            })
            .to_string()
        });
        let lines: Vec<String> = [header.to_owned()].into_iter().chain(entries).collect();
        let text = lines.join("\n");
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("session.jsonl");
        fs::write(&file, &text).unwrap();
        let recorded = Recorded::read(&file).unwrap().unwrap();
        prop_assert!(recorded.messages.len() <= parents.len());
    }
}
