//! Loading never panics and never hides a good file, whatever lies in a folder.

use std::fs;

use pi_subagents_configuration::{Asker, Catalogue, Trust, save};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::sandbox::{Sandbox, global_folder};

/// Lines that are nearly a definition.
fn line() -> impl Strategy<Value = String> {
    let keys = prop::sample::select(vec![
        "name",
        "model",
        "tools",
        "noTools",
        "excludeTools",
        "timeout",
        "apiKey",
        "extraArgs",
        "finalize",
        "approved_tools",
        "thinkingLevel",
        "color",
        "<<",
        "- x",
        "? y",
        "&a b",
        "*a",
    ]);
    let values = prop_oneof![
        prop::sample::select(vec![
            "x",
            "[a, b]",
            "{a: 1}",
            "true",
            "|",
            ">",
            "&a z",
            "*a",
            "'",
            "\"",
            "1e9",
            "---",
            "[[[[",
            "\t",
            "!!binary zz",
            "!x y",
            "~",
            "",
        ])
        .prop_map(str::to_owned),
        ".{0,12}",
    ];
    (
        prop::collection::vec(prop::sample::select(vec!["", " ", "  ", "\t"]), 1),
        keys,
        values,
    )
        .prop_map(|(indent, key, value)| format!("{}{key}: {value}", indent.concat()))
}

/// The odd files of the corpus, with a few careless edits.
fn edited_case() -> impl Strategy<Value = Vec<u8>> {
    let folder = format!("{}/tests/cases", env!("CARGO_MANIFEST_DIR"));
    let mut cases: Vec<Vec<u8>> = fs::read_dir(folder)
        .unwrap()
        .map(|file| fs::read(file.unwrap().path()).unwrap())
        .collect();
    cases.sort();
    let edit = (
        any::<Index>(),
        0..12_usize,
        prop::collection::vec(any::<u8>(), 0..4),
    );
    let edits = prop::collection::vec(edit, 0..4);
    (prop::sample::select(cases), edits).prop_map(|(mut bytes, edits)| {
        for (at, removed, inserted) in edits {
            let start = at.index(bytes.len() + 1);
            let end = bytes.len().min(start + removed);
            bytes.splice(start..end, inserted);
        }
        bytes
    })
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    let ends = prop::sample::select(vec!["\n", "\r\n", "\n---\n"]);
    let lines = (prop::collection::vec(line(), 0..8), ends)
        .prop_map(|(lines, end)| format!("---{end}{}{end}---\nbody", lines.join(end)).into_bytes());
    prop_oneof![
        4 => lines,
        4 => edited_case(),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

/// A file as people write them, with comments and keys of others.
fn sensible_file() -> impl Strategy<Value = Vec<u8>> {
    let lines = prop::sample::subsequence(
        vec![
            "# a comment",
            "description: plain # inline",
            "model: old",
            "model-name: \"quoted # no comment\"",
            "tools: read,ls",
            "appendSystemPrompt: |\n  One.\n\n  Two.",
            "color: blue",
            "nested:\n  deep:\n    - 1\n    - b: c",
            "",
            "thinkingLevel: high",
            "flow: {a: [1, 2], b: 'x'}",
            "folded: >-\n  some\n  words",
            "timeout: 90",
            "  # indented comment",
        ],
        0..=14,
    );
    (lines.prop_shuffle(), 0..14_usize).prop_map(|(mut lines, at)| {
        lines.insert(at.min(lines.len()), "name: x");
        format!("---\n{}\n---\n\nBody.\n", lines.join("\n")).into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_folder_of_anything_loads(files in prop::collection::vec(file(), 1..6)) {
        let sandbox = Sandbox::new();
        let folder = sandbox.agent_dir().join("agents");
        fs::create_dir_all(&folder).unwrap();
        for (index, content) in files.iter().enumerate() {
            fs::write(folder.join(format!("{index}.md")), content).unwrap();
        }
        fs::write(folder.join("3-good.md"), "---\nname: good-one\n---\n").unwrap();
        let catalogue = Catalogue::load(&global_folder(&folder), &Trust::default());
        prop_assert!(catalogue.find("good-one", Asker::Delegation).is_ok());
        let loaded = catalogue.effective(Asker::Delegation).len();
        let skipped = catalogue.warnings().iter().filter(|warning| warning.to_string().ends_with("is not used"));
        prop_assert_eq!(loaded + skipped.count(), files.len() + 1);
        for warning in catalogue.warnings() {
            prop_assert!(!warning.to_string().contains(char::is_control));
        }
    }

    #[test]
    fn what_was_saved_is_what_is_read(
        content in prop_oneof![1 => file(), 3 => sensible_file()],
        model in "[ -~é🦀]{0,20}",
        prompt in "[ -~\n#:é-]{0,40}",
        tools in prop::collection::vec("[a-z]{1,6}", 1..4),
    ) {
        let sandbox = Sandbox::new();
        let folder = sandbox.agent_dir().join("agents");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("x.md");
        fs::write(&file, &content).unwrap();
        let catalogue = Catalogue::load(&global_folder(&folder), &Trust::default());
        for definition in catalogue.effective(Asker::Delegation) {
            let mut changed = definition.clone();
            let trimmed = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
            changed.model = trimmed(&model);
            changed.append_system_prompt = trimmed(&prompt);
            changed.tools = Some(tools.clone());
            if save(&changed).is_err() {
                prop_assert_eq!(fs::read(&file).unwrap(), content.clone());
                continue;
            }
            let again = Catalogue::load(&global_folder(&folder), &Trust::default());
            let read = again.find(&changed.name, Asker::Delegation).unwrap();
            prop_assert_eq!(&read.definition.model, &changed.model);
            prop_assert_eq!(&read.definition.tools, &changed.tools);
            prop_assert_eq!(&read.definition.body, &definition.body);
        }
    }
}
