//! Which program does the work: pi where it is to be had and new enough, or the agent inside our
//! own binary.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, UNIX_EPOCH};

use pi_subagents_definitions::RunnerChoice;
use pi_subagents_delegation::Ending::CouldNotStart;
use pi_subagents_delegation::{Program, Runner};
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::places::Places;

/// The first pi that speaks the protocol as we need it.
const OLDEST_PI: (u32, u32) = (0, 84);

/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// A pi that is new enough.
#[derive(Debug, Clone)]
pub(crate) struct FoundPi {
    pub(crate) program: Program,
    pub(crate) version: String,
}

/// Finds the program for a choice; pi is looked for once.
pub(crate) struct Runners<'a> {
    caller: &'a Caller,
    pi: OnceCell<Result<FoundPi, String>>,
}

impl<'a> Runners<'a> {
    pub(crate) fn new(caller: &'a Caller) -> Self {
        Self {
            caller,
            pi: OnceCell::new(),
        }
    }

    /// The program for a choice, or why there is none.
    pub(crate) fn resolve(&self, choice: RunnerChoice) -> Result<(Runner, Program), String> {
        match choice {
            RunnerChoice::Embedded => Ok((Runner::Embedded, self.embedded())),
            RunnerChoice::Pi => self.pi().map(|program| (Runner::Pi, program)),
            RunnerChoice::Auto => Ok(self.pi().map_or_else(
                |_| (Runner::Embedded, self.embedded()),
                |program| (Runner::Pi, program),
            )),
        }
    }

    fn embedded(&self) -> Program {
        Program {
            path: self.caller.places.program.clone(),
            arguments: vec![crate::commands::agent::NAME.into()],
        }
    }

    fn pi(&self) -> Result<Program, String> {
        let found = self.pi.get_or_init(|| find_pi(self.caller)).clone();
        found
            .map(|pi| pi.program)
            .map_err(|reason| CouldNotStart { reason }.message().unwrap_or_default())
    }
}

/// Tells whether there is something that may be pi.
pub(crate) fn is_pi_named(places: &Places) -> bool {
    let path = places.variable("PATH").unwrap_or_default();
    places.variable("PI_SUBAGENTS_PI").is_some() || on_path("pi", path).is_some()
}

/// The pi of the caller, or the one that is named or found; or why there is none.
pub(crate) fn find_pi(caller: &Caller) -> Result<FoundPi, String> {
    let places = &caller.places;
    if let Some(pi) = &caller.pi
        && places.variable("PI_SUBAGENTS_PI").is_none()
    {
        return new_enough(pi.program.clone(), &pi.version);
    }
    let path = match places.variable("PI_SUBAGENTS_PI") {
        Some(named) => places.cwd.join(named),
        None => on_path("pi", places.variable("PATH").unwrap_or_default()).ok_or(
            "pi is not on PATH. Install it, set PI_SUBAGENTS_PI to it, or use --runner embedded.",
        )?,
    };
    let version = version_of(&path, &places.agent_dir)?;
    let program = Program {
        path,
        arguments: Vec::new(),
    };
    new_enough(program, &version)
}

fn new_enough(program: Program, version: &str) -> Result<FoundPi, String> {
    if parse_version(version).is_none_or(|version| version < OLDEST_PI) {
        return Err(format!(
            "{} is pi {version}, which is too old: {}.{} or newer is needed. Update it, or use --runner embedded.",
            program.path.display(),
            OLDEST_PI.0,
            OLDEST_PI.1,
        ));
    }
    Ok(FoundPi {
        program,
        version: version.to_owned(),
    })
}

/// The first file of this name on the search path.
pub(crate) fn on_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file())
}

/// What is remembered of a pi: asking it takes most of a second.
#[derive(Serialize, Deserialize, PartialEq)]
struct KnownPi {
    path: PathBuf,
    modified_ms: u128,
    size: u64,
}

#[derive(Serialize, Deserialize)]
struct Remembered {
    pi: KnownPi,
    version: String,
}

fn version_of(path: &Path, agent_dir: &Path) -> Result<String, String> {
    let cache = agent_dir.join("subagents-pi-version.json");
    let known = identify(path)?;
    let remembered = fs::read(&cache)
        .ok()
        .and_then(|content| serde_json::from_slice::<Remembered>(&content).ok())
        .filter(|remembered| remembered.pi == known);
    if let Some(remembered) = remembered {
        return Ok(remembered.version);
    }
    let version = ask_version(path)?;
    let remembered = Remembered {
        pi: known,
        version: version.clone(),
    };
    if let Ok(content) = serde_json::to_vec(&remembered) {
        // It is asked again next time if it cannot be remembered.
        _ = fs::write(cache, content);
    }
    Ok(version)
}

fn identify(path: &Path) -> Result<KnownPi, String> {
    let metadata = fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    Ok(KnownPi {
        path: path.to_owned(),
        modified_ms: modified
            .duration_since(UNIX_EPOCH)
            .map_or(0, |age| age.as_millis()),
        size: metadata.len(),
    })
}

/// Older versions print it to stderr.
#[expect(
    clippy::disallowed_methods,
    reason = "pi is asked for its version, which starts no sub-agent"
)]
fn ask_version(path: &Path) -> Result<String, String> {
    let failed = |error: io::Error| format!("{} --version: {error}", path.display());
    let mut asked = Command::new(path)
        .arg("--version")
        .env("PI_OFFLINE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let asked_at = Instant::now();
    while asked.try_wait().map_err(failed)?.is_none() {
        if asked_at.elapsed() > PATIENCE {
            // It is not a pi, whatever it is; a process that is gone by now needs no signal.
            _ = asked.kill();
            _ = asked.wait();
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut said = String::new();
    for output in [
        asked
            .stdout
            .take()
            .map(|output| Box::new(output) as Box<dyn io::Read>),
        asked
            .stderr
            .take()
            .map(|output| Box::new(output) as Box<dyn io::Read>),
    ]
    .into_iter()
    .flatten()
    {
        output
            .take(4096)
            .read_to_string(&mut said)
            .map_err(failed)?;
    }
    let version = said
        .split_whitespace()
        .find(|word| parse_version(word).is_some());
    version.map(str::to_owned).ok_or_else(|| {
        format!(
            "{} --version printed no version. Set PI_SUBAGENTS_PI to pi, or use --runner embedded.",
            path.display()
        )
    })
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim_start_matches('v').split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert_eq!(parse_version("0.87.1"), Some((0, 87)));
        assert_eq!(parse_version("v1.2"), Some((1, 2)));
        assert_eq!(parse_version("pi"), None);
        assert!(parse_version("0.9.9") < Some(OLDEST_PI));
        assert!(parse_version("0.84.0") >= Some(OLDEST_PI));
    }
}
