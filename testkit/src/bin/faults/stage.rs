//! The sandbox of a round, with the definitions and models its children need.

use std::path::{Path, PathBuf};

use pi_subagents_testkit::bin;
use pi_subagents_testkit::llm::LlmServer;
use pi_subagents_testkit::sandbox::{Sandbox, SandboxCommand};
use serde_json::{Value, json};

use crate::children::{TIMEOUT, definition, prompt, scripted_model, served_model};
use crate::repository::{Repository, stand_in};
use crate::round::{ChildKind, OwnerKind, Round};

/// The sandbox of one round.
pub(crate) struct Stage {
    pub(crate) sandbox: Sandbox,
    pub(crate) server: Option<LlmServer>,
    binary: PathBuf,
    pi: PathBuf,
    /// The repository, if the children work in worktrees.
    pub(crate) repository: Option<Repository>,
    /// The search path of the owner, if a git of it is to be killed.
    search_path: Option<String>,
    /// True if the processes started here ignore SIGXFSZ, as a full disk sends none.
    fills_disk: bool,
}

impl Stage {
    pub(crate) fn new(round: &Round) -> Self {
        let sandbox = Sandbox::new();
        let is_pi = |child: &crate::round::ChildPlan| child.kind == ChildKind::Pi;
        let has_pi = round.children.iter().any(is_pi);
        let server = (has_pi || round.owner == OwnerKind::Pi)
            .then(|| LlmServer::start(served_model(round, sandbox.root(), &bin("misbehave"))));
        let pi = if has_pi {
            real_pi(&sandbox)
        } else {
            bin("misbehave")
        };
        let stage = Self {
            repository: round.is_isolated.then(|| Repository::make(&sandbox)),
            search_path: stand_in(round, &sandbox),
            binary: bin("pi-subagents"),
            fills_disk: round.fills_disk(),
            sandbox,
            server,
            pi,
        };
        stage.write_files(round);
        stage
    }

    fn write_files(&self, round: &Round) {
        let (sandbox, root) = (&self.sandbox, self.sandbox.root());
        if let Some(server) = &self.server {
            sandbox.models_json(&server.base_url());
        }
        let mut settings =
            json!({"subagents": {"extend_timeout_debounce": 0, "runner": "embedded"}});
        if self.server.is_some() {
            settings["defaultProvider"] = json!("fake");
            settings["defaultModel"] = json!("fake-model");
        }
        if round.owner == OwnerKind::Pi {
            settings["packages"] = json!([package()]);
        }
        sandbox.write("home/.pi/agent/settings.json", &settings.to_string());
        let script = scripted_model(round, root, &bin("misbehave"));
        let script = sandbox.write("script.json", &script.to_string());
        let talks = format!("runner: embedded\nmodel: scripted/{}", script.display());
        let strange = if self.server.is_some() {
            "runner: pi\nmodel: fake/fake-model"
        } else {
            "runner: pi\nmodel: test/model"
        };
        for (name, fields) in [("talker", talks.as_str()), ("stranger", strange)] {
            let text =
                format!("---\nname: {name}\ndescription: Works.\n{fields}\n---\nYou work.\n");
            sandbox.write(&format!("home/.pi/agent/agent-profiles/{name}.md"), &text);
            sandbox.write(&format!("home/.pi/agent/subagents/{name}.md"), &text);
        }
    }

    /// Returns our binary with these arguments, as somebody uses it afterwards.
    pub(crate) fn command(&self, arguments: &[&str]) -> SandboxCommand {
        let line = arguments.iter().map(|word| (*word).to_owned());
        self.started_as(&self.binary, line)
    }

    /// Returns our binary as an owner that may be struck by a full disk.
    pub(crate) fn owner(&self, arguments: &[&str]) -> SandboxCommand {
        let mut line = self.owner_line(arguments).into_iter();
        let program = PathBuf::from(line.next().unwrap_or_default());
        self.with_stand_in(self.started_as(&program, line))
    }

    fn with_stand_in(&self, command: SandboxCommand) -> SandboxCommand {
        match &self.search_path {
            Some(path) => command.env("PATH", path),
            None => command,
        }
    }

    /// Returns the same command, with the terminal on its stdin as its own. `setsid` becomes the
    /// program, so its process is the program's.
    pub(crate) fn in_terminal(&self, arguments: &[&str]) -> SandboxCommand {
        let head = ["--ctty", "--"].map(str::to_owned);
        let line = head.into_iter().chain(self.owner_line(arguments));
        self.with_stand_in(self.started_as(Path::new("setsid"), line))
            .env("TERM", "xterm")
    }

    fn started_as(&self, program: &Path, line: impl Iterator<Item = String>) -> SandboxCommand {
        self.sandbox
            .command(program)
            .args(line)
            .env("PI_SUBAGENTS_PI", &self.pi)
            .env("PI_OFFLINE", "1")
    }

    fn owner_line(&self, arguments: &[&str]) -> Vec<String> {
        // A disk that is full fails a write; a limit that is reached would also send a signal.
        let shell = ["/bin/sh", "-c", "trap '' XFSZ; exec \"$0\" \"$@\""];
        let before: &[&str] = if self.fills_disk { &shell } else { &[] };
        let words = before.iter().map(|word| (*word).to_owned());
        words
            .chain([self.binary.display().to_string()])
            .chain(arguments.iter().map(|word| (*word).to_owned()))
            .collect()
    }

    /// Returns the real pi with these arguments, as a parent.
    pub(crate) fn parent_pi(&self, arguments: &[&str]) -> SandboxCommand {
        self.sandbox
            .command(&of_pi(".bin/node"))
            .arg(of_pi("@earendil-works/pi-coding-agent/dist/bundle/cli.js"))
            .env("PI_OFFLINE", "1")
            .env("PI_SUBAGENTS_BIN", &self.binary)
            .args(arguments)
    }
}

/// Returns the tasks of a round as a call of `delegate_to_subagents`.
pub(crate) fn call(round: &Round, root: &Path) -> Value {
    let tasks: Vec<Value> = round
        .children
        .iter()
        .enumerate()
        .map(|(child, plan)| {
            json!({
                "name": format!("child {child}"), "prompt": prompt(round, child, root),
                "profile": definition(plan.kind), "timeout": TIMEOUT,
                "isolation": if round.is_isolated { "worktree" } else { "none" },
            })
        })
        .collect();
    json!({"tasks": tasks})
}

/// Returns a program that is the real pi with the Node it needs.
fn real_pi(sandbox: &Sandbox) -> PathBuf {
    sandbox.program(
        "bin/pi",
        &format!(
            "#!/bin/sh\nexec \"{}\" \"{}\" \"$@\"\n",
            of_pi(".bin/node").display(),
            of_pi("@earendil-works/pi-coding-agent/dist/bundle/cli.js").display()
        ),
    )
}

/// Returns a file of the pi that `cargo xtask` installs into the build directory.
fn of_pi(path: &str) -> PathBuf {
    let binary = bin("pi-subagents");
    let target = binary.ancestors().nth(2).expect("the build directory");
    let file = target.join("pi/node_modules").join(path);
    assert!(file.exists(), "{} is missing", file.display());
    file
}

/// Returns the folder that users install.
fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../extension")
        .canonicalize()
        .expect("the extension")
}
