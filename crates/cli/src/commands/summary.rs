//! The summary of a call: a line for each run, and the commands for the next steps.

use std::collections::HashSet;
use std::time::Duration;

use pi_subagents_view::figures::{budget_words, usage_words};
use pi_subagents_vocabulary::text::{count, one_line, shell_quoted};
use pi_subagents_vocabulary::{
    BudgetLimits, Dollars, Ending, Excess, RunSummary, Status, Task, Timestamp, Usage,
};

use pi_subagents_calls::families::delegation::sentence;
use pi_subagents_calls::{Answer, AttemptPart};
use pi_subagents_runs::workspace::Workspace;

/// A command that can be typed next, and its purpose.
struct Step {
    purpose: String,
    command: String,
}

/// Describes the ending of a run, and its usage.
pub(super) fn summary_line(task: &Task, run: &RunSummary) -> String {
    let lasted = run
        .started_at
        .and_then(|start| between(start, run.ended_at?));
    let usage = run.usage;
    let used = usage_words(Some(run.tool_calls), usage.total(), usage.cost(), lasted);
    let ended = sentence(task, run);
    let words = if task.sandbox.is_off() {
        joined(ended, &used)
    } else {
        joined(joined(ended, &task.sandbox.shown()), &used)
    };
    match run.granted {
        Some(granted) => with_budget(words, &usage, granted.into()),
        None => words,
    }
}

/// Describes the endings of several runs together, and their usage.
pub(super) fn total(answer: &Answer) -> Option<String> {
    let runs = answer.outcomes();
    if runs.len() < 2 {
        return None;
    }
    let states = [
        Status::Completed,
        Status::Failed,
        Status::Stopped,
        Status::Parked,
        Status::Waiting,
        Status::Running,
        Status::Queued,
    ];
    let counts = states.into_iter().filter_map(|status| {
        let number = runs.iter().filter(|run| run.status() == status);
        let number = number.count();
        (number > 0).then(|| format!("{number} {}", status.as_str()))
    });
    let counts: Vec<String> = counts.collect();
    let calls = runs.iter().map(|run| run.tool_calls).sum();
    let usage: Usage = runs.iter().map(|run| run.usage).sum();
    let began = runs.iter().filter_map(|run| run.started_at).min();
    let ended = runs.iter().filter_map(|run| run.ended_at).max();
    let lasted = began.and_then(|began| between(began, ended?));
    let words = format!("{}: {}", count(runs.len(), "task"), counts.join(", "));
    let used = usage_words(Some(calls), usage.total(), usage.cost(), lasted);
    let words = joined(words, &used);
    let limits = answer.tasks().next().map(|(task, _)| task.call_budget);
    Some(with_budget(words, &usage, limits.unwrap_or_default()))
}

/// Adds what is used of the budget of the call.
fn with_budget(words: String, usage: &Usage, limits: BudgetLimits) -> String {
    match budget_words(usage, &limits) {
        Some(used) => format!("{words} • budget {used}"),
        None => words,
    }
}

fn joined(words: String, figures: &str) -> String {
    if figures.is_empty() {
        return words;
    }
    format!("{words} • {figures}")
}

/// Returns the time from one moment to a later one; `None` if the clock was set back meanwhile.
fn between(begin: Timestamp, end: Timestamp) -> Option<Duration> {
    Duration::try_from(end.duration_since(begin)).ok()
}

/// Returns the next steps, one command per line. A run without a record cannot be continued.
pub(super) fn next_steps(answer: &Answer) -> Vec<String> {
    let recorded = answer.tasks().filter(|(task, _)| answer.is_recorded(task));
    let recorded: Vec<(&Task, &RunSummary)> = recorded.collect();
    let is_alone = answer.tasks().count() == 1;
    let mut steps = Vec::from_iter(merging(answer));
    steps.extend(rest(&recorded));
    let is_completed = |(_, run): &&(&Task, &RunSummary)| run.status() == Status::Completed;
    if let Some((task, _)) = recorded.iter().find(is_completed) {
        steps.extend(after_an_answer(task, is_alone));
    }
    if let Some((task, run)) = recorded.iter().find(|run| !is_completed(run)) {
        steps.extend(after_a_failure(task, run, is_alone));
    }
    aligned(&steps)
}

/// Returns the command that does the tasks of a call that have not completed, if there are several
/// tasks.
fn rest(runs: &[(&Task, &RunSummary)]) -> Option<Step> {
    let (task, _) = runs.iter().find(|(task, run)| {
        let may_go_on = run.ending.is_some() && run.status() != Status::Parked;
        task.call.is_some() && run.status() != Status::Completed && may_go_on
    })?;
    let command = format!("pi-subagents resume {} --failed", task.run);
    (runs.len() > 1).then(|| step("Do the rest", command))
}

/// Returns the command that merges the results of several runs, if more than one waits. Tasks are
/// named as the caller named them, unless that says too little. Attempts that were not picked are not
/// among them.
fn merging(answer: &Answer) -> Option<Step> {
    let waits = |task: &&Task| {
        let is_left = matches!(answer.attempt(task), AttemptPart::Left(_));
        !is_left && answer.worktree(task).is_some_and(Workspace::is_unmerged)
    };
    let waiting: Vec<&Task> = answer.tasks().map(|(task, _)| task).filter(waits).collect();
    if waiting.len() < 2 {
        return None;
    }
    let names: HashSet<&str> = waiting.iter().map(|task| task.name.as_str()).collect();
    let are_plain = names.iter().all(|name| is_plain_in_a_shell(name));
    let are_clear = are_plain && names.len() == waiting.len();
    let words = waiting.iter().map(|task| {
        if are_clear {
            task.name.as_str()
        } else {
            task.run.as_str()
        }
    });
    let words: Vec<&str> = words.collect();
    let command = format!("pi-subagents merge {}", words.join(" "));
    Some(step("Merge them", command))
}

/// Returns whether a name can be typed without quotes, and is no option.
fn is_plain_in_a_shell(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(fits)
}

fn after_an_answer(task: &Task, is_alone: bool) -> Vec<Step> {
    let id = &task.session;
    let resume = format!(r#"pi-subagents resume {id} "PROMPT""#);
    if is_alone {
        return vec![step("Continue it", resume)];
    }
    vec![
        step("Read one again", format!("pi-subagents output {id}")),
        step("Continue one", resume),
    ]
}

/// Returns the next steps after a run that did not complete.
fn after_a_failure(task: &Task, run: &RunSummary, is_alone: bool) -> Vec<Step> {
    let id = &task.session;
    let it = if is_alone {
        "it".to_owned()
    } else {
        one_line(&task.name)
    };
    let go_on = |purpose: String, more: &str| {
        step(
            &purpose,
            format!(r#"pi-subagents resume {id} "Go on"{more}"#),
        )
    };
    let look = || {
        step(
            &format!("See what {it} did"),
            format!("pi-subagents session {id}"),
        )
    };
    let check = || step("Check the setup", "pi-subagents doctor".to_owned());
    match run.ending.as_ref() {
        Some(Ending::Refused { .. } | Ending::NotStarted { .. } | Ending::Completed) => Vec::new(),
        None => vec![step(
            &format!("Catch up with {it}"),
            format!("pi-subagents wait {}", task.run),
        )],
        Some(Ending::CouldNotStart { .. } | Ending::NotConfined { .. }) => vec![check()],
        Some(Ending::SessionInUse { session, .. }) => vec![
            step(
                "Tell the run that holds it",
                format!(r#"pi-subagents steer {session} "MESSAGE""#),
            ),
            step("Wait for its end", format!("pi-subagents wait {session}")),
        ],
        Some(Ending::TimedOut { limit }) => {
            let more = format!(" --timeout {}", limit.as_secs().saturating_mul(2).max(2));
            vec![go_on(format!("Give {it} more time"), &more)]
        }
        Some(Ending::Overspent(excess)) => {
            let more = larger_limit(*excess);
            vec![look(), go_on(format!("Let {it} spend more"), &more)]
        }
        Some(Ending::OutOfTurns { turns }) => {
            let more = format!(" --max-turns {}", turns.saturating_mul(2));
            vec![look(), go_on(format!("Give {it} more turns"), &more)]
        }
        Some(Ending::GateFailed { .. }) => {
            let log = gate_log(task, run).map(|log| step("Read what the gate printed", log));
            let go_on = go_on(format!("Continue {it}"), "");
            log.into_iter().chain([look(), go_on]).collect()
        }
        Some(Ending::Parked { question, .. }) => vec![step(
            &format!("Answer {it}"),
            format!(r#"pi-subagents answer {question} "TEXT""#),
        )],
        Some(Ending::CutOff) => {
            let command = format!(r#"pi-subagents resume {id} "Go on where you stopped""#);
            vec![step(&format!("Let {it} continue"), command)]
        }
        Some(Ending::ModelError { .. }) => vec![go_on(format!("Try {it} again"), ""), check()],
        Some(
            Ending::ReportedError { .. }
            | Ending::NeverFinalized { .. }
            | Ending::SchemaNotMet { .. }
            | Ending::Exited { .. }
            | Ending::Signalled { .. }
            | Ending::Looped { .. }
            | Ending::Stopped
            | Ending::Interrupted(_)
            | Ending::Lost { .. },
        ) => vec![look(), go_on(format!("Continue {it}"), "")],
    }
}

/// Returns the option with which a run goes on that has used up what it may: it inherits its limit.
fn larger_limit(excess: Excess) -> String {
    match excess {
        Excess::Tokens { spent, allowed } => {
            format!(" --max-tokens {}", spent.max(allowed).saturating_mul(2))
        }
        // The settings have that limit.
        Excess::Window { .. } => String::new(),
        Excess::Cost { spent, allowed } => {
            let twice = Dollars::new(spent.max(allowed).amount() * 2.0).to_string();
            format!(" --max-cost {}", twice.trim_start_matches('$'))
        }
    }
}

/// Returns the command that prints the log of the last gate of a run.
fn gate_log(task: &Task, run: &RunSummary) -> Option<String> {
    let log = run.receipt()?.gate?.log;
    let file = task.directory.as_ref()?.join(log);
    Some(format!("cat {}", shell_quoted(&file.display().to_string())))
}

fn step(purpose: &str, command: String) -> Step {
    Step {
        purpose: format!("{purpose}:"),
        command,
    }
}

/// Writes the commands below each other.
fn aligned(steps: &[Step]) -> Vec<String> {
    let widths = steps.iter().map(|step| step.purpose.chars().count());
    let width = widths.max().unwrap_or_default();
    let lines = steps.iter().map(|step| {
        let (purpose, command) = (&step.purpose, &step.command);
        format!("{purpose:width$}  {command}")
    });
    lines.collect()
}
