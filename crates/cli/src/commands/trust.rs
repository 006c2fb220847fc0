//! `trust`: decides whether the files of a project are used, and shows these files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use pi_subagents_configuration::{
    Asker, DEFAULT_AGENT, Ignored, IgnoredReason, Trust, TrustDecision, TrustSource, name,
};
use pi_subagents_pi_files::SettingsFile;
use pi_subagents_vocabulary::{Definition, McpServer, Scope, text};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use pi_subagents_calls::trust_question::{check_extent, commands_of, review_gate_of, setup_of};
use pi_subagents_definition_commands::ask::{self, AtTerminal, Person as _};
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;

#[derive(Args)]
pub(crate) struct TrustArgs {
    /// Show the decision and the contents of the project, without asking
    #[arg(long, conflicts_with_all = ["yes", "no"])]
    show: bool,
    /// Trust the project: use its agents, settings and skills from now on
    #[arg(long, conflicts_with = "no")]
    yes: bool,
    /// Do not trust the project: ignore its agents, settings and skills from now on
    #[arg(long)]
    no: bool,
}

pub(crate) fn run(args: &TrustArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let seen = VisibleAgents::look()?;
    if args.yes || args.no {
        return decide(args.yes, &seen, printer);
    }
    let person = AtTerminal {
        places: &seen.places,
    };
    if args.show || !ask::can_ask(&person, printer) {
        report(&seen, printer);
        return Ok(ExitCode::SUCCESS);
    }
    printer.note(&page(&Carried::look(&seen), &seen));
    let question = format!(
        "Trust {} and use what it contains?",
        seen.places.project.display()
    );
    let is_trusted = seen.trust().of(&seen.places.project).is_trusted();
    match person.yes(&question, is_trusted) {
        Ok(Some(answer)) => decide(answer, &seen, printer),
        Ok(None) => Ok(ask::nothing_written(printer)),
        Err(stopped) => stopped.into_result(printer),
    }
}

fn decide(
    is_trusted: bool,
    seen: &VisibleAgents,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let project = &seen.places.project;
    if is_trusted {
        check_extent(project, &seen.places.home)?;
        check_is_project(&seen.places)?;
    }
    Trust::remember(&seen.places.agent_dir, project, is_trusted)
        .map_err(|error| CommandError::failed("could not save the decision").because(&error))?;
    report(&seen.again(), printer);
    Ok(ExitCode::SUCCESS)
}

fn check_is_project(places: &Places) -> Result<(), CommandError> {
    if places.real_project().is_some() {
        return Ok(());
    }
    Err(CommandError::usage(format!(
        "{} cannot be a project: it is a temporary directory, it belongs to another user, or other users may write to it",
        places.project.display()
    ))
    .hint("Use a directory that belongs to you and that only you may write to (ls -ld shows the owner and the mode)."))
}

fn report(seen: &VisibleAgents, printer: Printer) {
    let carried = Carried::look(seen);
    if printer.is_json() {
        printer.json(&to_json(&carried, seen));
        return;
    }
    printer.data(&page(&carried, seen));
    for warning in carried.other_warnings {
        printer.note(&format!("warning: {warning}"));
    }
}

/// The files of a project that need trust.
struct Carried {
    /// Definitions, with the reasons why some of them would be ignored even after a yes.
    definitions: Vec<(Definition, Option<Ignored>)>,
    /// Our keys in its settings.
    settings: Vec<String>,
    /// The command that its settings run in every new worktree.
    setup: Option<String>,
    /// The command that its settings run before a review takes results.
    review_gate: Option<String>,
    skills: Vec<String>,
    /// Files that only pi loads, and only if the user has told pi itself to trust the project.
    for_pi: Vec<&'static str>,
    /// Warnings about the project's files.
    warnings: Vec<String>,
    /// Warnings about the user's own files.
    other_warnings: Vec<String>,
}

impl Carried {
    fn look(seen: &VisibleAgents) -> Self {
        let project = &seen.places.project;
        let seen = seen.as_if_trusted();
        let skills = seen.skills();
        let in_project = project.display().to_string();
        // A warning begins with the file it is about.
        let (warnings, other_warnings) = seen
            .warnings()
            .into_iter()
            .partition(|warning| warning.starts_with(&in_project));
        Self {
            definitions: definitions(&seen),
            settings: settings(project),
            setup: setup_of(project),
            review_gate: review_gate_of(project),
            skills: skills
                .iter()
                .filter(|skill| skill.file.starts_with(project))
                .map(|skill| skill.name.clone())
                .collect(),
            for_pi: for_pi(project),
            warnings,
            other_warnings,
        }
    }

    fn is_empty(&self) -> bool {
        self.definitions.is_empty()
            && self.settings.is_empty()
            && self.skills.is_empty()
            && self.for_pi.is_empty()
            && self.warnings.is_empty()
    }
}

fn definitions(seen: &VisibleAgents) -> Vec<(Definition, Option<Ignored>)> {
    let effective = seen.catalogue().effective(Asker::Delegation).into_iter();
    let ignored = seen.catalogue().ignored().map(|(one, _)| one);
    let names: BTreeSet<&str> = effective
        .chain(ignored)
        .map(|one| one.name.as_str())
        .collect();
    let all = names.into_iter().flat_map(|name| seen.all_named(name));
    all.filter(|(one, _)| one.scope == Scope::Project)
        .map(|(one, why)| (one.clone(), why.cloned()))
        .collect()
}

/// Returns the places of a project from which pi runs code if pi trusts the project.
fn for_pi(project: &Path) -> Vec<&'static str> {
    let mut found: Vec<&str> = [".pi/extensions", ".pi/mcp.json"]
        .into_iter()
        .filter(|file| project.join(file).exists())
        .collect();
    let settings = SettingsFile::of_project(project).ok();
    for (key, shown) in [
        ("packages", "packages of .pi/settings.json"),
        ("extensions", "extensions of .pi/settings.json"),
    ] {
        if settings
            .as_ref()
            .is_some_and(|file| file.get(key).is_some())
        {
            found.push(shown);
        }
    }
    found
}

fn settings(project: &Path) -> Vec<String> {
    let whole = SettingsFile::of_project(project).ok();
    let ours = whole.as_ref().and_then(|file| file.get("subagents"));
    let ours = ours.and_then(Value::as_object);
    ours.map(|ours| ours.keys().cloned().collect())
        .unwrap_or_default()
}

fn page(carried: &Carried, seen: &VisibleAgents) -> String {
    if carried.is_empty() {
        return empty_page(seen);
    }
    let mut lines = vec![sentence(seen), "It contains:".to_owned()];
    let (foreign, own): (Vec<_>, Vec<_>) = carried
        .definitions
        .iter()
        .partition(|(one, _)| one.dialect.is_foreign());
    let names = own.iter().map(|(one, _)| name(one).len());
    let width = names.max().unwrap_or(0);
    for (definition, ignored) in own {
        let notes = notes(definition, ignored.as_ref(), seen);
        let file = seen.short(&definition.file);
        lines.push(format!(
            "  agent       {:width$}  {file}{notes}",
            name(definition)
        ));
        if ignored.is_none() {
            lines.extend(consequences(definition));
        }
    }
    let foreign = || foreign.iter().map(|(one, _)| one);
    lines.extend(counted(foreign(), seen));
    // Those that run something are not only counted.
    for definition in foreign().filter(|one| !one.mcp_servers.is_empty()) {
        let file = seen.short(&definition.file);
        lines.push(format!("  agent       {}  {file}", name(definition)));
        lines.extend(consequences(definition));
    }
    if !carried.settings.is_empty() {
        lines.push(format!("  settings    {}", carried.settings.join(", ")));
        let commands = carried.setup.iter().chain(&carried.review_gate);
        lines.extend(commands.flat_map(|command| will_run(command)));
    }
    lines.extend(
        carried
            .skills
            .iter()
            .map(|name| format!("  skill       {name}")),
    );
    if !carried.for_pi.is_empty() {
        lines.push(format!(
            "  for pi      {} ({})",
            carried.for_pi.join(", "),
            what_of_pi(seen)
        ));
    }
    lines.extend(
        carried
            .warnings
            .iter()
            .map(|warning| format!("  warning     {warning}")),
    );
    let lines: Vec<String> = lines.iter().map(|line| text::clean(line)).collect();
    lines.join("\n")
}

/// Counts the agents of other tools by folder: there may be hundreds, and few of them run anything.
fn counted<'a>(foreign: impl Iterator<Item = &'a Definition>, seen: &VisibleAgents) -> Vec<String> {
    let mut folders: BTreeMap<(&'static str, PathBuf), usize> = BTreeMap::new();
    let places = seen.definition_places();
    for definition in foreign {
        let product = definition
            .dialect
            .foreign_files()
            .map_or("", |files| files.product);
        let mut known = places.folders.iter().map(|folder| &folder.path);
        let folder = known.find(|folder| definition.file.starts_with(folder));
        let folder = folder.cloned().unwrap_or_default();
        *folders.entry((product, folder)).or_default() += 1;
    }
    let folders = folders.into_iter();
    folders
        .map(|((product, folder), count)| {
            let many = text::count(count, "agent");
            format!("  {many:11} of {product}  {}", seen.short(&folder))
        })
        .collect()
}

/// Returns what a definition does after a yes, beside what its summary says: the place that it
/// takes, and every command that it runs.
fn consequences(definition: &Definition) -> Vec<String> {
    let is_default = definition.name == DEFAULT_AGENT;
    let replaces = is_default
        .then(|| "    replaces  default: every task that names no agent uses it".to_owned());
    let commands = commands_of(definition);
    let commands = commands.flat_map(|command| will_run(&command));
    let servers = definition.mcp_servers.iter();
    let servers = servers.map(|server| format!("    mcp server {server}"));
    replaces
        .into_iter()
        .chain(commands)
        .chain(servers)
        .collect()
}

/// Writes a command in full. A command of several lines keeps them, so that none is overlooked.
fn will_run(command: &str) -> Vec<String> {
    let lines = command.trim_end().lines().enumerate();
    lines
        .map(|(number, line)| match number {
            0 => format!("    will run: {line}"),
            _ => format!("              {line}"),
        })
        .collect()
}

/// Writes the page of a project that contains nothing to decide about.
fn empty_page(seen: &VisibleAgents) -> String {
    let project = &seen.places.project;
    let nothing = "contains no agents, settings or skills";
    match seen.trust().of(project) {
        TrustDecision::Undecided => {
            format!(
                "{} {nothing}, so there is nothing to trust.",
                project.display()
            )
        }
        TrustDecision::Trusted(_) | TrustDecision::Refused(_) => {
            format!("{}\nIt {nothing}.", sentence(seen))
        }
    }
}

/// Returns a sentence about the decision and where it comes from.
pub(super) fn sentence(seen: &VisibleAgents) -> String {
    let project = seen.places.project.display();
    match seen.trust().of(&seen.places.project) {
        TrustDecision::Trusted(source) => format!("{project} is trusted ({}).", origin(&source)),
        TrustDecision::Refused(source) => {
            format!("{project} is not trusted ({}).", origin(&source))
        }
        TrustDecision::Undecided => format!(
            "{project} is not trusted yet; what it contains is ignored until you say yes to \"pi-subagents trust\"."
        ),
    }
}

/// Returns whether pi loads its own files of the project. Our decision does not let them run, so
/// that a yes grants no more than it names.
fn what_of_pi(seen: &VisibleAgents) -> &'static str {
    if seen.trust().lets_pi_load(&seen.places.project) {
        "a pi that works here loads them, because you told pi to trust this project"
    } else {
        "a sub-agent loads them only if you tell pi itself to trust this project"
    }
}

fn origin(source: &TrustSource) -> String {
    match source {
        TrustSource::ThisCall => "for this call".to_owned(),
        TrustSource::Ours(path) => format!("decided with pi-subagents for {}", path.display()),
        TrustSource::Pi(path) => format!("decided with pi for {}", path.display()),
    }
}

/// Returns the risks of a definition, and the reason why it may be ignored even after a yes.
fn notes(definition: &Definition, ignored: Option<&Ignored>, seen: &VisibleAgents) -> String {
    let mut notes = Vec::new();
    if !definition.extensions.is_empty() {
        notes.push(format!("extensions: {}", definition.extensions.join(", ")));
    }
    if !definition.extra_args.is_empty() {
        notes.push(format!("extraArgs: {}", definition.extra_args.join(", ")));
    }
    notes.extend(ignored.map(|ignored| match ignored.reason {
        IgnoredReason::OutsideProject => {
            "is a link to a file outside the project, and stays ignored".to_owned()
        }
        IgnoredReason::Undecided | IgnoredReason::Refused => {
            format!(
                "belongs to the project {}, which has its own decision",
                seen.short(&ignored.project)
            )
        }
    }));
    if notes.is_empty() {
        return String::new();
    }
    format!("  ({})", notes.join("; "))
}

/// The JSON of `trust`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrustResult<'a> {
    project: &'a Path,
    /// `trusted`, `refused` or `undecided`.
    decision: &'static str,
    /// The program that the decision was made with, or `call`.
    decided_with: Option<&'static str>,
    /// The directory that the decision was made for.
    decided_for: Option<PathBuf>,
    /// What of the project needs trust.
    carries: PrintedCarried<'a>,
    /// Warnings about the user's own files.
    warnings: &'a [String],
}

/// The files of a project that need trust.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PrintedCarried<'a> {
    agents: Vec<PrintedDefinition<'a>>,
    /// Our keys in its settings.
    settings: &'a [String],
    /// The command that prepares worktrees.
    worktree_setup: Option<&'a str>,
    /// The command that must pass before a review takes results.
    review_gate: Option<&'a str>,
    skills: &'a [String],
    /// Files that only pi loads.
    for_pi: &'a [&'static str],
    warnings: &'a [String],
}

/// A definition of a project.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PrintedDefinition<'a> {
    name: &'a str,
    /// The format of its file.
    format: &'static str,
    file: &'a Path,
    extensions: &'a [String],
    extra_args: &'a [String],
    /// The program of an agent of others that does its work, with its arguments.
    command: &'a [String],
    /// The commands of its gates.
    gates: Vec<&'a str>,
    /// Its MCP servers by their names. A value may name a key and never holds one.
    mcp_servers: Value,
    /// True if it takes the place of the plain sub-agent.
    replaces_default: bool,
    /// The reason why it is ignored even after a yes: `outsideProject` or `otherProject`.
    ignored_anyway: Option<&'static str>,
}

fn to_json<'a>(carried: &'a Carried, seen: &'a VisibleAgents) -> TrustResult<'a> {
    let (decision, source) = match seen.trust().of(&seen.places.project) {
        TrustDecision::Trusted(source) => ("trusted", Some(source)),
        TrustDecision::Refused(source) => ("refused", Some(source)),
        TrustDecision::Undecided => ("undecided", None),
    };
    let (decided_with, decided_for) = match source {
        None => (None, None),
        Some(TrustSource::ThisCall) => (Some("call"), None),
        Some(TrustSource::Ours(path)) => (Some("pi-subagents"), Some(path)),
        Some(TrustSource::Pi(path)) => (Some("pi"), Some(path)),
    };
    let definitions = carried.definitions.iter();
    TrustResult {
        project: &seen.places.project,
        decision,
        decided_with,
        decided_for,
        carries: PrintedCarried {
            agents: definitions
                .map(|(definition, ignored)| PrintedDefinition::of(definition, ignored.as_ref()))
                .collect(),
            settings: &carried.settings,
            worktree_setup: carried.setup.as_deref(),
            review_gate: carried.review_gate.as_deref(),
            skills: &carried.skills,
            for_pi: &carried.for_pi,
            warnings: &carried.warnings,
        },
        warnings: &carried.other_warnings,
    }
}

impl<'a> PrintedDefinition<'a> {
    fn of(definition: &'a Definition, ignored: Option<&Ignored>) -> Self {
        Self {
            name: &definition.name,
            format: definition.dialect.as_str(),
            file: &definition.file,
            extensions: &definition.extensions,
            extra_args: &definition.extra_args,
            command: &definition.command,
            gates: definition
                .gates
                .iter()
                .map(|gate| gate.command.as_str())
                .collect(),
            mcp_servers: McpServer::write_all(&definition.mcp_servers),
            replaces_default: definition.name == DEFAULT_AGENT,
            ignored_anyway: ignored.map(|ignored| match ignored.reason {
                IgnoredReason::OutsideProject => "outsideProject",
                IgnoredReason::Undecided | IgnoredReason::Refused => "otherProject",
            }),
        }
    }
}
