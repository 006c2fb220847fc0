//! `doctor`: checks that everything is set up, with advice for every problem. It looks at files and
//! at the environment. It connects to the fleet if the settings name one, and to nothing else on
//! the network; it calls no model and changes nothing.

mod check;
mod definitions;
mod directories;
mod fleet;
mod logs;
mod machine;
mod models;
mod pi_package;
mod retention;
mod runner;
mod runs;

use std::process::ExitCode;

use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::text::count;
use serde_json::{Value, json};

use self::check::{Check, Mark};
use crate::sheet::Sheet;
use pi_subagents_definition_commands::seen::Seen;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_vocabulary::Door;

pub(crate) fn run(printer: Printer) -> ExitCode {
    let (sheet, checks) = match Places::find() {
        Ok(places) => (Sheet::of_stdout(&places), examine(places)),
        Err(error) => (Sheet::of_pipe(), vec![without_places(&error)]),
    };
    let problems = marked(&checks, Mark::Problem);
    let warnings = marked(&checks, Mark::Warning);
    if printer.is_json() {
        let checks: Vec<Value> = checks.iter().map(Check::json).collect();
        printer.json(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "ok": problems == 0,
            "problems": problems,
            "warnings": warnings,
            "checks": checks,
        }));
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

/// Runs all checks, in the order in which a person sets things up.
fn examine(places: Places) -> Vec<Check> {
    let seen = Seen::from(places, false, Door::CommandLine);
    let pi = runner::look_for_pi(&seen);
    let mut checks = vec![
        machine::program(&seen),
        machine::platform(),
        machine::git(),
        directories::agent_directory(&seen),
        directories::sockets(&seen),
        directories::disk(&seen),
        logs::logs(&seen),
        definitions::settings(&seen),
        models::models(&seen),
        runner::runner(&seen, &pi),
        definitions::definitions(&seen),
        definitions::project(&seen),
        runs::runs(&seen),
        retention::retention(&seen),
        runs::background(&seen),
        pi_package::pi_package(&seen, pi.is_ok()),
    ];
    checks.extend(fleet::fleet(&seen));
    checks
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
