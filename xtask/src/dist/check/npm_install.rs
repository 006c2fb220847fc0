//! The packages of npm, installed by npm for a user without pi.

use std::fs;

use super::home::{Home, ended, is_here, output};
use super::loopback::serve;
use super::proof::prove;
use super::{Checked, Shipment};
use crate::Outcome;
use crate::dist::release::NAME;

/// Installs the packages as a program of the user.
pub(super) fn global(shipment: &Shipment) -> Outcome<Checked> {
    if !is_here("npm") {
        return Ok(Checked::NotHere("npm is not on PATH".to_owned()));
    }
    let home = installed(shipment)?;
    prove(shipment, &home, &home.installed().join("bin").join(NAME))
}

/// Starts the launcher where the package of the platform is missing.
pub(super) fn other_platform(shipment: &Shipment) -> Outcome<Checked> {
    if !is_here("npm") {
        return Ok(Checked::NotHere("npm is not on PATH".to_owned()));
    }
    let home = installed(shipment)?;
    let npm = shipment.release.platform.npm();
    let modules = home.installed().join("lib/node_modules/@pi-subagents");
    for place in [
        modules.clone(),
        modules.join("pi/node_modules/@pi-subagents"),
    ] {
        if place.join(&npm).exists() {
            fs::remove_dir_all(place.join(&npm))?;
        }
    }
    let launched = ended(
        home.command(&home.installed().join("bin").join(NAME))
            .arg("tour"),
    )?;
    let stderr = String::from_utf8_lossy(&launched.stderr);
    let is_one_sentence = stderr.lines().count() == 1 && stderr.starts_with("error: there is no");
    if launched.status.success() || !is_one_sentence {
        return Err(format!("the launcher said {stderr:?}").into());
    }
    Ok(Checked::Works(stderr.trim().to_owned()))
}

fn installed(shipment: &Shipment) -> Outcome<Home> {
    let home = Home::new()?;
    serve(shipment, &home)?;
    let mut npm = home.command("npm".as_ref());
    npm.args(["install", "--global", "--ignore-scripts", "--prefix"])
        .arg(home.installed())
        .arg("@pi-subagents/pi");
    output(&mut npm)?;
    Ok(home)
}
