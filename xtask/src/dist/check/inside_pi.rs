//! The packages of npm inside the real pi: installed by `pi install`, then used by a scripted model
//! that delegates a task.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use super::home::{Home, is_here, output};
use super::loopback::serve;
use super::model::ScriptedModel;
use super::{Checked, Shipment};
use crate::Outcome;
use crate::dist::release::NAME;
use crate::machine::{root, target};
use crate::steps::seconds;

/// The model calls the tool when it is asked to, and answers hello to the sub-agent.
const SCRIPT: &str = r#"{"rules": [
  {"user": "Delegate it", "turns": [
    {"toolCalls": [{"name": "delegate_to_subagents", "arguments": {"tasks": [{"name": "a", "prompt": "Say hello."}]}}]},
    {"text": "Called."}
  ]},
  {"turns": [{"text": "Hello."}], "repeat": true}
]}"#;

/// What the model is told where the program is missing.
const MISSING: &str = "The program pi-subagents was not found, neither in the package";

pub(super) fn older(shipment: &Shipment) -> Outcome<Checked> {
    delegate(shipment, "pi", &npm_source(shipment))
}

pub(super) fn newer(shipment: &Shipment) -> Outcome<Checked> {
    delegate(shipment, "pi-1.5", &npm_source(shipment))
}

/// Installs the repository, as it was committed last, in place of the address that it will have.
pub(super) fn by_git(shipment: &Shipment) -> Outcome<Checked> {
    let address = shipment.release.repository();
    let place = address.trim_start_matches("https://");
    delegate(shipment, "pi-1.5", &format!("git:{place}"))
}

/// Installs the extension where npm leaves the package of the platform out.
pub(super) fn without_program(shipment: &Shipment) -> Outcome<Checked> {
    if is_here(NAME) {
        return Ok(Checked::NotHere(format!("{NAME} is on PATH")));
    }
    let Some(stage) = Stage::new(shipment, "pi")? else {
        return Ok(not_here());
    };
    stage
        .home
        .write("home/.npmrc", &format!("{}omit=optional\n", stage.npmrc))?;
    stage.install(&npm_source(shipment))?;
    let events = stage.ask()?;
    if !events.contains(MISSING) {
        return Err(format!("the tool did not say what is missing:\n{events}").into());
    }
    Ok(Checked::Works(format!("the tool says: {MISSING} …")))
}

pub(super) fn npm_source(shipment: &Shipment) -> String {
    format!("npm:@pi-subagents/pi@{}", shipment.release.version)
}

pub(super) fn not_here() -> Checked {
    let why = "it needs npm, and the pi and the model server that cargo xtask test installs";
    Checked::NotHere(why.to_owned())
}

/// Installs a package into the pi of this directory and lets it delegate.
fn delegate(shipment: &Shipment, directory: &str, source: &str) -> Outcome<Checked> {
    let Some(stage) = Stage::new(shipment, directory)? else {
        return Ok(not_here());
    };
    let begun = Instant::now();
    stage.install(source)?;
    let installed = seconds(begun.elapsed());
    let events = stage.ask()?;
    if !events.contains("✓ a: completed") {
        return Err(format!("nothing was delegated:\n{events}").into());
    }
    let delegated = seconds(begun.elapsed());
    Ok(Checked::Works(format!(
        "installed after {installed}, delegated after {delegated}"
    )))
}

/// A pi with a model, in a home that knows where our packages and our repository are.
pub(super) struct Stage {
    home: Home,
    pi: PathBuf,
    npmrc: String,
    /// It is asked as long as it is held.
    _model: ScriptedModel,
}

impl Stage {
    /// Returns nothing if a part is missing.
    fn new(shipment: &Shipment, directory: &str) -> Outcome<Option<Self>> {
        Self::with_script(shipment, directory, SCRIPT)
    }

    /// Does the same for a model that plays this script.
    pub(super) fn with_script(
        shipment: &Shipment,
        directory: &str,
        script: &str,
    ) -> Outcome<Option<Self>> {
        let pi = target()?.join(directory).join("bin/pi");
        if !pi.exists() || !ScriptedModel::is_here()? || !is_here("npm") {
            return Ok(None);
        }
        let home = Home::new()?;
        let npmrc = serve(shipment, &home)?;
        let model = ScriptedModel::start(&home, script)?;
        let git = format!(
            "[url \"file://{}\"]\n\tinsteadOf = {}\n",
            root().display(),
            shipment.release.repository()
        );
        home.write("home/.gitconfig", &git)?;
        Ok(Some(Self {
            home,
            pi,
            npmrc,
            _model: model,
        }))
    }

    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    pub(super) fn install(&self, source: &str) -> Outcome<()> {
        output(self.pi().args(["install", source]))?;
        Ok(())
    }

    /// Asks pi to delegate and returns its events.
    pub(super) fn ask(&self) -> Outcome<String> {
        output(self.pi().args(["--mode", "json", "-p", "Delegate it"]))
    }

    fn pi(&self) -> Command {
        let mut command = self.home.command(&self.pi);
        // Installing is what the network is for, and here it ends on this machine.
        command.env_remove("PI_OFFLINE");
        command
    }
}
