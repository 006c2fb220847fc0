//! Runs are removed whole or not at all, and the index loses nothing while it is made short.
#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pi_subagents_records::{
    FindError, Finder, IndexedRun, NewRun, OwnerName, QuietIndex, Removal, RunDir, Store, Survey,
    find_removed,
};
use pi_subagents_vocabulary::{RunId, SessionId, Task, Timestamp};
use pretty_assertions::assert_eq;

/// Writes down that a run begins in a project.
fn begin(store: &Store, project: &Path, run: &str) {
    let run = RunId::parse(run).unwrap();
    let directory = store.make_directory(Some(project), &run).unwrap();
    let task = Arc::new(Task {
        directory: Some(directory.path().to_owned()),
        record_limit: 1 << 30,
        ..Task::new(
            run.clone(),
            SessionId::parse(&format!("s-{run}")).unwrap(),
            "reader",
            "the prompt",
            project.to_owned(),
        )
    });
    let owner = OwnerName {
        pid: 1,
        start_time: 1,
        host: "elsewhere".to_owned(),
        socket: None,
        fleet: None,
        caller: None,
        detached: None,
    };
    store
        .begin(&NewRun {
            task: &task,
            project,
            owner: &owner,
            runner: Some("pi"),
            model: None,
            tools: None,
            terms: None,
            system_prompt: None,
            sticky_agent: None,
        })
        .unwrap();
}

struct Desk {
    home: tempfile::TempDir,
    store: Store,
}

impl Desk {
    fn with(runs: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path().join("agent"));
        let desk = Self { home, store };
        for run in runs {
            begin(&desk.store, desk.home.path(), run);
        }
        desk
    }

    fn ids(&self) -> Vec<String> {
        let runs = self.store.runs().unwrap();
        runs.iter().map(|run| run.run.to_string()).collect()
    }

    fn run(&self, id: &str) -> IndexedRun {
        let mut runs = self.store.runs().unwrap().into_iter();
        runs.find(|run| run.run.as_str() == id).unwrap()
    }

    fn set_aside(&self, run: &IndexedRun) -> Result<(), String> {
        let index = QuietIndex::wait(&self.store, Timestamp::now()).unwrap();
        let mut removal = Removal::new(&self.store);
        let done = index.set_aside(&mut removal, run);
        done.map_err(|error| error.to_string())
    }

    fn delete(&self, run: &IndexedRun) -> bool {
        let mut removal = Removal::new(&self.store);
        removal.delete(&run.directory, &run.run).unwrap()
    }

    fn compact(&self) {
        let index = QuietIndex::wait(&self.store, Timestamp::now()).unwrap();
        index.compact().unwrap();
    }

    /// Returns the names of all entries in the directory of the project's runs.
    fn names(&self) -> Vec<String> {
        let runs = self.home.path().join(".pi/subagents/runs");
        let entries = fs::read_dir(runs).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

#[test]
fn a_removed_run_is_remembered_by_its_name_and_time() {
    let desk = Desk::with(&["r-1", "r-2"]);
    let run = desk.run("r-1");
    let mut removal = Removal::new(&desk.store);
    assert!(removal.disk_use(&run) > 0);
    desk.set_aside(&run).unwrap();
    assert_eq!(desk.names(), [".gitignore", ".removing-r-1", "r-2"]);
    assert_eq!(desk.ids(), ["r-2"]);
    assert!(desk.delete(&run));
    assert!(!desk.delete(&run));
    for _ in 0..2 {
        assert_eq!(desk.ids(), ["r-2"]);
        let removed = desk.store.removed_runs().unwrap();
        let [one] = removed.as_slice() else {
            panic!("{removed:?}");
        };
        assert_eq!((&one.run, &*one.name), (&run.run, "reader"));
        assert_eq!(one.directory, run.directory);
        let found = find_removed(&removed, "s-r-1").unwrap();
        assert_eq!(found.session, run.session);
        desk.compact();
    }
    assert_eq!(desk.names(), [".gitignore", "r-2"]);
    let lines = fs::read_to_string(desk.store.index()).unwrap();
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(matches!(
        Finder::GIVEN.find(&desk.store.runs().unwrap(), "r-1"),
        Err(FindError::NotFound { .. })
    ));
}

#[test]
fn a_run_that_was_brought_back_is_there_again() {
    let desk = Desk::with(&["r-1"]);
    let run = desk.run("r-1");
    desk.set_aside(&run).unwrap();
    let set_aside = run.directory.path().with_file_name(".removing-r-1");
    fs::rename(set_aside, run.directory.path()).unwrap();
    assert_eq!(
        desk.store
            .reindex(Some(desk.home.path()), &Survey::default()),
        1
    );
    for _ in 0..2 {
        assert_eq!(desk.ids(), ["r-1"]);
        assert_eq!(desk.store.open_runs().unwrap().len(), 1);
        assert_eq!(desk.store.removed_runs().unwrap(), []);
        desk.compact();
    }
}

#[test]
fn only_the_record_of_the_run_itself_is_removed() {
    let desk = Desk::with(&["r-1", "r-2", "r-3", "r-4"]);
    let victim = desk.home.path().join("victim");
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("kept"), "x").unwrap();
    let in_place_of = |run: &str| {
        let run = desk.run(run);
        fs::remove_dir_all(run.directory.path()).unwrap();
        run
    };
    let link = in_place_of("r-1");
    symlink(&victim, link.directory.path()).unwrap();
    let other = in_place_of("r-2");
    fs::create_dir(other.directory.path()).unwrap();
    let meta = desk.run("r-3").directory.meta();
    fs::copy(meta, other.directory.meta()).unwrap();
    let empty = in_place_of("r-4");
    fs::create_dir(empty.directory.path()).unwrap();
    let mut elsewhere = desk.run("r-3");
    elsewhere.directory = RunDir::new(&victim);
    let refusals = [&link, &other, &empty, &elsewhere].map(|run| desk.set_aside(run).unwrap_err());
    assert_eq!(
        refusals,
        [
            "it is a link",
            "its meta.json is that of another run",
            "it has no meta.json",
            "it does not have the name of the run",
        ]
    );
    assert_eq!(desk.ids(), ["r-1", "r-2", "r-3", "r-4"]);
    assert_eq!(fs::read_to_string(victim.join("kept")).unwrap(), "x");
}

#[test]
fn a_directory_of_runs_that_became_a_link_is_not_followed() {
    let desk = Desk::with(&["r-1"]);
    let run = desk.run("r-1");
    let runs = desk.home.path().join(".pi/subagents/runs");
    let moved = desk.home.path().join("moved");
    fs::rename(&runs, &moved).unwrap();
    symlink(&moved, &runs).unwrap();
    assert_eq!(desk.set_aside(&run), Err("it is a link".to_owned()));
    assert!(moved.join("r-1/meta.json").exists());
    assert_eq!(desk.ids(), ["r-1"]);
}

#[test]
fn a_run_whose_directory_is_gone_is_forgotten() {
    let desk = Desk::with(&["r-1", "r-2"]);
    let run = desk.run("r-1");
    fs::remove_dir_all(run.directory.path()).unwrap();
    desk.set_aside(&run).unwrap();
    assert_eq!(desk.ids(), ["r-2"]);
}

#[test]
fn nothing_that_owners_note_is_lost_while_the_index_is_made_short() {
    const OWNERS: usize = 8;
    const RUNS: usize = 40;
    let desk = Desk::with(&[]);
    let is_done = AtomicBool::new(false);
    let mut compactions = 0;
    thread::scope(|scope| {
        let owners: Vec<_> = (0..OWNERS)
            .map(|owner| {
                let (store, project) = (&desk.store, desk.home.path());
                scope.spawn(move || {
                    for run in 0..RUNS {
                        begin(store, project, &format!("r-{owner}-{run}"));
                    }
                })
            })
            .collect();
        let is_done = &is_done;
        scope.spawn(move || {
            for owner in owners {
                owner.join().unwrap();
            }
            is_done.store(true, Ordering::Relaxed);
        });
        while !is_done.load(Ordering::Relaxed) {
            // Something to be made short, each time.
            let gone = format!("r-gone-{compactions}");
            begin(&desk.store, desk.home.path(), &gone);
            desk.set_aside(&desk.run(&gone)).unwrap();
            desk.compact();
            compactions += 1;
        }
    });
    let mut ids = desk.ids();
    ids.sort();
    let mut expected: Vec<String> = (0..OWNERS)
        .flat_map(|owner| (0..RUNS).map(move |run| format!("r-{owner}-{run}")))
        .collect();
    expected.sort();
    assert_eq!(ids, expected, "after {compactions} compactions");
}

#[test]
fn the_index_stays_a_link_to_where_the_user_keeps_it() {
    let desk = Desk::with(&["r-1", "r-2"]);
    let kept = desk.home.path().join("kept.jsonl");
    fs::rename(desk.store.index(), &kept).unwrap();
    symlink(&kept, desk.store.index()).unwrap();
    desk.set_aside(&desk.run("r-1")).unwrap();
    desk.compact();
    assert!(desk.store.index().is_symlink());
    assert_eq!(desk.ids(), ["r-2"]);
    assert_eq!(fs::read_to_string(&kept).unwrap().lines().count(), 2);
}
