//! `doctor` on a fresh machine, where everything is well, and where many things are broken.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_testkit::sandbox::{CommandOutput, SandboxCommand};
use pi_subagents_testkit::{Signal, bin, wait_for_file};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::background_stage::BackgroundStage;
use crate::stage::{Stage, call};

const BINARY: &str = env!("CARGO_BIN_EXE_pi-subagents");

/// `doctor` with nothing but git on the search path.
fn doctor(stage: &Stage, arguments: &[&str]) -> SandboxCommand {
    fs::create_dir_all(stage.path("bin")).unwrap();
    let link = PathBuf::from(stage.path("bin/git"));
    if !link.exists() {
        symlink(on_path("git"), link).unwrap();
    }
    stage
        .command(&["doctor"])
        .args(arguments)
        .env("PATH", stage.path("bin"))
        .env_remove("PI_SUBAGENTS_PI")
}

/// Finds a program of this machine.
fn on_path(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut places = std::env::split_paths(&path).map(|place| place.join(name));
    places.find(|place| place.is_file()).unwrap()
}

/// Returns the output without the parts that differ from machine to machine.
fn shown(output: &CommandOutput) -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let package = package().display().to_string();
    let text = output
        .to_string()
        .replace(BINARY, "$BINARY")
        .replace(&bin("misbehave").display().to_string(), "$PI")
        .replace(&package, "$PACKAGE")
        .replace(release.trim(), "<release>")
        .replace(std::env::consts::ARCH, "<machine>")
        .replace(env!("CARGO_PKG_VERSION"), "<version>");
    let lines = text.lines().map(|line| match line.split_once(" free") {
        Some((before, after)) => {
            let place = before.rsplit_once(", ").map_or(before, |(place, _)| place);
            format!("{place}, <room> free{after}")
        }
        None => without_number(without_time(without_size(line))),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A line without how much the records take, which differs between file systems.
fn without_size(line: &str) -> String {
    match (line.find("retention"), line.split_once(" kB for ")) {
        (Some(at), Some((_, after))) => format!("{}retention    <size> for {after}", &line[..at]),
        _ => line.to_owned(),
    }
}

/// A line without the number of the kernel's Landlock.
fn without_number(line: String) -> String {
    match line.split_once(", Landlock ") {
        Some((before, _)) => format!("{before}, Landlock <number>, seccomp"),
        None => line,
    }
}

/// A line without how long pi took to start.
fn without_time(line: String) -> String {
    match line.split_once(" took ") {
        Some((before, _)) => format!("{before} took <time>"),
        None => line,
    }
}

/// The package for pi in this repository.
fn package() -> PathBuf {
    let app = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    app.join("../../extension").canonicalize().unwrap()
}

#[test]
fn a_fresh_machine_needs_a_model_and_nothing_else() {
    let stage = Stage::new();
    fs::remove_dir_all(stage.sandbox.home().join(".pi")).unwrap();
    insta::assert_snapshot!(shown(&doctor(&stage, &[]).run()), @"
    --- exit code
    1
    [EOF]
    --- stdout
    ok       program      pi-subagents <version>, $BINARY
    ok       platform     Linux <release> on <machine>, with /proc, pidfd, subreaper and inotify
    ok       git          new enough for worktrees and merges
    ok       sandbox      all levels: namespaces, Landlock <number>, seccomp
    ok       agent files  ~/.pi/agent does not exist yet; the first run creates it
    ok       sockets      $SANDBOX/run/pi-subagents
    ok       records      .pi/subagents/runs, <room> free
    ok       logs         off; --log-level debug or PI_SUBAGENTS_LOG=debug writes to ~/.pi/agent/subagents-logs
    ok       settings     the defaults
    problem  models       no provider has a key, so runs fail
             hint: Set the key of a provider, for example with: export ANTHROPIC_API_KEY=sk-… (pi-subagents models lists all), or list a server of your own in ~/.pi/agent/models.json. pi-subagents tour needs no key.
    ok       runner       auto uses the embedded agent, because pi was not found
    ok       agents       none; pi-subagents agents add lists ready-made ones
    ok       project      $PROJECT contains no agents, so there is nothing to trust
    ok       runs         none yet
    ok       retention    no records yet
    ok       background   0 of at most 16 runs (subagents.maxBackground)
    ok       pi package   not installed

    1 problem.
    [EOF]
    --- stderr
    [EOF]
    ");
    assert!(
        !stage.sandbox.home().join(".pi").exists(),
        "it changes nothing"
    );
}

#[test]
fn where_everything_is_well_it_says_where_everything_is() {
    let stage = Stage::new();
    stage.sandbox.models_json("http://127.0.0.1:1/v1");
    stage.profile("reviewer", "model: fake/fake-model", "You review.");
    stage.sandbox.write(
        "project/.pi/agents/scout.md",
        "---\nname: scout\nmodel: fake/fake-model\n---\nYou look around.\n",
    );
    let settings = stage.sandbox.agent_dir().join("settings.json");
    let mut whole: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    whole["packages"] = json!([package()]);
    whole["subagents"] = json!({"maxConcurrency": 8});
    fs::write(&settings, whole.to_string()).unwrap();
    _ = stage.command(&["trust", "--yes"]).run().expect_success();
    _ = stage.outcomes(&[("a", json!([{"reply": "done"}]))]);
    let command = |arguments: &[&str]| {
        doctor(&stage, arguments)
            .env("PI_SUBAGENTS_PI", bin("misbehave"))
            .env("PI_SUBAGENTS_BIN", BINARY)
            .env("OPENAI_API_KEY", "sk-secret")
    };
    let output = command(&[]).run();
    assert!(!output.stdout.contains("sk-secret") && !output.stdout.contains("test-key"));
    insta::assert_snapshot!(shown(&output), @"
    --- exit code
    0
    [EOF]
    --- stdout
    ok       program      pi-subagents <version>, $BINARY
    ok       platform     Linux <release> on <machine>, with /proc, pidfd, subreaper and inotify
    ok       git          new enough for worktrees and merges
    ok       sandbox      all levels: namespaces, Landlock <number>, seccomp
    ok       agent files  ~/.pi/agent
    ok       sockets      $SANDBOX/run/pi-subagents
    ok       records      .pi/subagents/runs, <room> free
    ok       logs         off; --log-level debug or PI_SUBAGENTS_LOG=debug writes to ~/.pi/agent/subagents-logs
    ok       settings     maxConcurrency in ~/.pi/agent/settings.json
    ok       models       fake (~/.pi/agent/models.json), openai (OPENAI_API_KEY)
    ok       runner       auto uses pi 0.87.1 ($PI); printing its version took <time>
             hint: Every run starts pi anew. The embedded agent starts in a few hundredths of a second: --runner embedded, or subagents.runner in the settings.
    ok       agents       reviewer, scout [prompt]
    ok       project      $PROJECT is trusted (decided with pi-subagents for $PROJECT).
    ok       runs         1 run in ~/.pi/agent/subagents-index.jsonl
    ok       retention    <size> for 1 run, none is due for removal (subagents.retention)
    ok       background   0 of at most 16 runs (subagents.maxBackground)
    ok       pi package   $PACKAGE

    Everything is set up.
    [EOF]
    --- stderr
    [EOF]
    ");
    let json = command(&["--json"]).run().expect_success().json();
    let names: Vec<&str> = json["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| check["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names.join(", "),
        "program, platform, git, sandbox, agent files, sockets, records, logs, settings, models, runner, \
         agents, project, runs, retention, background, pi package"
    );
    assert_eq!(
        (&json["ok"], &json["problems"], &json["warnings"]),
        (&json!(true), &json!(0), &json!(0))
    );
}

#[test]
fn where_much_is_broken_it_says_what_to_do() {
    let stage = Stage::new();
    let write = |path: &str, text: &str| stage.sandbox.write(path, text);
    lose_a_run(&stage);
    let agent_dir = stage.sandbox.agent_dir();
    fs::set_permissions(&agent_dir, Permissions::from_mode(0o777)).unwrap();
    let index = agent_dir.join("subagents-index.jsonl");
    let torn = fs::read_to_string(&index).unwrap() + "{\"run\": \"torn\n\n[]\n";
    fs::write(index, torn).unwrap();
    // The next command that looks for pi asks it for its version again.
    fs::remove_file(agent_dir.join("subagents-pi-version.json")).unwrap();
    let keys = write("home/.pi/agent/auth.json", "no json");
    fs::set_permissions(keys, Permissions::from_mode(0o644)).unwrap();
    write(
        "home/.pi/agent/models.json",
        r#"{"providers": {"local": {"baseUrl": "http://x", "apiKey": "$LOCAL_KEY"}}}"#,
    );
    write("home/blocked", "");
    write(
        "home/.pi/agent/old/package.json",
        r#"{"name": "@pi-subagents/pi"}"#,
    );
    write("home/.pi/agent/old/manifest.json", "{}");
    let settings = json!({
        "defaultProvider": "openai", "defaultModel": "gpt-9", "packages": ["./old"],
        "subagents": {"runner": "pi", "maxConcurrency": "many", "runsDir": "~/blocked"},
    });
    write("home/.pi/agent/settings.json", &settings.to_string());
    write(
        "home/.pi/agent/agent-profiles/broken.md",
        "---\nname: [\n---\n",
    );
    stage.profile("torn", "tools: read\nexcludeTools: bash", "You look.");
    write(
        "project/.pi/agents/stranger.md",
        "---\nname: stranger\n---\nHello.\n",
    );
    let other = write("bin/pi-subagents", "#!/bin/sh\n");
    fs::set_permissions(other, Permissions::from_mode(0o755)).unwrap();
    let no_directory = write("no-directory", "");
    let output = doctor(&stage, &[])
        .env("XDG_RUNTIME_DIR", no_directory)
        .env("PI_SUBAGENTS_PI", bin("misbehave"))
        .env("MISBEHAVE_VERSION", "0.80.0")
        .run();
    insta::assert_snapshot!(shown(&output), @r#"
    --- exit code
    1
    [EOF]
    --- stdout
    warning  program      pi-subagents <version>, $BINARY
             hint: Another pi-subagents comes first on PATH: $SANDBOX/bin/pi-subagents. Remove it, or put the directory of this one before it.
    ok       platform     Linux <release> on <machine>, with /proc, pidfd, subreaper and inotify
    ok       git          new enough for worktrees and merges
    ok       sandbox      all levels: namespaces, Landlock <number>, seccomp
    warning  agent files  ~/.pi/agent
             hint: Other users may write to it and so decide what your sub-agents do. Run chmod go-w $HOME/.pi/agent
             hint: Other users may read the keys in it. Run chmod 600 $HOME/.pi/agent/auth.json
    problem  sockets      $SANDBOX/no-directory/pi-subagents cannot be used: $SANDBOX/no-directory is not a directory
             hint: Set XDG_RUNTIME_DIR to a directory of yours with a short path; until then, steer and stop cannot reach any run.
    warning  records      ~/blocked cannot be used, so runs go to ~/.pi/agent/subagents/runs, <room> free
             hint: $HOME/blocked is not a directory.
    ok       logs         off; --log-level debug or PI_SUBAGENTS_LOG=debug writes to ~/.pi/agent/subagents-logs
    problem  settings     $HOME/.pi/agent/settings.json:1:100: subagents.maxConcurrency must be a number, not "many"
             hint: Nothing can start until you fix that file.
    problem  models       $HOME/.pi/agent/auth.json:1:2 is not JSON: this is not a value; text is written in double quotes
             hint: Runs that need it fail until you fix it.
             hint: The key of local should be in the variable LOCAL_KEY, which is not set.
    problem  runner       subagents.runner is pi, but there is no pi that can be used
             hint: $PI is pi 0.80.0, which is too old: 0.84 or newer is needed. Update it, or use --runner embedded.
    warning  agents       torn
             hint: $HOME/.pi/agent/agent-profiles/broken.md:2:7: is not YAML: unclosed bracket '['; the file is not used.
             hint: ~/.pi/agent/agent-profiles/torn.md: Profile "torn" has both "tools" and "excludeTools" set. These are mutually exclusive.
    warning  project      $PROJECT contains 1 agent, and is not trusted yet
             hint: Ignored 1 agent of $PROJECT, which is not trusted yet: stranger. Run "pi-subagents trust" to look at it and allow that.
    warning  runs         1 run in ~/.pi/agent/subagents-index.jsonl
             hint: Skipped 2 lines of the index that cannot be read. A run that is missing there is found again by its id, in its project.
             hint: The owner process of 1 run is gone. The next command records that; pi-subagents status does so now.
    ok       retention    <size> for 1 run, none is due for removal (subagents.retention)
    ok       background   0 of at most 16 runs (subagents.maxBackground)
    problem  pi package   ~/.pi/agent/old
             hint: The installed pi package does not match this version of pi-subagents (<version>). Install the package that belongs to it.

    5 problems, 6 warnings.
    [EOF]
    --- stderr
    [EOF]
    "#);
}

/// Leaves a run behind whose owner was killed, and that no command has closed.
fn lose_a_run(stage: &Stage) {
    let ready = stage.path("ready");
    let script = json!([{"touch": ready}, {"hang": true}]);
    let owner = stage.delegate(&call(&[("lost", script)])).spawn();
    wait_for_file(&ready, Duration::from_mins(1));
    owner.kill(Signal::KILL);
    _ = owner.wait_for_exit();
}

#[test]
fn without_a_home_it_says_so() {
    let stage = Stage::new();
    let output = doctor(&stage, &[]).env_remove("HOME").run();
    insta::assert_snapshot!(output, @"
    --- exit code
    1
    [EOF]
    --- stdout
    problem  places       HOME is not set
             hint: Set HOME to the directory that contains .pi/agent.

    1 problem.
    [EOF]
    --- stderr
    [EOF]
    ");
}

/// Returns the result of one check.
fn check(output: &CommandOutput, name: &str) -> Value {
    let checks = output.json()["checks"].clone();
    let mut checks = checks.as_array().unwrap().iter();
    let found = checks.find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("{output}")).clone()
}

#[test]
fn without_git_it_says_what_does_not_work() {
    let stage = Stage::new();
    let output = doctor(&stage, &["--json"]).env("PATH", stage.path("nothing"));
    assert_eq!(
        check(&output.run(), "git"),
        json!({
            "name": "git",
            "mark": "warning",
            "text": "git is not installed, or not in PATH",
            "hints": ["Install git 2.43 or newer: without it there is no --isolation worktree, no merge and no fleet."],
        })
    );
}

#[test]
fn a_path_that_is_too_long_for_a_socket_is_a_problem() {
    let stage = Stage::new();
    let long = stage.sandbox.root().join("long".repeat(30));
    let output = doctor(&stage, &["--json"])
        .env_remove("XDG_RUNTIME_DIR")
        .env("PI_CODING_AGENT_DIR", &long)
        .run();
    assert_eq!(output.code, Some(1));
    assert_eq!(check(&output, "sockets")["mark"], "problem");
    assert_eq!(check(&output, "agent files")["mark"], "ok");
}

#[test]
fn an_index_that_cannot_be_read_is_a_problem() {
    let stage = Stage::new();
    let index = stage.sandbox.agent_dir().join("subagents-index.jsonl");
    fs::create_dir_all(index).unwrap();
    let output = doctor(&stage, &["--json"]).run();
    assert_eq!(
        check(&output, "runs"),
        json!({
            "name": "runs",
            "mark": "problem",
            "text": "~/.pi/agent/subagents-index.jsonl cannot be read: it is not a regular file",
            "hints": ["Move the file away. Each run is found again by its id, in its project."],
        })
    );
}

#[test]
fn background_runs_up_to_the_limit_are_a_warning() {
    let stage = BackgroundStage::new();
    stage.settings(&json!({"maxBackground": 1}));
    stage.spawn(&json!([{"hang": true}]));
    let output = doctor(&stage.stage, &["--json"]).run();
    let seen = check(&output, "background");
    assert_eq!(seen["mark"], "warning");
    assert_eq!(
        seen["text"],
        "1 of at most 1 runs (subagents.maxBackground)"
    );
}
