//! The lines that a worker prints about its runs.

use jiff::tz::TimeZone;
use pi_subagents_fleet_queue::wire::{Order, Unsent};
use pi_subagents_fleet_queue::{FleetError, GiveUp};
use pi_subagents_view::figures::usage_words;
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{Ending, RunSummary, Timestamp};

use super::options::WorkerOptions;
use pi_subagents_ground::print::Printer;

/// Prints a line with the date and the time of day, because a log lasts longer than a day.
pub(super) fn print_line(line: &str) {
    let now = Timestamp::now().to_zoned(TimeZone::system());
    let time = now.strftime("%Y-%m-%d %H:%M:%S");
    Printer::for_people().note(&format!("{time} {}", one_line(line)));
}

/// Describes a worker that is ready.
pub(super) fn ready(options: &WorkerOptions, server: &str) -> String {
    let pools = options.pools.join(", ");
    let word = if options.pools.len() == 1 {
        "pool"
    } else {
        "pools"
    };
    let (many, end) = match (options.is_once, options.slots) {
        (true, _) => ("one run".to_owned(), ", and then ends"),
        (false, 1) => ("one run at a time".to_owned(), ""),
        (false, slots) => (format!("up to {slots} runs at once"), ""),
    };
    format!(
        "worker {} takes {many} from {word} {pools} of {server}{end}. Ctrl-C lets them end first.",
        options.name
    )
}

/// Says why no runs can be taken for now.
pub(super) fn cut_off(error: &FleetError) -> String {
    if error.is_passing() {
        return "the servers of the fleet are away; no new runs until they are back".to_owned();
    }
    format!("no new runs can be taken for now: {error}")
}

/// Says whose run was taken.
pub(super) fn took(order: &Order, attempt: u32) -> String {
    let again = if attempt > 1 {
        format!(", attempt {attempt}")
    } else {
        String::new()
    };
    let named = named(order);
    format!("took {named} of {}{again}", order.caller)
}

/// Says how a run ended.
pub(super) fn ended(order: &Order, ending: &Ending, summary: &RunSummary) -> String {
    let took = summary.started_at.zip(summary.ended_at);
    let took = took.and_then(|(start, end)| end.duration_since(start).try_into().ok());
    let (calls, usage) = (Some(summary.tool_calls), &summary.usage);
    let figures = usage_words(calls, usage.total(), usage.cost(), took);
    let figures = if figures.is_empty() {
        figures
    } else {
        format!(", {figures}")
    };
    let why = ending.message().map(|why| format!(": {why}"));
    let (status, named) = (ending.status().as_str(), named(order));
    format!("{status} {named}{figures}{}", why.unwrap_or_default())
}

/// Names a run with its task.
pub(super) fn named(order: &Order) -> String {
    format!("{} \"{}\"", order.run, order.name)
}

/// Says why a run that was taken is not begun.
pub(super) fn not_begun(order: &Order, why: &GiveUp) -> String {
    let why = match why {
        GiveUp::Lost { losses } => format!("its workers were lost, {losses} so far"),
        GiveUp::Stopped { by } => format!("{by} stopped it"),
        GiveUp::CallerGone => "nobody waits for it any more".to_owned(),
        GiveUp::Unreadable { why } => format!("its entry in the fleet cannot be read: {why}"),
    };
    format!("ended {} before it began: {why}", named(order))
}

/// Says that the changes of a run could not be sent.
pub(super) fn not_sent(order: &Order, unsent: &Unsent) -> String {
    let (named, why) = (named(order), &unsent.why);
    match &unsent.place {
        Some(place) => format!(
            "changes of {named} could not be sent; they are kept in {place} and sent when that works: {why}"
        ),
        None => format!("changes of {named} could not be sent and are lost: {why}"),
    }
}

/// Says that a run is not this worker's any more.
pub(super) fn lost(order: &Order) -> String {
    format!(
        "lost {}: the fleet has given it to another worker, or will",
        named(order)
    )
}
