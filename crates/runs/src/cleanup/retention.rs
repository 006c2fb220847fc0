//! Applies the retention of the user's settings: at most once a day for each project, a bounded
//! number of runs at a time, and by the rules of `clean`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_configuration::Retention;
use pi_subagents_files::{create_directories, read_own, write_whole};
use pi_subagents_pi_files::SettingsFile;
use pi_subagents_records::Store;
use pi_subagents_view::figures;
use pi_subagents_vocabulary::{Timestamp, text::count};
use serde::{Deserialize, Serialize};
use tracing::{info, warn};

use super::choice::{Choice, Rule, is_older};
use super::sweep::{SweepLimits, Swept, sweep};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::places::Places;

/// The time for which a project is left alone after it was looked at.
const PAUSE: Duration = Duration::from_hours(24);

/// The limits of one look at a project; the next look goes on.
const LIMITS: SweepLimits = SweepLimits {
    runs: 5000,
    time: Duration::from_mins(1),
};

/// More projects than this are not remembered.
const MOST_PROJECTS: usize = 1000;

/// More than this is not read of the memory.
const LARGEST: u64 = 1 << 20;

/// The facts that are remembered from one process to the next.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Memory {
    /// The time at which each project was last looked at.
    projects: BTreeMap<PathBuf, String>,
    /// The latest removal.
    latest: Option<Removed>,
    /// True once a person has read that runs are removed at all.
    is_told: bool,
}

/// A removal by the retention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Removed {
    pub(crate) at: String,
    pub(crate) project: PathBuf,
    pub(crate) runs: usize,
    pub(crate) bytes: u64,
}

/// Returns whether it is time to look at a project. The first time is a day after its first run:
/// nothing can be old before.
pub fn is_due(places: &Places, now: Timestamp) -> bool {
    let mut memory = Memory::read(&places.agent_dir);
    let looked_at = memory.projects.get(&places.project);
    if let Some(at) = looked_at.and_then(|at| at.parse().ok()) {
        return is_older(at, PAUSE, now);
    }
    memory.look_at(&places.project, now);
    memory.write(&places.agent_dir);
    false
}

/// Removes the runs that the settings allow in the project of these places.
pub fn apply(places: &Places, now: Timestamp) {
    let Some(retention) = retention(places) else {
        return;
    };
    let agent_dir = &places.agent_dir;
    let mut memory = Memory::read(agent_dir);
    memory.look_at(&places.project, now);
    memory.write(agent_dir);
    let choice = Choice::Rule {
        rule: Rule::Retention(retention),
        project: Some(places.project.clone()),
    };
    match sweep(&Store::new(agent_dir), choice, now, LIMITS) {
        Ok(swept) => note(agent_dir, &places.project, &swept, now),
        // The next day comes.
        Err(error) => warn!(%error, "retention was not applied"),
    }
}

/// Returns the retention of the user's settings; `None` if it removes nothing, or if the settings
/// cannot be read.
pub fn retention(places: &Places) -> Option<Retention> {
    SettingsFile::of_user(&places.agent_dir).ok()?;
    let retention = Configuration::read_once(places, false).settings.retention;
    (retention != Retention::NEVER).then_some(retention)
}

fn note(agent_dir: &Path, project: &Path, swept: &Swept, now: Timestamp) {
    for problem in &swept.problems {
        warn!(problem, "retention met a problem");
    }
    let runs = swept.removed.len();
    let bytes = swept.removed.iter().map(|going| going.bytes).sum();
    info!(runs, bytes, is_cut = swept.is_cut, "retention was applied");
    if runs > 0 {
        let mut memory = Memory::read(agent_dir);
        memory.latest = Some(Removed {
            at: now.to_string(),
            project: project.to_owned(),
            runs,
            bytes,
        });
        memory.write(agent_dir);
    }
}

/// Returns the sentence that runs are removed by themselves, for a person who has not read it yet.
/// It is returned once.
pub fn first_note(agent_dir: &Path) -> Option<String> {
    let mut memory = Memory::read(agent_dir);
    let removed = memory.latest.clone().filter(|_| !memory.is_told)?;
    memory.is_told = true;
    memory.write(agent_dir);
    Some(format!(
        "note: {}. subagents.retention in the settings decides this; doctor shows it.",
        removed.sentence()
    ))
}

/// Returns the latest removal by the retention.
pub fn latest(agent_dir: &Path) -> Option<Removed> {
    Memory::read(agent_dir).latest
}

impl Removed {
    /// Describes the removal.
    pub fn sentence(&self) -> String {
        let (runs, bytes) = (count(self.runs, "old run"), figures::bytes(self.bytes));
        let day = self.at.split('T').next().unwrap_or_default();
        let project = self.project.display();
        format!("{runs} of {project} were removed on {day}, {bytes}")
    }
}

impl Memory {
    fn file(agent_dir: &Path) -> PathBuf {
        agent_dir.join("subagents-retention.json")
    }

    /// Reads it; without it, everything begins again.
    fn read(agent_dir: &Path) -> Self {
        let content = read_own(&Self::file(agent_dir), LARGEST).unwrap_or_default();
        serde_json::from_slice(&content).unwrap_or_default()
    }

    /// Writes it. If that fails or somebody else writes too, a project is looked at a day later.
    fn write(&self, agent_dir: &Path) {
        if let Ok(content) = serde_json::to_vec_pretty(self) {
            _ = create_directories(agent_dir);
            _ = write_whole(&Self::file(agent_dir), &content);
        }
    }

    fn look_at(&mut self, project: &Path, now: Timestamp) {
        self.projects.insert(project.to_owned(), now.to_string());
        while self.projects.len() > MOST_PROJECTS {
            let oldest = self.projects.iter().min_by_key(|(_, at)| (*at).clone());
            let oldest = oldest.map(|(project, _)| project.clone());
            oldest.map(|project| self.projects.remove(&project));
        }
    }
}
