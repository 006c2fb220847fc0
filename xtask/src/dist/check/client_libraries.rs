//! The clients for programs in TypeScript and Python, installed by npm and pip into a fresh project:
//! each starts the installed program and reads a typed answer.

use std::path::PathBuf;
use std::process::Command;

use super::home::{Home, is_here, output};
use super::{Checked, Shipment};
use crate::Outcome;
use crate::dist::release::NAME;
use crate::machine::program;

/// The sub-agent reports what the schema of the program wants.
const SCRIPT: &str = r#"{"rules": [{"turns": [{"toolCalls": [
  {"name": "subagent_finalize", "arguments": {"status": "SUCCESS", "result": {"files": 3}}}
]}]}]}"#;

const TYPESCRIPT: &str = r#"import { Client } from "@pi-subagents/client";
const call = new Client().start({
  prompt: "How many files are here?", runner: "embedded", model: process.argv[2],
  returns: { type: "object", required: ["files"], properties: { files: { type: "integer" } } },
});
let events = 0;
for await (const _ of call) events += 1;
const { value } = await call.answer();
console.log(value.files, events > 0);
"#;

const PYTHON: &str = r#"import sys
from dataclasses import dataclass
from pi_subagents_client import Client, Task

@dataclass
class Count:
    files: int

call = Client().start(Task("How many files are here?", runner="embedded", model=sys.argv[1], returns=Count))
events = sum(1 for _ in call)
print(call.answer().value.files, "true" if events else "false")
"#;

/// Installs the package for npm.
pub(super) fn typescript(shipment: &Shipment) -> Outcome<Checked> {
    if !is_here("npm") {
        return Ok(Checked::NotHere("npm is not on PATH".to_owned()));
    }
    let place = Place::new(shipment)?;
    let package = shipment.packages.path(&shipment.packages.typescript);
    let mut npm = place.home.command("npm".as_ref());
    npm.args(["install", "--offline", "--ignore-scripts", "--no-audit"]);
    output(npm.arg(package))?;
    let file = place.home.write("project/trial.mjs", TYPESCRIPT)?;
    let mut node = place.home.command("node".as_ref());
    place.try_program(node.arg(file))
}

/// Installs the wheel.
pub(super) fn python(shipment: &Shipment) -> Outcome<Checked> {
    if !is_here("python3") {
        return Ok(Checked::NotHere("python3 is not on PATH".to_owned()));
    }
    let place = Place::new(shipment)?;
    let environment = place.home.path("project/environment");
    let mut venv = place.home.command("python3".as_ref());
    output(venv.args(["-m", "venv"]).arg(&environment))?;
    let own = environment.join("bin/python");
    let wheel = shipment.packages.path(&shipment.packages.python);
    let mut pip = place.home.command(&own);
    pip.args(["-m", "pip", "install", "--no-index", "--quiet"]);
    pip.arg("--disable-pip-version-check");
    output(pip.arg(wheel))?;
    let file = place.home.write("project/trial.py", PYTHON)?;
    let mut python = place.home.command(&own);
    place.try_program(python.arg(file))
}

/// A fresh home with the program out of its archive.
struct Place {
    home: Home,
    binary: PathBuf,
    model: String,
}

impl Place {
    fn new(shipment: &Shipment) -> Outcome<Self> {
        let home = Home::new()?;
        let archive = shipment.packages.path(&shipment.packages.archive);
        let mut tar = program("tar");
        tar.arg("-xzf").arg(archive);
        output(tar.arg("-C").arg(home.installed()))?;
        let script = home.write("script.json", SCRIPT)?;
        Ok(Self {
            binary: home.installed().join(shipment.release.folder()).join(NAME),
            model: format!("scripted/{}", script.display()),
            home,
        })
    }

    fn try_program(&self, command: &mut Command) -> Outcome<Checked> {
        let command = command.arg(&self.model);
        let printed = output(command.env("PI_SUBAGENTS_BIN", &self.binary))?;
        if printed.trim() == "3 true" {
            return Ok(Checked::Works(
                "installed, events read, one typed answer".to_owned(),
            ));
        }
        Err(format!("it printed {printed:?}").into())
    }
}
