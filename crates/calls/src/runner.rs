//! Chooses the program that does the work: pi if it is there and new enough, or the agent inside
//! our own binary.

mod asked_pi;
mod version;

use pi_subagents_vocabulary::Advice;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use pi_subagents_bridge::facts_of;
use pi_subagents_configuration::{RunnerChoice, Settings};
use pi_subagents_pi_files::{installed_pi, on_path};
use pi_subagents_vocabulary::Ending::CouldNotStart;
use pi_subagents_vocabulary::{OtherAgent, Program, Runner};

pub use self::asked_pi::ask_version;
use self::asked_pi::version_of;
use self::version::Version;
use crate::caller::Caller;
use pi_subagents_ground::places::Places;

/// The first pi whose protocol we can use.
const OLDEST_PI: Version = Version(0, 84, 0);

/// The first pi that starts MCP servers, and knows the flag that keeps it from doing so.
const FIRST_WITH_MCP: Version = Version(1, 0, 4);

/// The first pi that gives a continued session the tools it had.
const FIRST_THAT_KEEPS_TOOLS: Version = Version(1, 3, 0);

/// Decides whether a pi must be asked now, or its remembered answer will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// An answer that was remembered will do, as long as pi and Node are the same files.
    IfNeeded,
    Now,
}

/// A pi that is new enough.
#[derive(Debug, Clone)]
pub struct FoundPi {
    pub program: Program,
    pub version: String,
}

/// The reason why no pi can be used. The text has advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPi {
    #[error("pi is not on PATH. Install it, set PI_SUBAGENTS_PI to it, or use --runner embedded.")]
    Missing,
    #[error("{0}. Update it, or use --runner embedded.")]
    TooOld(String),
    #[error("{0}. Set PI_SUBAGENTS_PI to a pi that starts, or use --runner embedded.")]
    DoesNotStart(String),
}

impl NoPi {
    /// Returns the reason alone, for somebody who need not do anything.
    fn reason(&self) -> &str {
        match self {
            Self::Missing => "pi is not on PATH",
            Self::TooOld(why) | Self::DoesNotStart(why) => why,
        }
    }
}

/// The program that does a task.
pub(crate) struct ChosenRunner {
    pub(crate) runner: Runner,
    pub(crate) program: Program,
    /// The warning for the caller about the choice.
    pub(crate) warning: Option<String>,
}

/// Finds the program for a choice; pi is looked for once.
pub(crate) struct Runners<'a> {
    caller: &'a Caller,
    settings: &'a Settings,
    pi: OnceCell<Result<FoundPi, NoPi>>,
}

impl<'a> Runners<'a> {
    pub(crate) fn new(caller: &'a Caller, settings: &'a Settings) -> Self {
        Self {
            caller,
            settings,
            pi: OnceCell::new(),
        }
    }

    /// Returns the program for a choice, or the reason why there is none. `command` is the one that
    /// the definition of the task names.
    pub(crate) fn resolve(
        &self,
        choice: RunnerChoice,
        command: &[String],
    ) -> Result<ChosenRunner, String> {
        match choice {
            RunnerChoice::Bridge(agent) => self.bridge(agent, command),
            RunnerChoice::Embedded => Ok(self.embedded(None)),
            RunnerChoice::Pi => self.pi().map_err(|no| {
                let reason = no.to_string();
                CouldNotStart { reason }.message().unwrap_or_default()
            }),
            RunnerChoice::Auto => Ok(self.pi().unwrap_or_else(|why| self.instead_of_pi(&why))),
        }
    }

    /// Returns the program of a kind of child that was resolved before.
    pub(crate) fn program(&self, runner: Runner, command: &[String]) -> Result<Program, String> {
        Ok(self.resolve(runner.choice(), command)?.program)
    }

    /// Returns the bridge to an agent of others.
    fn bridge(&self, agent: OtherAgent, command: &[String]) -> Result<ChosenRunner, String> {
        let places = &self.caller.places;
        let command = match command {
            [] => find_other_agent(agent, &self.settings.runners, places)?,
            named => named.to_vec(),
        };
        let (program, further) = command.split_first().ok_or("the command has no words")?;
        let mut arguments = [
            pi_subagents_ground::own_commands::BRIDGE,
            "acp",
            agent.as_str(),
            "--program",
            program,
        ]
        .map(OsString::from)
        .to_vec();
        for argument in further {
            arguments.extend(["--argument", argument].map(OsString::from));
        }
        Ok(ChosenRunner {
            runner: Runner::Bridge(agent),
            program: Program {
                path: places.program.clone(),
                arguments,
                has_mcp: false,
                keeps_tools: false,
            },
            warning: None,
        })
    }

    /// Returns the embedded agent, because no pi can be used; the caller gets a warning if there is
    /// a pi.
    fn instead_of_pi(&self, no_pi: &NoPi) -> ChosenRunner {
        let is_there = self.caller.pi.is_some() || is_pi_named(&self.caller.places);
        let warning = format!(
            "pi cannot be used, so the embedded agent is used instead: {}. Fix or remove that pi; {} checks it.",
            no_pi.reason(),
            Advice::Doctor.words(self.caller.door)
        );
        self.embedded(is_there.then_some(warning))
    }

    fn embedded(&self, warning: Option<String>) -> ChosenRunner {
        ChosenRunner {
            runner: Runner::Embedded,
            program: Program {
                path: self.caller.places.program.clone(),
                arguments: vec![pi_subagents_ground::own_commands::EMBEDDED.into()],
                has_mcp: false,
                keeps_tools: false,
            },
            warning,
        }
    }

    fn pi(&self) -> Result<ChosenRunner, NoPi> {
        let find = || find_pi(self.caller, Asking::IfNeeded);
        let found = self.pi.get_or_init(find).clone();
        found.map(|pi| ChosenRunner {
            runner: Runner::Pi,
            program: pi.program,
            warning: None,
        })
    }
}

/// Finds the program of an agent of others, with its arguments: the one that the settings name, else
/// the usual one on the path.
pub fn find_other_agent(
    agent: OtherAgent,
    named: &BTreeMap<OtherAgent, Vec<String>>,
    places: &Places,
) -> Result<Vec<String>, String> {
    if let Some(command) = named.get(&agent) {
        return Ok(command.clone());
    }
    let facts = facts_of(agent);
    if facts.program.is_empty() {
        return Err("The runner acp needs an agent file that names its program: \"command: [PROGRAM, ARGUMENT]\".".to_owned());
    }
    let search_path = places.variable("PATH").unwrap_or_default();
    let found = on_path(facts.program, search_path).ok_or_else(|| {
        format!(
            "{} cannot do the work: {} is not on PATH. Install it with: {}; or name it in your setting subagents.runners.{}.command.",
            agent.title(),
            facts.program,
            facts.install,
            agent.as_str(),
        )
    })?;
    let program = found.to_str().map(str::to_owned);
    let program = program.ok_or_else(|| format!("{} is not UTF-8", found.display()))?;
    let arguments = facts.arguments.iter().map(|&word| word.to_owned());
    Ok(std::iter::once(program).chain(arguments).collect())
}

/// Returns whether there is something that may be pi.
pub fn is_pi_named(places: &Places) -> bool {
    pi_of(places).is_some()
}

/// Finds the pi of the caller, else the pi that is named or on the path, or returns the reason why
/// there is none.
pub fn find_pi(caller: &Caller, asking: Asking) -> Result<FoundPi, NoPi> {
    let places = &caller.places;
    if let Some(pi) = &caller.pi
        && places.variable("PI_SUBAGENTS_PI").is_none()
    {
        let arguments = pi.arguments.clone();
        return new_enough(pi.program.clone(), arguments, &pi.version);
    }
    let path = pi_of(places).ok_or(NoPi::Missing)?;
    let version = version_of(&path, places, asking).map_err(NoPi::DoesNotStart)?;
    new_enough(path, Vec::new(), &version)
}

fn pi_of(places: &Places) -> Option<PathBuf> {
    let named = places.variable("PI_SUBAGENTS_PI");
    let search_path = places.variable("PATH").unwrap_or_default();
    installed_pi(named, &places.cwd, search_path)
}

fn new_enough(path: PathBuf, arguments: Vec<OsString>, said: &str) -> Result<FoundPi, NoPi> {
    match Version::parse(said) {
        Some(version) if version >= OLDEST_PI => Ok(FoundPi {
            program: Program {
                path,
                arguments,
                has_mcp: version >= FIRST_WITH_MCP,
                keeps_tools: version >= FIRST_THAT_KEEPS_TOOLS,
            },
            version: said.to_owned(),
        }),
        Some(_) | None => Err(NoPi::TooOld(format!(
            "{} is pi {said}, which is too old: {OLDEST_PI} or newer is needed",
            path.display(),
        ))),
    }
}
