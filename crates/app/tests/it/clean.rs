//! `clean`: the runs that go, those that stay with the reasons, and the state after it was killed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents::vocabulary::Timestamp;
use pi_subagents_testkit::{Signal, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::background_stage::BackgroundStage;
use crate::house_stage::{House, MadeUp};
use crate::stage::{Stage, call};
use crate::terminal::Terminal;

const PATIENCE: Duration = Duration::from_mins(1);

fn kept(run: &str, reason: &str) -> Vec<(String, String)> {
    vec![(run.to_owned(), reason.to_owned())]
}

/// A line without the sizes, which differ between file systems.
fn without_sizes(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_size = |at: usize| words.get(at + 1).is_some_and(|next| *next == "kB");
    let words = words.iter().enumerate();
    let words = words.map(|(at, word)| if is_size(at) { "N" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_run_is_removed_by_its_id_and_is_known_no_more() {
    let stage = Stage::new();
    let answer = stage
        .delegate(&call(&[
            ("a", json!([{"reply": "hello"}])),
            ("b", json!([{"reply": "there"}])),
        ]))
        .run()
        .json();
    let run = |at: usize| answer["runs"][at]["runId"].as_str().unwrap();
    let directory = answer["runs"][0]["directory"].as_str().unwrap();
    let cleaned = stage.command(&["clean", run(0)]).run();
    assert_eq!(cleaned.code, Some(0), "{cleaned}");
    assert!(
        cleaned.stdout.starts_with("removed 1 run of 1 session, "),
        "{cleaned}"
    );
    assert!(!PathBuf::from(directory).exists());
    for arguments in [
        &["output", run(0)][..],
        &["status", run(0)],
        &["session", run(0)],
        &["resume", run(0), "more"],
        &["clean", run(0)],
    ] {
        let output = stage.command(arguments).run();
        assert_eq!(output.code, Some(3), "{arguments:?} {output}");
    }
    let output = stage.command(&["output", run(1)]).run();
    assert_eq!(output.expect_success().stdout.trim(), "there");
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(status["counts"]["completed"], 1, "{status}");
}

#[test]
fn age_and_number_choose_in_this_project_or_in_all() {
    let house = House::with(&[("r-1", 90), ("r-2", 40), ("r-3", 5)]);
    house.add(MadeUp {
        project: "other",
        ..MadeUp::new("r-4", "s-4", 60)
    });
    let would = |arguments: &[&str]| {
        let mut removed = house.cleaned(&[arguments, &["--dry-run"]].concat()).0;
        removed.sort();
        removed.join(" ")
    };
    assert_eq!(would(&["--older", "30d", "--all-projects"]), "r-1 r-2 r-4");
    assert_eq!(would(&["--older", "30d"]), "r-1 r-2");
    assert_eq!(would(&["--older", "8w", "--all-projects"]), "r-1 r-4");
    assert_eq!(would(&["--keep-last", "1"]), "r-1 r-2");
    assert_eq!(would(&["--older", "80d", "--keep-last", "2"]), "r-1");
    assert_eq!(would(&["--yes"]), "r-1 r-2");
    assert_eq!(would(&["--yes", "--all-projects"]), "r-1 r-2 r-4");
    assert_eq!(house.listed(), ["r-1", "r-2", "r-3"]);
}

#[test]
fn a_dry_run_shows_what_is_then_done() {
    let house = House::with(&[("r-1", 90), ("r-2", 40), ("r-3", 5)]);
    house.add(MadeUp {
        pi_session: Some("pi-1"),
        ..MadeUp::new("r-0", "s-0", 100)
    });
    let would = house.cleaned(&["--older", "30d", "--dry-run"]);
    assert_eq!(house.listed().len(), 4);
    assert_eq!(house.cleaned(&["--older", "30d"]), would);
    assert_eq!(would.0, ["r-1", "r-2"]);
    assert_eq!(house.listed(), ["r-0", "r-3"]);
    let nothing = house.clean(&["--older", "30d"]);
    let nothing = house.stage.sandbox.normalise(&nothing.stdout);
    insta::assert_snapshot!(nothing, @"
    No run was removed.
    kept name-r-0, because the session of pi that started it has not been told of its end: r-0
    ");
}

#[test]
fn what_went_and_what_stayed_is_said() {
    let house = House::with(&[("r-1", 90), ("r-2", 40)]);
    house.add(MadeUp {
        project: "other",
        ..MadeUp::new("r-3", "s-2", 35)
    });
    house.add(MadeUp {
        pi_session: Some("pi-1"),
        ..MadeUp::new("r-4", "s-4", 33)
    });
    let all = ["--older", "30d", "--all-projects"];
    let would = house.clean(&[&all[..], &["--dry-run"]].concat()).stdout;
    let did = house.clean(&all).stdout;
    let shown = |text: &str| {
        let text = house.stage.sandbox.normalise(text);
        let lines = text.lines().map(without_sizes);
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(shown(&would), @"
    would remove 3 runs of 3 sessions, N kB
        90d 0h    N kB  name-r-1  r-1
        40d 0h    N kB  name-r-2  r-2
        35d 0h    N kB  name-r-3  r-3
      $SANDBOX/other: 1 run, N kB
      $PROJECT: 2 runs, N kB
    kept name-r-4, because the session of pi that started it has not been told of its end: r-4
    ");
    insta::assert_snapshot!(shown(&did), @"
    removed 3 runs of 3 sessions, N kB
      $SANDBOX/other: 1 run, N kB
      $PROJECT: 2 runs, N kB
    kept name-r-4, because the session of pi that started it has not been told of its end: r-4
    ");
}

#[test]
fn a_run_that_runs_stays_and_goes_when_it_is_over() {
    let background = BackgroundStage::new();
    let ready = background.path("ready");
    let row = background.spawn(&json!([{"touch": ready}, {"hang": true}]));
    let run = row["runId"].as_str().unwrap();
    wait_for_file(PathBuf::from(&ready), PATIENCE);
    let clean = |arguments: &[&str]| background.command(arguments).run();
    let by_rule = clean(&["clean", "--keep-last", "0", "--json"]);
    assert_eq!(by_rule.code, Some(0));
    assert_eq!(by_rule.json()["kept"][0]["reason"], "running");
    assert_eq!(by_rule.json()["removed"], json!([]));
    let named = clean(&["clean", run]);
    assert_eq!(named.code, Some(1), "{named}");
    assert!(
        named
            .stdout
            .contains("kept worker, because it is still running: "),
        "{named}"
    );
    clean(&["stop", run]).expect_success();
    // It was spawned from a terminal, which gets no notice.
    let over = clean(&["clean", run]);
    assert_eq!(over.code, Some(0), "{over}");
    assert_eq!(background.command(&["status", run]).run().code, Some(3));
}

#[test]
fn a_run_that_is_continued_stays_and_a_session_goes_as_a_whole() {
    let house = House::new();
    house.add(MadeUp::new("r-1", "talk", 90));
    house.add(MadeUp::new("r-2", "talk", 40));
    house.add(MadeUp::new("r-3", "talk", 3));
    assert_eq!(house.cleaned(&["--older", "30d"]), (vec![], vec![]));
    let stays = (vec![], kept("r-1", "continued"));
    assert_eq!(house.cleaned(&["r-1"]), stays);
    assert_eq!(house.cleaned(&["r-3"]), (vec!["r-3".to_owned()], vec![]));
    let removed = ["r-2", "r-1"].map(str::to_owned).to_vec();
    assert_eq!(house.cleaned(&["--older", "30d"]), (removed, vec![]));
}

#[test]
fn a_background_run_stays_until_its_pi_was_told() {
    let house = House::new();
    house.add(MadeUp {
        pi_session: Some("pi-1"),
        ..MadeUp::new("r-1", "talk", 90)
    });
    let stays = (vec![], kept("r-1", "untold"));
    assert_eq!(house.cleaned(&["--older", "1d"]), stays);
    let notice = house.directory("r-1").join("notified-pi-1");
    fs::write(notice, "").unwrap();
    assert_eq!(house.cleaned(&["--older", "1d"]).0, ["r-1"]);
    house.add(MadeUp {
        pi_session: Some("pi-1"),
        ..MadeUp::new("r-2", "talk", 90)
    });
    // A person who names the run knows of it.
    assert_eq!(house.cleaned(&["r-2"]).0, ["r-2"]);
}

#[test]
fn what_was_planted_is_not_touched() {
    let house = House::with(&[("r-1", 90), ("r-2", 90), ("r-3", 90)]);
    let victim = house.stage.sandbox.write("home/papers/kept", "kept\n");
    let place = house.directory("r-1");
    fs::remove_dir_all(&place).unwrap();
    symlink(victim.parent().unwrap(), &place).unwrap();
    symlink(&victim, house.directory("r-2").join("link")).unwrap();
    symlink("/", house.directory("r-2").join("root")).unwrap();
    let stranger = house.directory("r-3").join("meta.json");
    fs::copy(house.directory("r-2").join("meta.json"), &stranger).unwrap();
    let (removed, kept) = house.cleaned(&["--older", "1d"]);
    assert_eq!(removed, ["r-2"]);
    let reasons: Vec<&str> = kept.iter().map(|(_, reason)| &**reason).collect();
    assert_eq!(reasons, ["obstacle", "obstacle"]);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "kept\n");
    assert!(stranger.exists());
    assert_eq!(house.names(), ["r-1", "r-3"]);
}

#[test]
fn a_script_must_say_what_goes() {
    let house = House::with(&[("r-1", 90)]);
    for arguments in [&[][..], &["--all-projects"], &["--sessions"]] {
        let refused = house.clean(arguments);
        assert_eq!(refused.code, Some(2), "{arguments:?} {refused}");
    }
    let refused = house.clean(&[]);
    insta::assert_snapshot!(refused.stderr, @"
    error: clean was not told what to remove
    hint: Name runs, or use --older 30d or --keep-last N. --yes removes what subagents.retention in the settings allows; --dry-run shows it.
    ");
    let refused = house.clean(&["--older", "30"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert_eq!(house.names(), ["r-1"]);
}

#[test]
fn session_files_go_only_when_asked_for_and_never_one_that_is_locked() {
    let house = House::with(&[("r-1", 90), ("r-2", 90), ("r-3", 2)]);
    let file = |name: &str| {
        let path = format!("home/.pi/subagent-sessions/0123456789abcdef/{name}.jsonl");
        house.stage.sandbox.write(&path, "{}\n")
    };
    let (gone, locked, used) = (file("a_gone"), file("a_locked"), file("a_used"));
    for (run, file) in [("r-1", &gone), ("r-2", &locked), ("r-3", &used)] {
        symlink(file, house.directory(run).join("child-session.jsonl")).unwrap();
    }
    let nobodys = file("a_nobodys");
    let lock = fs::File::create(locked.with_extension("jsonl.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let removed = house.clean(&["--older", "30d", "--sessions", "--dry-run", "--json"]);
    assert_eq!(removed.json()["sessionFiles"], json!([gone, locked]));
    let removed = house
        .clean(&["--older", "30d", "--sessions", "--json"])
        .json();
    assert_eq!(removed["sessionFiles"], json!([gone]));
    assert_eq!(removed["lockedSessionFiles"], json!([locked]));
    // A file that no run leads to goes by its age alone.
    assert!(used.exists() && nobodys.exists() && !gone.exists());
    let removed = house
        .clean(&["--older", "0s", "--sessions", "--json"])
        .json();
    assert_eq!(removed["removed"].as_array().unwrap().len(), 1);
    assert_eq!(removed["sessionFiles"], json!([nobodys, used]));
}

#[test]
fn a_removal_that_was_killed_at_any_step_is_finished_by_the_next() {
    let house = House::with(&[("r-1", 90), ("r-2", 90), ("r-3", 1)]);
    // The index has the removals; the first run has its new name, and a part of the second is
    // deleted.
    for run in ["r-1", "r-2"] {
        note_removal(&house.index(), run, &house.directory(run));
        let aside = house
            .directory(run)
            .with_file_name(format!(".removing-{run}"));
        fs::rename(house.directory(run), aside).unwrap();
    }
    fs::remove_file(house.directory(".removing-r-2").join("meta.json")).unwrap();
    assert_eq!(house.listed(), ["r-3"]);
    assert_eq!(house.cleaned(&["--older", "30d"]), (vec![], vec![]));
    assert_eq!(house.names(), ["r-3"]);
}

/// Writes into the index that a run was removed.
fn note_removal(index: &Path, run: &str, directory: &Path) {
    let (content, at) = (fs::read_to_string(index).unwrap(), Timestamp::now());
    let directory = json!(directory);
    let line = format!(
        r#"{{"run":"{run}","removedAt":"{at}","session":"s","name":"n","directory":{directory}}}"#
    );
    fs::write(index, format!("{content}{line}\n")).unwrap();
}

#[test]
fn a_run_whose_removal_was_only_noted_is_whole() {
    let stage = Stage::new();
    let answer = stage
        .delegate(&call(&[("a", json!([{"reply": "hello"}]))]))
        .run()
        .json();
    let run = &answer["runs"][0];
    let (id, directory) = (
        run["runId"].as_str().unwrap(),
        run["directory"].as_str().unwrap(),
    );
    let index = stage.sandbox.agent_dir().join("subagents-index.jsonl");
    note_removal(&index, id, Path::new(directory));
    let output = stage.command(&["output", id]).run();
    assert_eq!(output.expect_success().stdout.trim(), "hello");
    stage.command(&["clean", id]).run().expect_success();
    assert!(!Path::new(directory).exists());
    assert_eq!(stage.command(&["output", id]).run().code, Some(3));
}

#[test]
fn a_run_whose_removal_was_only_noted_is_removed_by_the_next_rule() {
    let house = House::with(&[("r-1", 90), ("r-2", 90)]);
    note_removal(&house.index(), "r-1", &house.directory("r-1"));
    let (mut removed, kept) = house.cleaned(&["--older", "30d"]);
    removed.sort();
    assert_eq!(
        (removed, kept),
        (vec!["r-1".to_owned(), "r-2".to_owned()], vec![])
    );
    assert_eq!(house.names(), [""; 0]);
}

#[test]
fn killed_at_any_moment_it_leaves_every_run_whole_or_gone() {
    const RUNS: usize = 400;
    let house = House::new();
    for number in 0..RUNS {
        house.add(MadeUp::new(
            &format!("r-{number:03}"),
            &format!("s-{number}"),
            90,
        ));
    }
    let moments: [fn(&[String]) -> bool; 4] = [
        |names| names[0].starts_with(".removing-"),
        |names| names.len() < 390,
        |names| names.iter().filter(|name| name.starts_with('.')).count() > 100,
        |names| names.len() < 250,
    ];
    for is_now in moments {
        let mut clean = house.stage.command(&["clean", "--older", "30d"]).spawn();
        let is_time = || (is_now(&house.names()) || !clean.is_running()).then_some(());
        wait_until(PATIENCE, is_time).expect("clean gets on its way");
        clean.kill(Signal::KILL);
        _ = clean.wait_for_exit();
        let left = house.names().len();
        for run in house.listed() {
            let meta = house.directory(&run).join("meta.json");
            assert!(meta.exists(), "{run}, when {left} were left");
        }
    }
    house.clean(&["--older", "30d"]).expect_success();
    assert_eq!(house.listed(), [""; 0]);
    assert_eq!(house.names(), [""; 0]);
}

#[test]
fn a_person_is_shown_what_would_go_and_asked() {
    let house = House::with(&[("r-1", 90), ("r-2", 3)]);
    let ask = |keys: &str| {
        let mut terminal = Terminal::start(house.stage.command(&["clean"]));
        terminal.answer("Remove them?", keys);
        terminal.end()
    };
    let (code, screen) = ask("n\r");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("Nothing was removed."), "{screen}");
    assert_eq!(house.names(), ["r-1", "r-2"]);
    let (code, screen) = ask("y\r");
    assert_eq!(code, Some(0), "{screen}");
    let rule = "subagents.retention: older than 30 days, or more than 2.0 GB of one project";
    assert!(screen.contains(rule), "{screen}");
    assert_eq!(house.names(), ["r-2"]);
    let (code, screen) = Terminal::start(house.stage.command(&["clean"])).end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("No run would be removed."), "{screen}");
}

#[test]
fn a_person_who_chose_is_asked_too_because_nothing_brings_the_runs_back() {
    let house = House::with(&[("r-1", 90), ("r-2", 3)]);
    let ask = |arguments: &[&str], keys: &str| {
        let mut terminal = Terminal::start(house.stage.command(arguments));
        terminal.answer("Remove them?", keys);
        terminal.end()
    };
    let (code, screen) = ask(&["clean", "--older", "30d"], "n\r");
    assert_eq!(code, Some(0), "{screen}");
    assert!(!screen.contains("subagents.retention"), "{screen}");
    assert_eq!(house.names(), ["r-1", "r-2"]);
    let (code, screen) = ask(&["clean", "--older", "30d"], "y\r");
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(house.names(), ["r-2"]);
    let yes = house.stage.command(&["clean", "r-2", "--yes"]);
    let (code, screen) = Terminal::start(yes).end();
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(house.names(), [""; 0]);
}
