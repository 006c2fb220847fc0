//! `docs/cli.md`: the help of every command, in the chapters of the program's own help. An option that
//! several commands describe in the same words is described once, in the last chapter.

use std::collections::HashMap;
use std::fmt::Write as _;

/// The number of commands that must describe an option alike, so that it is described once.
const SHARED_BY: usize = 3;

/// The heading under which clap lists options without a group.
const PLAIN: &str = "Options";

/// The widest line of a list of options.
const WIDEST: usize = 100;

/// The help of a command.
pub(crate) struct CommandHelp {
    /// The command as it is typed.
    pub(crate) words: Vec<String>,
    /// The text of `--help`.
    pub(crate) text: String,
}

impl CommandHelp {
    /// Returns the name of the command below the program, or nothing for the program.
    fn top(&self) -> Option<&str> {
        self.words.get(1).map(String::as_str)
    }
}

/// Makes the page. The first help is that of the program.
pub(crate) fn page(helps: &[CommandHelp]) -> String {
    let shared = shared_options(helps);
    let mut page = "# Command line\n\nThe help of every command. Options that several commands share \
                    are in [the last chapter](#shared-options). `cargo xtask docs` writes this page. \
                    Change the doc comments in `crates/cli` instead.\n"
        .to_owned();
    let Some((program, commands)) = helps.split_first() else {
        return page;
    };
    write_help(&mut page, program, &shared, "##");
    for (chapter, names) in chapters(&program.text) {
        _ = write!(page, "\n## {chapter}\n");
        for name in names {
            let of_chapter = |help: &&CommandHelp| help.top() == Some(name);
            for help in commands.iter().filter(of_chapter) {
                write_help(&mut page, help, &shared, "###");
            }
        }
    }
    page.push_str("\n## Shared options\n");
    for (heading, options) in by_heading(&shared) {
        _ = write!(
            page,
            "\n### {heading}\n\n```text\n{}\n```\n",
            options.join("\n\n")
        );
    }
    page
}

/// Returns the headings of the program's help above its commands, with the commands of each.
fn chapters(help: &str) -> Vec<(&str, Vec<&str>)> {
    let mut chapters: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in help
        .lines()
        .skip_while(|line| !line.starts_with("Usage: "))
        .skip(1)
    {
        match heading(line) {
            Some(PLAIN) => break,
            Some(heading) => chapters.push((heading, Vec::new())),
            None => {
                let is_command = line.starts_with("  ") && !line.starts_with("   ");
                let name = line.split_whitespace().next().filter(|_| is_command);
                if let (Some(name), Some((_, names))) = (name, chapters.last_mut()) {
                    names.push(name);
                }
            }
        }
    }
    chapters
}

fn heading(line: &str) -> Option<&str> {
    line.strip_suffix(':').filter(|_| !line.starts_with(' '))
}

fn write_help(page: &mut String, help: &CommandHelp, shared: &[SharedOption], level: &str) {
    let text = without_shared(&help.text, shared);
    let name = help.words.join(" ");
    _ = write!(
        page,
        "\n{level} `{name}`\n\n```text\n{}\n```\n",
        text.trim()
    );
}

/// A part of a help: an option with its description, or anything else.
struct Part {
    heading: String,
    text: String,
    /// The long name, if it is an option.
    option: Option<String>,
}

/// Cuts a help into its options, and the text between them.
fn parts(help: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut current = String::new();
    for line in help.lines().map(str::trim_end) {
        let option = option_name(line);
        let title = heading(line);
        let ends_option = !line.is_empty() && !line.starts_with(' ');
        let begins = option.is_some() || ends_option && parts.last().is_some_and(is_option);
        if let Some(title) = title {
            title.clone_into(&mut current);
        }
        match parts.last_mut().filter(|_| !begins) {
            Some(part) => {
                part.text.push('\n');
                part.text.push_str(line);
            }
            None => parts.push(Part {
                heading: current.clone(),
                text: line.to_owned(),
                option,
            }),
        }
    }
    for part in &mut parts {
        part.text.truncate(part.text.trim_end().len());
    }
    parts
}

fn is_option(part: &Part) -> bool {
    part.option.is_some()
}

/// Returns the long name of the option that a line of a help begins to describe.
fn option_name(line: &str) -> Option<String> {
    let text = line.trim_start();
    let is_first_line = (2..=6).contains(&(line.len() - text.len())) && text.starts_with('-');
    let mut words = text.split([' ', ',', '=', '[']).filter(|_| is_first_line);
    words.find(|word| word.starts_with("--")).map(str::to_owned)
}

/// An option that several commands describe alike.
struct SharedOption {
    heading: String,
    name: String,
    text: String,
}

/// Finds the shared options, in the order in which the page meets them.
fn shared_options(helps: &[CommandHelp]) -> Vec<SharedOption> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let all: Vec<Part> = helps.iter().flat_map(|help| parts(&help.text)).collect();
    let mut shared = Vec::new();
    for part in all {
        let Some(name) = part.option else { continue };
        let times = seen.entry(part.text.clone()).or_default();
        *times += 1;
        if *times == SHARED_BY {
            shared.push(SharedOption {
                heading: part.heading,
                name,
                text: part.text,
            });
        }
    }
    shared
}

/// Returns the shared options under their headings, those without a group last.
fn by_heading(shared: &[SharedOption]) -> Vec<(&str, Vec<&str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for option in shared {
        match groups
            .iter_mut()
            .find(|(heading, _)| *heading == option.heading)
        {
            Some((_, options)) => options.push(&option.text),
            None => groups.push((&option.heading, vec![&option.text])),
        }
    }
    groups.sort_by_key(|(heading, _)| *heading == PLAIN);
    groups
}

/// Returns a help in which shared options are a list of names at the end of their group.
fn without_shared(help: &str, shared: &[SharedOption]) -> String {
    let mut text = String::new();
    let mut names: Vec<String> = Vec::new();
    for part in parts(help) {
        let is_shared = |option: &SharedOption| option.text == part.text;
        if let Some(option) = shared.iter().find(|option| is_shared(option)) {
            names.push(option.name.clone());
            continue;
        }
        if part.option.is_none() {
            add_names(&mut text, &mut names);
        }
        if !text.is_empty() {
            text.push_str(if part.option.is_some() && text.ends_with(':') {
                "\n"
            } else {
                "\n\n"
            });
        }
        text.push_str(&part.text);
    }
    add_names(&mut text, &mut names);
    text
}

/// Adds the names of options that are described elsewhere.
fn add_names(text: &mut String, names: &mut Vec<String>) {
    if names.is_empty() {
        return;
    }
    let begins_group = text.ends_with(':');
    let mut line = if begins_group { "  " } else { "  Also: " }.to_owned();
    let indent = line.len();
    let mut lines = Vec::new();
    let last = names.len() - 1;
    for (place, name) in names.drain(..).enumerate() {
        let word = if place == last {
            name
        } else {
            format!("{name}, ")
        };
        if line.len() + word.trim_end().len() > WIDEST {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
        }
        line.push_str(&word);
    }
    lines.push(line);
    text.push_str(if begins_group { "\n" } else { "\n\n" });
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    text.push_str(&lines.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(words: &str, text: &str) -> CommandHelp {
        CommandHelp {
            words: words.split(' ').map(str::to_owned).collect(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn an_option_that_three_commands_share_is_described_once() {
        let options = |own: &str| {
            format!(
                "Does it.\n\nUsage: it\n\nOptions:\n{own}      --json\n          Print JSON\n\n          Possible values:\n          - a: b\n\nOutput:\n  -q, --quiet\n          Print less\n\nExamples:\n  it --json\n"
            )
        };
        let helps = [
            help(
                "it",
                "Runs.\n\nUsage: it\n\nGive work:\n  one  Does\n  two  Does\n\nOthers:\n  three  Does\n\nOptions:\n  -h, --help\n          Help\n",
            ),
            help("it one", &options("      --own\n          Only here\n\n")),
            help("it two", &options("")),
            help("it three", &options("")),
        ];
        let text = page(&helps);
        let (_, text) = text.split_once("instead.\n").unwrap();
        let one = "Does it.\n\nUsage: it\n\nOptions:\n      --own\n          Only here\n\n  Also: --json\n\nOutput:\n  --quiet\n\nExamples:\n  it --json";
        let other = "Does it.\n\nUsage: it\n\nOptions:\n  --json\n\nOutput:\n  --quiet\n\nExamples:\n  it --json";
        assert_eq!(
            text,
            format!(
                "\n## `it`\n\n```text\nRuns.\n\nUsage: it\n\nGive work:\n  one  Does\n  two  Does\n\nOthers:\n  three  Does\n\nOptions:\n  -h, --help\n          Help\n```\n\
                 \n## Give work\n\n### `it one`\n\n```text\n{one}\n```\n\n### `it two`\n\n```text\n{other}\n```\n\
                 \n## Others\n\n### `it three`\n\n```text\n{other}\n```\n\
                 \n## Shared options\n\n### Output\n\n```text\n  -q, --quiet\n          Print less\n```\n\
                 \n### Options\n\n```text\n      --json\n          Print JSON\n\n          Possible values:\n          - a: b\n```\n"
            )
        );
    }
}
