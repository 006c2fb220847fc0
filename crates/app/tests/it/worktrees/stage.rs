//! A repository in a sandbox, and children that run a shell command in worktrees.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::Command;

use pi_subagents_testkit::sandbox::SandboxCommand;
use serde_json::{Value, json};

use crate::stage::Stage;

/// A sandbox whose project is a repository with one commit.
pub(super) struct WorktreeStage {
    stage: Stage,
    /// The scripts that children have been asked to run.
    scripts: RefCell<Vec<Value>>,
    /// The answer to a script; "Done." to all others.
    answer: RefCell<Option<[String; 2]>>,
}

impl WorktreeStage {
    pub(super) fn new() -> Self {
        let stage = Self::without_repository();
        stage.git(&["init", "--quiet", "--initial-branch=main"]);
        stage.git(&["config", "user.name", "Ada"]);
        stage.git(&["config", "user.email", "ada@example.com"]);
        stage.write("kept.txt", "one\ntwo\nthree\n");
        stage.git(&["add", "kept.txt"]);
        stage.git(&["commit", "--quiet", "-m", "first"]);
        stage
    }

    pub(super) fn without_repository() -> Self {
        Self {
            stage: Stage::new(),
            scripts: RefCell::default(),
            answer: RefCell::default(),
        }
    }

    /// The stage of a client or a pi that calls from here.
    pub(super) fn stage(&self) -> &Stage {
        &self.stage
    }

    /// The options with which children are embedded and read the scripts.
    pub(super) fn options(&self) -> [String; 4] {
        let model = self.model();
        ["--runner", "embedded", "--model", &model].map(str::to_owned)
    }

    pub(super) fn project(&self) -> PathBuf {
        self.stage.sandbox.project()
    }

    pub(super) fn home_path(&self, name: &str) -> String {
        self.stage.sandbox.home().join(name).display().to_string()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.project().join(name), text).unwrap();
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.project().join(name)).unwrap()
    }

    pub(super) fn settings(&self, subagents: &Value) {
        self.stage.settings(subagents);
    }

    pub(super) fn models_json(&self, base_url: &str) {
        self.stage.sandbox.models_json(base_url);
    }

    /// Replaces the parts that differ from run to run, also the names of commits and worktrees.
    pub(super) fn normalise(&self, text: &str) -> String {
        let text = without_sizes(&self.stage.sandbox.normalise(text));
        let is_hex = |word: &str| word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut normal = String::new();
        for piece in text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric()) {
            let word = piece.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
            match word.len() {
                6 | 8 | 40 if is_hex(word) => normal += &piece.replace(word, "HEX"),
                _ => normal += piece,
            }
        }
        normal
    }

    /// Puts a program before those of the machine, and returns the value of PATH for it.
    pub(super) fn stand_in(&self, name: &str, script: &str) -> String {
        let file = self.stage.sandbox.program(&format!("bin/{name}"), script);
        let path = std::env::var("PATH").unwrap();
        format!("{}:{path}", file.parent().unwrap().display())
    }

    /// Runs git in the project.
    pub(super) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.project())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Returns git's status of the checkout, without our own record.
    pub(super) fn status(&self) -> String {
        self.git(&[
            "status",
            "--porcelain",
            "--untracked-files=all",
            "--",
            ".",
            ":!.pi",
        ])
    }

    /// Our binary with these arguments.
    pub(super) fn ours(&self, arguments: &[&str]) -> SandboxCommand {
        self.stage.command(arguments)
    }

    /// Returns a prompt that makes a child run a shell script.
    pub(super) fn prompt(&self, script: &str) -> String {
        let prompt = format!("Run script-{}.", self.scripts.borrow().len());
        self.prompt_for(&prompt, script);
        prompt
    }

    /// Makes a child run a shell script when its prompt has these words. The newest words count,
    /// because a resumed run reads earlier ones too.
    pub(super) fn prompt_for(&self, words: &str, script: &str) {
        let mut scripts = self.scripts.borrow_mut();
        let name = format!("script-{}", scripts.len());
        let path = self.stage.sandbox.write(&name, &format!("{script}\n"));
        let command = format!("sh {}", path.display());
        let answer = self.answer.borrow();
        let answer = answer.as_ref().filter(|[_, of]| of == script);
        let answer = answer.map_or("Done.", |[answer, _]| answer);
        scripts.push(json!({
            "when": words,
            "turns": [
                {"toolCalls": [{"name": "bash", "arguments": {"command": command}}]},
                {"text": answer}
            ]
        }));
        let newest_first: Vec<&Value> = scripts.iter().rev().collect();
        let rules = json!({ "rules": newest_first });
        self.stage.sandbox.write("script.json", &rules.to_string());
    }

    /// Makes a child that runs a shell script answer with these words.
    pub(super) fn answer_for(&self, answer: &str, script: &str) {
        *self.answer.borrow_mut() = Some([answer, script].map(str::to_owned));
    }

    /// Returns the model that plays the scripts.
    pub(super) fn model(&self) -> String {
        format!("scripted/{}", self.stage.path("script.json"))
    }

    /// Makes all runs look as if they had ended ten months ago.
    pub(super) fn age_runs(&self) {
        let index = self.home_path(".pi/agent/subagents-index.jsonl");
        let text = std::fs::read_to_string(&index).unwrap();
        let year = text
            .split("\"20")
            .nth(1)
            .unwrap()
            .get(..2)
            .unwrap()
            .to_owned();
        let aged = text.replace(&format!("\"20{year}-"), "\"2020-");
        std::fs::write(index, aged).unwrap();
    }

    /// `delegate` of tasks that each run a shell script.
    pub(super) fn plain(&self, tasks: &[(&str, &str)]) -> SandboxCommand {
        let model = self.model();
        let options = [
            "delegate", "--runner", "embedded", "--json", "--model", &model,
        ];
        let mut command = self.ours(&options);
        for (name, script) in tasks {
            let prompt = self.prompt(script);
            command = command.arg("--task").arg(format!("{name}={prompt}"));
        }
        command
    }

    /// The same, each in a worktree.
    pub(super) fn command(&self, tasks: &[(&str, &str)]) -> SandboxCommand {
        self.plain(tasks).args(["--isolation", "worktree"])
    }

    /// Makes a call as a tool gets it, and returns its JSON.
    pub(super) fn call(&self, call: &Value) -> Value {
        let model = self.model();
        let options = [
            "delegate", "-", "--runner", "embedded", "--json", "--model", &model,
        ];
        let command = self.ours(&options).stdin(call.to_string());
        command.run().expect_success().json()
    }

    /// Runs tasks in worktrees, and returns the JSON of the call.
    pub(super) fn run(&self, tasks: &[(&str, &str)]) -> Value {
        self.command(tasks).run().expect_success().json()
    }

    /// Runs tasks in worktrees, and returns the output for people.
    pub(super) fn printed_by_run(&self, tasks: &[(&str, &str)]) -> String {
        self.run(tasks)["text"]
            .as_str()
            .map(|text| self.normalise(text))
            .unwrap()
    }

    /// Returns the output of a command.
    pub(super) fn printed(&self, arguments: &[&str]) -> String {
        let output = self.ours(arguments).run();
        self.normalise(&self.stage.printed(&output))
    }

    /// Returns the id of the newest run.
    pub(super) fn last_run(&self) -> String {
        let listed = self.ours(&["worktrees", "--all", "--json"]).run().json();
        let last = listed["worktrees"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone();
        last["runId"].as_str().unwrap().to_owned()
    }
}

/// Replaces the sizes of directories, which file systems count differently.
fn without_sizes(text: &str) -> String {
    let is_size = |words: &str| {
        let (number, unit) = words.split_once(' ').unwrap_or_default();
        number.parse::<f64>().is_ok() && unit.ends_with('B') && unit.len() <= 2
    };
    let mut normal = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('(') {
        let (inside, behind) = after.split_once(')').unwrap_or((after, ""));
        normal += before;
        if is_size(inside) {
            normal += "(SIZE)";
            rest = behind;
        } else {
            normal += "(";
            rest = after;
        }
    }
    normal + rest
}
