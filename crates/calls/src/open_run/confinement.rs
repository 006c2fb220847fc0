//! What the sandbox of a task means on this machine: which places are writable, hidden and visible,
//! and which host its model has.

use std::fs;
use std::path::{Path, PathBuf};

use super::private_agent_directory::PrivateAgentDirectory;
use pi_subagents_agent::{ModelRoute, RoutedAgent, Surroundings, model_route};
use pi_subagents_files::{append_own, create_directories, is_protected, read_own_text};
use pi_subagents_ground::places::Places;
use pi_subagents_vocabulary::{
    Confinement, McpServer, ModelChoice, NetworkHost, Program, Refusal, Runner, Sandbox, Secret,
    ServerReach, SessionPolicy, Work, hidden_paths, is_for_us_alone,
};

/// The compiled code of a pi, which Node keeps among the temporary files. A pi that cannot read it
/// starts in twice the time. Whoever writes there chooses what the pi executes.
const COMPILE_CACHE: &str = "/tmp/node-compile-cache";

/// Returns whether a directory is one in which nobody but this user and root can have put anything.
/// In a directory for all users, somebody else may have been the first to make it, or a link.
fn is_only_ours(directory: &Path) -> bool {
    directory.symlink_metadata().is_ok_and(|it| it.is_dir())
        && is_protected(directory).unwrap_or(false)
}

/// Returns the host and port of a server at an address that names both.
fn host_of(server: &McpServer) -> Option<NetworkHost> {
    let ServerReach::Address { url, .. } = &server.reach else {
        return None;
    };
    let (_, rest) = url.split_once("://")?;
    NetworkHost::parse(rest.split('/').next()?).ok()
}

/// Longer lists of borrowed objects git does not write.
const LONGEST_LIST: u64 = 1 << 20;

/// The directory in a run's directory that its child may write.
pub(super) const CHILD_DIRECTORY: &str = "child";

/// A child whose sandbox is being planned.
pub(super) struct ConfinedTask<'a> {
    pub(super) work: &'a Work,
    pub(super) runner: Runner,
    pub(super) program: &'a Program,
    pub(super) session: &'a SessionPolicy,
    /// The key of its definition, if it has one: then no other key is handed over.
    pub(super) given_key: Option<&'a Secret>,
    pub(super) cwd: &'a Path,
    /// The directory of the run.
    pub(super) directory: Option<&'a Path>,
    /// Files that the child reads, wherever they are.
    pub(super) read: &'a [PathBuf],
    /// Servers with functions of the calling program, which the child itself asks.
    pub(super) host_servers: &'a [McpServer],
    /// Files that are not for it: of other runs, and the key of the fleet.
    pub(super) others: &'a [PathBuf],
}

/// A planned sandbox, and the key that its child cannot look for itself.
pub(super) struct PlannedSandbox {
    pub(super) confinement: Confinement,
    pub(super) key: Option<Secret>,
    /// Its provider and its model: the child, which sees fewer keys, might choose another one.
    pub(super) model: Option<(String, String)>,
}

impl ConfinedTask<'_> {
    /// Plans the sandbox; `None` if the task has none.
    pub(super) fn plan(&self, places: &Places) -> Option<Result<PlannedSandbox, Refusal>> {
        let sandbox = &self.work.sandbox;
        if sandbox.is_off() {
            return None;
        }
        let refuse = |why: String| Refusal {
            message: format!("The sandbox ({sandbox}) could not be made: {why} Nothing was run."),
        };
        Some(self.confine(sandbox, places).map_err(refuse))
    }

    fn confine(&self, sandbox: &Sandbox, places: &Places) -> Result<PlannedSandbox, String> {
        let directory = self.directory.ok_or("the run has no directory.")?;
        let route = self.route(places);
        // With the network of this machine nobody has to know the host.
        let route = match route {
            Err(_) if sandbox.network.is_full() => None,
            route => Some(route?),
        };
        let private = self.private_agent_directory(places, directory, route.as_ref())?;
        let mut writable = self.own_places(directory)?;
        writable.push(private.clone());
        let absolute = |paths: &[String]| -> Vec<PathBuf> {
            let paths = paths.iter();
            paths
                .filter_map(|path| Sandbox::absolute(path, &places.home))
                .collect()
        };
        let runtime = places.variable("XDG_RUNTIME_DIR").map(PathBuf::from);
        let mut hidden = hidden_paths(sandbox, &places.home, &places.agent_dir, runtime.as_deref());
        // All other runs.
        hidden.extend(directory.parent().map(Path::to_owned));
        hidden.push(places.sockets.clone());
        hidden.extend(self.own_files_of(&places.agent_dir, directory));
        hidden.extend(self.others.iter().cloned());
        let mut visible = vec![directory.to_owned(), self.program.path.clone()];
        // Without it a search in the project finds the record of the search.
        visible.extend(directory.parent().map(|runs| runs.join(".gitignore")));
        visible.push(places.program.clone());
        visible.extend(self.program.arguments.iter().map(PathBuf::from));
        visible.extend(self.read.iter().cloned());
        visible.extend(absolute(&sandbox.readable));
        visible.extend(self.own_among_others());
        visible.extend(route.iter().filter_map(|route| route.script.clone()));
        if self.runner.loads_extensions() && is_only_ours(Path::new(COMPILE_CACHE)) {
            visible.push(PathBuf::from(COMPILE_CACHE));
        }
        visible.retain(|path| path.is_absolute());
        Ok(PlannedSandbox {
            confinement: Confinement {
                home: places.home.clone(),
                agent_directory: places.agent_dir.clone(),
                writable,
                private_agent_directory: Some(private),
                widened: absolute(&sandbox.writable),
                hidden,
                visible,
                overlays: self.overlays(),
                model_hosts: route
                    .iter()
                    .filter_map(|route| route.host.clone())
                    .chain(self.host_servers.iter().filter_map(host_of))
                    .collect(),
            },
            key: route.as_ref().and_then(|route| route.key.clone()),
            model: route.map(|route| (route.provider, route.model)),
        })
    }

    fn private_agent_directory(
        &self,
        places: &Places,
        run: &Path,
        route: Option<&ModelRoute>,
    ) -> Result<PathBuf, String> {
        let needs_shell = !self.runner.confines_its_shell();
        let private = PrivateAgentDirectory {
            real: &places.agent_dir,
            run,
            provider: route.map(|route| route.provider.as_str()),
            key: self
                .given_key
                .or_else(|| route.and_then(|route| route.key.as_ref())),
            shell_through: needs_shell.then_some(places.program.as_path()),
        };
        let failed = |error| format!("its agent directory could not be made: {error}.");
        private.make().map_err(failed)
    }

    /// Returns our own entries of the agent directory, without the one in which the child works: on a
    /// worker of a fleet all runs lie there, and the others are hidden one by one.
    fn own_files_of(&self, agent_dir: &Path, run: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(agent_dir).into_iter().flatten().flatten();
        let ours = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_for_us_alone));
        let is_above = |entry: &PathBuf| {
            let entry = entry.canonicalize();
            entry.is_ok_and(|entry| {
                let mut own = [self.cwd, run].into_iter();
                own.any(|own| own.canonicalize().is_ok_and(|own| own.starts_with(&entry)))
            })
        };
        ours.map(|entry| entry.path())
            .filter(|path| !is_above(path))
            .collect()
    }

    /// Returns the directory in which a pi makes locks beside the settings of the project. It ignores
    /// these settings if it cannot.
    fn overlays(&self) -> Vec<PathBuf> {
        let project = self.cwd.join(".pi");
        let needs_locks = !self.runner.confines_its_shell() && project.is_dir();
        needs_locks.then_some(project).into_iter().collect()
    }

    /// Returns its own directories among those of other runs: the one in which it works, and the
    /// repository from which its own borrows objects.
    fn own_among_others(&self) -> Vec<PathBuf> {
        let Ok(cwd) = self.cwd.canonicalize() else {
            return Vec::new();
        };
        let is_there = |other: &PathBuf| other.canonicalize().is_ok_and(|it| cwd.starts_with(it));
        if !self.others.iter().any(is_there) {
            return Vec::new();
        }
        let mut above = cwd.ancestors();
        let borrowed = above.find_map(|above| {
            let list = above.join(".git/objects/info/alternates");
            read_own_text(&list, LONGEST_LIST).ok()
        });
        let borrowed = borrowed.unwrap_or_default();
        let borrowed = borrowed.lines().map(PathBuf::from);
        borrowed.chain([cwd.clone()]).collect()
    }

    fn route(&self, places: &Places) -> Result<ModelRoute, String> {
        let (provider, model) = match &self.work.model {
            ModelChoice::Named {
                provider, model, ..
            } => (provider.as_deref(), model.as_deref()),
            ModelChoice::Inherit => (None, None),
        };
        let agent = RoutedAgent {
            provider,
            model,
            cwd: self.cwd,
            session: self.session.file(),
            trusted: self.work.trusted,
        };
        model_route(agent, &Surroundings::from(places))
    }

    /// Makes the places that the child may write whatever its level is: a directory in that of its
    /// run, and the file of its session. Whoever may write the whole directory of a run can forge
    /// its record.
    fn own_places(&self, directory: &Path) -> Result<Vec<PathBuf>, String> {
        let failed = |path: &Path, error: &dyn std::fmt::Display| {
            format!("{} could not be made: {error}.", path.display())
        };
        let own = directory.join(CHILD_DIRECTORY);
        create_directories(&own).map_err(|error| failed(&own, &error))?;
        let mut places = vec![own];
        if let Some(file) = self.session.file() {
            if let Some(parent) = file.parent() {
                create_directories(parent).map_err(|error| failed(parent, &error))?;
            }
            append_own(file).map_err(|error| failed(file, &error))?;
            places.push(file.to_owned());
        }
        Ok(places)
    }
}
