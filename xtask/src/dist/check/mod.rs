//! Installs each package into a fresh home, and lets what was installed show its version, play the
//! tour and delegate a task to a scripted model. A part that cannot be checked here is named.

mod archive;
mod bundle;
mod chroot;
mod client_libraries;
mod clients;
mod github_action;
mod home;
mod inside_pi;
mod loopback;
mod model;
mod npm_install;
mod other_roots;
mod proof;
mod work_inside_pi;

pub(crate) use clients::install_clients;

use std::time::Instant;

use super::packages::Packages;
use super::release::Release;
use crate::Outcome;
use crate::steps::seconds;

/// The result of a check that did not fail.
enum Checked {
    /// It works; the text has figures.
    Works(String),
    /// This machine lacks a part that the check needs.
    NotHere(String),
}

/// Everything that checks look at.
struct Shipment<'a> {
    release: &'a Release,
    packages: &'a Packages,
}

type Check = fn(&Shipment) -> Outcome<Checked>;

/// All checks, with the names that are printed.
const CHECKS: [(&str, Check); 20] = [
    ("tar.gz", archive::archive),
    ("install.sh", archive::installer),
    ("install.sh, altered archive", archive::altered_archive),
    ("deb", archive::deb),
    ("mcpb", bundle::bundle),
    ("npm i -g", npm_install::global),
    ("npx with another platform", npm_install::other_platform),
    ("pi 0.87.1, pi install npm:…", inside_pi::older),
    ("pi 1.5.0, pi install npm:…", inside_pi::newer),
    ("pi 1.5.0, pi install git:…", inside_pi::by_git),
    ("pi 1.5.0, a day's work", work_inside_pi::work),
    (
        "pi without the platform's package",
        inside_pi::without_program,
    ),
    ("plugin in Claude Code", clients::claude_code),
    ("plugin in Codex", clients::codex),
    ("extension in Gemini CLI", clients::gemini),
    ("client for npm", client_libraries::typescript),
    ("client for Python", client_libraries::python),
    ("GitHub Action", github_action::github_action),
    ("image for workers", other_roots::image),
    ("Debian 11", other_roots::old_system),
];

/// Parts of a release that need a program of somebody else, or an account.
const NOT_CHECKED: [&str; 4] = [
    "the formula: Homebrew is not part of this check",
    "server.json: the MCP registry checks it when it is published",
    "the client in Rust: no registry has it, and programs name the repository",
    "binstall: it reads the releases of the repository, and there is none yet",
];

/// Runs all checks, also after one has failed.
pub(super) fn check(release: &Release, packages: &Packages) -> Outcome<()> {
    let shipment = Shipment { release, packages };
    let mut failed = Vec::new();
    for (name, check) in CHECKS {
        let begun = Instant::now();
        let checked = check(&shipment);
        let took = seconds(begun.elapsed());
        match checked {
            Ok(Checked::Works(figures)) => println!("  ok           {name} ({took}): {figures}"),
            Ok(Checked::NotHere(why)) => println!("  NOT CHECKED  {name}: {why}"),
            Err(error) => {
                println!("  FAILED       {name} ({took}): {error}");
                failed.push(name);
            }
        }
    }
    for part in NOT_CHECKED {
        println!("  NOT CHECKED  {part}");
    }
    if failed.is_empty() {
        println!("xtask: dist --check PASSED");
        return Ok(());
    }
    Err(failed.join(", ").into())
}
