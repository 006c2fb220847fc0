//! What a detached process must know about its caller and cannot see for itself.

use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_definitions::{RunnerChoice, Skill};
use pi_subagents_delegation::{Allowance, Dollars, Program};
use pi_subagents_sessions::Detached;
use serde::{Deserialize, Serialize};

use crate::calls::caller::{Caller, CallingPi, Overrides};
use crate::calls::next_steps::Door;
use crate::places::Places;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallerFacts {
    door: Door,
    trusts_project: bool,
    runner: Option<RunnerWord>,
    model: Option<String>,
    cwd: Option<PathBuf>,
    timeout: Option<Duration>,
    max_tokens: Option<u64>,
    max_cost: Option<f64>,
    tools: Option<Vec<String>>,
    pi: Option<PiFacts>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum RunnerWord {
    Auto,
    Pi,
    Embedded,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PiFacts {
    program: PathBuf,
    arguments: Vec<String>,
    version: String,
    model: Option<String>,
    models: Vec<String>,
    active_tools: Vec<String>,
    all_tools: Vec<String>,
    skills: Vec<SkillFacts>,
    session: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct SkillFacts {
    name: String,
    file: PathBuf,
    description: String,
}

impl CallerFacts {
    pub(super) fn of(caller: &Caller) -> Self {
        let overrides = &caller.overrides;
        Self {
            door: caller.door,
            trusts_project: caller.trusts_project,
            runner: overrides.runner.map(RunnerWord::from),
            model: overrides.model.clone(),
            cwd: overrides.cwd.clone(),
            timeout: overrides.timeout,
            max_tokens: overrides.allowance.tokens,
            max_cost: overrides.allowance.cost.map(Dollars::amount),
            tools: overrides.tools.clone(),
            pi: caller.pi.as_ref().map(PiFacts::of),
        }
    }

    /// The owner that works for this caller.
    pub(super) fn detached(&self) -> Detached {
        Detached {
            pi_session: self.pi.as_ref().map(|pi| pi.session.clone()),
        }
    }

    /// The caller, at the place where we were started for them.
    pub(super) fn into_caller(self, places: Places) -> Caller {
        Caller {
            door: self.door,
            trusts_project: self.trusts_project,
            overrides: Overrides {
                runner: self.runner.map(RunnerChoice::from),
                model: self.model,
                cwd: self.cwd,
                timeout: self.timeout,
                allowance: Allowance {
                    tokens: self.max_tokens,
                    cost: self.max_cost.map(Dollars::new),
                },
                tools: self.tools,
            },
            pi: self.pi.map(PiFacts::into_pi),
            ..Caller::at(places)
        }
    }
}

impl PiFacts {
    fn of(pi: &CallingPi) -> Self {
        let arguments = pi.program.arguments.iter();
        Self {
            program: pi.program.path.clone(),
            arguments: arguments
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            version: pi.version.clone(),
            model: pi.model.clone(),
            models: pi.models.clone(),
            active_tools: pi.active_tools.clone(),
            all_tools: pi.all_tools.clone(),
            skills: pi.skills.iter().map(SkillFacts::of).collect(),
            session: pi.session.clone(),
        }
    }

    fn into_pi(self) -> CallingPi {
        CallingPi {
            program: Program {
                path: self.program,
                arguments: self.arguments.into_iter().map(Into::into).collect(),
                has_mcp: false,
                keeps_tools: false,
            },
            version: self.version,
            model: self.model,
            models: self.models,
            active_tools: self.active_tools,
            all_tools: self.all_tools,
            skills: self
                .skills
                .into_iter()
                .map(SkillFacts::into_skill)
                .collect(),
            session: self.session,
        }
    }
}

impl SkillFacts {
    fn of(skill: &Skill) -> Self {
        Self {
            name: skill.name.clone(),
            file: skill.file.clone(),
            description: skill.description.clone(),
        }
    }

    fn into_skill(self) -> Skill {
        Skill {
            name: self.name,
            file: self.file,
            description: self.description,
        }
    }
}

impl From<RunnerChoice> for RunnerWord {
    fn from(choice: RunnerChoice) -> Self {
        match choice {
            RunnerChoice::Auto => Self::Auto,
            RunnerChoice::Pi => Self::Pi,
            RunnerChoice::Embedded => Self::Embedded,
        }
    }
}

impl From<RunnerWord> for RunnerChoice {
    fn from(word: RunnerWord) -> Self {
        match word {
            RunnerWord::Auto => Self::Auto,
            RunnerWord::Pi => Self::Pi,
            RunnerWord::Embedded => Self::Embedded,
        }
    }
}
