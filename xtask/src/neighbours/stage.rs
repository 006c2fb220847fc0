//! A home for one agent, with the scripted model and our program.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::agents::{Neighbour, VARIABLES};
use crate::Outcome;
use crate::machine::{program, target, variable};

/// The file of the repository that an agent reads and changes.
pub(super) const EDITED: &str = "notes.txt";

const NOTES: &str = "A lamp.\n";

/// The time that a run may take, in seconds.
const PATIENCE: &str = "60";

pub(super) struct Stage {
    home: PathBuf,
    pub(super) project: PathBuf,
    path: String,
    url: String,
    runner: &'static str,
    model: Option<&'static str>,
    server: Child,
}

/// A command that has ended.
pub(super) struct Ran {
    pub(super) printed: String,
}

impl Stage {
    pub(super) fn new(agent: &Neighbour, packages: &Path) -> Outcome<Self> {
        let root = target()?.join("neighbours/homes").join(agent.name);
        _ = fs::remove_dir_all(&root);
        let (home, project) = (root.join("home"), root.join("project"));
        fs::create_dir_all(&home)?;
        fs::create_dir_all(&project)?;
        make_repository(&project)?;
        let script = root.join("script.json");
        fs::write(&script, script_of(agent, &project))?;
        let mut server = program(target()?.join("debug/llm-server"))
            .arg(&script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut url = String::new();
        let stdout = server.stdout.take().ok_or("the model has no stdout")?;
        BufReader::new(stdout).read_line(&mut url)?;
        let url = url.trim().to_owned();
        for file in agent.files {
            let path = home.join(file.path);
            fs::create_dir_all(path.parent().ok_or("no folder")?)?;
            fs::write(path, file.text.replace("ADDRESS", &url))?;
        }
        let search_path = variable("PATH")
            .and_then(|path| path.into_string().ok())
            .unwrap_or_default();
        let own = packages.join("node_modules/.bin");
        Ok(Self {
            path: format!("{}:{search_path}", own.display()),
            home,
            project,
            url,
            runner: agent.name,
            model: agent.model,
            server,
        })
    }

    /// Writes an agent file for the agent.
    pub(super) fn agent_file(&self, name: &str, fields: &str) -> Outcome<()> {
        let folder = self.home.join(".pi/agent/agent-profiles");
        fs::create_dir_all(&folder)?;
        let text = format!(
            "---\nname: {name}\nrunner: {}\n{fields}\n---\nBe brief.\n",
            self.runner
        );
        Ok(fs::write(folder.join(format!("{name}.md")), text)?)
    }

    fn command(&self, words: &[&str]) -> Outcome<Command> {
        let mut command = program(target()?.join("debug/pi-subagents"));
        command
            .args(words)
            .current_dir(&self.project)
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", &self.path);
        let root = self.url.trim_end_matches("/v1");
        for (name, value) in VARIABLES {
            command.env(name, value.replace("URL", &self.url).replace("ROOT", root));
        }
        Ok(command)
    }

    fn ran(&self, words: &[&str]) -> Outcome<Ran> {
        // Its own limit, so that no agent holds up the table.
        let mut words = words.to_vec();
        if !words.contains(&"--timeout") {
            words.extend(["--timeout", PATIENCE]);
        }
        if let Some(model) = self.model {
            words.extend(["--model", model]);
        }
        let output = self.command(&words)?.stdin(Stdio::null()).output()?;
        let mut printed = String::from_utf8_lossy(&output.stdout).into_owned();
        printed.push_str(&String::from_utf8_lossy(&output.stderr));
        Ok(Ran { printed })
    }

    pub(super) fn run(&self, prompt: &str, options: &[&str]) -> Outcome<Ran> {
        let first = ["run", prompt, "--json", "--runner", self.runner];
        self.ran(&[&first[..], options].concat())
    }

    pub(super) fn run_agent(&self, name: &str, prompt: &str) -> Outcome<Ran> {
        self.ran(&["run", name, prompt, "--json"])
    }

    pub(super) fn resume(&self, earlier: &Ran, prompt: &str) -> Outcome<Ran> {
        let session = earlier
            .value("sessionId")
            .ok_or("the first run has no session")?;
        self.ran(&["resume", &session, prompt, "--json"])
    }

    /// Stops all runs, as a user does.
    pub(super) fn stop(&self) -> Outcome<()> {
        let quiet = Stdio::null;
        let mut stop = self.command(&["stop", "--all"])?;
        let stopped = stop
            .stdin(quiet())
            .stdout(quiet())
            .stderr(quiet())
            .status()?;
        if stopped.success() {
            return Ok(());
        }
        Err(format!("stop: {stopped}").into())
    }

    /// Returns whether the file of the checkout is as it was.
    pub(super) fn is_untouched(&self) -> Outcome<bool> {
        Ok(fs::read_to_string(self.project.join(EDITED))? == NOTES)
    }

    /// Starts a run without waiting for it.
    pub(super) fn spawn(&self, prompt: &str) -> Outcome<Child> {
        let mut words = vec!["run", prompt, "--json", "--runner", self.runner];
        if let Some(model) = self.model {
            words.extend(["--model", model]);
        }
        let quiet = Stdio::null;
        Ok(self
            .command(&words)?
            .stdin(quiet())
            .stdout(quiet())
            .stderr(quiet())
            .spawn()?)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        // It ends with its stdin.
        _ = self.server.wait();
    }
}

impl Ran {
    /// Returns whether the answer contains a text.
    pub(super) fn says(&self, text: &str) -> bool {
        self.value("output")
            .is_some_and(|output| output.contains(text))
    }

    /// Returns whether a run ended so.
    pub(super) fn is(&self, status: &str) -> bool {
        self.value("status").as_deref() == Some(status)
    }

    /// Returns whether a tool was called.
    pub(super) fn has_called(&self, tool: &str) -> bool {
        self.part("tools", '}').contains(&format!("\"{tool}\": "))
    }

    /// Returns whether a run has left a changed file in its worktree.
    pub(super) fn has_changed(&self, file: &str) -> bool {
        self.part("workspace", ']').contains(file)
    }

    /// Returns the value with this key, up to the letter that ends it.
    fn part(&self, key: &str, end: char) -> &str {
        let found = self.printed.split_once(&format!("\"{key}\": {{"));
        let rest = found.map_or("", |(_, rest)| rest);
        rest.split(end).next().unwrap_or_default()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.value("status")
            .is_some_and(|status| status != "running")
    }

    /// Returns the exit codes of shell commands, as they are written.
    pub(super) fn shell_exits(&self) -> Vec<String> {
        let found = self.printed.split("\"exit\": ").skip(1);
        found
            .map(|rest| {
                let end = rest.find([',', '\n', '}']).unwrap_or(rest.len());
                rest[..end].trim().to_owned()
            })
            .collect()
    }

    /// Returns the first text with this key.
    fn value(&self, key: &str) -> Option<String> {
        let rest = self.printed.split_once(&format!("\"{key}\": \""))?.1;
        Some(rest[..rest.find('"')?].to_owned())
    }
}

/// Makes a repository with one commit.
fn make_repository(project: &Path) -> Outcome<()> {
    fs::write(project.join(EDITED), NOTES)?;
    for words in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["config", "user.name", "Ada"],
        &["config", "user.email", "ada@example.com"],
        &["add", EDITED],
        &["commit", "--quiet", "--message=lamp"],
    ] {
        let status = program("git").args(words).current_dir(project).status()?;
        if !status.success() {
            return Err(format!("git {}: {status}", words.join(" ")).into());
        }
    }
    Ok(())
}

/// Waits until something is so; returns whether it became so.
pub(super) fn waited(patience: Duration, is_so: impl Fn() -> bool) -> bool {
    let until = Instant::now() + patience;
    while Instant::now() < until {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    is_so()
}

/// Writes the script of the model. Each call stands twice, because some agents ask for a title with
/// the same words.
fn script_of(agent: &Neighbour, project: &Path) -> String {
    let call = |command: &str| {
        let call = agent.shell.replace("COMMAND", command);
        format!("{{\"toolCalls\": [{call}]}}")
    };
    let place = project.display();
    let rule = |word: &str, commands: &[String]| {
        let turns = commands
            .iter()
            .flat_map(|command| [call(command), call(command)]);
        let turns: Vec<String> = turns.collect();
        let done = "{\"text\": \"Done.\"}";
        let turns = turns.join(", ");
        format!("{{\"user\": \"{word}\", \"turns\": [{turns}, {done}, {done}, {done}]}}")
    };
    let read = agent.read.replace("FILE", &format!("{place}/{EDITED}"));
    let read = format!("{{\"toolCalls\": [{read}]}}");
    let asleep = call(&format!("touch {place}/asleep; sleep 300"));
    let rules = [
        rule(
            "T-WORK",
            &["exit 3".to_owned(), format!("echo hi >{place}/new.txt")],
        ),
        rule("T-EDIT", &[format!("echo more >> {EDITED}")]),
        format!(
            "{{\"user\": \"T-READ\", \"turns\": [{read}, {read}, {{\"text\": \"Done.\"}}, {{\"text\": \"Done.\"}}]}}"
        ),
        rule("T-FORBIDDEN", &[format!("touch {place}/forbidden")]),
        format!("{{\"user\": \"T-SLEEP\", \"turns\": [{asleep}], \"repeat\": true}}"),
        "{\"turns\": [{\"text\": \"Hello.\"}], \"repeat\": true}".to_owned(),
    ];
    format!("{{\"rules\": [{}]}}", rules.join(", "))
}
