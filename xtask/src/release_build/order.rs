//! The order of functions: those that an agent executes, in the order in which callgrind names them.
//! It is kept in the repository. The owner cannot be counted: valgrind has no part of the kernel's
//! clock that the owner reads.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};

use super::symbols::{functions, lines};
use super::{build, linker};
use crate::Outcome;
use crate::machine::{cargo, program, root, target};
use crate::packages;

/// The turns of the agent: each tool once, so that the functions of all tools are near.
const SCRIPT: &str = r#"{"rules": [{"turns": [
    {"toolCalls": [{"name": "bash", "arguments": {"command": "seq 3"}}]},
    {"toolCalls": [{"name": "write", "arguments": {"path": "b.txt", "content": "one\ntwo\n"}}]},
    {"toolCalls": [{"name": "edit", "arguments": {"path": "b.txt", "edits": [{"oldText": "two", "newText": "three"}]}}]},
    {"toolCalls": [{"name": "read", "arguments": {"path": "b.txt"}}]},
    {"toolCalls": [{"name": "grep", "arguments": {"pattern": "one"}}]},
    {"text": "Done."}], "repeat": true}]}"#;

/// The agents that are counted.
const AGENTS: [&[&str]; 3] = [
    &["json", "--no-session", "--model", "fake/model", "-p", "Go"],
    &[
        "json",
        "--no-session",
        "--model",
        "encrypted/model",
        "-p",
        "Go",
    ],
    &["rpc", "--session", "session.jsonl", "--model", "fake/model"],
];
const PROMPT: &[u8] = b"{\"id\":\"1\",\"type\":\"prompt\",\"message\":\"Go\"}\n";

fn file() -> PathBuf {
    root().join("packaging/order.txt")
}

/// Returns a copy of the kept order whose name changes with its content, so that cargo links again.
pub(super) fn kept() -> Outcome<PathBuf> {
    let order = fs::read_to_string(file())?;
    let directory = target()?.join("order");
    fs::create_dir_all(&directory)?;
    let copy = directory.join(format!("{:016x}.txt", checksum(order.as_bytes())));
    fs::write(&copy, order)?;
    Ok(copy)
}

/// The checksum of Fowler, Noll and Vo: enough to tell two orders apart.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Builds the program, counts what agents execute, and writes the order.
pub(crate) fn write() -> Outcome<()> {
    packages::install_valgrind()?;
    build()?;
    let mut cargo = cargo();
    cargo.args([
        "build",
        "--package",
        "pi-subagents-testkit",
        "--bin",
        "llm-server",
    ]);
    if !cargo.status()?.success() {
        return Err("the scripted server was not built".into());
    }
    let program = newest_with_symbols()?;
    let stage = env::temp_dir().join(format!("pi-order-{}", process::id()));
    let called = called(&program, &stage);
    // A directory that cannot be removed stays in the temporary directory.
    _ = fs::remove_dir_all(&stage);
    let ours = defined(&program)?;
    let order = lines(
        called?
            .iter()
            .map(String::as_str)
            .filter(|name| ours.contains(*name)),
    );
    println!("xtask order: {} names", order.lines().count());
    fs::write(file(), order)?;
    Ok(())
}

fn newest_with_symbols() -> Outcome<PathBuf> {
    let built = fs::read_dir(target()?.join("dist/deps"))?.flatten();
    let programs = built.filter(|file| {
        let name = file.file_name().to_string_lossy().into_owned();
        name.starts_with("pi_subagents-") && name.ends_with(&linker::symbols_path(""))
    });
    let newest = programs.max_by_key(|file| file.metadata().and_then(|data| data.modified()).ok());
    Ok(newest
        .ok_or("the build left no program with symbols")?
        .path())
}

/// Returns the functions that are defined in a program.
fn defined(program_path: &Path) -> Outcome<HashSet<String>> {
    let listed = program("nm")
        .args(["--defined-only", "--format=posix"])
        .arg(program_path)
        .output()?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    Ok(functions(&listed).map(str::to_owned).collect())
}

/// Returns the functions that agents called: one that uses each tool, one over https, and one that waits
/// for prompts as a sub-agent does.
fn called(program_path: &Path, stage: &Path) -> Outcome<Vec<String>> {
    fs::create_dir_all(stage.join("project"))?;
    fs::create_dir_all(stage.join(".pi/agent"))?;
    let server = Server::start(stage)?;
    let mut called = Vec::new();
    for (number, arguments) in AGENTS.into_iter().enumerate() {
        let counted = stage.join(format!("counted-{number}"));
        let mut valgrind = program("valgrind");
        valgrind
            .args(["--tool=callgrind", "--demangle=no"])
            .arg(format!("--callgrind-out-file={}", counted.display()))
            .arg(program_path)
            .args(["embedded", "--mode"])
            .args(arguments)
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", stage)
            .env("SSL_CERT_FILE", &server.root)
            .current_dir(stage.join("project"))
            .stdin(Stdio::null());
        if arguments.contains(&"rpc") {
            valgrind.stdin(Stdio::piped());
        }
        work(valgrind)?;
        let text = fs::read_to_string(&counted)?;
        called.extend(text.lines().filter_map(function_of));
    }
    Ok(called)
}

/// Runs an agent until it has done its prompt. One with a stdin waits for the prompt there.
fn work(mut agent: Command) -> Outcome<()> {
    let mut agent = agent.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut stdin = agent.stdin.take();
    if let Some(stdin) = &mut stdin {
        stdin.write_all(PROMPT)?;
    }
    let stdout = agent.stdout.take().ok_or("the agent has no stdout")?;
    for line in BufReader::new(stdout).lines() {
        if line?.contains(r#""type":"agent_settled""#) {
            break;
        }
    }
    drop(stdin);
    let status = agent.wait()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("a counted agent ended with {status}").into())
    }
}

/// The scripted server, with and without encryption. It ends with its stdin.
struct Server {
    process: Child,
    /// The certificate that vouches for it.
    root: PathBuf,
}

impl Server {
    fn start(stage: &Path) -> Outcome<Self> {
        let script = stage.join("turns.json");
        fs::write(&script, SCRIPT)?;
        let root = stage.join("root.pem");
        let mut process = program(target()?.join("debug/llm-server"))
            .args([&script, &root])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = process.stdout.take().ok_or("the server has no stdout")?;
        let urls: Vec<String> = BufReader::new(stdout)
            .lines()
            .take(2)
            .collect::<Result<_, _>>()?;
        let providers = ["fake", "encrypted"].iter().zip(&urls).map(|(name, url)| {
            format!(
                r#""{name}": {{"baseUrl": "{url}", "api": "openai-completions", "apiKey": "key", "models": [{{"id": "model"}}]}}"#
            )
        });
        let providers: Vec<String> = providers.collect();
        let models = format!(r#"{{"providers": {{{}}}}}"#, providers.join(", "));
        fs::write(stage.join(".pi/agent/models.json"), models)?;
        Ok(Self { process, root })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ends with its stdin; there is nothing to do if it does not.
        _ = self.process.wait();
    }
}

/// Returns the name in a line of callgrind such as `fn=(12) _ZN4core…E` or `cfn=(3) main'2`.
fn function_of(line: &str) -> Option<String> {
    let named = line.strip_prefix("fn=").or(line.strip_prefix("cfn="))?;
    let (_, name) = named.split_once(") ")?;
    let name = name.split('\'').next().unwrap_or(name);
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_callgrind_are_read() {
        let lines = [
            "fn=(12) _ZN4core3ptr4drop17h0123456789abcdefE",
            "cfn=(3) main'2",
            "cfn=(3)",
            "fl=(1) a.rs",
        ];
        let names = lines.map(function_of);
        assert_eq!(
            names,
            [
                Some("_ZN4core3ptr4drop17h0123456789abcdefE".to_owned()),
                Some("main".to_owned()),
                None,
                None
            ]
        );
    }
}
