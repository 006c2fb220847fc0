//! `profile explain`: shows where each field comes from, which values it hides, and how children
//! start. The definition is the one that `run` takes.

use std::path::Path;
use std::process::ExitCode;

use pi_subagents_agent::{ModelCatalogue, Surroundings};
use pi_subagents_calls::ForeignModel;
use pi_subagents_calls::resolve::ReadingRun;
use pi_subagents_configuration::{
    Explanation, Row, ToolFacts, check_paths, explain, model_of, tools_of,
};
use pi_subagents_vocabulary::text::{self, shell_quoted};
use pi_subagents_vocabulary::{Definition, Field, McpServer, Runner, ToolPolicy, TranslationNote};

use super::choose;
use super::doubts::ModelDoubts;
use super::results::{
    ExplainResult, ExplainedChild, ExplainedField, ExplainedNote, IgnoredFile, ShadowedField,
};
use super::visible_agents::VisibleAgents;
use pi_subagents_calls::families::{delegation, subagent};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

/// The number of columns of a value that are shown.
const WIDEST_VALUE: usize = 48;

pub(crate) fn run(
    name: &str,
    seen: &VisibleAgents,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let found = choose::for_run(name, seen)?;
    let mut explanation = explain(seen.catalogue(), name, subagent::ASKER, seen.skills())
        .map_err(|unknown| CommandError::not_found(unknown.to_string()))?;
    let doubt = ModelDoubts::of(seen).about(found.definition);
    explanation.warnings.extend(doubt);
    explain_model(&mut explanation, found.definition, seen);
    let paths = check_paths(found.definition, &seen.places.cwd, &seen.places.home);
    explanation
        .problems
        .extend(paths.err().map(|invalid| invalid.to_string()));
    if printer.is_json() {
        let delegated = delegated(name, seen);
        printer.json(&to_json(&explanation, delegated, seen));
    } else {
        printer.data(&page(&explanation, found.definition, seen));
        for notice in seen.notices() {
            printer.note(&notice);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds the model that a name in the file of another tool leads to.
fn explain_model(explanation: &mut Explanation, definition: &Definition, seen: &VisibleAgents) {
    let Some(written) = definition
        .model
        .as_ref()
        .filter(|_| definition.dialect.is_foreign())
    else {
        return;
    };
    let models = ModelCatalogue::read(Surroundings::from(&seen.places));
    let aliases = &seen.configuration().settings.model_aliases;
    let model = ForeignModel::of(definition, aliases, &models);
    let reason = model.reason(written);
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    let name = match &model {
        ForeignModel::Inherited(_) => "the caller's or the default model",
        ForeignModel::Named(model, _) => model,
        ForeignModel::Missing => "none",
    };
    let key = definition.key(Field::Model);
    for row in explanation.rows.iter_mut().filter(|row| row.key == key) {
        let written = row.written.take().unwrap_or_else(|| row.value.clone());
        let is_same = written == name && reason.is_empty();
        row.written = (!is_same).then_some(written);
        row.value = format!("{name}{reason}");
    }
}

fn title(explanation: &Explanation, definition: &Definition, seen: &VisibleAgents) -> String {
    let name = &explanation.name;
    if definition.is_built_in() {
        return format!("{name} (built in): a plain sub-agent that needs no file");
    }
    let (dialect, scope) = (explanation.dialect.as_str(), explanation.scope.as_str());
    let file = seen.short(&explanation.file);
    format!("{name} ({dialect}, {scope}) {file}")
}

/// Returns the definition that `delegate --agent` takes.
fn delegated<'a>(name: &str, seen: &'a VisibleAgents) -> Option<&'a Definition> {
    let found = seen.catalogue().find(name, delegation::ASKER).ok()?;
    Some(found.definition)
}

pub(super) fn page(
    explanation: &Explanation,
    definition: &Definition,
    seen: &VisibleAgents,
) -> String {
    let mut lines = vec![title(explanation, definition, seen)];
    let delegated = delegated(&explanation.name, seen);
    if let Some(other) = delegated.filter(|other| other.file != explanation.file) {
        let (name, file) = (&other.name, seen.short(&other.file));
        lines.push(format!(
            "  for run and spawn; delegate --agent {name} takes {file}"
        ));
    }
    lines.extend(rows(explanation, seen));
    section(&mut lines, &notes_title(definition), notes(explanation));
    let short = |path: &Path| seen.short(path);
    let shadowed = explanation.shadowed.iter().map(|file| short(file));
    section(&mut lines, "Shadowed:", shadowed);
    let ignored = explanation
        .ignored
        .iter()
        .map(|(file, ignored)| format!("{} ({})", short(file), why(ignored.reason)));
    section(&mut lines, "Ignored:", ignored);
    section(
        &mut lines,
        "Warnings:",
        explanation.warnings.iter().cloned(),
    );
    section(
        &mut lines,
        "Cannot be used:",
        explanation.problems.iter().cloned(),
    );
    let sandbox = sandbox(definition, seen);
    let sandbox = sandbox.unwrap_or_else(|why| Some(format!("refused: {why}")));
    section(&mut lines, "Sandbox of its runs:", sandbox.into_iter());
    let children = explanation.children.iter().map(|(runner, arguments)| {
        let shown = match arguments {
            Ok(arguments) if arguments.is_empty() => "its defaults only".to_owned(),
            Ok(arguments) => {
                let words: Vec<String> = arguments.iter().map(|one| shell_quoted(one)).collect();
                words.join(" ")
            }
            Err(reason) => format!("refused: {reason}"),
        };
        format!("{:8}  {shown}", runner.as_str())
    });
    // A row shows the beginning of a value, and a command must be read in full.
    section(
        &mut lines,
        "Its MCP servers:",
        definition.mcp_servers.iter().map(McpServer::consequence),
    );
    section(
        &mut lines,
        "Children are started with (RUN is the directory of the run):",
        children.chain(besides(definition)),
    );
    lines.join("\n")
}

fn notes_title(definition: &Definition) -> String {
    let product = definition
        .dialect
        .foreign_files()
        .map_or("", |files| files.product);
    format!("Not as in {product}:")
}

/// Returns a line for each part of another tool's file that means something else here, or nothing.
fn notes(explanation: &Explanation) -> impl Iterator<Item = String> {
    let notes = explanation.notes.iter();
    notes.map(|note| {
        format!(
            "line {:<3} {:8}  {}",
            note.line,
            note.kind.as_str(),
            note.sentence()
        )
    })
}

/// Describes the sandbox of its runs, if the agent, its tools or the settings give them one; also why
/// its tools do not.
fn sandbox(definition: &Definition, seen: &VisibleAgents) -> Result<Option<String>, String> {
    let settings = &seen.settings().sandbox;
    let surroundings = ToolFacts {
        runner: runner_of(definition, seen),
        parent: None,
    };
    // What is wrong with its tools stands on the page already.
    let tools = tools_of(definition, &surroundings).map(|given| given.policy);
    let tools = tools.unwrap_or(ToolPolicy::Inherit);
    let model = model_of(definition);
    let reading = ReadingRun {
        tools: &tools,
        runner: surroundings.runner,
        model: &model,
        fallback_models: &definition.fallback_models,
        mcp_servers: &definition.mcp_servers,
        gates: &definition.gates,
        setup: None,
        cwd: &seen.places.cwd,
        trusted: false,
    };
    let decided = settings.of_definition(definition, reading.level())?;
    if decided.is_by_tools {
        return Ok(Some(match reading.obstacle(&seen.places) {
            None => format!(
                "{}, network {}, because its tools only read",
                decided.level, decided.network
            ),
            Some(why) => format!("off, although its tools only read: {why}"),
        }));
    }
    let level = Some(decided.level).filter(|level| !level.is_off());
    Ok(level.map(|level| format!("{level}, network {}", decided.network)))
}

/// Returns the usual kind of child of its runs.
fn runner_of(definition: &Definition, seen: &VisibleAgents) -> Runner {
    let choice = definition.runner.unwrap_or(seen.settings().runner);
    choice.usual()
}

/// Lists the parts that children get in other ways than as arguments.
fn besides(definition: &Definition) -> impl Iterator<Item = String> {
    let key = definition
        .api_key
        .is_some()
        .then(|| "both      the key, on a descriptor".to_owned());
    let report = definition
        .finalize
        .then(|| "both      the tool subagent_finalize, with which a run must report".to_owned());
    key.into_iter().chain(report)
}

fn section(lines: &mut Vec<String>, title: &str, items: impl Iterator<Item = String>) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        lines.push(String::new());
        lines.push(title.to_owned());
        lines.extend(items.map(|item| format!("  {}", text::clean(&item))));
    }
}

fn rows(explanation: &Explanation, seen: &VisibleAgents) -> Vec<String> {
    let values: Vec<String> = explanation.rows.iter().map(shown_value).collect();
    let keys = explanation.rows.iter().map(|row| row.key.len());
    let key_width = keys.max().unwrap_or(0);
    let widths = values.iter().map(|value| text::columns(value));
    let value_width = widths.max().unwrap_or(0);
    let row = |(row, value): (&Row, &String)| {
        let origin = row.line.map_or_else(
            || "default".to_owned(),
            |line| format!("{}:{line}", seen.short(&explanation.file)),
        );
        let space = " ".repeat(value_width - text::columns(value));
        let first = format!("  {:key_width$}  {value}{space}  {origin}", row.key);
        let hidden = row.shadows.iter().map(|hidden| {
            let value = one_line(&hidden.value);
            let line = hidden.line.map_or(String::new(), |line| format!(":{line}"));
            let file = seen.short(&hidden.file);
            format!("  {:key_width$}  shadows {value} of {file}{line}", "")
        });
        std::iter::once(first).chain(hidden).collect::<Vec<_>>()
    };
    explanation.rows.iter().zip(&values).flat_map(row).collect()
}

/// Returns the value of a row, behind the value in the file if that is another.
fn shown_value(row: &Row) -> String {
    let value = match row.value.as_str() {
        "" => "not set".to_owned(),
        value => one_line(value),
    };
    match &row.written {
        Some(written) => format!("{} → {value}", one_line(written)),
        None => value,
    }
}

/// Returns the beginning of a value; `profile show` prints all of it.
fn one_line(value: &str) -> String {
    let mut lines = value.lines();
    let first = text::clean(lines.next().unwrap_or_default());
    let cut = text::cut_columns(&first, WIDEST_VALUE);
    match lines.count() {
        0 => cut,
        more => format!("{cut} (+{})", text::count(more, "line")),
    }
}

fn why(reason: pi_subagents_configuration::IgnoredReason) -> &'static str {
    use pi_subagents_configuration::IgnoredReason;
    match reason {
        IgnoredReason::Undecided => "its project is not trusted yet",
        IgnoredReason::Refused => "its project is not trusted",
        IgnoredReason::OutsideProject => "it is a link to a file outside its project",
    }
}

fn to_json(
    explanation: &Explanation,
    delegated: Option<&Definition>,
    seen: &VisibleAgents,
) -> ExplainResult {
    let children = explanation
        .children
        .iter()
        .map(|(runner, arguments)| ExplainedChild {
            runner: runner.as_str(),
            arguments: arguments.clone().ok(),
            refused: arguments.clone().err(),
        });
    let ignored = explanation.ignored.iter();
    let rows = explanation.rows.iter();
    ExplainResult {
        name: explanation.name.clone(),
        format: explanation.dialect.as_str(),
        scope: explanation.scope.as_str(),
        file: explanation.file.clone(),
        delegate_file: delegated.map(|definition| definition.file.clone()),
        notes: explanation.notes.iter().map(ExplainedNote::of).collect(),
        fields: rows.map(|row| explained(row, &explanation.file)).collect(),
        shadowed: explanation.shadowed.clone(),
        ignored: ignored
            .map(|(file, ignored)| IgnoredFile::new(file, ignored))
            .collect(),
        problems: explanation.problems.clone(),
        warnings: explanation.warnings.clone(),
        sandbox: definition_sandbox(explanation, seen),
        notices: seen.notices(),
        children: children.collect(),
    }
}

impl ExplainedNote {
    fn of(note: &TranslationNote) -> Self {
        Self {
            line: note.line,
            kind: note.kind.as_str(),
            subject: note.subject.clone(),
            reason: note.reason.clone(),
        }
    }
}

/// Returns the sandbox of the runs of an agent, for programs.
fn definition_sandbox(explanation: &Explanation, seen: &VisibleAgents) -> Option<String> {
    let found = choose::for_run(&explanation.name, seen).ok()?;
    sandbox(found.definition, seen).ok()?
}

fn explained(row: &Row, file: &Path) -> ExplainedField {
    let shadows = row.shadows.iter().map(|hidden| ShadowedField {
        file: hidden.file.clone(),
        line: hidden.line,
        value: hidden.value.clone(),
    });
    ExplainedField {
        key: row.key,
        value: row.value.clone(),
        written: row.written.clone(),
        file: row.line.map(|_| file.to_owned()),
        line: row.line,
        shadows: shadows.collect(),
    }
}
