//! The order of functions: those that an agent executes, in the order in which callgrind names them.
//! It is kept in the repository. The owner cannot be counted: valgrind has no part of the kernel's
//! clock that the owner reads.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};

use super::symbols::{functions, without_hash};
use super::{build, linker};
use crate::Outcome;
use crate::machine::{program, root, target};
use crate::packages;

/// The turns of the agent: each tool once, so that the functions of all tools are near.
const SCRIPT: &str = r#"{"rules": [{"turns": [
    {"toolCalls": [{"name": "bash", "arguments": {"command": "seq 3"}}]},
    {"toolCalls": [{"name": "write", "arguments": {"path": "b.txt", "content": "one\ntwo\n"}}]},
    {"toolCalls": [{"name": "edit", "arguments": {"path": "b.txt", "edits": [{"oldText": "two", "newText": "three"}]}}]},
    {"toolCalls": [{"name": "read", "arguments": {"path": "b.txt"}}]},
    {"toolCalls": [{"name": "grep", "arguments": {"pattern": "one"}}]},
    {"text": "Done."}]}]}"#;

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

/// Builds the program, counts what an agent executes, and writes the order.
pub(crate) fn write() -> Outcome<()> {
    packages::install_valgrind()?;
    build()?;
    let program = newest_with_symbols()?;
    let stage = env::temp_dir().join(format!("pi-order-{}", process::id()));
    fs::create_dir_all(stage.join("project"))?;
    let order = executed(&program, &stage);
    // A directory that cannot be removed stays in the temporary directory.
    _ = fs::remove_dir_all(&stage);
    let order = order?;
    println!("xtask order: {} functions", order.len());
    fs::write(file(), order.join("\n") + "\n")?;
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

fn executed(program_path: &Path, stage: &Path) -> Outcome<Vec<String>> {
    let script = stage.join("turns.json");
    fs::write(&script, SCRIPT)?;
    let model = format!("scripted/{}", script.display());
    let of_agent = [
        "embedded",
        "--mode",
        "json",
        "-p",
        "--no-session",
        "--model",
        &model,
        "Go",
    ];
    let mut called = called(program_path, stage, &of_agent)?;
    let listed = program("nm")
        .args(["--defined-only", "--format=posix"])
        .arg(program_path)
        .output()?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    let ours: HashSet<&str> = functions(&listed).map(without_hash).collect();
    let mut seen = HashSet::new();
    called.retain(|name| ours.contains(name.as_str()) && seen.insert(name.clone()));
    Ok(called)
}

/// Returns the functions that one process called, without hashes, in the order in which callgrind
/// names them.
fn called(program_path: &Path, stage: &Path, arguments: &[&str]) -> Outcome<Vec<String>> {
    let counted = stage.join("counted");
    let path = env::var_os("PATH").unwrap_or_default();
    let status = program("valgrind")
        .args(["--tool=callgrind", "--demangle=no"])
        .arg(format!("--callgrind-out-file={}", counted.display()))
        .arg(program_path)
        .args(arguments)
        .env_clear()
        .env("PATH", path)
        .env("HOME", stage)
        .current_dir(stage.join("project"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!(
            "{} {} ({status})",
            program_path.display(),
            arguments.join(" ")
        )
        .into());
    }
    let text = fs::read_to_string(&counted)?;
    Ok(text.lines().filter_map(function_of).collect())
}

/// Returns the name in a line such as `fn=(12) _ZN4core…E` or `cfn=(3) main'2`.
fn function_of(line: &str) -> Option<String> {
    let named = line.strip_prefix("fn=").or(line.strip_prefix("cfn="))?;
    let (_, name) = named.split_once(") ")?;
    let name = name.split('\'').next().unwrap_or(name);
    Some(without_hash(name).to_owned())
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
                Some("_ZN4core3ptr4drop".to_owned()),
                Some("main".to_owned()),
                None,
                None
            ]
        );
    }
}
