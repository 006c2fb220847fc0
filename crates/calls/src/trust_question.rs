//! The question whether the files of a project may be used, for every door.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_configuration::{
    Asker, DEFAULT_AGENT, IgnoredReason, RememberError, Settings, Trust, TrustDecision,
};
use pi_subagents_pi_files::SettingsFile;
use pi_subagents_vocabulary::text::clean;
use pi_subagents_vocabulary::{Definition, McpServer};
use serde_json::Value;

use crate::caller::Caller;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// The number of names that a question shows.
const NAMES_SHOWN: usize = 8;

const YES: &str = "Yes, from now on";
const NO: &str = "No, ignore it from now on";
const NOT_NOW: &str = "Not now";

/// A project with files about which nobody has decided.
pub struct TrustQuestion {
    pub project: PathBuf,
    carried: String,
    /// What a yes leads to, beside the use of these files: commands that run, and a definition that
    /// takes the place of the default one.
    consequences: Vec<String>,
    /// The names of its definitions that wait, and of the user's definitions that want a skill of
    /// the project.
    definitions: BTreeSet<String>,
    has_settings: bool,
}

impl TrustQuestion {
    /// Returns the question that waits for a decision, if there is one.
    pub fn about(places: &Places, configuration: &Configuration) -> Option<Self> {
        let project = &places.project;
        if configuration.trust.of(project) != TrustDecision::Undecided {
            return None;
        }
        let skills = configuration.skills_if_trusted(places);
        let theirs: Vec<&Definition> = waiting(configuration, project).collect();
        let wanting = wanting(configuration, &skills);
        let definitions = theirs.iter().copied().chain(wanting);
        let question = Self {
            project: project.clone(),
            definitions: definitions.map(|one| one.name.clone()).collect(),
            has_settings: Settings::project_has_some(project),
            carried: carried(Settings::project_has_some(project), &theirs, &skills),
            consequences: consequences(project, &theirs),
        };
        // Skills that nothing names need no decision.
        (question.has_settings || !question.definitions.is_empty()).then_some(question)
    }

    /// Returns whether a call depends on the answer: it names a definition of the project, or a
    /// definition that wants a skill of the project, or starts something to which the settings of
    /// the project would apply.
    pub fn concerns(&self, arguments: &Value) -> bool {
        let starts_something = arguments
            .as_object()
            .is_some_and(|fields| !fields.is_empty());
        (self.has_settings && starts_something)
            || named_in(arguments).any(|name| self.definitions.contains(name))
    }

    /// Returns whether somebody has decided about the project of a caller already, so that there is
    /// nothing to read the whole configuration for.
    pub fn is_decided(caller: &Caller) -> bool {
        let (trust, _) = Trust::read(&caller.places.agent_dir);
        caller.trusts_project || trust.of(&caller.places.project) != TrustDecision::Undecided
    }

    /// Returns whether a person may decide it with one word. A directory that holds all projects
    /// needs more than that.
    pub fn may_be_asked(&self, places: &Places) -> bool {
        check_extent(&self.project, &places.home).is_ok()
    }

    pub fn message(&self) -> String {
        let project = self.project.display();
        let question = format!("Use {} of {project} for sub-agents?", self.carried);
        let lines = std::iter::once(&question).chain(&self.consequences);
        clean(&lines.map(String::as_str).collect::<Vec<_>>().join("\n"))
    }

    pub fn options() -> Vec<String> {
        [YES, NO, NOT_NOW].map(str::to_owned).into()
    }
}

/// Returns the definitions that a call names, for itself and for each of its tasks.
fn named_in(arguments: &Value) -> impl Iterator<Item = &str> {
    let tasks = arguments.get("tasks").and_then(Value::as_array);
    let tasks = tasks.into_iter().flatten();
    std::iter::once(arguments).chain(tasks).flat_map(|fields| {
        ["profile", "preset", "agent"]
            .into_iter()
            .filter_map(|field| fields.get(field)?.as_str())
    })
}

/// Remembers which option was chosen about a project, and returns whether that decides it.
pub fn remember(
    project: &Path,
    option: Option<&str>,
    places: &Places,
) -> Result<bool, RememberError> {
    let is_trusted = match option {
        Some(YES) => true,
        Some(NO) => false,
        Some(_) | None => return Ok(false),
    };
    Trust::remember(&places.agent_dir, project, is_trusted).map(|()| true)
}

/// Describes everything of the project that a yes lets sub-agents use.
fn carried(has_settings: bool, definitions: &[&Definition], skills: &BTreeSet<String>) -> String {
    let mut names: Vec<String> = definitions.iter().map(|one| named(one)).collect();
    names.dedup();
    let parts = [
        has_settings.then(|| "settings".to_owned()),
        (!names.is_empty()).then(|| format!("agents ({})", some_of(&names))),
        (!skills.is_empty()).then(|| {
            let names: Vec<String> = skills.iter().cloned().collect();
            format!("skills ({})", some_of(&names))
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("the {} and {last}", first.join(", ")),
        few => format!("the {}", few.join("")),
    }
}

/// Describes what a yes leads to: every command in full, and a definition that every task without a
/// named agent would use.
fn consequences(project: &Path, definitions: &[&Definition]) -> Vec<String> {
    let is_default = |one: &&&Definition| one.name == DEFAULT_AGENT;
    let replaces = definitions.iter().find(is_default).map(|_| {
        "It replaces default: every task that names no agent would use the agent of this project.".to_owned()
    });
    let own = definitions.iter().flat_map(|one| commands_of(one));
    let commands = own.chain(setup_of(project)).chain(review_gate_of(project));
    let commands = commands.map(|command| format!("It will run: {command}"));
    let servers = definitions.iter().flat_map(|one| &one.mcp_servers);
    let servers = servers.map(McpServer::consequence);
    replaces
        .into_iter()
        .chain(commands)
        .chain(servers)
        .collect()
}

/// Returns the commands that a definition runs: the program of an agent of others, and its gates.
pub fn commands_of(definition: &Definition) -> impl Iterator<Item = String> {
    let program = (!definition.command.is_empty()).then(|| definition.command.join(" "));
    let gates = definition.gates.iter().map(|gate| gate.command.clone());
    program.into_iter().chain(gates)
}

/// Returns the command that the settings of a project run in every new worktree, if they have one.
pub fn setup_of(project: &Path) -> Option<String> {
    command_of(project, "worktreeSetup")
}

/// Returns the command that the settings of a project run before a review takes results, if they have
/// one.
pub fn review_gate_of(project: &Path) -> Option<String> {
    command_of(project, "reviewGate")
}

fn command_of(project: &Path, key: &str) -> Option<String> {
    let file = SettingsFile::of_project(project).ok()?;
    let command = file.get("subagents")?.get(key)?.as_str()?;
    (!command.trim().is_empty()).then(|| command.to_owned())
}

/// Lists as many names as a person reads, and how many more there are.
fn some_of(names: &[String]) -> String {
    match names.split_at_checked(NAMES_SHOWN) {
        Some((first, rest @ [_, ..])) => format!("{} and {} more", first.join(", "), rest.len()),
        Some(_) | None => names.join(", "),
    }
}

/// Returns the usable definitions that want one of these skills.
fn wanting<'a>(
    configuration: &'a Configuration,
    skills: &BTreeSet<String>,
) -> impl Iterator<Item = &'a Definition> {
    let usable = configuration.catalogue.effective(Asker::Delegation);
    usable.into_iter().filter(|definition| {
        let mut wanted = definition
            .suggested_skills
            .iter()
            .chain(&definition.load_skills);
        wanted.any(|name| skills.contains(name))
    })
}

/// Returns the definitions of a project about which nobody has decided.
fn waiting<'a>(
    configuration: &'a Configuration,
    project: &'a Path,
) -> impl Iterator<Item = &'a Definition> {
    let ignored = configuration.catalogue.ignored();
    ignored
        .filter(move |(_, why)| why.reason == IgnoredReason::Undecided && why.project == project)
        .map(|(definition, _)| definition)
}

/// Names a definition, with the code it would run.
fn named(definition: &Definition) -> String {
    if definition.extensions.is_empty() {
        return definition.name.clone();
    }
    let extensions = definition.extensions.join(", ");
    format!("{}, which loads {extensions}", definition.name)
}

/// Refuses a project that holds the home directory: to trust it would be to trust every repository
/// that is ever put into it.
pub fn check_extent(project: &Path, home: &Path) -> Result<(), CommandError> {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if !real(home).starts_with(real(project)) {
        return Ok(());
    }
    Err(CommandError::usage(format!(
        "trusting {} would trust everything in the home directory",
        project.display()
    ))
    .hint("Run it in the directory of the project itself."))
}
