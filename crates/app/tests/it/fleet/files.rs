//! The files of a project that travel and come back: every kind of file, submodules, large files
//! that git keeps apart, ignored files that the user names; as bundles, by a clone, or not at all.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use pi_subagents_testkit::sandbox::RunningCommand;
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::fleet_stage::{FleetStage, git, library};
use super::worker_stage::Yard;
use crate::stage::{Stage, call, completed, outcomes};

/// A stand-in for git-lfs: contents lie under their ids, and pointers stand for them. It is a filter
/// as git runs it, so the tests need no git-lfs.
const LFS: &str = r#"#!/bin/sh
storage=$(git config lfs.storage || echo "$(git rev-parse --git-common-dir)/lfs")
content=$(mktemp)
cat > "$content"
path() { echo "$storage/objects/$(echo "$1" | cut -c1-2)/$(echo "$1" | cut -c3-4)/$1"; }
if [ "$1" = clean ]; then
  oid=$(sha256sum "$content" | cut -d' ' -f1)
  mkdir -p "$(dirname "$(path "$oid")")"
  cp "$content" "$(path "$oid")"
  printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %s\n' "$oid" "$(wc -c < "$content" | tr -d ' ')"
else
  oid=$(sed -n 's/^oid sha256://p' "$content")
  if [ -f "$(path "$oid")" ]; then cat "$(path "$oid")"; else cat "$content"; fi
fi
rm -f "$content"
"#;

/// A fleet whose caller has a repository with a commit, and one worker.
struct Field {
    fleet: FleetStage,
    _worker: RunningCommand,
}

impl Field {
    fn new() -> Self {
        Self::with_settings(&json!({}))
    }

    fn with_settings(more: &Value) -> Self {
        let fleet = FleetStage::with_git();
        let mut settings = json!({"servers": [fleet.server.url()]});
        let settings_map = settings.as_object_mut().unwrap();
        settings_map.extend(more.as_object().unwrap().clone());
        fleet.stage.settings(&json!({"fleet": settings}));
        let worker = fleet.worker("build-7");
        Self {
            fleet,
            _worker: worker,
        }
    }

    fn stage(&self) -> &Stage {
        &self.fleet.stage
    }

    fn project(&self) -> std::path::PathBuf {
        self.stage().sandbox.project()
    }

    /// Gives a task to the fleet and returns its run, once it has ended well.
    fn run(&self, script: Value, options: &[&str]) -> (String, Value) {
        let delegated = self.stage().delegate(&call(&[("task", script)]));
        let output = delegated.args(["--on", "fleet"]).args(options).run();
        let ended = outcomes(&output);
        assert_eq!(ended[0].status, "completed", "{output}");
        let answer = output.json();
        let run = answer["runs"][0]["runId"].as_str().unwrap().to_owned();
        (run, answer)
    }

    /// Returns what the child of a run printed to a file that it left behind.
    fn left(&self, run: &str, directory: &Path, file: &str) -> String {
        let name = format!("refs/pi-subagents/runs/{run}/result:{file}");
        git(self.stage(), directory, &["show", &name])
    }
}

/// Returns a step that runs a command where the child works and keeps its words in a file.
fn shell(command: &str) -> Value {
    json!([{"shell": command}, {"reply": "done"}])
}

#[test]
fn every_kind_of_uncommitted_file_travels_and_the_index_is_as_the_caller_has_it() {
    let field = Field::new();
    let project = field.project();
    field.stage().sandbox.write("project/old.txt", "moved\n");
    git(field.stage(), &project, &["add", "old.txt"]);
    git(field.stage(), &project, &["commit", "--quiet", "-m", "old"]);
    fs::rename(project.join("old.txt"), project.join("new.txt")).unwrap();
    fs::write(project.join("readme.md"), "A lamp, dirty.\n").unwrap();
    fs::write(project.join("run.sh"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(project.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("readme.md", project.join("link")).unwrap();
    let seen = "(git status --porcelain; stat -c '%A %N' link run.sh; cat readme.md) > seen.txt";
    let (run, _) = field.run(shell(seen), &[]);
    insta::assert_snapshot!(field.left(&run, &project, "seen.txt"), @"
     D old.txt
     M readme.md
    ?? link
    ?? new.txt
    ?? run.sh
    ?? seen.txt
    lrwxrwxrwx 'link' -> 'readme.md'
    -rwxr-xr-x 'run.sh'
    A lamp, dirty.
    ");
    assert!(
        !project.join("seen.txt").exists(),
        "the checkout was touched"
    );
}

#[test]
fn submodules_travel_with_their_uncommitted_files_and_their_changes_come_back() {
    let field = Field::new();
    let (stage, project) = (field.stage(), field.project());
    let inner = library(stage);
    let add = [
        "submodule",
        "--quiet",
        "add",
        inner.to_str().unwrap(),
        "libs/inner",
    ];
    git(stage, &project, &add);
    git(
        stage,
        &project,
        &["commit", "--quiet", "-m", "with a library"],
    );
    fs::write(project.join("libs/inner/lib.txt"), "library, dirty\n").unwrap();
    let dry = field
        .fleet
        .printed(&["run", "x", "--on", "fleet", "--dry-run"]);
    assert!(dry.contains("submodule   libs/inner"), "{dry}");
    let work = "cp libs/inner/lib.txt seen.txt; echo added > libs/inner/added.txt";
    let (run, answer) = field.run(shell(work), &[]);
    assert_eq!(field.left(&run, &project, "seen.txt"), "library, dirty\n");
    let submodule = project.join("libs/inner");
    assert_eq!(field.left(&run, &submodule, "added.txt"), "added\n");
    let said = answer["warnings"].to_string();
    let expected =
        "1 file +1 −0 in the submodule libs/inner; not merged (cd libs/inner && pi-subagents merge";
    assert!(said.contains(expected), "{said}");
    assert!(
        !submodule.join("added.txt").exists(),
        "the checkout was touched"
    );
}

#[test]
fn large_files_that_git_keeps_apart_travel_both_ways() {
    let field = Field::new();
    let (stage, project) = (field.stage(), field.project());
    let program = stage.sandbox.program("home/lfs-stand-in", LFS);
    let program = program.to_str().unwrap();
    for (name, word) in [("clean", "clean"), ("smudge", "smudge")] {
        let setting = format!("filter.lfs.{name}");
        let command = format!("{program} {word}");
        git(stage, &project, &["config", "--global", &setting, &command]);
    }
    fs::write(project.join(".gitattributes"), "*.bin filter=lfs -text\n").unwrap();
    fs::write(project.join("large.bin"), "large content\n").unwrap();
    git(stage, &project, &["add", "."]);
    git(stage, &project, &["commit", "--quiet", "-m", "large"]);
    let pointer = git(stage, &project, &["show", "HEAD:large.bin"]);
    assert!(pointer.starts_with("version https://git-lfs"), "{pointer}");
    let dry = field
        .fleet
        .printed(&["run", "x", "--on", "fleet", "--dry-run"]);
    assert!(dry.contains("1 LFS file of 14 B"), "{dry}");
    let work = "cp large.bin seen.txt; echo new content > new.bin";
    let (run, _) = field.run(shell(work), &[]);
    assert_eq!(field.left(&run, &project, "seen.txt"), "large content\n");
    let pointer = field.left(&run, &project, "new.bin");
    let oid = pointer
        .lines()
        .nth(1)
        .unwrap()
        .strip_prefix("oid sha256:")
        .unwrap();
    let place = format!(".git/lfs/objects/{}/{}/{oid}", &oid[..2], &oid[2..4]);
    let content = fs::read_to_string(project.join(place)).unwrap();
    assert_eq!(content, "new content\n");
}

#[test]
fn ignored_files_travel_only_if_the_user_names_them() {
    let field = Field::with_settings(&json!({"include": ["*.local"]}));
    let (stage, project) = (field.stage(), field.project());
    fs::write(project.join(".gitignore"), "*.local\n.env\n").unwrap();
    fs::write(project.join("test.local"), "wanted\n").unwrap();
    fs::write(project.join(".env"), "SECRET=1\n").unwrap();
    let dry = field
        .fleet
        .printed(&["run", "x", "--on", "fleet", "--dry-run"]);
    let expected = "ignored     1 file with 7 B of at most 50 MB, because subagents.fleet.include names them: test.local";
    assert!(dry.contains(expected), "{dry}");
    let (run, _) = field.run(shell("(ls -A; cat test.local) > seen.txt"), &[]);
    let seen = field.left(&run, &project, "seen.txt");
    assert!(seen.contains("wanted") && !seen.contains(".env"), "{seen}");
    // They are no part of what comes back.
    let tree = format!("refs/pi-subagents/runs/{run}/result");
    let files = git(stage, &project, &["ls-tree", "--name-only", &tree]);
    assert_eq!(files, ".gitignore\nreadme.md\nseen.txt\n");
}

#[test]
fn a_repository_without_a_commit_and_a_shallow_one_travel_too() {
    let field = Field::new();
    let (stage, project) = (field.stage(), field.project());
    for number in 0..3 {
        let message = format!("commit {number}");
        git(
            stage,
            &project,
            &["commit", "--quiet", "--allow-empty", "-m", &message],
        );
    }
    let place = |name: &str| stage.sandbox.root().join(name);
    let url = format!("file://{}", project.display());
    let shallow = place("shallow");
    let clone = [
        "clone",
        "--quiet",
        "--depth=1",
        &url,
        shallow.to_str().unwrap(),
    ];
    git(stage, &project, &clone);
    let empty = place("empty");
    fs::create_dir(&empty).unwrap();
    git(stage, &empty, &["init", "--quiet"]);
    for directory in [shallow, empty] {
        fs::write(directory.join("dirty.txt"), "dirty\n").unwrap();
        let cwd = directory.to_str().unwrap().to_owned();
        let (run, _) = field.run(shell("cp dirty.txt seen.txt"), &["--cwd", &cwd]);
        assert_eq!(field.left(&run, &directory, "seen.txt"), "dirty\n", "{cwd}");
    }
}

#[test]
fn a_worker_clones_a_published_commit_with_its_own_rights() {
    let field = Field::new();
    let (stage, project) = (field.stage(), field.project());
    let clone = stage.sandbox.root().join("clone");
    let url = format!("file://{}", project.display());
    git(
        stage,
        &project,
        &["clone", "--quiet", &url, clone.to_str().unwrap()],
    );
    let cwd = clone.to_str().unwrap();
    let options = ["--workspace", "clone", "--cwd", cwd];
    fs::write(clone.join("readme.md"), "A lamp, dirty.\n").unwrap();
    let (run, answer) = field.run(shell("cp readme.md seen.txt"), &options);
    assert_eq!(field.left(&run, &clone, "seen.txt"), "A lamp.\n");
    let said = answer["warnings"].to_string();
    assert!(
        said.contains("not sent to the fleet: 1 uncommitted file"),
        "{said}"
    );
    git(stage, &clone, &["commit", "--quiet", "-am", "not pushed"]);
    let refused = [&["run", "x", "--on", "fleet"][..], &options].concat();
    let refused = field.fleet.printed(&refused);
    assert!(refused.contains("is on no branch of file://"), "{refused}");
}

#[test]
fn a_project_that_is_too_large_is_refused_with_its_largest_files_before_anything_is_sent() {
    let fleet = FleetStage::with_git();
    let settings = json!({"servers": [fleet.server.url()], "maxUpload": 1});
    fleet.stage.settings(&json!({"fleet": settings}));
    let mut seed: u32 = 1;
    let noise = |bytes: usize| -> Vec<u8> {
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed.to_be_bytes()[0]
        };
        (0..bytes).map(|_| next()).collect()
    };
    let mut noise = noise;
    let project = fleet.stage.sandbox.project();
    for (name, bytes) in [("a.dat", 900_000), ("b.dat", 1_400_000)] {
        fs::write(project.join(name), noise(bytes)).unwrap();
    }
    let said = fleet.printed(&["run", "x", "--on", "fleet"]);
    let largest: Vec<&str> = said.lines().filter(|line| line.contains(".dat")).collect();
    assert_eq!(largest.len(), 2, "{said}");
    assert!(largest[0].ends_with("b.dat"), "{said}");
    assert!(
        said.contains("subagents.fleet.maxUpload allows 1.0 MB"),
        "{said}"
    );
    let listed = fleet.stage.command(&["status", "--all", "--json"]).run();
    assert_eq!(listed.json()["runs"], json!([]));
}

#[test]
fn a_full_disk_on_the_worker_ends_the_run_in_words_and_nothing_of_it_is_lost() {
    let yard = Yard::new();
    let caller = yard.caller();
    // No file of this worker may grow beyond some kilobytes, as on a full disk.
    let worker = Stage::new();
    let fleet = json!({"servers": [yard.server.url()]});
    worker.settings(&json!({"fleet": fleet}));
    let program = env!("CARGO_BIN_EXE_pi-subagents");
    let limited = r#"ulimit -f 64; exec "$0" "$@""#;
    let command = worker.sandbox.command(Path::new("/bin/sh"));
    let command = command.env("PI_SUBAGENTS_PI", pi_subagents_testkit::bin("misbehave"));
    let arguments = ["-c", limited, program, "fleet", "work", "--name", "build-7"];
    let worker = command.args(arguments).spawn();
    worker.wait_for_stderr("takes");
    let script = json!([{"messages": {"count": 60, "bytes": 2000}}, {"reply": "the finding"}]);
    let on_fleet = ["--on", "fleet", "--workspace", "none"];
    let answered = caller
        .delegate(&call(&[("task", script)]))
        .args(on_fleet)
        .run();
    let ended = outcomes(&answered);
    assert_eq!(ended, [completed("task", "the finding")], "{answered}");
    let said = answered.json()["warnings"].to_string();
    assert!(said.contains("File too large"), "{answered}");
    // The worker goes on.
    let next = json!([{"reply": "next"}]);
    let answered = caller
        .delegate(&call(&[("next", next)]))
        .args(on_fleet)
        .run();
    assert_eq!(
        outcomes(&answered)[0].output.as_deref(),
        Some("next"),
        "{answered}"
    );
}

#[test]
fn a_run_goes_to_a_worker_with_room_and_its_caller_hears_why_if_there_is_none() {
    let fleet = FleetStage::with_git();
    let stage = &fleet.stage;
    stage
        .sandbox
        .write("project/large.txt", &"no room for this\n".repeat(40_000));
    let without_files = ["--workspace", "none"];
    let begun = |name: &str, script: Value, options: &[&str]| {
        let delegated = stage
            .delegate(&call(&[(name, script)]))
            .args(["--on", "fleet"]);
        delegated.args(options).spawn()
    };
    // This worker has room, and is busy.
    let roomy = ["fleet", "work", "--name", "build-9", "--slots", "1"];
    let roomy = stage.command(&roomy).spawn();
    roomy.wait_for_stderr("takes");
    let busy = json!([{"waitForFile": stage.path("go")}, {"reply": "done"}]);
    let first = begun("first", busy, &without_files);
    roomy.wait_for_stderr("took");
    // No file of this one may grow beyond some kilobytes, as on a full disk.
    let program = env!("CARGO_BIN_EXE_pi-subagents");
    let limited = r#"ulimit -f 256; exec "$0" "$@""#;
    let command = stage.sandbox.command(Path::new("/bin/sh"));
    let command = command.env("PI_SUBAGENTS_PI", pi_subagents_testkit::bin("misbehave"));
    let root = stage.path("full");
    let arguments = [
        "-c", limited, program, "fleet", "work", "--name", "build-7", "--root", &root,
    ];
    let full = command.args(arguments).spawn();
    full.wait_for_stderr("takes");
    let second = begun("second", json!([{"reply": "done"}]), &[]);
    full.wait_for_stderr("to others: its workspace could not be made");
    fs::write(stage.path("go"), "").unwrap();
    first.wait().expect_success();
    let done = second.wait();
    assert_eq!(outcomes(&done), [completed("second", "done")], "{done}");
    assert_eq!(done.json()["runs"][0]["worker"], "build-9", "{done}");
    let warnings = done.json()["warnings"].to_string();
    let reason = "worker build-7 could not do it: its workspace could not be made";
    assert!(warnings.contains(reason), "{done}");
    // Without the other worker nobody has room.
    roomy.kill(Signal::TERM);
    roomy.wait().expect_success();
    let refused = begun("third", json!([{"reply": "done"}]), &[]).wait();
    let error = outcomes(&refused)[0].error.clone().unwrap_or_default();
    let reason = "no worker of pool default could do it; worker build-7 says: its workspace could not be made";
    assert!(error.contains(reason), "{refused}");
    // A run without files has room there.
    let next = begun("next", json!([{"reply": "done"}]), &without_files).wait();
    assert_eq!(outcomes(&next), [completed("next", "done")], "{next}");
}
