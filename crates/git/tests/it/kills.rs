//! Merges that are killed at every step and at random, and people who save files meanwhile. Whatever
//! happens, the checkout is as before or as after, its index has the same bytes, and no save is lost.
//!
//! The process that is killed is this test program again. A variable tells it what to do.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pi_subagents_git::{Change, ChangeOutcome, Merge, ObjectId, RecoveredAs, Repository};
use pretty_assertions::assert_eq;

use crate::fixture::Fixture;
use crate::matrices::change;

/// The variable that makes a process of this program merge: the checkout, base, result, and the number
/// of the step before which it is killed.
const ORDER: &str = "GIT_MERGE_OF_A_TEST";

/// The paths that the large change touches.
const MANY: usize = 800;

/// The steps of the small change: before its third file goes, and before its second file changes.
const THIRD_FILE: usize = 4;
const SECOND_CHANGE: usize = 8;

/// Every file of a checkout with its kind, permissions and content.
pub(crate) type Files = BTreeMap<PathBuf, (u32, Vec<u8>)>;

pub(crate) fn files(top: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let kind = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(top).unwrap().to_owned();
            if name == Path::new(".git") {
                continue;
            }
            let content = if kind.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                target.into_os_string().into_encoded_bytes()
            } else if kind.is_dir() {
                folders.push(path);
                continue;
            } else {
                fs::read(&path).unwrap()
            };
            found.insert(name, (kind.permissions().mode(), content));
        }
    }
    found
}

pub(crate) fn index(fixture: &Fixture) -> Vec<u8> {
    fs::read(fixture.top().join(".git/index")).unwrap()
}

/// A checkout whose user has work of every kind, and a change that touches paths of every kind.
pub(crate) fn small() -> (Fixture, Change) {
    let fixture = Fixture::new();
    for name in ["changed", "gone", "d/gone", "e", "mode", "link", "same/one"] {
        fixture.write(&format!("{name}.txt"), &format!("{name}\n").repeat(9));
    }
    fixture.write("to-directory", "file\n");
    fixture.write("to-file/inner.txt", "inner\n");
    fixture.commit("paths of every kind");
    let made = change(&fixture, |top| {
        fs::write(top.join("changed.txt"), "changed\n".repeat(8) + "child\n").unwrap();
        fs::remove_file(top.join("gone.txt")).unwrap();
        fs::remove_dir_all(top.join("d")).unwrap();
        fs::rename(top.join("e.txt"), top.join("renamed.txt")).unwrap();
        let runs = fs::Permissions::from_mode(0o755);
        fs::set_permissions(top.join("mode.txt"), runs).unwrap();
        fs::remove_file(top.join("link.txt")).unwrap();
        symlink("changed.txt", top.join("link.txt")).unwrap();
        fs::remove_file(top.join("to-directory")).unwrap();
        fs::create_dir(top.join("to-directory")).unwrap();
        fs::write(top.join("to-directory/file"), "new\n").unwrap();
        fs::remove_dir_all(top.join("to-file")).unwrap();
        fs::write(top.join("to-file"), "now a file\n").unwrap();
        fs::create_dir_all(top.join("new/deep")).unwrap();
        fs::write(top.join("new/deep/größe\n.txt"), [0, 255, 10]).unwrap();
    });
    fixture.write(
        "changed.txt",
        &("user\n".to_owned() + &"changed\n".repeat(8)),
    );
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(fixture.top().join("changed.txt"), private).unwrap();
    fixture.write("staged.txt", "staged\n");
    fixture.git(&["add", "staged.txt"]);
    fixture.write("untracked.txt", "mine\n");
    fixture.write("ignored.log", "mine\n");
    (fixture, made)
}

/// A checkout with many files, and a change of all of them.
fn large() -> (Fixture, Change) {
    let fixture = Fixture::new();
    for number in 0..MANY {
        fixture.write(
            &format!("{}/{number}.txt", number % 20),
            &format!("{number}\n"),
        );
    }
    fixture.commit("many");
    let made = change(&fixture, |top| {
        for number in 0..MANY {
            let path = top.join(format!("{}/{number}.txt", number % 20));
            match number % 8 {
                0 => fs::remove_file(&path).unwrap(),
                1 => fs::write(path.with_extension("new"), "new\n").unwrap(),
                _ => fs::write(&path, format!("child {number}\n").repeat(50)).unwrap(),
            }
        }
    });
    fixture.write("kept.txt", "mine\n");
    (fixture, made)
}

/// Brings the large checkout back to where it began.
fn reset(fixture: &Fixture) {
    fixture.git(&["checkout", "--quiet", "--force", "HEAD", "--", "."]);
    fixture.git(&["clean", "--quiet", "--force", "-d"]);
    fixture.write("kept.txt", "mine\n");
}

/// Starts a process that merges, and is killed before a step.
fn merging(fixture: &Fixture, change: &Change, step: usize) -> Child {
    let top = fixture.top();
    let order = format!(
        "{}\n{}\n{}\n{step}",
        top.display(),
        change.base,
        change.result
    );
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "kills::a_process_that_is_to_merge_does_so"])
        .env(ORDER, order)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Does what the variable says. Without it there is nothing to do.
#[test]
fn a_process_that_is_to_merge_does_so() {
    let Ok(order) = env::var(ORDER) else { return };
    let words: Vec<&str> = order.split('\n').collect();
    let [top, base, result, step] = words.as_slice() else {
        panic!("{order}")
    };
    let step: usize = step.parse().unwrap();
    let steps = AtomicUsize::new(0);
    let watch = move |_: &'static str| {
        if steps.fetch_add(1, Ordering::SeqCst) == step {
            // Nothing is tidied up, as if somebody else had killed this process.
            let me = std::process::id().to_string();
            Command::new("kill").args(["-9", &me]).status().unwrap();
        }
    };
    let change = Change {
        base: ObjectId::parse(base).unwrap(),
        result: ObjectId::parse(result).unwrap(),
    };
    let repository = Repository::find(Path::new(top)).unwrap();
    let mut merge = Merge::watched(&repository, Arc::new(watch)).unwrap();
    match merge.apply(&change).unwrap() {
        ChangeOutcome::Merged { .. }
        | ChangeOutcome::Conflicts(_)
        | ChangeOutcome::ChangedMeanwhile(_) => {}
        other => panic!("{other:?}"),
    }
}

/// Lets the next command that takes the lock recover, and returns whether the merge was finished.
fn recover(fixture: &Fixture, before: &Files, after: &Files, kept: &[u8]) -> bool {
    drop(fixture.repository().locked().unwrap());
    let found = files(&fixture.top());
    let is_after = found == *after;
    if !is_after {
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            before.keys().collect::<Vec<_>>()
        );
        assert!(
            found == *before,
            "the checkout is neither as before nor as after"
        );
    }
    assert!(index(fixture) == kept, "the index has other bytes");
    // A git that outlives its owner for a moment may still write into the folder.
    let is_empty = |_| {
        drop(fixture.repository().locked().unwrap());
        let left = fixture.top().join(".git/pi-subagents-merges");
        fs::read_dir(left).into_iter().flatten().count() == 0
    };
    let mut looks = (0..200).inspect(|_| sleep(Duration::from_millis(50)));
    assert!(is_empty(0) || looks.any(is_empty), "folders are left");
    is_after
}

/// Returns the files after the merge, from a checkout that is made in the same way.
fn files_after(make: fn() -> (Fixture, Change)) -> Files {
    let (fixture, change) = make();
    let mut merge = Merge::begin(&fixture.repository()).unwrap();
    let outcome = merge.apply(&change).unwrap();
    assert!(
        matches!(outcome, ChangeOutcome::Merged { .. }),
        "{outcome:?}"
    );
    assert_eq!(merge.late_saves(), []);
    drop(merge);
    files(&fixture.top())
}

#[test]
fn paths_of_every_kind_are_written_and_what_the_user_has_stays() {
    let after = files_after(small);
    let content = |name: &str| after.get(Path::new(name)).cloned();
    let (mode, text) = content("changed.txt").unwrap();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        text,
        ("user\n".to_owned() + &"changed\n".repeat(7) + "child\n").into_bytes()
    );
    assert_eq!(content("mode.txt").unwrap().0 & 0o111, 0o111);
    assert_eq!(content("link.txt").unwrap().1, b"changed.txt");
    assert_eq!(content("to-file").unwrap().1, b"now a file\n");
    assert_eq!(content("to-directory/file").unwrap().1, b"new\n");
    assert_eq!(content("new/deep/größe\n.txt").unwrap().1, [0, 255, 10]);
    assert_eq!(content("ignored.log").unwrap().1, b"mine\n");
    for gone in ["gone.txt", "d/gone.txt", "e.txt"] {
        assert_eq!(content(gone), None, "{gone}");
    }
}

#[test]
fn a_merge_that_is_killed_before_any_step_is_finished_or_was_never_begun() {
    let after = files_after(small);
    let (mut whole, mut step) = (0, 0);
    loop {
        let (fixture, change) = small();
        let (before, kept) = (files(&fixture.top()), index(&fixture));
        let ended = merging(&fixture, &change, step).wait().unwrap();
        if ended.success() {
            break;
        }
        whole += usize::from(recover(&fixture, &before, &after, &kept));
        step += 1;
    }
    // The journal is the turning point: what was killed after it is finished.
    assert!(step > 10, "{step}");
    assert_eq!(whole, step - 2);
}

#[test]
fn recovery_that_is_killed_too_is_done_by_the_next() {
    let after = files_after(large);
    let (fixture, change) = large();
    for (step, delay) in [(3, 0), (400, 30), (790, 90)] {
        reset(&fixture);
        let (before, kept) = (files(&fixture.top()), index(&fixture));
        merging(&fixture, &change, step).wait().unwrap();
        let mut next = merging(&fixture, &change, usize::MAX);
        sleep(Duration::from_millis(delay));
        next.kill().unwrap();
        next.wait().unwrap();
        assert!(recover(&fixture, &before, &after, &kept), "step {step}");
    }
}

/// Numbers at random that are the same in each run.
struct Chance(u64);

impl Chance {
    fn new() -> Self {
        Self(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most.max(1)
    }
}

/// Returns how many merges are killed: a few, or as many as a variable wants.
fn rounds(few: u64) -> u64 {
    let wanted = env::var("GIT_MERGE_KILLS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// Returns the time that a merge takes here, over which kills are spread.
fn time_of_merge(fixture: &Fixture, change: &Change) -> u64 {
    let begun = Instant::now();
    let ended = merging(fixture, change, usize::MAX).wait().unwrap();
    assert!(ended.success());
    u64::try_from(begun.elapsed().as_millis()).unwrap()
}

/// Merges in a process that is killed at a random moment, or before a random step: most of the time
/// goes by before the first step.
fn merge_and_kill(fixture: &Fixture, change: &Change, whole: u64, dice: &mut Chance) {
    let is_by_step = dice.below(2) == 0;
    let step = dice.below(MANY as u64 + 2);
    let step = if is_by_step { step } else { u64::MAX };
    let step = usize::try_from(step).unwrap();
    let mut process = merging(fixture, change, step);
    if !is_by_step {
        sleep(Duration::from_millis(dice.below(whole)));
        process.kill().unwrap();
    }
    process.wait().unwrap();
}

#[test]
fn a_merge_of_many_paths_that_is_killed_at_random_is_as_before_or_as_after() {
    let after = files_after(large);
    let (mut dice, mut finished) = (Chance::new(), 0);
    let (fixture, change) = large();
    let whole = time_of_merge(&fixture, &change);
    let rounds = rounds(4);
    for _ in 0..rounds {
        reset(&fixture);
        let (before, kept) = (files(&fixture.top()), index(&fixture));
        merge_and_kill(&fixture, &change, whole, &mut dice);
        finished += usize::from(recover(&fixture, &before, &after, &kept));
    }
    println!("{rounds} merges were killed; {finished} of them are as after, the others as before");
}

#[test]
fn a_merge_of_many_paths_that_is_killed_before_a_step_is_finished_or_was_never_begun() {
    let after = files_after(large);
    let (fixture, change) = large();
    // As many steps as a variable wants, evenly spread; each of them if it wants that many.
    let wanted = usize::try_from(rounds(4)).unwrap();
    let steps: Vec<usize> = (0..MANY + 2).step_by((MANY / wanted).max(1)).collect();
    let mut finished = Vec::new();
    for step in &steps {
        reset(&fixture);
        let (before, kept) = (files(&fixture.top()), index(&fixture));
        let ended = merging(&fixture, &change, *step).wait().unwrap();
        assert!(!ended.success(), "there is no step {step}");
        if recover(&fixture, &before, &after, &kept) {
            finished.push(*step);
        }
    }
    println!("killed before {} steps", steps.len());
    // The journal is the turning point: what is killed after it is finished.
    let behind: Vec<usize> = steps.into_iter().filter(|step| *step >= 2).collect();
    assert_eq!(finished, behind);
}

/// A person who saves files of the checkout until they are told to stop. Returns what each file had
/// after its last save.
fn save_until(top: &Path, is_over: &AtomicBool, mut dice: Chance) -> BTreeMap<PathBuf, String> {
    let mut saved = BTreeMap::new();
    let (mut number, most) = (0, dice.below(8));
    while !is_over.load(Ordering::SeqCst) && number < usize::try_from(most).unwrap() {
        sleep(Duration::from_millis(dice.below(400)));
        let file = dice.below(MANY as u64);
        let name = PathBuf::from(format!("{}/{file}.txt", file % 20));
        // An editor makes no directory that somebody has just removed.
        if top.join(&name).parent().is_some_and(Path::is_dir) {
            number += 1;
            let text = save_meanwhile(&top.join(&name), number, dice.below(2) == 0);
            saved.insert(name, text);
        }
    }
    saved
}

/// Looks for a torn checkout and for lost saves. Returns whether the checkout is as after.
fn check_saved(
    fixture: &Fixture,
    before: &Files,
    after: &Files,
    saved: &BTreeMap<PathBuf, String>,
) -> bool {
    let found = files(&fixture.top());
    let names: BTreeSet<&PathBuf> = before
        .keys()
        .chain(after.keys())
        .chain(found.keys())
        .collect();
    let unsaved: Vec<&&PathBuf> = names
        .iter()
        .filter(|name| !saved.contains_key(**name))
        .collect();
    let is_as = |state: &Files| {
        unsaved
            .iter()
            .all(|name| found.get(**name) == state.get(**name))
    };
    let is_after = is_as(after);
    assert!(is_after || is_as(before), "the checkout is torn");
    let rescued = fixture.top().join(".git/pi-subagents-merges-saves");
    let rescued = fs::read_dir(rescued).into_iter().flatten().flatten();
    let rescued: Vec<String> = rescued
        .map(|entry| fs::read_to_string(entry.path()).unwrap())
        .collect();
    for (name, text) in saved {
        let is_there = found
            .get(name)
            .is_some_and(|(_, there)| there == text.as_bytes());
        assert!(
            is_there || rescued.contains(text),
            "a save of {} is lost",
            name.display()
        );
    }
    is_after
}

#[test]
fn saves_while_a_merge_of_many_paths_is_killed_are_not_lost_and_nothing_is_torn() {
    let after = files_after(large);
    let (fixture, change) = large();
    let whole = time_of_merge(&fixture, &change);
    let mut dice = Chance::new();
    let (rounds, mut finished, mut count) = (rounds(4), 0, 0);
    for round in 0..rounds {
        reset(&fixture);
        let (before, kept) = (files(&fixture.top()), index(&fixture));
        let is_over = Arc::new(AtomicBool::new(false));
        let person = {
            let (top, is_over) = (fixture.top(), Arc::clone(&is_over));
            std::thread::spawn(move || save_until(&top, &is_over, Chance(round)))
        };
        merge_and_kill(&fixture, &change, whole, &mut dice);
        // The person goes on while the next command recovers.
        drop(fixture.repository().locked().unwrap());
        is_over.store(true, Ordering::SeqCst);
        let saved = person.join().unwrap();
        drop(fixture.repository().locked().unwrap());
        count += saved.len();
        finished += usize::from(check_saved(&fixture, &before, &after, &saved));
        assert!(index(&fixture) == kept, "the index has other bytes");
    }
    println!(
        "{rounds} merges were killed and {count} files saved meanwhile; {finished} checkouts are \
         as after, the others as before"
    );
}

#[test]
fn what_somebody_edits_after_a_kill_decides_and_stays() {
    let (fixture, change) = small();
    let (before, kept) = (files(&fixture.top()), index(&fixture));
    merging(&fixture, &change, THIRD_FILE).wait().unwrap();
    fixture.write("changed.txt", "edited since\n");
    drop(fixture.repository().locked().unwrap());
    let mut found = files(&fixture.top());
    let edited = found.remove(Path::new("changed.txt")).unwrap();
    assert_eq!(edited.1, b"edited since\n");
    let mut expected = before.clone();
    expected.remove(Path::new("changed.txt"));
    assert!(found == expected, "the rest was taken back");
    assert!(index(&fixture) == kept);

    // An edit of what was written stays on top of it.
    let mut expected = files_after(small);
    let (fixture, change) = small();
    merging(&fixture, &change, SECOND_CHANGE).wait().unwrap();
    assert!(fixture.read("changed.txt").ends_with("child\n"));
    fixture.write("changed.txt", "on top\n");
    drop(fixture.repository().locked().unwrap());
    let mut found = files(&fixture.top());
    let edited = found.remove(Path::new("changed.txt")).unwrap();
    assert_eq!(edited.1, b"on top\n");
    expected.remove(Path::new("changed.txt"));
    assert!(found == expected, "the rest was finished");
}

#[test]
fn edits_of_both_kinds_stay_and_the_rest_is_taken_back() {
    let (fixture, change) = small();
    let before = files(&fixture.top());
    merging(&fixture, &change, THIRD_FILE).wait().unwrap();
    assert!(!fixture.top().join("d/gone.txt").exists());
    fixture.write("d/gone.txt", "made again\n");
    fixture.write("changed.txt", "edited since\n");
    let merge = Merge::begin(&fixture.repository()).unwrap();
    let recovered = merge.recovered().iter().map(|one| &one.recovered_as);
    assert_eq!(recovered.collect::<Vec<_>>(), [&RecoveredAs::TakenBack]);
    let mut expected = before;
    for (name, text) in [
        ("d/gone.txt", "made again\n"),
        ("changed.txt", "edited since\n"),
    ] {
        let file = expected.get_mut(Path::new(name)).unwrap();
        file.1 = text.as_bytes().to_owned();
    }
    assert!(files(&fixture.top()) == expected);
}

#[test]
fn a_merge_that_does_not_fit_writes_nothing_wherever_it_is_killed() {
    let (fixture, change) = large();
    fixture.write("3/3.txt", "mine\n");
    let (before, kept) = (files(&fixture.top()), index(&fixture));
    let mut dice = Chance::new();
    for _ in 0..rounds(3) {
        let mut process = merging(&fixture, &change, usize::MAX);
        sleep(Duration::from_millis(dice.below(150)));
        process.kill().unwrap();
        process.wait().unwrap();
        recover(&fixture, &before, &before, &kept);
    }
    assert!(
        merging(&fixture, &change, usize::MAX)
            .wait()
            .unwrap()
            .success()
    );
    assert!(files(&fixture.top()) == before, "it conflicts");
}

/// Somebody who saves a file again and again, in one of the ways of editors.
fn save_meanwhile(path: &Path, number: usize, is_atomic: bool) -> String {
    let text = format!("saved {number}\n");
    if is_atomic {
        let beside = path.with_extension("swp");
        fs::write(&beside, &text).unwrap();
        fs::rename(&beside, path).unwrap();
    } else {
        fs::write(path, &text).unwrap();
    }
    text
}

#[test]
fn what_somebody_saves_while_it_is_merged_is_not_lost() {
    let (fixture, change) = large();
    for is_atomic in [true, false] {
        for delay in [0, 50, 100, 150] {
            reset(&fixture);
            let index_before = index(&fixture);
            let saved = fixture.top().join("19/799.txt");
            let mut process = merging(&fixture, &change, usize::MAX);
            sleep(Duration::from_millis(delay));
            let text = save_meanwhile(&saved, 1, is_atomic);
            process.wait().unwrap();
            drop(fixture.repository().locked().unwrap());
            let found = fs::read_to_string(&saved).unwrap();
            let rescued = fixture.top().join(".git/pi-subagents-merges-saves");
            let rescued = fs::read_dir(rescued).into_iter().flatten().flatten();
            let is_kept = rescued
                .map(|entry| fs::read_to_string(entry.path()).unwrap())
                .any(|kept| kept == text);
            assert!(found == text || is_kept, "the save is lost: {found:?}");
            assert!(index(&fixture) == index_before);
        }
    }
}
