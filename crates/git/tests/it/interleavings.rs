//! Results land and are taken back in any order, while a person edits, saves, stages and makes files at
//! any moment, also in the middle of a write: nothing that the person wrote is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pi_subagents_git::{
    Change, Landed, Landing, LateSave, SavedEdits, Snapshot, Stack, Stacked, TakenBack,
};
use proptest::prelude::*;

use crate::fixture::Fixture;
use crate::matrices::change;

/// The files that both sides work in, and the lines of each.
const FILES: [&str; 3] = ["a.txt", "b.txt", "c.txt"];
const LINES: usize = 16;

/// A save of the person.
#[derive(Debug, Clone)]
struct Save {
    file: usize,
    /// The results change lines 1 and 14; the others are the person's.
    line: usize,
    /// An editor writes into the file, or puts a new one in its place.
    by_rename: bool,
}

/// Something that happens in the checkout.
#[derive(Debug, Clone)]
enum Move {
    Save(Save),
    /// The person makes a file, which may be in the way of a result.
    Make(u8),
    Stage(usize),
    /// A result lands. The person saves after it was rehearsed, and before a step of the write.
    Land {
        result: usize,
        before: Option<Save>,
        during: Option<(usize, Save)>,
    },
    /// The last landing is taken back.
    TakeBack,
}

fn save() -> impl Strategy<Value = Save> {
    (0..FILES.len(), 3..13_usize, any::<bool>()).prop_map(|(file, line, by_rename)| Save {
        file,
        line,
        by_rename,
    })
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let land = (
        0..3_usize,
        proptest::option::weighted(0.3, save()),
        proptest::option::weighted(0.6, (0..12_usize, save())),
    );
    let land = land.prop_map(|(result, before, during)| Move::Land {
        result,
        before,
        during,
    });
    let one = prop_oneof![
        3 => save().prop_map(Move::Save),
        1 => (0..2_u8).prop_map(Move::Make),
        1 => (0..FILES.len()).prop_map(Move::Stage),
        5 => land,
        2 => Just(Move::TakeBack),
    ];
    proptest::collection::vec(one, 2..9)
}

/// The work of a person: the lines that they wrote last, by file and line, and the files they made.
#[derive(Debug, Default)]
struct Person {
    number: usize,
    lines: BTreeMap<(usize, usize), String>,
    made: BTreeMap<PathBuf, String>,
}

impl Person {
    /// Saves a file as an editor does that has read it just now.
    fn save(&mut self, top: &Path, save: &Save) {
        let path = top.join(FILES[save.file]);
        // A result may have deleted it.
        let Ok(text) = fs::read_to_string(&path) else {
            return;
        };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if lines.len() <= save.line {
            return;
        }
        self.number += 1;
        let words = format!("mine {}", self.number);
        lines[save.line].clone_from(&words);
        self.lines.insert((save.file, save.line), words);
        let text = lines.join("\n") + "\n";
        if save.by_rename {
            let other = top.join(".saved-by-an-editor");
            fs::write(&other, text).unwrap();
            fs::rename(&other, &path).unwrap();
        } else {
            fs::write(&path, text).unwrap();
        }
    }

    fn make(&mut self, top: &Path, name: u8) {
        let name = PathBuf::from(format!("new-{name}.txt"));
        // The file of a result that landed is not theirs.
        if top.join(&name).exists() && !self.made.contains_key(&name) {
            return;
        }
        self.number += 1;
        let text = format!("made {}\n", self.number);
        fs::write(top.join(&name), &text).unwrap();
        self.made.insert(name, text);
    }
}

/// The checkout, the results that may land, and those that have.
struct Play {
    fixture: Fixture,
    results: [Change; 3],
    person: Arc<Mutex<Person>>,
    landings: Vec<(usize, Landing)>,
    late: Vec<PathBuf>,
    number: usize,
}

fn text() -> String {
    let lines: Vec<String> = (0..LINES).map(|line| format!("line {line}")).collect();
    lines.join("\n") + "\n"
}

impl Play {
    fn new() -> Self {
        let fixture = Fixture::new();
        for file in FILES {
            fixture.write(file, &text());
        }
        fixture.commit("files");
        let results = [
            change(&fixture, |top| {
                let a = text().replace("line 1\n", "result 0\n");
                fs::write(top.join("a.txt"), a).unwrap();
                fs::write(top.join("new-0.txt"), "of result 0\n").unwrap();
            }),
            change(&fixture, |top| {
                let a = text().replace("line 14\n", "result 1\n");
                fs::write(top.join("a.txt"), a).unwrap();
                let b = text().replace("line 1\n", "result 1\n");
                fs::write(top.join("b.txt"), b).unwrap();
            }),
            change(&fixture, |top| {
                let b = text().replace("line 14\n", "result 2\n");
                fs::write(top.join("b.txt"), b).unwrap();
                fs::remove_file(top.join("c.txt")).unwrap();
                fs::write(top.join("new-1.txt"), "of result 2\n").unwrap();
            }),
        ];
        Self {
            fixture,
            results,
            person: Arc::default(),
            landings: Vec::new(),
            late: Vec::new(),
            number: 0,
        }
    }

    fn play(&mut self, one: &Move) {
        let top = self.fixture.top();
        match one {
            Move::Save(save) => self.person.lock().unwrap().save(&top, save),
            Move::Make(name) => self.person.lock().unwrap().make(&top, *name),
            Move::Stage(file) => {
                if top.join(FILES[*file]).exists() {
                    self.fixture.git(&["add", FILES[*file]]);
                }
            }
            Move::Land {
                result,
                before,
                during,
            } => self.land(*result, before.as_ref(), during.clone()),
            Move::TakeBack => self.take_back(),
        }
    }

    fn land(&mut self, result: usize, before: Option<&Save>, during: Option<(usize, Save)>) {
        if self.landings.iter().any(|(landed, _)| *landed == result) {
            return;
        }
        let repository = self.fixture.repository();
        let snapshot = Snapshot::take(&repository).unwrap().commit;
        let stack = Stack::of(&repository).unwrap();
        let Stacked::State(after) = stack.put(&self.results[result], &snapshot).unwrap() else {
            return;
        };
        let top = self.fixture.top();
        if let Some(save) = before {
            self.person.lock().unwrap().save(&top, save);
        }
        let steps = AtomicUsize::new(0);
        let person = Arc::clone(&self.person);
        let watch = move |_: &'static str| {
            let step = steps.fetch_add(1, Ordering::SeqCst);
            if let Some((_, save)) = during.as_ref().filter(|(at, _)| *at == step) {
                person.lock().unwrap().save(&top, save);
            }
        };
        self.number += 1;
        let landing = Landing::begin(&repository, &format!("landing-{}", self.number)).unwrap();
        let landed = landing.land_watched(&snapshot, &after, Arc::new(watch));
        match landed.unwrap() {
            Landed::Whole { late_saves, .. } => {
                self.keep(&late_saves);
                self.landings.push((result, landing));
            }
            Landed::Moved | Landed::InTheWay(_) => landing.forget().unwrap(),
        }
    }

    fn take_back(&mut self) {
        let Some((result, landing)) = self.landings.pop() else {
            return;
        };
        match landing.take_back(SavedEdits::Kept).unwrap() {
            TakenBack::Whole { late_saves, .. } => self.keep(&late_saves),
            TakenBack::Committed { .. }
            | TakenBack::Staged(_)
            | TakenBack::Edited(_)
            | TakenBack::Conflicts(_)
            | TakenBack::InTheWay(_)
            | TakenBack::Moved(_)
            | TakenBack::Forgotten => self.landings.push((result, landing)),
        }
    }

    fn keep(&mut self, saves: &[LateSave]) {
        self.late.extend(saves.iter().map(|save| save.kept.clone()));
    }

    /// Returns the lines of the person that are nowhere: neither in their file, nor in a version of it that
    /// was kept and named.
    fn lost(&self) -> Vec<String> {
        let top = self.fixture.top();
        let person = self.person.lock().unwrap();
        let kept: Vec<String> = self
            .late
            .iter()
            .map(|path| fs::read_to_string(path).unwrap())
            .collect();
        let is_kept = |words: &str| {
            kept.iter()
                .any(|text| text.lines().any(|line| line == words))
        };
        let lines = person.lines.iter().filter(|((file, line), words)| {
            let text = fs::read_to_string(top.join(FILES[*file])).unwrap_or_default();
            text.lines().nth(*line) != Some(words) && !is_kept(words)
        });
        let lines = lines.map(|((file, _), words)| format!("{}: {words}", FILES[*file]));
        let made = person.made.iter().filter(|(name, text)| {
            let now = fs::read_to_string(top.join(name)).unwrap_or_default();
            now != **text && !kept.contains(text)
        });
        let made = made.map(|(name, _)| name.display().to_string());
        lines.chain(made).collect()
    }

    /// Returns the results of which the checkout has something else than all or nothing.
    fn torn(&self) -> Vec<usize> {
        let landed: BTreeSet<usize> = self.landings.iter().map(|(result, _)| *result).collect();
        let top = self.fixture.top();
        let read = |name: &str| fs::read_to_string(top.join(name)).unwrap_or_default();
        let has = |name: &str, words: &str| read(name).lines().any(|line| line == words);
        let seen = [
            vec![has("a.txt", "result 0"), has("new-0.txt", "of result 0")],
            vec![has("a.txt", "result 1"), has("b.txt", "result 1")],
            vec![
                has("b.txt", "result 2"),
                has("new-1.txt", "of result 2"),
                !top.join("c.txt").exists(),
            ],
        ];
        let person = self.person.lock().unwrap();
        let is_torn = |result: &usize| {
            let whole = seen[*result].iter().all(|is_there| *is_there);
            let none = seen[*result].iter().all(|is_there| !is_there);
            // The person may have written into a file that a result made.
            let is_theirs = person.made.keys().any(|name| {
                let own = if *result == 0 {
                    "new-0.txt"
                } else {
                    "new-1.txt"
                };
                *result != 1 && name == Path::new(own)
            });
            !is_theirs && !(if landed.contains(result) { whole } else { none })
        };
        (0..3).filter(is_torn).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_interleaving_of_landings_and_edits_loses_anything(moves in moves()) {
        let mut play = Play::new();
        for (number, one) in moves.iter().enumerate() {
            let staged = play.fixture.git(&["ls-files", "--stage"]);
            play.play(one);
            prop_assert_eq!(play.lost(), Vec::<String>::new(), "after move {} of {:?}", number, moves);
            prop_assert_eq!(play.torn(), Vec::<usize>::new(), "after move {} of {:?}", number, moves);
            if !matches!(one, Move::Stage(_)) {
                prop_assert_eq!(play.fixture.git(&["ls-files", "--stage"]), staged);
            }
        }
    }
}
