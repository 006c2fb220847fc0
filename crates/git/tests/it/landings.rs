//! Landings: written in one step, taken back in one step, killed at every step, and with a person who
//! edits files meanwhile.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pi_subagents_git::{
    Change, Landed, Landing, LandingMark, ObjectId, Repository, SavedEdits, ScratchWorktree,
    Snapshot, Stack, Stacked, TakenBack,
};
use pretty_assertions::assert_eq;

use crate::fixture::Fixture;
use crate::kills::{files, index, small};
use crate::matrices::{change, id};

/// The variable that makes a process of this program land: the checkout, both states, and the number
/// of the step before which it is killed.
const ORDER: &str = "GIT_LANDING_OF_A_TEST";

/// Returns the checkout as it is, and as it would be with a change.
fn states(fixture: &Fixture, change: &Change) -> [ObjectId; 2] {
    let repository = fixture.repository();
    let before = Snapshot::take(&repository).unwrap().commit;
    let stack = Stack::of(&repository).unwrap();
    match stack.put(change, &before).unwrap() {
        Stacked::State(after) => [before, after],
        Stacked::Conflicts(conflicts) => panic!("{conflicts:?}"),
    }
}

fn land(fixture: &Fixture, change: &Change) -> Landing {
    let [before, after] = states(fixture, change);
    let landing = Landing::begin(&fixture.repository(), "landing-1").unwrap();
    let landed = landing.land(&before, &after).unwrap();
    assert!(matches!(landed, Landed::Whole { .. }), "{landed:?}");
    landing
}

#[test]
fn a_landing_is_taken_back_with_the_same_bytes() {
    let (fixture, change) = small();
    let (before, kept) = (files(&fixture.top()), index(&fixture));
    let landing = land(&fixture, &change);
    assert_ne!(files(&fixture.top()), before);
    assert!(landing.has(LandingMark::Landed));
    let back = landing.take_back(SavedEdits::Refused).unwrap();
    assert!(matches!(back, TakenBack::Whole { .. }), "{back:?}");
    assert!(landing.has(LandingMark::TakenBack));
    assert_eq!(files(&fixture.top()), before);
    assert_eq!(index(&fixture), kept);
    // Whoever has the old list may look again.
    let all = Landing::all(&fixture.repository()).unwrap();
    assert_eq!(
        all.iter().map(Landing::id).collect::<Vec<_>>(),
        ["landing-1"]
    );
    landing.forget().unwrap();
    assert_eq!(Landing::all(&fixture.repository()).unwrap().len(), 0);
    assert_eq!(
        fixture.git(&["for-each-ref", "refs/pi-subagents/landings"]),
        ""
    );
}

#[test]
fn a_landing_is_not_written_on_a_checkout_that_has_changed() {
    let (fixture, change) = small();
    let [before, after] = states(&fixture, &change);
    fixture.write("another.txt", "mine\n");
    let now = files(&fixture.top());
    let landing = Landing::begin(&fixture.repository(), "landing-1").unwrap();
    assert_eq!(landing.land(&before, &after).unwrap(), Landed::Moved);
    assert_eq!(files(&fixture.top()), now);
    assert!(!landing.has(LandingMark::Landed));
}

#[test]
fn a_landing_is_not_taken_back_over_what_was_done_since() {
    let ten: Vec<String> = (1..=10).map(|number| format!("line {number}")).collect();
    let text = ten.join("\n") + "\n";
    let new = || {
        let fixture = Fixture::new();
        fixture.write("a.txt", &text);
        fixture.commit("ten lines");
        let made = change(&fixture, |top| {
            fs::write(top.join("a.txt"), text.replace("line 5", "five")).unwrap();
            fs::write(top.join("new.txt"), "new\n").unwrap();
        });
        let landing = land(&fixture, &made);
        (fixture, landing)
    };
    let path = |name: &str| vec![name.into()];
    let edit = |fixture: &Fixture, from: &str, to: &str| {
        let text = fixture.read("a.txt").replace(from, to);
        fixture.write("a.txt", &text);
    };

    let (fixture, landing) = new();
    edit(&fixture, "line 10", "ten");
    let back = |edits| landing.take_back(edits).unwrap();
    assert_eq!(back(SavedEdits::Refused), TakenBack::Edited(path("a.txt")));
    assert!(matches!(back(SavedEdits::Kept), TakenBack::Whole { .. }));
    assert_eq!(fixture.read("a.txt"), text.replace("line 10", "ten"));

    let (fixture, landing) = new();
    edit(&fixture, "five", "fünf");
    let back = landing.take_back(SavedEdits::Kept).unwrap();
    assert!(matches!(back, TakenBack::Conflicts(_)), "{back:?}");
    assert_eq!(fixture.read("a.txt"), text.replace("line 5", "fünf"));

    let (fixture, landing) = new();
    fixture.git(&["add", "new.txt"]);
    let back = landing.take_back(SavedEdits::Refused).unwrap();
    assert_eq!(back, TakenBack::Staged(path("new.txt")));

    let (fixture, landing) = new();
    fixture.git(&["commit", "--quiet", "-m", "mine", "a.txt"]);
    let commit = fixture.git(&["rev-parse", "--short", "HEAD"]);
    let back = landing.take_back(SavedEdits::Refused).unwrap();
    let files = path("a.txt");
    assert_eq!(back, TakenBack::Committed { files, commit });
    assert_eq!(fixture.read("new.txt"), "new\n");
}

/// Lands in a process that is killed before a step. Returns whether it came to its end.
fn land_and_kill(fixture: &Fixture, [before, after]: &[ObjectId; 2], step: usize) -> bool {
    let top = fixture.top();
    let order = format!("{}\n{before}\n{after}\n{step}", top.display());
    let ended = Command::new(env::current_exe().unwrap())
        .args(["--exact", "landings::a_process_that_is_to_land_does_so"])
        .env(ORDER, order)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    ended.unwrap().success()
}

/// Does what the variable says. Without it there is nothing to do.
#[test]
fn a_process_that_is_to_land_does_so() {
    let Ok(order) = env::var(ORDER) else { return };
    let words: Vec<&str> = order.split('\n').collect();
    let [top, before, after, step] = words.as_slice() else {
        panic!("{order}")
    };
    let step: usize = step.parse().unwrap();
    let steps = AtomicUsize::new(0);
    let watch = move |_: &'static str| {
        if steps.fetch_add(1, Ordering::SeqCst) == step {
            let me = std::process::id().to_string();
            Command::new("kill").args(["-9", &me]).status().unwrap();
        }
    };
    let repository = Repository::find(Path::new(top)).unwrap();
    let landing = Landing::begin(&repository, "landing-1").unwrap();
    let landed = landing.land_watched(&id(before), &id(after), Arc::new(watch));
    assert!(matches!(landed.unwrap(), Landed::Whole { .. }));
}

#[test]
fn a_landing_that_is_killed_before_any_step_is_whole_or_was_never_begun_and_its_mark_says_which() {
    let (fixture, made) = small();
    land(&fixture, &made);
    let after = files(&fixture.top());
    let (mut whole, mut step) = (0, 0);
    loop {
        let (fixture, made) = small();
        let (before, kept) = (files(&fixture.top()), index(&fixture));
        if land_and_kill(&fixture, &states(&fixture, &made), step) {
            break;
        }
        // Whoever takes the lock recovers.
        drop(fixture.repository().locked().unwrap());
        let landings = Landing::all(&fixture.repository()).unwrap();
        let has_landed = landings[0].has(LandingMark::Landed);
        let found = files(&fixture.top());
        assert_eq!(found == after, has_landed, "step {step}");
        assert_eq!(found == before, !has_landed, "step {step}");
        assert!(index(&fixture) == kept, "the index has other bytes");
        whole += usize::from(has_landed);
        step += 1;
    }
    assert!(step > 10, "{step}");
    assert!(whole > 5 && whole < step, "{whole} of {step}");
}

/// Lines of a file that a person and a result change: the model of what must come of it.
#[derive(Clone)]
struct Lines(Vec<String>);

impl Lines {
    fn text(&self) -> String {
        self.0.join("\n") + "\n"
    }
}

/// Numbers at random that are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

#[test]
fn edits_of_a_person_at_any_moment_are_never_lost() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for round in 0..12 {
        let fixture = Fixture::new();
        let plain = Lines((0..12).map(|line| format!("line {line}")).collect());
        let mut model = plain.clone();
        fixture.write("a.txt", &plain.text());
        fixture.commit("a");
        let made = change(&fixture, |top| {
            let text = plain.text().replace("line 2\n", "the result\n");
            fs::write(top.join("a.txt"), text).unwrap();
            fs::write(top.join("new.txt"), "new\n").unwrap();
        });
        // Lines 5 to 11 are the person's; line 2 is the result's.
        let edit = |dice: &mut Dice, model: &mut Lines, moment: usize| {
            let line = 5 + dice.below(7);
            model.0[line] = format!("mine {round} {moment}");
            fixture.write("a.txt", &model.text());
        };
        let edits: Vec<usize> = (0..4).map(|_| dice.below(2)).collect();
        if edits[0] == 1 {
            edit(&mut dice, &mut model, 0);
        }
        let [before, after] = states(&fixture, &made);
        if edits[1] == 1 {
            edit(&mut dice, &mut model, 1);
        }
        let landing = Landing::begin(&fixture.repository(), "landing-1").unwrap();
        let landed = landing.land(&before, &after).unwrap();
        if edits[1] == 1 {
            assert_eq!(landed, Landed::Moved, "{edits:?}");
            assert_eq!(fixture.read("a.txt"), model.text());
            let [before, after] = states(&fixture, &made);
            let landed = landing.land(&before, &after).unwrap();
            assert!(matches!(landed, Landed::Whole { .. }), "{landed:?}");
        }
        model.0[2] = "the result".to_owned();
        assert_eq!(fixture.read("a.txt"), model.text(), "{edits:?}");
        if edits[2] == 1 {
            edit(&mut dice, &mut model, 2);
            let refused = landing.take_back(SavedEdits::Refused).unwrap();
            assert_eq!(refused, TakenBack::Edited(vec!["a.txt".into()]));
        }
        let back = landing.take_back(SavedEdits::Kept).unwrap();
        assert!(matches!(back, TakenBack::Whole { .. }), "{back:?}");
        model.0[2] = "line 2".to_owned();
        assert_eq!(fixture.read("a.txt"), model.text(), "{edits:?}");
        assert!(!fixture.top().join("new.txt").exists());
    }
}

#[test]
fn a_scratch_worktree_shows_states_and_keeps_what_git_ignores() {
    let (fixture, made) = small();
    let [before, after] = states(&fixture, &made);
    let place = fixture.place.path().join("scratch");
    let repository = fixture.repository();
    let mut scratch = ScratchWorktree::make(&repository, &place, &before).unwrap();
    // What a person has not committed is in it, and what git ignores is not.
    assert_eq!(
        fs::read_to_string(place.join("untracked.txt")).unwrap(),
        "mine\n"
    );
    assert!(!place.join("ignored.log").exists());
    fs::write(place.join("build.log"), "warm\n").unwrap();
    fs::write(place.join("written.txt"), "by a gate\n").unwrap();
    fs::write(place.join("kept.txt"), "by a gate\n").unwrap();
    let written = scratch.written().unwrap();
    assert_eq!(
        written,
        ["kept.txt", "written.txt"].map(std::path::PathBuf::from)
    );
    let time = |name: &str| fs::metadata(place.join(name)).unwrap().modified().unwrap();
    let earlier = time("changed.txt");
    scratch.show(&after).unwrap();
    assert_eq!(scratch.written().unwrap().len(), 0);
    assert!(place.join("build.log").exists());
    assert!(place.join("new/deep/größe\n.txt").exists());
    assert_eq!(
        fs::read_to_string(place.join("kept.txt")).unwrap(),
        "one\ntwo\nthree\n"
    );
    assert!(
        time("changed.txt")
            .duration_since(earlier)
            .unwrap()
            .as_secs()
            >= 1
    );
    // A second one takes the place of one that was left behind.
    std::mem::forget(scratch);
    let scratch = ScratchWorktree::make(&repository, &place, &before).unwrap();
    assert!(!place.join("build.log").exists());
    drop(scratch);
    assert!(!place.exists());
    let listed = fixture.git(&["worktree", "list"]);
    assert!(!listed.contains("scratch"), "{listed}");
}
