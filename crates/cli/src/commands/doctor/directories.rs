//! The directories we write to: they must be there or be makeable, ours, and roomy.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use pi_subagents_engine::LONGEST_SOCKET_NAME;
use pi_subagents_os::{free_space, is_superuser, may_write_into, user};
use pi_subagents_records::Store;

use super::check::Check;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_ground::places::LONGEST_SOCKET_PATH;

/// With less than this a few runs fill the disk.
const LITTLE_ROOM: u64 = 500 * MEGABYTE;

/// The free space below which not even one run is sure to be recorded.
const NO_ROOM: u64 = 10 * MEGABYTE;

const MEGABYTE: u64 = 1_000_000;

/// Checks the agent directory, in which pi and we keep the user's files.
pub(super) fn agent_directory(seen: &VisibleAgents) -> Check {
    let directory = &seen.places.agent_dir;
    let name = "agent files";
    let shown = seen.short(directory);
    let Ok(metadata) = fs::metadata(directory) else {
        let check = Check::new(
            name,
            format!("{shown} does not exist yet; the first run creates it"),
        );
        return match obstacle(directory) {
            None => check,
            Some(why) => Check::new(name, format!("{shown} cannot be created: {why}"))
                .problem()
                .hint("Set PI_CODING_AGENT_DIR to a writable directory."),
        };
    };
    if let Some(why) = obstacle(directory) {
        return Check::new(name, format!("{shown} cannot be used: {why}"))
            .problem()
            .hint("Make it a directory that belongs to you, or set PI_CODING_AGENT_DIR to one that does.");
    }
    let mut check = Check::new(name, shown.clone());
    if metadata.uid() != user() && !is_superuser() {
        check = check
            .warning()
            .hint(format!("{shown} belongs to another user."));
    }
    if metadata.permissions().mode() & 0o022 != 0 {
        check = check.warning().hint(format!(
            "Other users may write to it and so decide what your sub-agents do. Run chmod go-w {}",
            directory.display()
        ));
    }
    let keys = directory.join("auth.json");
    if fs::metadata(&keys).is_ok_and(|file| file.permissions().mode() & 0o077 != 0) {
        check = check.warning().hint(format!(
            "Other users may read the keys in it. Run chmod 600 {}",
            keys.display()
        ));
    }
    check
}

/// Checks the directory of the sockets by which `steer`, `stop` and `wait` reach runs.
pub(super) fn sockets(seen: &VisibleAgents) -> Check {
    let directory = &seen.places.sockets;
    let length = directory.as_os_str().len() + "/".len() + LONGEST_SOCKET_NAME;
    let shown = seen.short(directory);
    let check = Check::new("sockets", shown.clone());
    let advice = "Set XDG_RUNTIME_DIR to a directory of yours with a short path; until then, steer and stop cannot reach any run.";
    if length >= LONGEST_SOCKET_PATH {
        return Check::new(
            "sockets",
            format!("{shown} is too long for the path of a socket: it has {length} bytes and must have fewer than {LONGEST_SOCKET_PATH}"),
        )
        .problem()
        .hint(advice);
    }
    if let Some(why) = obstacle(directory) {
        return Check::new("sockets", format!("{shown} cannot be used: {why}"))
            .problem()
            .hint(advice);
    }
    let is_open = fs::metadata(directory).is_ok_and(|at| at.permissions().mode() & 0o077 != 0);
    if is_open {
        return check.warning().hint(format!(
            "Other users may enter it. Run chmod 700 {}",
            directory.display()
        ));
    }
    check
}

/// Checks the directory in which runs are recorded, and the free space.
pub(super) fn disk(seen: &VisibleAgents) -> Check {
    let runs = runs_directory(seen);
    let shown = seen.short(&runs);
    let elsewhere = seen.places.agent_dir.join("subagents").join("runs");
    let settings = &seen.configuration().settings;
    let store = Store::new(&seen.places.agent_dir).with_runs_dir(settings.runs_dir.clone());
    let project = seen.places.real_project();
    let why_not = obstacle(&runs).or_else(|| store.obstacle(project));
    let has_place = project.is_some() || settings.runs_dir.is_some();
    let (place, check) = match why_not {
        _ if !has_place => {
            let shown = seen.short(&elsewhere);
            let check = Check::new("records", format!("{shown}: there is no project here"));
            (&elsewhere, check)
        }
        None => (&runs, Check::new("records", shown.clone())),
        Some(why) => (
            &elsewhere,
            Check::new(
                "records",
                format!(
                    "{shown} cannot be used, so runs go to {}",
                    seen.short(&elsewhere)
                ),
            )
            .warning()
            .hint(format!("{why}.")),
        ),
    };
    let Ok(free) = free_space(nearest(place)) else {
        return check;
    };
    if free < NO_ROOM {
        return check.problem().hint(format!(
            "The disk is full ({} free). Runs still work, but are not recorded.",
            size(free)
        ));
    }
    if free < LITTLE_ROOM {
        return check
            .warning()
            .hint(format!("The disk is nearly full: {} free.", size(free)));
    }
    check.and(&format!("{} free", size(free)))
}

fn runs_directory(seen: &VisibleAgents) -> PathBuf {
    let configured = seen.configuration().settings.runs_dir.clone();
    configured.unwrap_or_else(|| {
        let project = seen.places.project.join(".pi");
        project.join("subagents").join("runs")
    })
}

/// Returns why nothing can be written into a directory, whether it exists or has to be created.
pub(super) fn obstacle(directory: &Path) -> Option<String> {
    let place = nearest(directory);
    if !place.is_dir() {
        return Some(format!("{} is not a directory", place.display()));
    }
    let refused = may_write_into(place).err()?;
    Some(format!("{}: {refused}", place.display()))
}

/// Returns the part of a path that exists.
fn nearest(path: &Path) -> &Path {
    let mut above = path.ancestors();
    above
        .find(|place| fs::symlink_metadata(place).is_ok())
        .unwrap_or(Path::new("/"))
}

fn size(bytes: u64) -> String {
    let megabytes = bytes / MEGABYTE;
    if megabytes >= 1000 {
        return format!("{} GB", megabytes / 1000);
    }
    format!("{megabytes} MB")
}
