//! Finding the binaries of the workspace from a test.

use std::env;
use std::path::PathBuf;

/// Returns the path of a binary that cargo put beside the running test executable.
///
/// # Panics
///
/// If it is not there, with the command that builds it.
pub fn bin(name: &str) -> PathBuf {
    let test = env::current_exe().expect("the path of the running test");
    let mut directory = test.parent().expect("the directory of the running test");
    if directory.ends_with("deps") {
        directory = directory.parent().expect("the directory above deps");
    }
    let path = directory.join(name);
    assert!(
        path.is_file(),
        "{} is not built; build it with `cargo build -p {} --bins`",
        path.display(),
        package_of(name),
    );
    path
}

fn package_of(name: &str) -> &str {
    match name {
        "acp-agent" | "misbehave" | "llm-server" => "pi-subagents-testkit",
        other => other,
    }
}
