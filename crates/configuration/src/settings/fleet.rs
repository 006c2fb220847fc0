//! The settings of a fleet: the way to its server, and the defaults of its runs.
//!
//! A project may choose a pool and how much history travels. Everything else would be a way out for
//! the files of the project, so a project that sets it keeps calls from starting.

use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_vocabulary::{
    Place, Priority, SandboxLevel, Scope, WorkspaceChoice, fits_fleet_name,
};

use super::reader::Reader;
use super::sandbox::level;
use super::values::Paths;
use super::{MEGABYTE, Settings};

const FLEET: &str = "fleet";

/// The keys that a project may set.
const OF_PROJECT: [&str; 2] = ["pool", "history"];

/// The fleet of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetSettings {
    /// The addresses of its servers; if there are none, there is no fleet.
    pub servers: Vec<String>,
    /// The file with the seed of the user's key.
    pub nkey: Option<PathBuf>,
    /// The file with the certificates that the servers are checked against.
    pub ca: Option<PathBuf>,
    /// The word with which all subjects begin.
    pub prefix: String,
    /// The place where a call works if it names none.
    pub on: Place,
    /// The pool of calls that name none.
    pub pool: String,
    /// The priority of calls that name none.
    pub priority: Priority,
    /// The number of times that a run is begun again after its worker was lost, at most 10.
    pub retries: u32,
    /// The way in which the files of a project get to a worker.
    pub workspace: WorkspaceChoice,
    /// The number of commits that travel with a project, 1 to 10,000.
    pub history: u32,
    /// The ignored files that are sent all the same, as patterns of a `.gitignore`.
    pub include: Vec<String>,
    /// The largest number of bytes of such files together.
    pub max_include: u64,
    /// The largest number of bytes of a project that travel.
    pub max_upload: u64,
    /// The time for which a foreground call may be silent before its runs are stopped, 5 to 600 s.
    pub caller_lease: Duration,
    /// The least sandbox of every run that this machine does as a worker.
    pub sandbox_minimum: SandboxLevel,
    /// The time for which runs are followed while the servers are away, 5 s to a day.
    pub patience: Duration,
}

impl Default for FleetSettings {
    fn default() -> Self {
        Self {
            servers: Vec::new(),
            nkey: None,
            ca: None,
            prefix: "pi".to_owned(),
            on: Place::Local,
            pool: "default".to_owned(),
            priority: Priority::Normal,
            retries: 1,
            workspace: WorkspaceChoice::Bundle,
            history: 50,
            include: Vec::new(),
            max_include: 50 * MEGABYTE,
            max_upload: 500 * MEGABYTE,
            caller_lease: Duration::from_mins(1),
            sandbox_minimum: SandboxLevel::Off,
            patience: Duration::from_mins(15),
        }
    }
}

impl FleetSettings {
    /// Returns whether a fleet is configured.
    pub fn is_configured(&self) -> bool {
        !self.servers.is_empty()
    }
}

impl Settings {
    /// Takes the fleet of a file. Returns why the file of a project cannot be used.
    pub(super) fn take_fleet(&mut self, reader: &mut Reader<'_>, paths: &Paths<'_>) -> Vec<String> {
        let mut broken = Vec::new();
        reader.object(FLEET, |reader| match paths.scope {
            Scope::Global => self.fleet.take(reader, paths),
            Scope::Project => {
                self.fleet.take_of_project(reader);
                let others = reader.keys().filter(|key| !OF_PROJECT.contains(key));
                let others = others.map(|key| {
                    format!(
                        "{}: a project may set only pool and history of a fleet; the rest belongs into your own settings",
                        reader.named(key)
                    )
                });
                broken.extend(others);
                reader.leave_all();
            }
        });
        broken
    }
}

impl FleetSettings {
    fn take(&mut self, reader: &mut Reader<'_>, paths: &Paths<'_>) {
        self.take_of_project(reader);
        self.take_connection(reader, paths);
        if let Some(place) = reader.parsed("on", "local, fleet or fleet:POOL", Place::from_word) {
            self.on = place;
        }
        if let Some(minimum) = level(reader, "sandboxMinimum") {
            self.sandbox_minimum = minimum;
        }
        let priorities = Priority::ALL.map(|priority| (priority.as_str(), priority));
        if let Some(priority) = reader.choice("priority", &priorities) {
            self.priority = priority;
        }
        let workspaces = WorkspaceChoice::ALL.map(|choice| (choice.as_str(), choice));
        if let Some(choice) = reader.choice("workspace", &workspaces) {
            self.workspace = choice;
        }
        if let Some(count) = reader.number("retries", 0, 10) {
            self.retries = u32::try_from(count).unwrap_or(u32::MAX);
        }
        let include = reader.texts("include").into_iter();
        self.include = include.map(str::to_owned).collect();
        if let Some(megabytes) = reader.number("maxInclude", 1, 100_000) {
            self.max_include = megabytes * MEGABYTE;
        }
        if let Some(megabytes) = reader.number("maxUpload", 1, 100_000) {
            self.max_upload = megabytes * MEGABYTE;
        }
        if let Some(seconds) = reader.number("callerLease", 5, 600) {
            self.caller_lease = Duration::from_secs(seconds);
        }
        if let Some(seconds) = reader.number("patience", 5, 86_400) {
            self.patience = Duration::from_secs(seconds);
        }
    }

    fn take_connection(&mut self, reader: &mut Reader<'_>, paths: &Paths<'_>) {
        self.servers = reader
            .texts("servers")
            .into_iter()
            .map(str::to_owned)
            .collect();
        self.nkey = reader.text("nkey").map(|text| paths.resolve(text));
        self.ca = reader.text("ca").map(|text| paths.resolve(text));
        if let Some(prefix) = reader.parsed("prefix", NAME, fleet_name) {
            self.prefix = prefix;
        }
    }

    fn take_of_project(&mut self, reader: &mut Reader<'_>) {
        if let Some(pool) = reader.parsed("pool", NAME, fleet_name) {
            self.pool = pool;
        }
        if let Some(count) = reader.number("history", 1, 10_000) {
            self.history = u32::try_from(count).unwrap_or(u32::MAX);
        }
    }
}

/// The description of a valid name of a pool or a worker, for the error about an invalid one.
pub(super) const NAME: &str = "a name of letters, digits, - and _";

/// Reads the name of a pool or a worker, or the word with which subjects begin.
pub(super) fn fleet_name(text: &str) -> Option<String> {
    fits_fleet_name(text).then(|| text.to_owned())
}
