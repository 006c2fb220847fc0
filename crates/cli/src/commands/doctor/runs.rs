//! Checks the record of runs: whether it can be read, and which runs have lost their owner.

use std::io;
use std::path::Path;

use pi_subagents_files::read_own;
use pi_subagents_records::{IndexedRun, Store};
use pi_subagents_vocabulary::text::count;
use serde_json::Value;

use super::check::Check;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_runs::owner_process::is_owned;

pub(super) fn runs(seen: &VisibleAgents) -> Check {
    let store = Store::new(&seen.places.agent_dir);
    let index = store.index();
    let shown = seen.short(&index);
    let broken = match broken_lines(&index) {
        Ok(broken) => broken,
        Err(error) => return unreadable(&shown, &error),
    };
    let runs = store.runs().unwrap_or_default();
    if runs.is_empty() && broken == 0 {
        return Check::new("runs", "none yet");
    }
    let mut check = Check::new("runs", format!("{} in {shown}", count(runs.len(), "run")));
    if broken > 0 {
        check = check.warning().hint(format!(
            "Skipped {} of the index that cannot be read. A run that is missing there is found again by its id, in its project.",
            count(broken, "line")
        ));
    }
    let lost = runs.iter().filter(|run| run.is_open() && !is_owned(run));
    match lost.count() {
        0 => check,
        lost => check.warning().hint(format!(
            "The owner process of {} is gone. The next command records that; pi-subagents status does so now.",
            count(lost, "run")
        )),
    }
}

fn unreadable(index: &str, why: &io::Error) -> Check {
    Check::new("runs", format!("{index} cannot be read: {why}"))
        .problem()
        .hint("Move the file away. Each run is found again by its id, in its project.")
}

/// An index is not read beyond this.
const LARGEST_INDEX: u64 = 1 << 30;

/// Counts the lines that are not a JSON object about a run.
fn broken_lines(index: &Path) -> io::Result<usize> {
    let content = match read_own(index, LARGEST_INDEX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        other => other?,
    };
    let is_broken = |line: &&[u8]| {
        let value: Value = serde_json::from_slice(line).unwrap_or_default();
        !value["run"].is_string()
    };
    let lines = content.split(|byte| *byte == b'\n');
    Ok(lines
        .filter(|line| !line.is_empty())
        .filter(is_broken)
        .count())
}

/// Checks how many background runs there are, and how many there may be.
pub(super) fn background(seen: &VisibleAgents) -> Check {
    let most = seen.configuration().settings.max_background;
    let runs = Store::new(&seen.places.agent_dir)
        .runs()
        .unwrap_or_default();
    let is_running = |run: &&IndexedRun| run.is_background() && run.is_open() && is_owned(run);
    let running = runs.iter().filter(is_running).count();
    let check = Check::new(
        "background",
        format!("{running} of at most {most} runs (subagents.maxBackground)"),
    );
    if running < most {
        return check;
    }
    check.warning().hint(
        "No more can be started. pi-subagents status lists them. Wait for one (pi-subagents wait RUN) or stop one (pi-subagents stop RUN).",
    )
}
