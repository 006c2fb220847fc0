//! With another user on the same machine: nothing read, nothing written, nothing run.
//!
//! These tests give directories to other users, which only root may. Without root they show
//! nothing, and `cargo xtask test` says in its last line that they were not run.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use pi_subagents_testkit::sandbox::Sandbox;
use pi_subagents_testkit::{bin, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::call;

const PATIENCE: Duration = Duration::from_mins(1);

/// Users that own nothing on any system.
const VICTIM: u32 = 65534;
const ATTACKER: u32 = 65533;

/// A sandbox whose home belongs to the victim, and which others may enter.
struct Town {
    sandbox: Sandbox,
}

impl Town {
    /// None without root.
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let sandbox = Sandbox::new();
        let town = Self { sandbox };
        set_mode(town.sandbox.root(), 0o755);
        for place in [
            town.sandbox.home(),
            town.sandbox.home().join(".pi"),
            town.sandbox.agent_dir(),
            town.sandbox.project(),
            town.sandbox.runtime_dir(),
        ] {
            chown(place, Some(VICTIM), Some(VICTIM)).unwrap();
        }
        for name in ["pi-subagents", "misbehave"] {
            let copy = town.sandbox.root().join(name);
            if fs::hard_link(bin(name), &copy).is_err() {
                fs::copy(bin(name), copy).unwrap();
            }
        }
        Some(town)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.sandbox.root().join(name)
    }

    /// Makes a directory of this user and mode.
    fn directory(&self, name: &str, user: u32, mode: u32) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        set_mode(&path, mode);
        chown(&path, Some(user), Some(user)).unwrap();
        path
    }

    /// Writes a file of this user.
    fn file(&self, name: &str, user: u32, content: &str) {
        let path = self.sandbox.write(name, content);
        chown(path, Some(user), Some(user)).unwrap();
    }

    /// Runs our binary as the victim.
    fn run(&self, cwd: &Path, arguments: &[&str], stdin: &str) -> Output {
        let command = self
            .sandbox
            .command(&self.path("pi-subagents"))
            .env("PI_SUBAGENTS_PI", self.path("misbehave"))
            .args(arguments)
            .cwd(cwd);
        let mut command = command.std_command();
        let command = command.uid(VICTIM).gid(VICTIM);
        // A child that another test forked just now may hold the copy of the program open for writing.
        let child = wait_until(PATIENCE, || match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => None,
            other => Some(other.unwrap()),
        });
        let mut child = child.unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(stdin.as_bytes()).unwrap();
        drop(input);
        child.wait_with_output().unwrap()
    }

    /// Runs a task as the victim and returns the directory of its record.
    fn record_from(&self, cwd: &Path) -> PathBuf {
        let call = call(&[("a", json!([{"reply": "secret answer"}]))]).to_string();
        let arguments = ["delegate", "-", "--runner", "pi", "--json"];
        let output = self.run(cwd, &arguments, &call);
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        assert_eq!(answer["runs"][0]["status"], "completed", "{answer}");
        PathBuf::from(answer["runs"][0]["directory"].as_str().unwrap())
    }

    fn own_records(&self) -> PathBuf {
        self.sandbox.agent_dir().join("subagents/runs")
    }
}

/// A user of whom nobody else has a process, so that a limit counts this test alone.
const CROWDED: u32 = 65532;

#[test]
fn a_limit_of_processes_is_named_and_is_never_a_panic() {
    let Some(town) = Town::new() else { return };
    for place in [
        town.sandbox.home(),
        town.sandbox.home().join(".pi"),
        town.sandbox.agent_dir(),
        town.sandbox.project(),
        town.sandbox.runtime_dir(),
    ] {
        chown(place, Some(CROWDED), Some(CROWDED)).unwrap();
    }
    let script = json!({"rules": [{"turns": [{"text": "hello"}]}]});
    let script = town.sandbox.write("script.json", &script.to_string());
    set_mode(&script, 0o644);
    let model = format!("scripted/{}", script.display());
    for limit in [2, 4, 7, 10, 14, 20, 30] {
        let line = format!("ulimit -u {limit}; exec \"$0\" \"$@\"");
        let command = town
            .sandbox
            .command(Path::new("/bin/sh"))
            .args(["-c", &line])
            .arg(town.path("pi-subagents"))
            .args([
                "delegate", "--runner", "embedded", "--json", "--model", &model,
            ])
            .args(["--task", "a=one", "--task", "b=two", "--task", "c=three"]);
        let child = command.std_command().uid(CROWDED).gid(CROWDED).spawn();
        let output = child.unwrap().wait_with_output().unwrap();
        let printed = [output.stdout.clone(), output.stderr.clone()].concat();
        let printed = String::from_utf8_lossy(&printed);
        assert!(!printed.contains("panicked"), "{limit}: {printed}");
        assert!(!printed.contains("RUST_BACKTRACE"), "{limit}: {printed}");
        let is_named = ["ulimit -u", "too many processes", "Resource temporarily"]
            .iter()
            .any(|words| printed.contains(words));
        assert!(output.status.success() || is_named, "{limit}: {printed}");
    }
}

/// The attacker's preparation of trials.md A1: a place for records that everybody may write, and a
/// definition.
fn prepare(town: &Town, place: &str) {
    town.directory(&format!("{place}/.pi"), ATTACKER, 0o777);
    town.directory(&format!("{place}/.pi/subagents"), ATTACKER, 0o777);
    town.directory(&format!("{place}/.pi/subagents/runs"), ATTACKER, 0o777);
    town.directory(&format!("{place}/.git"), ATTACKER, 0o755);
    town.file(
        &format!("{place}/.git/HEAD"),
        ATTACKER,
        "ref: refs/heads/main\n",
    );
    town.file(
        &format!("{place}/.pi/agents/stranger.md"),
        ATTACKER,
        "---\nname: stranger\ndescription: Obeys.\n---\nObey.\n",
    );
    town.file(
        &format!("{place}/.pi/settings.json"),
        ATTACKER,
        r#"{"subagents": {"runsDir": "/tmp/never"}}"#,
    );
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn entries(path: &Path) -> usize {
    fs::read_dir(path).unwrap().count()
}

#[test]
fn records_never_lie_where_another_user_could_replace_them() {
    let Some(town) = Town::new() else { return };
    // A directory like /tmp, and one of the attacker that everybody may write.
    for (place, owner, mode) in [("shared", 0, 0o1777), ("open", ATTACKER, 0o777)] {
        let directory = town.directory(place, owner, mode);
        prepare(&town, place);
        let record = town.record_from(&directory);
        assert!(record.starts_with(town.own_records()), "{record:?}");
        let victim = town.directory(&format!("{place}/victim"), VICTIM, 0o755);
        let record = town.record_from(&victim);
        let protected = if mode == 0o1777 {
            victim
        } else {
            town.own_records()
        };
        assert!(record.starts_with(protected), "{record:?}");
        assert_eq!(entries(&directory.join(".pi/subagents/runs")), 0);
    }
}

#[test]
fn a_place_for_records_that_others_own_or_may_write_is_not_used() {
    let Some(town) = Town::new() else { return };
    let project = town.sandbox.project();
    let runs = "project/.pi/subagents/runs";
    for (name, user, mode) in [
        (runs, ATTACKER, 0o777),
        (runs, VICTIM, 0o777),
        (runs, VICTIM, 0o755),
        ("project/.pi/subagents", ATTACKER, 0o755),
        ("project/.pi/subagents", VICTIM, 0o755),
        ("project/.pi", VICTIM, 0o757),
    ] {
        for above in ["project/.pi", "project/.pi/subagents", runs] {
            town.directory(above, VICTIM, 0o755);
        }
        town.directory(name, user, mode);
        let record = town.record_from(&project);
        let is_safe = user == VICTIM && mode == 0o755;
        let place = if is_safe {
            project.clone()
        } else {
            town.own_records()
        };
        assert!(
            record.starts_with(place),
            "{name} {user} {mode:o}: {record:?}"
        );
    }
}

#[test]
fn nothing_of_another_users_directory_is_read() {
    let Some(town) = Town::new() else { return };
    let shared = town.directory("shared", 0, 0o1777);
    prepare(&town, "shared");
    let victim = town.directory("shared/victim", VICTIM, 0o755);
    let foreign = town.directory("foreign", ATTACKER, 0o755);
    prepare(&town, "foreign");
    for cwd in [&shared, &victim, &foreign] {
        for arguments in [
            &["agents", "list", "--json"][..],
            &["trust", "--show", "--json"],
        ] {
            let output = town.run(cwd, arguments, "");
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(!said.contains("stranger"), "{cwd:?} {arguments:?}: {said}");
        }
    }
    let refused = town.run(&foreign, &["trust", "--yes"], "");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("cannot be a project"), "{said}");
}

#[test]
fn a_place_that_cannot_be_written_to_stops_no_run() {
    let Some(town) = Town::new() else { return };
    let readonly = town.directory("readonly", 0, 0o755);
    let record = town.record_from(&readonly);
    assert!(record.starts_with(town.own_records()), "{record:?}");
    let own = town.directory("own", VICTIM, 0o555);
    let record = town.record_from(&own);
    assert!(record.starts_with(town.own_records()), "{record:?}");
    let mode = fs::metadata(&record).unwrap().permissions().mode() & 0o777;
    assert_eq!(format!("{mode:o}"), "700");
}
