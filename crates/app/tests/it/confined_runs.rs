//! Runs of the embedded agent in a sandbox, through owner and keeper, with a model on the other side
//! of the gateway.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_testkit::llm::{Script, Turn};
use pi_subagents_testkit::process::{descendants, kill, parent, wait_until_gone};
use pi_subagents_testkit::sandbox::{CommandOutput, SandboxCommand};
use pi_subagents_testkit::{Signal, wait_for_file};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::agent_stage::{AgentStage, FORMATS};

const PATIENCE: Duration = Duration::from_mins(1);

/// A stage whose model asks for one command and then says that it is done.
fn stage(command: &str) -> AgentStage {
    AgentStage::new(
        FORMATS[0],
        Script::new().otherwise([
            Turn::tool_call("bash", json!({"command": command})),
            Turn::text("Done."),
        ]),
    )
}

fn binary() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_pi-subagents"))
}

fn run(stage: &AgentStage, flags: &[&str]) -> SandboxCommand {
    stage
        .sandbox
        .command(&binary())
        .args(["run", "Go.", "--runner", "embedded", "--json"])
        .args(flags)
}

/// Returns what the model was told about its command.
fn told(stage: &AgentStage) -> String {
    let requests = stage.server.requests();
    let last = requests.last().unwrap();
    let messages = last.body["messages"].as_array().unwrap();
    let result = messages
        .iter()
        .rev()
        .find(|message| message["role"] == "tool");
    match &result.unwrap()["content"] {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap().to_owned(),
    }
}

fn report(output: &CommandOutput) -> Value {
    output.json()["runs"][0].clone()
}

#[test]
fn a_confined_run_writes_its_project_and_nothing_else() {
    let command = "echo x > inside; echo y > $HOME/outside; cat $HOME/.pi/agent/auth.json; \
                   echo $PI_SUBAGENTS_SANDBOX; env | grep -i proxy; exit 1";
    let stage = stage(command);
    stage
        .sandbox
        .write("home/.pi/agent/auth.json", r#"{"other": "secret"}"#);
    let output = run(&stage, &["--sandbox", "workspace-write"]).run();
    let output = output.expect_success();
    assert_eq!(report(&output)["status"], "completed");
    let told = stage.sandbox.normalise(&told(&stage));
    assert!(told.contains("outside: Read-only file system"), "{told}");
    assert!(told.contains("\nworkspace-write\n"), "{told}");
    assert!(
        !told.contains("secret") && !told.contains("http://"),
        "{told}"
    );
    assert!(
        told.ends_with(
            "Command exited with code 1\n[sandbox: workspace-write, network none] The path or host may be outside what this run may use."
        ),
        "{told}"
    );
    assert!(stage.sandbox.project().join("inside").exists());
    assert!(!stage.sandbox.home().join("outside").exists());
}

#[test]
fn the_child_is_told_about_its_sandbox() {
    let stage = stage("true");
    _ = run(&stage, &["--sandbox", "read-only"])
        .run()
        .expect_success();
    let system = stage.server.requests()[0].body["messages"][0].to_string();
    assert!(
        system.contains("You run in a sandbox (read-only, no network)."),
        "{system}"
    );
}

/// Returns the level of a run of an agent with these fields, with these flags.
fn level(stage: &AgentStage, fields: &str, flags: &[&str]) -> String {
    let agent = format!("---\nname: box\n{fields}\n---\nLook.\n");
    stage
        .sandbox
        .write("home/.pi/agent/agent-profiles/box.md", &agent);
    let output = run_of("box", stage, flags).run();
    let report = report(&output);
    assert_eq!(report["status"], "completed", "{fields} {output}");
    report["sandbox"].as_str().unwrap_or("off").to_owned()
}

fn run_of(agent: &str, stage: &AgentStage, flags: &[&str]) -> SandboxCommand {
    stage
        .sandbox
        .command(&binary())
        .args(["run", agent, "Go.", "--runner", "embedded", "--json"])
        .args(flags)
}

#[test]
fn a_run_whose_tools_only_read_is_read_only_unless_something_of_it_must_write() {
    let stage = AgentStage::new(FORMATS[0], Script::new().otherwise([Turn::text("Done.")]));
    let levels = [
        ("noTools: true", &[][..]),
        ("tools: read, grep, find, ls", &[]),
        ("tools: read, bash", &[]),
        ("excludeTools: write, edit, bash", &[]),
        ("excludeTools: write, edit", &[]),
        ("noTools: true", &["--sandbox", "off"]),
        ("noTools: true", &["--sandbox", "workspace-write"]),
        ("noTools: true\nsandbox: off", &[]),
        ("noTools: true\ngate: \"true\"", &[]),
        ("noTools: true\nfallbackModels: fake/other-model", &[]),
        (
            "excludeTools: write, edit, bash\nmcpServers:\n  made: {command: \"true\"}",
            &[],
        ),
    ]
    .map(|(fields, flags)| format!("{fields:?} {flags:?}: {}", level(&stage, fields, flags)));
    insta::assert_snapshot!(levels.join("\n"));
    stage.sandbox.write(
        "home/.pi/agent/settings.json",
        r#"{"subagents": {"sandbox": "off"}}"#,
    );
    assert_eq!(level(&stage, "noTools: true", &[]), "off");
}

#[test]
fn a_conversation_that_began_with_reading_goes_on_with_other_tools() {
    let stage = stage("echo x > made");
    assert_eq!(level(&stage, "noTools: true", &[]), "read-only");
    stage.sandbox.write(
        "home/.pi/agent/agent-profiles/box.md",
        "---\nname: box\n---\nWrite.\n",
    );
    let output = stage
        .sandbox
        .command(&binary())
        .args(["resume", "last", "Write it.", "--json"])
        .run()
        .expect_success();
    assert_eq!(report(&output)["sandbox"], Value::Null, "{output}");
    assert!(stage.sandbox.project().join("made").exists());
}

#[test]
fn a_login_is_not_confined_by_the_tools_of_its_run() {
    let stage = AgentStage::new(
        "anthropic-messages",
        Script::new().otherwise([Turn::text("Done.")]),
    );
    let auth = json!({"fake": {"type": "oauth", "access": "old", "refresh": "r", "expires": 1}});
    stage
        .sandbox
        .write("home/.pi/agent/auth.json", &auth.to_string());
    let stand_in = stage.sandbox.program(
        "bin/pi",
        "#!/bin/sh\ntest \"$*\" = 'auth print-bearer-token --provider fake' && echo tok-new\n",
    );
    stage.sandbox.write(
        "home/.pi/agent/agent-profiles/box.md",
        "---\nname: box\nnoTools: true\n---\n",
    );
    for (flags, expected) in [
        (&[][..], Value::Null),
        (&["--sandbox", "read-only"], json!("read-only")),
    ] {
        let output = run_of("box", &stage, flags)
            .env("PI_SUBAGENTS_PI", &stand_in)
            .run()
            .expect_success();
        assert_eq!(report(&output)["sandbox"], expected, "{output}");
    }
    for request in stage.server.requests() {
        assert_eq!(request.headers["authorization"], "Bearer tok-new");
    }
    let explained = stage
        .sandbox
        .command(&binary())
        .args(["agents", "explain", "box"])
        .run();
    let line = explained
        .stdout
        .lines()
        .find(|line| line.contains("only read"));
    assert_eq!(
        line,
        Some(
            "  off, although its tools only read: the token of the login at fake cannot be renewed inside"
        )
    );
}

#[test]
fn a_host_that_is_not_listed_is_refused_and_counted() {
    let ask = "perl -MSocket -e '$ENV{http_proxy} =~ m{//([^@]*)@([^:]*):(\\d+)} or die; ($u,$h,$p)=($1,$2,$3); \
        socket(S,2,1,0); connect(S,sockaddr_in($p,inet_aton($h))) or die; require MIME::Base64; \
        syswrite S, \"CONNECT example.com:443 HTTP/1.1\\r\\nProxy-Authorization: Basic \".MIME::Base64::encode_base64($u,\"\").\"\\r\\n\\r\\n\"; \
        sysread S, $a, 99; print $a'";
    let stage = stage(&format!("{ask}; {ask}"));
    let output = run(&stage, &["--sandbox", "read-only", "--network", "model"]).run();
    let output = output.expect_success();
    let told = told(&stage);
    assert!(told.contains("403 Refused by the sandbox"), "{told}");
    assert_eq!(
        report(&output)["warnings"],
        json!(["The sandbox refused: example.com:443 (2 times)."])
    );
}

/// The steps of `confine` before the child's program is executed.
const STEPS: [&str; 18] = [
    "order",
    "plan",
    "setsid",
    "unshare",
    "uid_map",
    "loopback",
    "listen",
    "private mounts",
    "open_tree",
    "remount",
    "mount",
    "chdir",
    "capset",
    "no_new_privs",
    "landlock",
    "seccomp",
    "close",
    "seal",
];

#[test]
fn each_step_that_fails_ends_the_run_before_anything_is_run() {
    let stage = stage("true");
    let faults = STEPS.iter().map(|step| (*step).to_owned());
    let faults = faults.chain(STEPS.iter().map(|step| format!("exit:{step}")));
    for fault in faults {
        let output = run(&stage, &["--sandbox", "workspace-write"])
            .env("PI_SUBAGENTS_CONFINE_FAULT", &fault)
            .run();
        assert_eq!(output.code, Some(1), "{fault}: {output}");
        let report = report(&output);
        assert_eq!(report["ending"]["kind"], "notConfined", "{fault}: {output}");
        let error = report["errorMessage"].as_str().unwrap_or_default();
        let begins = error.starts_with("The sandbox could not be made: ");
        assert!(
            begins && error.contains("Nothing was run"),
            "{fault}: {error}"
        );
    }
    assert_eq!(stage.server.requests().len(), 0);
}

#[test]
fn a_gate_is_confined_as_its_run_is() {
    let stage = stage("true");
    let gate = "touch $HOME/gate";
    let flags = ["--sandbox", "workspace-write", "--gate", gate];
    let output = run(&stage, &flags).run();
    assert_eq!(report(&output)["status"], "failed");
    assert!(!stage.sandbox.home().join("gate").exists());
}

/// The way in which a confined tree ends.
#[derive(Debug, Clone, Copy)]
enum Ender {
    OwnerAsked,
    OwnerKilled,
    KeeperKilled,
    Stop,
}

#[test]
fn a_confined_tree_that_ignores_everything_is_ended() {
    let command = "echo $$ > pid; trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM; touch ready; exec sleep 600' &) ; sleep 600";
    let enders = [
        Ender::OwnerAsked,
        Ender::OwnerKilled,
        Ender::KeeperKilled,
        Ender::Stop,
    ];
    for ender in enders {
        let stage = stage(command);
        let owner = run(&stage, &["--sandbox", "workspace-write"]).spawn();
        let ready = stage.sandbox.project().join("ready");
        wait_for_file(ready.display().to_string(), PATIENCE);
        let tree = descendants(owner.pid());
        assert!(tree.len() >= 4, "{tree:?}");
        let ending = match ender {
            Ender::OwnerAsked => {
                owner.kill(Signal::TERM);
                None
            }
            Ender::OwnerKilled => {
                owner.kill(Signal::KILL);
                None
            }
            Ender::KeeperKilled => {
                kill(keeper(&stage, owner.pid()), Signal::KILL);
                Some("Lost the sub-agent: its supervisor was killed.")
            }
            Ender::Stop => {
                let stop = stage.sandbox.command(&binary()).args(["stop", "--all"]);
                stop.run().expect_success();
                Some("Stopped on request.")
            }
        };
        assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()), "{ender:?}");
        if let Some(ending) = ending {
            let report = report(&owner.wait());
            assert_eq!(report["errorMessage"], ending, "{ender:?}");
        }
    }
}

/// Returns the keeper of the only run of an owner, above the shell that has written its number.
fn keeper(stage: &AgentStage, owner: u32) -> u32 {
    let shell = fs::read_to_string(stage.sandbox.project().join("pid")).unwrap();
    let mut process: u32 = shell.trim().parse().unwrap();
    loop {
        let above = parent(process).unwrap();
        if above == owner {
            return process;
        }
        process = above;
    }
}

#[test]
fn a_continued_run_is_confined_as_the_first_one() {
    let stage = stage("echo x > $HOME/outside");
    let first = run(&stage, &["--sandbox", "workspace-write"]).run();
    assert_eq!(report(&first)["status"], "completed", "{first}");
    let resume = stage.sandbox.command(&binary());
    let again = resume
        .args(["resume", "last", "Once more.", "--json"])
        .run();
    assert_eq!(report(&again)["sandbox"], "workspace-write", "{again}");
    assert_eq!(report(&again)["network"], "none", "{again}");
    let told = told(&stage);
    assert!(told.contains("outside: Read-only file system"), "{told}");
    assert!(!stage.sandbox.home().join("outside").exists());
}
