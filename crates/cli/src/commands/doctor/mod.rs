//! `doctor`: checks that everything is set up, with advice for every problem. It looks at files and
//! at the environment. It connects to the fleet if the settings name one, and to nothing else on
//! the network; it calls no model, and changes nothing but the rests of models if it is asked to. It
//! tries to make a sandbox among the temporary files, and keeps what that showed.

mod agent_files;
mod check;
mod cooldowns;
mod definitions;
mod directories;
mod fleet;
mod logs;
mod machine;
mod models;
mod other_agents;
mod pi_package;
mod retention;
mod runner;
mod runs;
mod sandbox;

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread::{self, ScopedJoinHandle};

use clap::Args;
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::text::count;
use schemars::JsonSchema;
use serde::Serialize;

use self::check::{Check, Mark};
pub(super) use self::machine::is_same as is_same_file;
pub(super) use self::models::listed as listed_keys;
pub(super) use self::pi_package::installed_package;
use crate::places::find_places;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_vocabulary::Door;

/// The JSON of `doctor`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DoctorResult<'a> {
    /// The version of this program.
    version: &'a str,
    /// True if everything that is needed works.
    ok: bool,
    /// The number of problems.
    problems: usize,
    /// The number of warnings.
    warnings: usize,
    checks: &'a [Check],
}

#[derive(Args, Clone)]
pub(crate) struct DoctorArgs {
    /// Forget which models rest after they were out of quota or overloaded, so that runs with fallback models ask them again
    #[arg(long)]
    forget_cooldowns: bool,
}

pub(crate) fn run(args: &DoctorArgs, printer: Printer) -> ExitCode {
    let (sheet, checks) = match find_places() {
        Ok(places) => (Sheet::of_stdout(&places), examine(places, args)),
        Err(error) => (Sheet::of_pipe(), vec![without_places(&error)]),
    };
    let problems = marked(&checks, Mark::Problem);
    let warnings = marked(&checks, Mark::Warning);
    if printer.is_json() {
        printer.json(&DoctorResult {
            version: env!("CARGO_PKG_VERSION"),
            ok: problems == 0,
            problems,
            warnings,
            checks: &checks,
        });
    } else {
        let mut lines: Vec<Line> = checks
            .iter()
            .flat_map(|check| check.lines(&sheet))
            .collect();
        lines.push(Line::default());
        lines.push(Line::new(Role::Title, &verdict(problems, warnings)));
        printer.painted(&sheet.text(&lines));
    }
    ExitCode::from(u8::from(problems > 0))
}

/// Runs all checks, in the order in which a person sets things up. The two that take long, because
/// they start pi or measure every record, are made beside the others.
fn examine(places: Places, args: &DoctorArgs) -> Vec<Check> {
    let seen = VisibleAgents::from(places, false, Door::CommandLine);
    thread::scope(|scope| {
        let pi = scope.spawn(|| runner::look_for_pi(&seen));
        let retention = scope.spawn(|| retention::retention(&seen));
        let mut checks = vec![
            machine::program(&seen),
            machine::platform(),
            machine::git(),
            sandbox::sandbox(&seen),
            directories::agent_directory(&seen),
            directories::sockets(&seen),
            directories::disk(&seen),
            logs::logs(&seen),
            definitions::settings(&seen),
        ];
        let mut later = vec![definitions::definitions(&seen)];
        later.extend(agent_files::check(&seen));
        later.extend([definitions::project(&seen), runs::runs(&seen)]);
        let background = runs::background(&seen);
        let fleet = fleet::fleet(&seen);
        let pi = joined(pi);
        checks.push(models::models(&seen, pi.found.is_ok()));
        checks.extend(if args.forget_cooldowns {
            Some(cooldowns::forget(&seen))
        } else {
            cooldowns::cooldowns(&seen)
        });
        checks.push(runner::runner(&seen, &pi));
        checks.extend(other_agents::other_agents(&seen));
        checks.extend(later);
        checks.extend([joined(retention), background]);
        checks.push(pi_package::pi_package(&seen, pi.found.is_ok()));
        checks.extend(fleet);
        checks
    })
}

/// Waits for what a thread has found. A thread that panicked is a mistake of ours, as it would be
/// without the thread.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Makes the only check there is without a home directory.
fn without_places(error: &CommandError) -> Check {
    let mut lines = error.lines(Door::CommandLine);
    let hints = lines.split_off(lines.find('\n').unwrap_or(lines.len()));
    let check = Check::new("places", lines).problem();
    hints.lines().skip(1).fold(check, |check, line| {
        check.hint(line.trim().trim_start_matches("hint: "))
    })
}

fn marked(checks: &[Check], mark: Mark) -> usize {
    checks.iter().filter(|check| check.mark() == mark).count()
}

fn verdict(problems: usize, warnings: usize) -> String {
    match (problems, warnings) {
        (0, 0) => "Everything is set up.".to_owned(),
        (0, _) => format!("No problem, {}.", count(warnings, "warning")),
        (_, 0) => format!("{}.", count(problems, "problem")),
        (_, _) => format!(
            "{}, {}.",
            count(problems, "problem"),
            count(warnings, "warning")
        ),
    }
}
