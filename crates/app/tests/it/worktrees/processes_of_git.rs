//! Git of an owner runs below a keeper: whatever a filter leaves behind, and a git that hangs, is
//! gone when the command is, also if somebody has killed it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use pi_subagents_os::{ProgramBounds, ProgramCommand, ProgramCut, keep_programs, run_bounded};
use pi_subagents_testkit::{Signal, bin, process, wait_until};
use pretty_assertions::assert_eq;

use super::stage::WorktreeStage;

const PATIENCE: Duration = Duration::from_secs(20);

/// Returns the processes that have written their numbers into a file.
fn noted(path: impl AsRef<Path>) -> Vec<u32> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn living(pids: &[u32]) -> Vec<u32> {
    let pids = pids.iter().copied();
    pids.filter(|pid| process::exists(*pid)).collect()
}

/// A command of the shell that leaves a process which is in nobody's group and has no parent.
fn leaving(file: &str) -> String {
    format!("(setsid sh -c 'echo $$ >> {file}; exec sleep 1000' >/dev/null 2>&1 &)")
}

#[test]
fn what_a_filter_of_the_user_leaves_behind_is_gone_with_its_git() {
    let stage = WorktreeStage::new();
    let left = stage.home_path("left");
    let filter = stage.stage().sandbox.write(
        "filter",
        &format!(
            "{}\nuntil [ -s {left} ]; do sleep 0.01; done\ncat\n",
            leaving(&left)
        ),
    );
    let filter = format!("sh {}", filter.display());
    let settings = format!("[filter \"own\"]\n\tclean = {filter}\n\tsmudge = {filter}\n");
    fs::write(stage.home_path(".gitconfig"), settings).unwrap();
    stage.write(".gitattributes", "*.txt filter=own\n");
    stage.run(&[("api", "echo new > new.txt")]);
    let of_run = noted(&left);
    assert!(!of_run.is_empty());
    assert_eq!(living(&of_run), [0; 0], "after the run");
    stage.ours(&["merge", "api"]).run().expect_success();
    let of_all = noted(&left);
    assert!(of_all.len() > of_run.len(), "the merge ran the filter too");
    assert_eq!(living(&of_all), [0; 0], "after the merge");
    assert_eq!(stage.read("new.txt"), "new\n");
}

#[test]
fn a_git_that_hangs_is_gone_with_its_owner() {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "echo new > new.txt")]);
    let noted_in = stage.home_path("hanging");
    let git = format!(
        "#!/bin/sh\ntrap '' TERM\n{}\necho $$ >> {noted_in}\nwhile :; do sleep 1000; done\n",
        leaving(&noted_in)
    );
    let path = stage.stand_in("git", &git);
    let merge = stage.ours(&["merge", "api"]).env("PATH", path).spawn();
    let both = || Some(noted(&noted_in)).filter(|noted| noted.len() == 2);
    let hanging = wait_until(PATIENCE, both).expect("git and what it left");
    assert_eq!(living(&hanging), hanging);
    process::kill(merge.pid(), Signal::KILL);
    _ = merge.wait();
    assert_eq!(process::wait_until_gone(&hanging, PATIENCE), Ok(()));
    stage.ours(&["merge", "api"]).run().expect_success();
    assert_eq!(stage.read("new.txt"), "new\n");
}

fn run(script: &str, time: Duration) -> std::io::Result<Result<String, ProgramCut>> {
    keep_programs(&bin("pi-subagents"), "program-keeper");
    let command = ProgramCommand {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: std::env::vars_os().collect(),
        directory: Some("/".into()),
    };
    let output = 1 << 20;
    let ended = run_bounded(&command, b"input\n", ProgramBounds { time, output })?;
    Ok(ended.map(|ended| {
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        format!("{text}{}", ended.status)
    }))
}

#[test]
fn a_program_that_takes_too_long_is_gone_with_all_it_has_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids").display().to_string();
    let leaves = leaving(&file);
    let waits = format!("{leaves}; until [ -s {file} ]; do sleep 0.01; done; echo $$ >> {file}");
    let ended = run(&format!("{waits}; sleep 1000"), Duration::from_secs(2));
    assert_eq!(ended.unwrap(), Err(ProgramCut::TimedOut));
    let pids = noted(&file);
    assert_eq!((pids.len(), living(&pids)), (2, vec![]));

    // The keeper serves the next programs, and a status arrives whole.
    assert_eq!(
        run("cat; exit 3", PATIENCE).unwrap().unwrap(),
        "input\nexit status: 3"
    );
    let killed = run("kill -9 $$", PATIENCE).unwrap().unwrap();
    assert_eq!(killed, "signal: 9 (SIGKILL)");
}

#[test]
fn a_program_whose_keeper_is_killed_is_an_error_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid").display().to_string();
    // In its first moments a program could kill its keeper before that has named it.
    let script = format!("echo $$ > {file}; sleep 1; kill -9 $PPID; sleep 1000");
    let error = run(&script, PATIENCE).unwrap_err().to_string();
    assert_eq!(error, "the process that kept it was killed");
    assert_eq!(process::wait_until_gone(&noted(&file), PATIENCE), Ok(()));
    assert_eq!(
        run("cat", PATIENCE).unwrap().unwrap(),
        "input\nexit status: 0"
    );
}
