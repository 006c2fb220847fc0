//! The settings of a worker: its offer to a fleet, and the callers from whom it takes orders.

use std::path::PathBuf;

use pi_subagents_vocabulary::{Scope, fits_fleet_name};

use super::fleet::{NAME, fleet_name};
use super::reader::Reader;
use super::values::Paths;
use super::{MEGABYTE, Settings};

const WORKER: &str = "worker";

/// This machine as a worker of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Its name; otherwise that of the machine.
    pub name: Option<String>,
    /// The number of runs that it does at once, 1 to 1000.
    pub slots: usize,
    /// The pools it takes runs from.
    pub pools: Vec<String>,
    /// Workers of a lower rank are asked first, 0 to 9.
    pub rank: u8,
    /// The directory for workspaces and caches.
    pub root: Option<PathBuf>,
    /// The number of bytes that its caches of repositories may take, 100 MB to 10 TB.
    pub disk: u64,
    /// The public keys of the callers whose orders it takes; if there are none, it takes all.
    pub callers: Vec<String>,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self {
            name: None,
            slots: 4,
            pools: vec!["default".to_owned()],
            rank: 0,
            root: None,
            disk: 20_000 * MEGABYTE,
            callers: Vec::new(),
        }
    }
}

impl Settings {
    /// Takes the worker of the user's file. Returns why the file of a project cannot be used.
    pub(super) fn take_worker(
        &mut self,
        reader: &mut Reader<'_>,
        paths: &Paths<'_>,
    ) -> Vec<String> {
        if paths.scope == Scope::Project {
            let is_there = reader.value(WORKER).is_some();
            let broken = is_there.then(|| {
                let named = reader.named(WORKER);
                format!("{named}: a project may not set up a worker; this belongs into your own settings")
            });
            return broken.into_iter().collect();
        }
        reader.object(WORKER, |reader| self.worker.take(reader, paths));
        Vec::new()
    }
}

impl WorkerSettings {
    fn take(&mut self, reader: &mut Reader<'_>, paths: &Paths<'_>) {
        self.name = reader.parsed("name", NAME, fleet_name);
        if let Some(count) = reader.number("slots", 1, 1000) {
            self.slots = usize::try_from(count).unwrap_or(usize::MAX);
        }
        let pools = reader.texts("pools");
        if let Some(wrong) = pools.iter().find(|name| !fits_fleet_name(name)) {
            reader.refuse("pools", &format!("{wrong} is not {NAME}"));
        } else if !pools.is_empty() {
            self.pools = pools.into_iter().map(str::to_owned).collect();
        }
        if let Some(rank) = reader.number("rank", 0, 9) {
            self.rank = u8::try_from(rank).unwrap_or(9);
        }
        self.root = reader.text("root").map(|text| paths.resolve(text));
        if let Some(megabytes) = reader.number("disk", 100, 10_000_000) {
            self.disk = megabytes * MEGABYTE;
        }
        let callers = reader.texts("callers").into_iter();
        self.callers = callers.map(str::to_owned).collect();
    }
}
