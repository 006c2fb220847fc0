//! One embedded agent that does one turn with a tool call on the scripted model.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{self, Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::machine::{program, variable};

/// The pause between two looks at the agent.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// The time that an agent may take; it needs a second below valgrind.
const LONGEST_TURN: Duration = Duration::from_mins(2);
/// A turn for which somebody has time to look at the memory, in milliseconds.
const LONG_TURN: u32 = 1500;

/// The place and the program of the agent.
pub(super) struct Agent {
    program: PathBuf,
    root: PathBuf,
}

/// The memory of an agent that waits for its model, in kilobytes.
pub(super) struct Memory {
    pub(super) resident: u64,
    /// The part that it shares with no other process.
    pub(super) private: u64,
}

impl Agent {
    pub(super) fn new(program: PathBuf) -> Outcome<Self> {
        let root = env::temp_dir().join(format!("pi-weight-{}", process::id()));
        fs::create_dir_all(root.join("project"))?;
        Ok(Self { program, root })
    }

    /// Returns the instructions that valgrind counts for the whole process.
    pub(super) fn instructions(&self) -> Outcome<u64> {
        let mut valgrind = self.stage(program("valgrind"));
        valgrind
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(&self.program)
            .args(self.arguments(0)?)
            .stderr(Stdio::piped());
        let output = valgrind.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let counted = said
            .lines()
            .find_map(|line| line.split("Collected :").nth(1));
        let counted = counted.ok_or_else(|| format!("valgrind counted nothing:\n{said}"))?;
        Ok(counted.trim().parse()?)
    }

    /// Returns the pages that the kernel had to give to the process.
    pub(super) fn page_faults(&self) -> Outcome<u64> {
        let mut agent = self.start(0)?;
        let stat = format!("/proc/{}/stat", agent.id());
        // A process that has ended can be looked at until somebody has waited for it.
        let ended = within(|| {
            let text = fs::read_to_string(&stat).ok()?;
            let (_, fields) = text.rsplit_once(") ")?;
            fields.starts_with('Z').then(|| fields.to_owned())
        });
        let status = agent.wait()?;
        let fields = ended.ok_or("the agent did not end")?;
        if !status.success() {
            return Err(format!("the agent ended with {status}").into());
        }
        let faults = fields.split_whitespace().nth(7);
        Ok(faults.ok_or("/proc has no faults")?.parse()?)
    }

    /// Returns the memory while the agent waits for its model.
    pub(super) fn memory(&self) -> Outcome<Memory> {
        let mut agent = self.start(LONG_TURN)?;
        sleep(Duration::from_millis(u64::from(LONG_TURN) / 2));
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", agent.id()))?;
        agent.wait()?;
        let of = |key: &str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix(key));
            lines
                .filter_map(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
                .sum()
        };
        Ok(Memory {
            resident: of("Rss:"),
            private: of("Private_Clean:") + of("Private_Dirty:"),
        })
    }

    fn start(&self, delay: u32) -> Outcome<Child> {
        let mut agent = self.stage(program(&self.program));
        agent.args(self.arguments(delay)?).stderr(Stdio::null());
        Ok(agent.spawn()?)
    }

    fn arguments(&self, delay: u32) -> Outcome<Vec<String>> {
        let script = self.root.join(format!("turn-{delay}.json"));
        let turns = r#"{"toolCalls": [{"name": "read", "arguments": {"path": "a.txt"}}]}"#;
        let text = format!(
            r#"{{"rules": [{{"turns": [{turns}, {{"text": "Hello.", "delayMs": {delay}}}]}}]}}"#
        );
        fs::write(&script, text)?;
        fs::write(self.root.join("project/a.txt"), "one\ntwo\n")?;
        let model = format!("scripted/{}", script.display());
        let arguments = [
            "embedded",
            "--mode",
            "json",
            "-p",
            "--no-session",
            "--model",
        ];
        let arguments = arguments.into_iter().chain([model.as_str(), "Read a.txt"]);
        Ok(arguments.map(str::to_owned).collect())
    }

    /// Gives a command the surroundings that are the same everywhere.
    fn stage(&self, mut command: Command) -> Command {
        let path = variable("PATH").unwrap_or_default();
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", &self.root)
            .current_dir(self.root.join("project"))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // A directory that cannot be removed stays in the temporary directory.
        _ = fs::remove_dir_all(&self.root);
    }
}

fn within<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        match look() {
            Some(found) => return Some(found),
            None if begun.elapsed() > LONGEST_TURN => return None,
            None => sleep(LOOK_AGAIN),
        }
    }
}
