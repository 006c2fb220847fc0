//! Looks at what is on this machine. It writes nothing; the only requests go to the usual model servers
//! of this machine.

use std::path::{Path, PathBuf};

use pi_subagents_agent::{
    DefaultModel, KeyPlace, ModelCatalogue, Surroundings, local_model_servers, model_overview,
};
use pi_subagents_calls::runner::find_other_agent;
use pi_subagents_confine::SandboxTrial;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_definition_commands::{ReadyMadeCopy, ready_made_copies};
use pi_subagents_ground::places::Places;
use pi_subagents_ground::sandbox_trial::unkept_sandbox_trial;
use pi_subagents_pi_files::{installed_pi, is_program, on_path};
use pi_subagents_vocabulary::{OtherAgent, SandboxLevel};

use super::client::McpClient;
use super::file_state::FileState;
use super::pi_install::PiInstall;
use super::shell_file::{ShellDirectories, completion_file};
use crate::commands::doctor::{installed_package, is_same_file, listed_keys};
use crate::completion::Shell;

/// What was found.
pub(super) struct Survey {
    pub(super) home: PathBuf,
    /// The providers with keys and the places of the keys, in one line; never a key.
    pub(super) keys: String,
    /// A sentence for each model server that answers on this machine.
    pub(super) servers: Vec<String>,
    pub(super) model: FoundModel,
    pub(super) settings: FoundFile,
    pub(super) sandbox: FoundSandbox,
    pub(super) pi: FoundPiProgram,
    pub(super) clients: Vec<FoundClient>,
    /// The command with which a client starts us.
    pub(super) command: String,
    pub(super) completions: Option<FoundShell>,
    pub(super) agents: Vec<ReadyMadeCopy>,
}

/// The model that a run without a model asks.
pub(super) enum FoundModel {
    None,
    /// The settings name it.
    Named(String),
    /// It follows from what there is. The variable holds its key, if one does.
    Found {
        model: DefaultModel,
        variable: Option<String>,
    },
}

/// The sandboxes of this machine, and the wish of the user.
pub(super) struct FoundSandbox {
    pub(super) trial: SandboxTrial,
    /// The level that the settings name for all runs.
    pub(super) level: Option<SandboxLevel>,
}

pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    pub(super) state: FileState,
}

pub(super) enum FoundPiProgram {
    None,
    /// Pi has our package already.
    WithPackage(PathBuf),
    WithoutPackage(PiInstall),
}

pub(super) struct FoundClient {
    pub(super) client: McpClient,
    pub(super) program: Option<PathBuf>,
    /// The runner with which it can do the work of runs.
    pub(super) runner: Option<OtherAgent>,
    /// True if its program, its directory or its file is there.
    pub(super) is_there: bool,
    pub(super) file: FoundFile,
}

pub(super) struct FoundShell {
    pub(super) shell: Shell,
    pub(super) file: FoundFile,
}

impl Survey {
    /// Looks at everything.
    pub(super) fn take(seen: &VisibleAgents) -> Self {
        let places = &seen.places;
        let surroundings = Surroundings::from(places);
        let overview = model_overview(&surroundings);
        let variable_of = |provider: &str| {
            let found = overview.usable.iter().find(|one| one.name == provider)?;
            match &found.key {
                KeyPlace::Variable(name) => Some(name.clone()),
                KeyPlace::File(_) | KeyPlace::Login(_) | KeyPlace::Command(_) | KeyPlace::None => {
                    None
                }
            }
        };
        let named = seen.configuration().settings.default_model.clone();
        let model = match named {
            Some(name) => FoundModel::Named(name),
            None => match ModelCatalogue::read(surroundings).default_model() {
                None => FoundModel::None,
                Some(model) => FoundModel::Found {
                    variable: variable_of(&model.provider),
                    model,
                },
            },
        };
        Self {
            home: places.home.clone(),
            keys: listed_keys(&overview.usable, seen),
            servers: local_model_servers(),
            model,
            settings: found_file(settings_file(places), places),
            sandbox: FoundSandbox {
                trial: unkept_sandbox_trial(places),
                level: seen.settings().sandbox.wish.level,
            },
            pi: pi_program(seen),
            clients: McpClient::ALL
                .map(|client| find_client(client, seen))
                .into(),
            command: own_command(places),
            completions: find_shell(places),
            agents: ready_made_copies(seen),
        }
    }

    /// Looks at the settings again, which one proposal after another may change.
    pub(super) fn look_at_settings(&mut self, places: &Places) {
        self.settings = found_file(settings_file(places), places);
    }
}

/// Returns the settings of the user.
fn settings_file(places: &Places) -> PathBuf {
    places.agent_dir.join("settings.json")
}

fn found_file(path: PathBuf, places: &Places) -> FoundFile {
    FoundFile {
        state: FileState::of(&path, &places.home),
        path,
    }
}

fn search(program: &str, places: &Places) -> Option<PathBuf> {
    on_path(program, places.variable("PATH").unwrap_or_default())
}

/// Returns the directory that a client's variable names.
fn named_directory(client: McpClient, places: &Places) -> Option<PathBuf> {
    let named = client.variable().and_then(|name| places.variable(name));
    named.map(|named| places.cwd.join(named))
}

/// Returns the files in which a client looks for servers.
pub(in crate::commands) fn client_files(client: McpClient, places: &Places) -> Vec<PathBuf> {
    client.files(&places.home, named_directory(client, places).as_deref())
}

fn find_client(client: McpClient, seen: &VisibleAgents) -> FoundClient {
    let places = &seen.places;
    let runners = &seen.configuration().settings.runners;
    let runner = client.other_agent();
    let can_work = find_other_agent(runner, runners, places).is_ok();
    let named = named_directory(client, places);
    let files = client_files(client, places);
    let existing = files.iter().find(|file| file.symlink_metadata().is_ok());
    let file = existing.or(files.first()).cloned().unwrap_or_default();
    let program = search(client.program(), places);
    let directory = client.directory(&places.home, named.as_deref());
    FoundClient {
        client,
        is_there: program.is_some() || existing.is_some() || directory.is_dir(),
        program,
        runner: can_work.then_some(runner),
        file: found_file(file, places),
    }
}

fn pi_program(seen: &VisibleAgents) -> FoundPiProgram {
    let places = &seen.places;
    let named = places.variable("PI_SUBAGENTS_PI");
    let path = places.variable("PATH").unwrap_or_default();
    let pi = installed_pi(named, &places.cwd, path).filter(|pi| is_program(pi));
    match pi {
        None => FoundPiProgram::None,
        Some(pi) if installed_package(places).is_some() => FoundPiProgram::WithPackage(pi),
        Some(pi) => FoundPiProgram::WithoutPackage(PiInstall::new(pi, &places.program)),
    }
}

/// Returns our name if the search path leads to this program, else its whole path.
fn own_command(places: &Places) -> String {
    let found = search("pi-subagents", places);
    if found.is_some_and(|found| is_same_file(&found, &places.program)) {
        "pi-subagents".to_owned()
    } else {
        places.program.display().to_string()
    }
}

fn find_shell(places: &Places) -> Option<FoundShell> {
    let name = Path::new(places.variable("SHELL")?).file_name()?;
    let shell = Shell::from_name(name.to_str()?)?;
    let directories = ShellDirectories {
        home: &places.home,
        configuration: places.variable("XDG_CONFIG_HOME").map(Path::new),
        shared: places.variable("XDG_DATA_HOME").map(Path::new),
    };
    let path = completion_file(shell, &directories);
    Some(FoundShell {
        shell,
        file: found_file(path, places),
    })
}
