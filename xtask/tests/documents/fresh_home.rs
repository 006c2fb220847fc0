//! A fresh home with a project in it, in which commands are typed.

use std::error::Error;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::blocks::Block;

/// The script of the model that runs ask by default.
const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documents/model.json");

/// The answers of the server that stands in for the providers with a key.
const SERVER: &str = r#"{"rules": [{"turns": [{"text": "A small library that keeps ships off the rocks."}], "repeat": true}]}"#;

/// The project: each path with its text.
const FILES: [(&str, &str); 4] = [
    (
        "README.md",
        "# Lighthouse\n\nA small library that keeps ships off the rocks.\n",
    ),
    ("Cargo.toml", "[package]\nname = \"lighthouse\"\n"),
    (
        "src/main.rs",
        "fn main() {\n    // TODO: rotate the lamp\n    lamp();\n}\n\nfn lamp() {}\n",
    ),
    (
        "src/fog.rs",
        "fn horn() {\n    // FIXME: sound the horn twice\n}\n",
    ),
];

/// The tests and tools of the project, which are not ours.
const TOOLS: [&str; 3] = ["cargo", "npm", "less"];

/// No command of a document takes longer.
const PATIENCE: &str = "90";

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A home, a project with one commit, and a server that answers for the providers.
pub(crate) struct FreshHome {
    root: PathBuf,
    sockets: PathBuf,
    server: Child,
}

/// What a command printed, and how it ended.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) output: String,
}

impl FreshHome {
    pub(crate) fn new(programs: &Path) -> Result<Self, Box<dyn Error>> {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pi-subagents-typed-{}-{number}", std::process::id());
        // A sandbox has its own directory for temporary files, so the home is not in ours. Names of
        // sockets are short, so they are.
        let sockets = std::env::temp_dir().join(&name);
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        for directory in ["bin", "home/.pi/agent", "project/src", "tmp"] {
            fs::create_dir_all(root.join(directory))?;
        }
        fs::create_dir_all(&sockets)?;
        fs::set_permissions(&sockets, fs::Permissions::from_mode(0o700))?;
        symlink(programs.join("pi-subagents"), root.join("bin/pi-subagents"))?;
        symlink(found_git()?, root.join("bin/git"))?;
        for tool in TOOLS {
            let file = root.join("bin").join(tool);
            fs::write(&file, "#!/bin/sh\ncat >/dev/null </dev/null\necho ok\n")?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        }
        fs::copy(MODEL, root.join("model.json"))?;
        fs::write(root.join("server.json"), SERVER)?;
        let mut server = Command::new(programs.join("llm-server"))
            .arg(root.join("server.json"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        let stdout = server.stdout.take().ok_or("the server has no output")?;
        BufReader::new(stdout).read_line(&mut address)?;
        let home = Self {
            root,
            sockets,
            server,
        };
        home.prepare(address.trim().trim_end_matches("/v1"))?;
        Ok(home)
    }

    /// Writes the files of the user and of the project, and commits the latter.
    fn prepare(&self, address: &str) -> Result<(), Box<dyn Error>> {
        let agent_dir = self.root.join("home/.pi/agent");
        let models = format!(r#"{{"providers": {{"anthropic": {{"baseUrl": "{address}"}}}}}}"#);
        fs::write(agent_dir.join("models.json"), models)?;
        self.write_settings("{}")?;
        for (path, text) in FILES {
            fs::write(self.root.join("project").join(path), text)?;
        }
        let variables = format!(
            "export HOME='{home}' PATH='{root}/bin:/usr/bin:/bin' XDG_RUNTIME_DIR='{sockets}' \
             TMPDIR='{root}/tmp' TERM=dumb ANTHROPIC_API_KEY=sk-typed\nunset PI_CODING_AGENT_DIR \
             PI_AGENT_DIR PI_SUBAGENTS_RUN PI_SUBAGENTS_CHILD PI_SUBAGENT_CHILD\ncd '{root}/project'\n",
            home = self.root.join("home").display(),
            root = self.root.display(),
            sockets = self.sockets.display(),
        );
        fs::write(self.root.join("state"), variables)?;
        let commit = "git config --global user.name Ada && git config --global user.email \
                      ada@example.com && git init -q -b main . && git add . && git commit -qm first && \
                      echo '// a change that is not committed' >> src/fog.rs";
        let made = self.type_in(commit)?;
        if made.code == 0 {
            Ok(())
        } else {
            Err(made.output.into())
        }
    }

    /// Types a command into the shell of this home. Its variables and its directory stay for the
    /// next one.
    pub(crate) fn type_in(&self, command: &str) -> Result<Ended, Box<dyn Error>> {
        let state = self.root.join("state");
        let state = state.display();
        let script = format!(
            "source '{state}'\n{command}\nCODE=$?\n{{ export -p; echo \"cd '$PWD'\"; }} > '{state}'\nexit $CODE"
        );
        let ended = Command::new("timeout")
            .args(["--kill-after=5", PATIENCE, "bash", "-c", &script])
            .stdin(Stdio::null())
            .output()?;
        let mut output = String::from_utf8_lossy(&ended.stdout).into_owned();
        output.push_str(&String::from_utf8_lossy(&ended.stderr));
        Ok(Ended {
            code: ended.status.code().unwrap_or(-1),
            output,
        })
    }

    /// Types a command that serves until somebody stops it, and does so after a moment.
    pub(crate) fn serve(&self, command: &str) -> Result<Ended, Box<dyn Error>> {
        self.type_in(&format!("timeout --signal=INT 2 {command}"))
    }

    /// Writes a file of a document. Settings keep the model that runs ask by default.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<(), Box<dyn Error>> {
        if path == "~/.pi/agent/settings.json" {
            return self.write_settings(text);
        }
        let file = match path.strip_prefix("~/") {
            Some(rest) => self.root.join("home").join(rest),
            None => self.root.join("project").join(path),
        };
        fs::create_dir_all(file.parent().ok_or("a file has a directory")?)?;
        fs::write(file, text)?;
        Ok(())
    }

    fn write_settings(&self, text: &str) -> Result<(), Box<dyn Error>> {
        let model = self.root.join("model.json");
        let default = format!(
            r#"{{"defaultProvider": "scripted", "defaultModel": "{}""#,
            model.display()
        );
        let rest = text.trim().trim_start_matches('{').trim();
        let comma = if rest == "}" { "" } else { ", " };
        let file = self.root.join("home/.pi/agent/settings.json");
        fs::write(file, format!("{default}{comma}{rest}"))?;
        Ok(())
    }

    /// Returns the complaint of the program about a file that a document shows, if it has one.
    pub(crate) fn complaint(&self, path: &str) -> Result<Option<String>, Box<dyn Error>> {
        if path.ends_with("settings.json") {
            return self.settings_problem();
        }
        // An agent of a project counts once the document has trusted the project.
        let is_agent = Path::new(path).extension().is_some_and(|end| end == "md");
        if !path.starts_with("~/") || !is_agent {
            return Ok(None);
        }
        let stem = Path::new(path).file_stem().unwrap_or_default();
        let explain = format!("pi-subagents agents explain {}", stem.display());
        let ended = self.type_in(&explain)?;
        let is_fine = ended.code == 0 && !ended.output.contains("warning:");
        Ok((!is_fine).then(|| format!("`{explain}` complains:\n{}", ended.output)))
    }

    fn settings_problem(&self) -> Result<Option<String>, Box<dyn Error>> {
        let looked = self.type_in("pi-subagents doctor")?;
        let is_complaint = |line: &&str| {
            let mut words = line.split_whitespace();
            let mark = words.next();
            mark != Some("ok") && words.next() == Some("settings")
        };
        let line = looked.output.lines().find(is_complaint);
        Ok(line.map(|line| format!("the settings are wrong: {line}")))
    }

    /// Reads a block of JSON, and gives settings and calls to the program.
    pub(crate) fn json_problem(
        &self,
        block: &Block,
    ) -> Result<Option<(usize, String)>, Box<dyn Error>> {
        let parts: Vec<&str> = match block.language.as_str() {
            "jsonl" => block.text.lines().collect(),
            _ => vec![&block.text],
        };
        for part in parts {
            let file = self.root.join("block.json");
            fs::write(&file, part)?;
            let read = Command::new("python3")
                .args(["-m", "json.tool"])
                .arg(&file)
                .output()?;
            if !read.status.success() {
                let words = String::from_utf8_lossy(&read.stderr).into_owned();
                return Ok(Some((block.line, format!("is not JSON: {words}"))));
            }
        }
        let begins_with = |key: &str| {
            block
                .text
                .trim_start_matches(['{', ' ', '\n'])
                .starts_with(key)
        };
        if begins_with("\"subagents\"") {
            self.write_settings(&block.text)?;
            let problem = self.settings_problem()?;
            self.write_settings("{}")?;
            return Ok(problem.map(|words| (block.line, words)));
        }
        if begins_with("\"tasks\"") {
            let file = self.root.join("block.json");
            let call = format!("pi-subagents delegate '{}' --quiet", file.display());
            let ended = self.type_in(&call)?;
            let words = format!("the call exits with {}:\n{}", ended.code, ended.output);
            return Ok((ended.code != 0).then_some((block.line, words)));
        }
        Ok(None)
    }
}

impl Drop for FreshHome {
    fn drop(&mut self) {
        // The runs end before their home is gone; the server ends with its input.
        _ = self.type_in("pi-subagents stop --all --quiet");
        drop(self.server.stdin.take());
        _ = self.server.wait();
        _ = fs::remove_dir_all(&self.root);
        _ = fs::remove_dir_all(&self.sockets);
    }
}

/// Returns the git of the test command, which is new enough.
fn found_git() -> Result<PathBuf, Box<dyn Error>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|place| place.join("git"))
        .find(|git| git.is_file());
    found.ok_or_else(|| "there is no git on PATH".into())
}
