//! Begins and ends the log of this process.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

use pi_subagents_files::Directory;
use pi_subagents_vocabulary::Timestamp;
use tracing::info;
use tracing::level_filters::LevelFilter;

use super::folder::{LOGS, open_folder, remove_old};
use super::level::{VARIABLE, asked_level};
use super::lines::{first_line, subscriber};
use super::parts::{LARGEST_LOG, Parts};
use crate::error::CommandError;
use crate::places::{self, Guests, Places};

/// The variable with the id of the run that a process belongs to.
const RUN: &str = "PI_SUBAGENTS_RUN";

/// The log of this process, if it has one.
#[must_use]
pub struct Log {
    parts: Option<Arc<Parts>>,
    /// The reason why there is no log although one was asked for.
    trouble: Option<String>,
}

impl Log {
    /// Returns the sentence for a person whose log could not be begun.
    pub fn note(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Returns the sentence for a person whose log has gaps.
    pub fn gaps(&self) -> Option<String> {
        let (lost, why) = self.parts.as_ref()?.lost()?;
        Some(format!("{lost} lines are missing in the log: {why}"))
    }

    fn none() -> Self {
        Self {
            parts: None,
            trouble: None,
        }
    }
}

/// Begins the log of a command if the option or the variable asks for one. The processes that the
/// command starts log at the same level.
pub fn start(option: Option<LevelFilter>, command: &str) -> Result<Log, CommandError> {
    let variable = places::environment_variable(VARIABLE);
    let level = asked_level(option, variable.as_deref())?;
    if option.is_some() {
        places::give_to_children(VARIABLE, &level.to_string());
    }
    if level == LevelFilter::OFF {
        return Ok(Log::none());
    }
    let Ok(places) = Places::find(Guests::none()) else {
        // The command itself reports the missing directory.
        return Ok(Log::none());
    };
    let log = new_log(&places.agent_dir, level, command);
    // It is made now, so that a person learns at once why there is none.
    if let Err(error) = log.open() {
        let folder = places.agent_dir.join(LOGS);
        return Ok(Log {
            parts: None,
            trouble: Some(format!("there is no log in {}: {error}", folder.display())),
        });
    }
    // Old logs are looked at again by the next command.
    _ = open_folder(&places.agent_dir).and_then(|folder| remove_old(&folder, SystemTime::now()));
    install(level, &log, None);
    Ok(Log {
        parts: Some(log),
        trouble: None,
    })
}

/// Begins the log of a process that we have started ourselves and whose screen nobody sees. Its
/// file is made with its first line; without a log it does its work all the same.
pub fn start_beside(command: &str) -> Result<(), CommandError> {
    let variable = places::environment_variable(VARIABLE);
    let level = asked_level(None, variable.as_deref())?;
    if level != LevelFilter::OFF {
        let places = Places::find(Guests::none())?;
        let log = new_log(&places.agent_dir, level, command);
        let run = places.variable(RUN);
        install(
            level,
            &log,
            run.map(|run| run.to_string_lossy().into_owned()),
        );
    }
    Ok(())
}

/// Writes how the process ends.
pub fn end(code: ExitCode) -> ExitCode {
    info!(code = number_of(code), "process ends");
    code
}

fn install(level: LevelFilter, log: &Arc<Parts>, run: Option<String>) {
    // A process begins its log once.
    _ = tracing::subscriber::set_global_default(subscriber(level, Arc::clone(log), run));
}

fn new_log(agent_dir: &Path, level: LevelFilter, command: &str) -> Arc<Parts> {
    let now = Timestamp::now();
    let pid = std::process::id().to_string();
    let first_line = first_line(now, command, &pid, level);
    let agent_dir = agent_dir.to_owned();
    let open = move || -> io::Result<Directory> { open_folder(&agent_dir) };
    let name = file_name(now, &pid, command);
    Arc::new(Parts::new(Box::new(open), name, first_line, LARGEST_LOG))
}

/// Returns the name of a log, which sorts by time.
fn file_name(at: Timestamp, pid: &str, command: &str) -> String {
    let time = format!("{at:.3}").replace(['-', ':'], "");
    format!("{time}-{pid}-{command}")
}

/// Returns the number of an exit code, which its type does not give.
fn number_of(code: ExitCode) -> Option<u8> {
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_log_is_named_by_time_process_and_command() {
        let at: Timestamp = "2026-11-16T09:30:00.0071Z".parse().unwrap();
        assert_eq!(file_name(at, "77", "run"), "20261116T093000.007Z-77-run");
    }

    #[test]
    fn an_exit_code_has_its_number() {
        assert_eq!(number_of(ExitCode::SUCCESS), Some(0));
        assert_eq!(number_of(ExitCode::from(124)), Some(124));
    }
}
