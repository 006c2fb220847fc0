//! Shared by all commands that call a tool and wait for its answer.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use pi_subagents_pi_files::{Problem, json, json_of_yaml};
use pi_subagents_view::AtEnd;
use serde_json::Value;

use crate::cli::ConcurrencyArgs;
use crate::commands::words::stdin;
use crate::view;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::elsewhere::Waiting;
use pi_subagents_calls::service::CallService;
use pi_subagents_calls::watch::{Details, Watch};
use pi_subagents_calls::{Answer, Call, Consent, PreparedCaller, begin};
use pi_subagents_definition_commands::ask::{AtTerminal, Person as _, can_ask};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_ground::signals::Signals;

/// Makes this process the owner of the runs of one call, and shows their progress. When they are
/// over, none of that is left on a terminal: the answers take its place.
pub(super) fn answer_of<C: Call>(
    call: C,
    caller: &Caller,
    configuration: Configuration,
    concurrency: ConcurrencyArgs,
    printer: Printer<'static>,
) -> Result<Answer, CommandError> {
    answer_after_windows(
        call,
        caller,
        configuration,
        concurrency,
        printer,
        AtEnd::Vanish,
    )
}

/// Does the same, and decides which lines of the live windows stay.
pub(super) fn answer_after_windows<C: Call>(
    call: C,
    caller: &Caller,
    configuration: Configuration,
    concurrency: ConcurrencyArgs,
    printer: Printer<'static>,
    at_end: AtEnd,
) -> Result<Answer, CommandError> {
    if printer.has_details() && !printer.is_json() {
        return Err(CommandError::usage(
            "--details adds to JSON, so it needs --json",
        ));
    }
    let concurrency = concurrency.or(configuration.settings.concurrency(caller.door));
    block_on(async {
        let mut signals = Signals::listen_to_pause()?;
        let service = CallService::open(&caller.places, concurrency)?;
        let work = answer_through(&service, call, caller, configuration, printer, at_end);
        let answer = service.owner.until_signalled(&mut signals, work).await;
        service.owner.leave().await;
        answer
    })
}

/// Runs one call of this process, and shows its progress.
pub(super) async fn answer_through<C: Call>(
    service: &CallService,
    call: C,
    caller: &Caller,
    configuration: Configuration,
    printer: Printer<'static>,
    at_end: AtEnd,
) -> Result<Answer, CommandError> {
    let configuration = Arc::new(configuration);
    let asking = PreparedCaller {
        caller: Caller {
            answerers: view::answerers(&caller.places, printer),
            parking: view::parking(&caller.places, printer),
            ..caller.clone()
        },
        configuration: Arc::clone(&configuration),
        waiting: Waiting::Somebody,
        consent: consent(&caller.places, printer),
    };
    let ready = begin(service, call, asking).await?;
    // The keys of the windows are read only after the last question.
    let watch = Watch {
        sinks: view::sinks(
            caller,
            &configuration.settings,
            printer,
            at_end,
            service.owner.reach(&caller.places),
        ),
        details: if printer.has_details() {
            Details::All
        } else {
            Details::Runs
        },
        ..Watch::nobody()
    };
    let shown = show_warnings(ready.warnings(), printer);
    Ok(ready.run(service, watch).await.after_showing(shown))
}

/// Returns how the person at the terminal is asked, if there is one.
fn consent(places: &Places, printer: Printer) -> Option<Consent> {
    let places = places.clone();
    let is_there = can_ask(&AtTerminal { places: &places }, printer);
    is_there.then(|| {
        let ask = move |question: &str| {
            let answer = AtTerminal { places: &places }.yes(question, false);
            answer.is_ok_and(|said| said == Some(true))
        };
        Arc::new(ask) as Consent
    })
}

/// Prints the warnings about a call before its runs cost anything, and returns those that it
/// printed. Programs find them in the JSON.
fn show_warnings(warnings: &[String], printer: Printer) -> Vec<String> {
    if printer.is_json() {
        return Vec::new();
    }
    for warning in warnings {
        printer.note(&format!("! {warning}"));
    }
    warnings.to_vec()
}

/// Reads a call from a file of JSON or YAML, or its JSON with `-` from stdin. Also returns the name of
/// the file, for errors.
#[expect(
    clippy::disallowed_methods,
    reason = "a file that the user names may be a pipe of a shell"
)]
pub(super) fn read_call(file: &Path) -> Result<(String, Value), CommandError> {
    let name = if file == Path::new("-") {
        "stdin".to_owned()
    } else {
        file.display().to_string()
    };
    let content = if file == Path::new("-") {
        stdin()
    } else {
        fs::read_to_string(file)
    }
    .map_err(|error| CommandError::usage(format!("could not read {name}")).because(&error))?;
    if content.trim().is_empty() {
        return Err(CommandError::usage(format!("{name} is empty")).hint(
            "It must contain the JSON of a call; pi-subagents tools prints the fields of each tool.",
        ));
    }
    let read = if is_yaml(file) {
        json_of_yaml(&content)
    } else {
        json::parse(&content).map_err(|problem| Problem {
            message: format!("is not JSON: {}", problem.message),
            ..problem
        })
    };
    let mut value = read.map_err(|problem| {
        let place = problem.place(Path::new(&name));
        CommandError::usage(format!("{place} {}", problem.message))
            .hint("pi-subagents tools prints the fields of each tool.")
    })?;
    check_version(&name, &mut value)?;
    Ok((name, value))
}

/// Returns whether a file is written as YAML.
pub(super) fn is_yaml(file: &Path) -> bool {
    file.extension()
        .is_some_and(|end| end == "yaml" || end == "yml")
}

/// The version of files with tasks that this program reads.
const VERSION: u64 = 1;

/// Takes the version out of a file with tasks. A file of another version may mean something else.
fn check_version(name: &str, value: &mut Value) -> Result<(), CommandError> {
    let fields = value.as_object_mut();
    match fields.and_then(|fields| fields.remove("version")) {
        None => Ok(()),
        Some(version) if version.as_u64() == Some(VERSION) => Ok(()),
        Some(version) => Err(CommandError::usage(format!(
            "{name} is of version {version}, and this program reads version {VERSION}"
        ))
        .hint("Write \"version\": 1, or use the pi-subagents for which it was written.")),
    }
}
