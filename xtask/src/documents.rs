//! The documents that are generated, and their paths. `cargo xtask docs` writes them; the tidy test
//! fails when one is out of date.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::Outcome;
use crate::command_page::{self, CommandHelp};
use crate::machine::{program, root, target};
use crate::steps::{self, Step};

/// A document with the content it should have.
#[derive(Debug)]
pub struct Document {
    /// Its path from the root of the workspace.
    pub path: String,
    /// The content that the file should have.
    pub content: String,
}

/// Makes all generated documents with this built `pi-subagents`. Add a new document here.
pub fn generated_documents(binary: &Path) -> Outcome<Vec<Document>> {
    let mut documents = vec![
        Document {
            path: "docs/cli.md".to_owned(),
            content: command_line(binary)?,
        },
        Document {
            path: "docs/tools.md".to_owned(),
            content: tools(binary)?,
        },
        Document {
            path: "extension/manifest.json".to_owned(),
            content: output_of(binary, &["tools", "--json"])?,
        },
    ];
    documents.extend(schemas(binary)?);
    Ok(documents)
}

/// Makes `docs/schemas/NAME.json`: the JSON schemas of what commands print.
fn schemas(binary: &Path) -> Outcome<Vec<Document>> {
    let names = output_of(binary, &["schema"])?;
    let document = |name: &str| {
        Ok(Document {
            path: format!("docs/schemas/{name}.json"),
            content: output_of(binary, &["schema", name])?,
        })
    };
    names.lines().map(document).collect()
}

/// The tools of calling models, by their purpose.
const TOOLS: [(&str, &[&str]); 6] = [
    (
        "Run tasks and wait",
        &[
            "delegate_to_subagents",
            "get_subagent_output",
            "get_subagent_session",
            "list_subagent_profiles",
        ],
    ),
    ("Give a task to a named sub-agent", &["subagent"]),
    (
        "Run in the background",
        &["background_agent", "background_agent_status"],
    ),
    ("Look at runs, and control them", &["subagent_runs"]),
    ("Answer questions", &["answer_subagent"]),
    (
        "Review and merge changes",
        &["merge_subagents", "review_subagents"],
    ),
];

/// Makes `docs/tools.md`: the tools of calling models, each with a table of its fields.
fn tools(binary: &Path) -> Outcome<String> {
    let mut page = "# Tools\n\nThe tools that a calling model has inside pi, and over MCP with \
                    `--tools all`. [MCP clients](mcp.md#the-tools) get four of them by default. \
                    `pi-subagents tools --json` prints the JSON schemas. `cargo xtask docs` writes \
                    this page. Change `crates/calls/src/families` instead.\n"
        .to_owned();
    for (heading, names) in TOOLS {
        let tools = output_of(binary, &[&["tools"], names].concat())?;
        let tools = tools.replace("## ", "### ");
        write!(page, "\n## {heading}\n\n{}\n", tools.trim_end())?;
    }
    Ok(page)
}

/// Returns the output of a command.
fn output_of(binary: &Path, words: &[&str]) -> Outcome<String> {
    let output = program(binary).args(words).output()?;
    if !output.status.success() {
        let words = words.join(" ");
        return Err(format!("pi-subagents {words} ended with {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Builds the binary and writes all documents.
pub(crate) fn write_all() -> Outcome<()> {
    steps::run(&[Step::build()])?;
    for document in generated_documents(&target()?.join("debug/pi-subagents"))? {
        let path = root().join(&document.path);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let is_new = fs::read_to_string(&path).ok().as_ref() != Some(&document.content);
        fs::write(&path, document.content)?;
        let verdict = if is_new { "written" } else { "unchanged" };
        println!("{}: {verdict}", document.path);
    }
    Ok(())
}

/// Makes `docs/cli.md`: the help of every command.
fn command_line(binary: &Path) -> Outcome<String> {
    let mut helps = Vec::new();
    add_help(binary, &mut vec!["pi-subagents".to_owned()], &mut helps)?;
    Ok(command_page::page(&helps))
}

fn add_help(binary: &Path, words: &mut Vec<String>, helps: &mut Vec<CommandHelp>) -> Outcome<()> {
    let text = help_of(binary, &words[1..])?;
    let commands = subcommands(&text);
    helps.push(CommandHelp {
        words: words.clone(),
        text,
    });
    for command in commands {
        words.push(command);
        add_help(binary, words, helps)?;
        words.pop();
    }
    Ok(())
}

/// Runs a command for its help. The width is fixed and no terminal is in reach, so that the help is
/// the same everywhere.
fn help_of(binary: &Path, words: &[String]) -> Outcome<String> {
    let output = program(binary)
        .args(words)
        .arg("--help")
        .env("COLUMNS", "100")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", binary.display()))?;
    if !output.status.success() {
        let words = words.join(" ");
        return Err(format!("pi-subagents {words} --help ended with {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the commands that a help lists: between its usage and its options, in groups or under one
/// heading.
fn subcommands(help: &str) -> Vec<String> {
    let commands = help
        .lines()
        .skip_while(|line| !line.starts_with("Usage: "))
        .take_while(|line| !["Options:", "Arguments:", "Examples:"].contains(line));
    commands
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter(|line| !line.trim_start().starts_with('-'))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| *word != "help")
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_of_a_help_are_found() {
        let help = "Does it.\n\nUsage: it [COMMAND]\n\nGive work:\n  tour      Shows\n            more\n\nOthers:\n  delegate  Runs\n  help      Helps\n\nOptions:\n  -h  Help\n";
        assert_eq!(subcommands(help), ["tour", "delegate"]);
        let without = "Usage: agent\n\n  --mode rpc\n\nExamples:\n  pi-subagents embedded\n";
        assert!(subcommands(without).is_empty());
    }
}
