//! Runs in worktrees, beside the same commands of git typed by hand.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use super::figures::{Times, heading, row};
use super::stage::{Stage, succeed};
use crate::Outcome;

const FILES: usize = 5000;
const ROUNDS: usize = 5;
const BRANCHES: usize = 16;

/// The commands of git that a run in a worktree needs, as a person types them.
const BY_HAND: &str = r#"set -e
git rev-parse --show-toplevel --git-common-dir
git ls-files --unmerged
I=$(mktemp -u); cp .git/index "$I"
GIT_INDEX_FILE=$I git add -u
git ls-files -o --exclude-standard -z | GIT_INDEX_FILE=$I git update-index --add -z --stdin
T=$(GIT_INDEX_FILE=$I git write-tree)
git diff-tree -r --name-only HEAD "$T"
git update-ref refs/by-hand/base HEAD
git worktree add --quiet --no-track --lock -b by-hand "$W" HEAD
git status --porcelain --untracked-files=all
(cd "$W"; echo changed > f0001.txt)
cd "$W"
J=$(mktemp -u); cp "$(git rev-parse --git-path index)" "$J"
GIT_INDEX_FILE=$J git add -u
git ls-files -o --exclude-standard -z | GIT_INDEX_FILE=$J git update-index --add -z --stdin
T=$(GIT_INDEX_FILE=$J git write-tree)
C=$(git -c user.name=A -c user.email=a@example.com commit-tree "$T" -p HEAD -m result)
git rev-list --count HEAD --not main
git -C "$P" status --porcelain --untracked-files=all
git update-ref refs/by-hand/result "$C"
git worktree unlock "$W"
git diff-tree -r -M --raw --numstat main "$C"
git diff-tree -p -M --binary main "$C"
cd "$P"; rm -f "$I" "$J"
"#;

/// Removes what was made by hand.
const AWAY: &str = r#"git worktree remove --force "$W"; git branch -q -D by-hand"#;

pub(super) fn measure() -> Outcome<()> {
    heading("Worktrees of a repository with 5,000 files");
    let stage = Stage::new()?;
    make_repository(&stage)?;
    let (mut shared, mut isolated, mut by_hand) = (Times::none(), Times::none(), Times::none());
    for _ in 0..ROUNDS {
        shared.add(|| succeed(delegate(&stage, &["edit"], "none")?))?;
        succeed(git(&stage, "git checkout -q ."))?;
        isolated.add(|| succeed(delegate(&stage, &["edit"], "worktree")?))?;
        succeed(stage.command(&["discard", "edit", "--yes"])?)?;
        by_hand.add(|| succeed(git(&stage, BY_HAND)))?;
        succeed(git(&stage, AWAY))?;
    }
    row("a run in the checkout", &shared.text(), "");
    row("a run in a worktree", &isolated.text(), "");
    row("its git commands by hand", &by_hand.text(), "");
    let overhead = isolated.median().saturating_sub(shared.median());
    let ratio = overhead.as_secs_f64() / by_hand.median().as_secs_f64();
    row(
        "overhead beside the commands",
        &format!("{ratio:.2} ×"),
        "1.30 ×",
    );
    measure_matrix(&stage, "16 results", own_file)?;
    // Each pair of these conflicts, so that each is merged and read.
    measure_matrix(&stage, "16 in one file", |number| {
        format!(
            "sed -i '{}s/.*/changed by {number}/' f0000.txt",
            5 + number % 3
        )
    })
}

/// Compares the matrix of many results with a process for each pair of them. `edit` is the command
/// of each run.
fn measure_matrix(stage: &Stage, what: &str, edit: fn(usize) -> String) -> Outcome<()> {
    let names: Vec<String> = (0..BRANCHES)
        .map(|number| format!("t{number:02}"))
        .collect();
    let tasks: Vec<&str> = names.iter().map(String::as_str).collect();
    succeed(delegate_with(stage, &tasks, "worktree", edit)?)?;
    let check = [&["merge"][..], &tasks, &["--check"]].concat();
    let listed = "git for-each-ref --format='%(objectname)' 'refs/pi-subagents/runs/*/result'";
    let pairs = format!(
        "set -- $({listed}); for a; do shift; for b; do git merge-tree --write-tree \
         --merge-base=main $a $b; done; done"
    );
    let (mut ours, mut each) = (Times::none(), Times::none());
    for _ in 0..ROUNDS {
        ours.add(|| end(stage.command(&check)?))?;
        each.add(|| end(git(stage, &pairs)))?;
    }
    row(&format!("the matrix of {what}"), &ours.text(), "");
    row("a process for each pair", &each.text(), "");
    let ratio = ours.beside(&each);
    row("the matrix beside them", &format!("{ratio:.2} ×"), "0.20 ×");
    let discard = [&["discard"][..], &tasks, &["--yes"]].concat();
    succeed(stage.command(&discard)?)
}

/// Runs a command to its end. Conflicts are an exit code of their own.
fn end(mut command: Command) -> Outcome<()> {
    command.output()?;
    Ok(())
}

fn make_repository(stage: &Stage) -> Outcome<()> {
    for number in 0..FILES {
        let text = format!("file {number}\n").repeat(20);
        fs::write(stage.project().join(format!("f{number:04}.txt")), text)?;
    }
    let author = "-c user.name=A -c user.email=a@example.com";
    succeed(git(
        stage,
        &format!("git init -q -b main; git add .; git {author} commit -q -m first"),
    ))
}

/// Returns a script in the project that knows it as P, and a place for a worktree as W.
fn git(stage: &Stage, script: &str) -> Command {
    let mut command = stage.other(std::path::Path::new("sh"));
    command
        .args(["-c", script])
        .env("P", stage.project())
        .env("W", stage.path("by-hand"));
    command
}

/// Returns a call whose tasks each change a file of their own.
fn delegate(stage: &Stage, names: &[&str], isolation: &str) -> Outcome<Command> {
    delegate_with(stage, names, isolation, own_file)
}

/// Returns a command that changes a file which no other run changes.
fn own_file(number: usize) -> String {
    format!("echo changed > f{number:04}.txt")
}

/// Returns a call whose tasks each run a command.
pub(super) fn delegate_with(
    stage: &Stage,
    names: &[&str],
    isolation: &str,
    edit: fn(usize) -> String,
) -> Outcome<Command> {
    let mut rules = String::new();
    for (number, name) in names.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let edit = edit(number);
        let call = format!(r#"{{"name": "bash", "arguments": {{"command": "{edit}"}}}}"#);
        let turns = format!(r#"[{{"toolCalls": [{call}]}}, {{"text": "Done."}}]"#);
        write!(
            rules,
            r#"{comma}{{"when": "do {name}.", "turns": {turns}}}"#
        )?;
    }
    let script = stage.write("worktrees.json", &format!(r#"{{"rules": [{rules}]}}"#))?;
    let model = format!("scripted/{}", script.display());
    let options = ["delegate", "--runner", "embedded", "--model", &model];
    let mut command = stage.command(&options)?;
    command.args(["--isolation", isolation]);
    for name in names {
        command.args(["--task", &format!("{name}=do {name}.")]);
    }
    Ok(command)
}
