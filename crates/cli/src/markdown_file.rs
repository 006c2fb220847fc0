//! A conversation as one Markdown document, which no message can break.
//!
//! The texts of people and models stand in quotations: a fence or a tag that somebody opened ends
//! with the quotation, and their images are written as links, because a file that is opened must
//! not call anybody. Calls and answers of tools stand between fences that are longer than any in
//! them, folded behind one line each.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use pi_subagents_ground::error::CommandError;
use pi_subagents_view::figures::{clock, date_and_time, time_of_day, usage_words};
use pi_subagents_view::markdown;
use pi_subagents_vocabulary::text;

use super::log_entry::EntryKind;
use super::read_conversation::{ReadConversation, ReadEntry, ReadRun};

/// The number of characters of a task in the title.
const TITLE_CHARACTERS: usize = 80;

/// The number of characters of a call in the line that is always seen.
const SUMMARY_CHARACTERS: usize = 100;

/// Writes a conversation as Markdown.
pub(crate) fn markdown_file(
    conversation: &ReadConversation,
    zone: &TimeZone,
) -> Result<String, CommandError> {
    let runs = conversation.runs.iter();
    let runs: Vec<String> = runs
        .map(|run| of_run(run, zone))
        .collect::<Result<_, _>>()?;
    Ok(runs.join("\n---\n\n"))
}

fn of_run(run: &ReadRun, zone: &TimeZone) -> Result<String, CommandError> {
    let row = &run.row;
    let task = text::clean(row.report.task.as_deref().unwrap_or_default());
    let mut page = format!("# {}\n\n", title(&row.report.name, &task));
    for (label, words) in facts(run, zone) {
        // Writing to a string cannot fail.
        _ = writeln!(page, "- **{label}:** {}", inline_code(&words));
    }
    _ = write!(page, "\n## Task\n\n{}\n## Conversation\n", quoted(&task));
    let mut is_task_written = false;
    run.each_entry(|read| {
        // The first prompt is the task, which is above.
        let is_task =
            read.entry.kind == EntryKind::Prompt && !std::mem::replace(&mut is_task_written, true);
        if !is_task {
            page.extend(entry(&read, zone));
        }
    })?;
    let answer = text::clean(row.report.output.as_deref().unwrap_or_default());
    if !answer.trim().is_empty() {
        _ = write!(page, "\n## Answer\n\n{}", quoted(&answer));
    }
    Ok(page)
}

/// Returns the name of a task and its first words, without characters that Markdown would read.
fn title(name: &str, task: &str) -> String {
    let task = text::cut_characters(&text::one_line(task), TITLE_CHARACTERS);
    escaped(&format!("{}: {task}", text::one_line(&text::clean(name))))
}

fn facts(run: &ReadRun, zone: &TimeZone) -> Vec<(&'static str, String)> {
    let row = &run.row;
    let report = &row.report;
    let usage = report.usage.unwrap_or_default();
    let lasted = report.ended_at.and_then(|ended| row.lasted(ended));
    let used = usage_words(report.tool_calls, usage.total(), usage.cost(), None);
    let started = report.started_at.unwrap_or(report.accepted_at);
    let facts = [
        ("Status", Some(report.status.as_str().to_owned())),
        ("Agent", report.agent.clone()),
        ("Model", report.full_model()),
        ("Started", Some(date_and_time(started, zone))),
        ("Time", lasted.map(clock)),
        ("Used", Some(used).filter(|used| !used.is_empty())),
        ("Error", report.error_message.clone()),
        ("Run", Some(report.run_id.to_string())),
        ("Session", Some(report.session_id.to_string())),
    ];
    let known = facts.into_iter();
    known
        .filter_map(|(label, words)| Some((label, text::one_line(&text::clean(&words?)))))
        .collect()
}

/// Writes an event. The task is above, and the life of a child is no part of a conversation.
fn entry(read: &ReadEntry, zone: &TimeZone) -> Option<String> {
    let time = time_of_day(read.at, zone);
    let entry = &read.entry;
    let words = text::clean(&entry.words);
    let tool = entry.tool.as_deref().unwrap_or_default();
    match &entry.kind {
        EntryKind::Child => None,
        EntryKind::Thought => Some(folded("thinking", &time, &fenced(&words, ""))),
        EntryKind::Call(arguments) => {
            let short = text::cut_characters(&words, SUMMARY_CHARACTERS);
            let arguments = serde_json::to_string_pretty(arguments).unwrap_or_default();
            let line = format!("tool call: {tool} {short}");
            let arguments = fenced(&text::clean(&arguments), "json");
            Some(folded(&line, &time, &arguments))
        }
        EntryKind::Answer => {
            let lines = text::count(words.lines().count(), "line");
            let failed = if entry.label == "failed" {
                "failed "
            } else {
                ""
            };
            let line = format!("{failed}result of {tool}, {lines}");
            Some(folded(&line, &time, &fenced(&words, "")))
        }
        EntryKind::Prompt | EntryKind::Words | EntryKind::Remark => Some(format!(
            "\n### {}, {time}\n\n{}",
            escaped(&entry.label),
            quoted(&words)
        )),
    }
}

/// Folds a text behind one line.
fn folded(line: &str, time: &str, content: &str) -> String {
    let line = escaped_html(&text::one_line(&text::clean(line)));
    format!("\n<details><summary>{line}, {time}</summary>\n\n{content}\n</details>\n")
}

/// Puts text between fences that are longer than any row of backticks in it.
fn fenced(words: &str, language: &str) -> String {
    let longest = words
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!(
        "{fence}{language}\n{}\n{fence}\n",
        words.trim_end_matches('\n')
    )
}

/// Writes text as inline code, so that nothing in it is read as Markdown.
fn inline_code(words: &str) -> String {
    let longest = words
        .split(|character| character != '`')
        .map(str::len)
        .max();
    match longest.unwrap_or(0) {
        0 => format!("`{words}`"),
        longest => {
            let fence = "`".repeat(longest + 1);
            format!("{fence} {words} {fence}")
        }
    }
}

/// Writes text as a quotation in which nothing is loaded from elsewhere.
fn quoted(words: &str) -> String {
    let words = markdown::inert(words.trim());
    let lines = words.lines().map(|line| format!("> {line}"));
    let lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    format!("{}\n", lines.join("\n"))
}

/// Puts a backslash before everything that Markdown would read.
fn escaped(words: &str) -> String {
    let mut escaped = String::with_capacity(words.len());
    for character in words.chars() {
        if character.is_ascii_punctuation() && !",.:;-/'\"?()".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn escaped_html(words: &str) -> String {
    words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("a", "json"), "```json\na\n```\n");
        assert_eq!(fenced("```sh\nx\n```\n", ""), "````\n```sh\nx\n```\n````\n");
        assert_eq!(inline_code("a"), "`a`");
        assert_eq!(inline_code("a ``` b"), "```` a ``` b ````");
    }

    #[test]
    fn what_somebody_said_stays_in_its_quotation() {
        assert_eq!(
            quoted("\n# Done\n\n```\nnever closed"),
            "> # Done\n>\n> ```\n> never closed\n"
        );
        assert_eq!(
            quoted("Done. ![](https://x.test/seen.png)"),
            "> Done. [](https://x.test/seen.png)\n"
        );
        assert_eq!(title("a_b", "# *Look*\nhere"), r"a\_b: \# \*Look\* here");
        assert_eq!(
            folded("bash </summary>", "10:00:00", "x"),
            "\n<details><summary>bash &lt;/summary&gt;, 10:00:00</summary>\n\nx\n</details>\n"
        );
    }
}
