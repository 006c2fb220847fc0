//! The runs that this worker had when its process was killed. The next process has its directory, so
//! it knows that nobody does them any more, and gives them back before their lease is over.

use std::path::Path;
use std::time::Duration;

use pi_subagents_files::Directory;
use pi_subagents_fleet_queue::{Fleet, Held};
use pi_subagents_records::{IndexedRun, Store};
use pi_subagents_vocabulary::RunId;
use serde::{Deserialize, Serialize};
use tracing::{debug, warn};

use super::worker_lines::print_line;

/// The file in the directory of a run with its delivery.
const FILE: &str = "delivery.json";

/// More than this is not read of it.
const LARGEST: u64 = 64 << 10;

/// The delivery of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LeftRun {
    run: String,
    n: u64,
    /// The name of its message in the queue.
    message: String,
}

/// Notes the delivery of a run in its directory.
pub(super) fn note(directory: &Path, held: &Held) {
    let left = LeftRun {
        run: held.run().to_string(),
        n: held.n(),
        message: held.message().to_owned(),
    };
    let written = Directory::open_plain(directory).and_then(|directory| {
        let content = serde_json::to_vec(&left)?;
        directory.write_whole(Path::new(FILE), &content)
    });
    if let Err(error) = written {
        // Without it the run waits for the end of its lease.
        warn!(run = left.run, %error, "delivery of a run is not noted");
    }
}

/// Finds the runs that were under way when the last process with this directory was killed, as long
/// as no other worker can have them: less than half of their lease has passed since.
pub(super) fn find(root: &Path, lease: Duration) -> Vec<LeftRun> {
    let open = Store::new(root).open_runs().unwrap_or_default();
    let is_recent = |run: &&IndexedRun| {
        // An owner touches the events of its runs every second.
        let touched = std::fs::metadata(run.directory.events()).and_then(|file| file.modified());
        let passed = touched.ok().and_then(|at| at.elapsed().ok());
        passed.is_some_and(|passed| passed < lease / 2)
    };
    let left = open.iter().filter(is_recent).map(|run| {
        let directory = Directory::open_plain(run.directory.path())?;
        let content = directory.read(Path::new(FILE), LARGEST)?;
        Ok::<LeftRun, std::io::Error>(serde_json::from_slice(&content)?)
    });
    left.filter_map(|left| {
        left.inspect_err(|error| debug!(%error, "delivery of a run is not known"))
            .ok()
    })
    .collect()
}

/// Gives the runs back to their queues. None of their processes may be left.
pub(super) async fn give_back(fleet: &Fleet, worker: &str, runs: Vec<LeftRun>) {
    for LeftRun { run, n, message } in runs {
        let Ok(id) = RunId::parse(&run) else { continue };
        match fleet.give_back_of_killed(&id, worker, n, &message).await {
            Ok(true) => print_line(&format!(
                "gave back {run}, which was running when this worker was killed"
            )),
            Ok(false) => {}
            // The queue hands it out after its lease.
            Err(error) => warn!(run, %error, "run of a killed worker cannot be given back"),
        }
    }
}
