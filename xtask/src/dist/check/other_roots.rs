//! The program on other systems: in the image for workers, and on the oldest Debian that is at hand.

use std::path::Path;

use super::chroot::{entrance, is_possible};
use super::home::{Home, output};
use super::proof::{Tour, prove_with};
use super::{Checked, Shipment};
use crate::Outcome;
use crate::dist::roots::Root;
use crate::machine::program;

/// Reads the layout of an image, compares every digest, and prints the layers in their order.
const READ_IMAGE: &str = r#"
import hashlib, json, sys
def blob(descriptor):
    kind, digest = descriptor["digest"].split(":")
    path = f"blobs/{kind}/{digest}"
    data = open(path, "rb").read()
    assert hashlib.sha256(data).hexdigest() == digest and len(data) == descriptor["size"], path
    return path, data
assert json.load(open("oci-layout"))["imageLayoutVersion"] == "1.0.0"
manifest = json.loads(blob(json.load(open("index.json"))["manifests"][0])[1])
config = json.loads(blob(manifest["config"])[1])
assert len(config["rootfs"]["diff_ids"]) == len(manifest["layers"])
print(config["config"]["Entrypoint"][0])
for layer in manifest["layers"]: print(blob(layer)[0])
"#;

/// Unpacks the image for workers, layer after layer, and works in it.
pub(super) fn image(shipment: &Shipment) -> Outcome<Checked> {
    let file = shipment.packages.path(&shipment.packages.image);
    if !file.exists() {
        return Ok(no_roots());
    }
    if !is_possible()? {
        return Ok(no_chroot());
    }
    let home = Home::new()?;
    let layout = home.installed();
    unpack("-xf", &file, &layout)?;
    let read = output(
        program("python3")
            .args(["-c", READ_IMAGE])
            .current_dir(&layout),
    )?;
    let (entry, layers) = read.split_once('\n').ok_or("the image names no program")?;
    let root = home.path("root");
    std::fs::create_dir_all(&root)?;
    for layer in layers.lines() {
        unpack("-xzf", &layout.join(layer), &root)?;
    }
    let program = entrance(&home, &root, entry)?;
    prove_with(shipment, &home, &program, Tour::MainJob)
}

/// Puts the program into an old Debian and works there.
pub(super) fn old_system(shipment: &Shipment) -> Outcome<Checked> {
    let old = Root::Old.archive()?;
    if !old.exists() {
        return Ok(no_roots());
    }
    if !is_possible()? {
        return Ok(no_chroot());
    }
    let home = Home::new()?;
    let root = home.path("root");
    std::fs::create_dir_all(&root)?;
    unpack("-xf", &old, &root)?;
    unpack(
        "-xzf",
        &shipment.packages.path(&shipment.packages.archive),
        &root.join("opt"),
    )?;
    let installed = format!("/opt/{}/pi-subagents", shipment.release.folder());
    let program = entrance(&home, &root, &installed)?;
    // Its git is too old for worktrees.
    let proved = prove_with(shipment, &home, &program, Tour::Here)?;
    let glibc = output(
        crate::machine::program("chroot")
            .arg(&root)
            .args(["ldd", "--version"]),
    )?;
    let glibc = glibc.lines().next().unwrap_or_default().to_owned();
    Ok(match proved {
        Checked::Works(figures) => Checked::Works(format!("{figures}; {glibc}")),
        not_here @ Checked::NotHere(_) => not_here,
    })
}

fn unpack(how: &str, archive: &Path, directory: &Path) -> Outcome<()> {
    let mut tar = program("tar");
    tar.args([how]).arg(archive).arg("--numeric-owner");
    output(tar.arg("-C").arg(directory))?;
    Ok(())
}

fn no_roots() -> Checked {
    Checked::NotHere("cargo xtask roots makes the systems".to_owned())
}

fn no_chroot() -> Checked {
    Checked::NotHere("it needs root, unshare and chroot".to_owned())
}
