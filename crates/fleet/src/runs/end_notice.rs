//! Tells the user's command for ended runs of a background run whose own process did not see its end:
//! it had waited long enough for servers that were away, or was killed.

use std::process::{self, Stdio};
use std::thread;

use pi_subagents_configuration::{ReadSettings, SettingsFiles};
use pi_subagents_engine::KnownChildren;
use pi_subagents_records::{RecordedRun, RunDir};
use tracing::warn;

use pi_subagents_ground::own_commands::{self, ENDED};
use pi_subagents_ground::places::Places;

/// Starts the process that runs the user's command once the end of a run is recorded, unless the
/// run's own process does that. Nobody waits for it.
pub(super) fn start_end_command(places: &Places, directory: &RunDir) {
    let is_ours =
        |record: &RecordedRun| record.owner.detached.is_some() && record.owner.pid != process::id();
    let is_told = RecordedRun::read(directory).is_ok_and(|record| is_ours(&record));
    if !is_told || !has_command(places) {
        return;
    }
    let mut command = own_commands::process(places, ENDED);
    command
        .arg(directory.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let known_children = KnownChildren::of_this_process();
    match known_children.start(&mut command) {
        Ok(mut child) => {
            // In case this process lives longer.
            let waiting = thread::Builder::new().spawn(move || {
                _ = child.wait();
                known_children.ended(child.id());
            });
            if let Err(error) = waiting {
                warn!(%error, "no thread could be started to wait for onEnd");
            }
        }
        Err(error) => warn!(%error, "onEnd could not be started"),
    }
}

fn has_command(places: &Places) -> bool {
    let read = ReadSettings::of(&SettingsFiles {
        agent_dir: &places.agent_dir,
        trusted_project: None,
        home: &places.home,
    });
    read.settings.on_end.is_some()
}
