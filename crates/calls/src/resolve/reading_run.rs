//! Decides whether a run whose tools only read gets a sandbox that nobody asked for. It gets one
//! where that takes nothing from it: where the machine can make it, where the model can be asked from
//! inside, and where nothing that belongs to the run has to write.

use std::path::Path;

use pi_subagents_agent::{RoutedAgent, Surroundings, check_plain_route};
use pi_subagents_confine::SandboxTrial;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::sandbox_trial::sandbox_trial;
use pi_subagents_vocabulary::{
    Gate, McpServer, ModelChoice, NetworkReach, Runner, SandboxLevel, ToolPolicy,
};

use super::model::provider_of;

/// The parts of a run that decide about such a sandbox.
#[derive(Debug, Clone, Copy)]
pub struct ReadingRun<'a> {
    /// The tools of the child.
    pub tools: &'a ToolPolicy,
    /// The kind of child.
    pub runner: Runner,
    /// The model that it asks first.
    pub model: &'a ModelChoice,
    /// The names of the models that may take over.
    pub fallback_models: &'a [String],
    /// The MCP servers of its definition.
    pub mcp_servers: &'a [McpServer],
    /// The commands that judge its work.
    pub gates: &'a [Gate],
    /// The command that prepares its worktree, if it has both.
    pub setup: Option<&'a str>,
    /// The directory in which it works.
    pub cwd: &'a Path,
    /// True if the settings of its project count.
    pub trusted: bool,
}

impl ReadingRun<'_> {
    /// Returns the level of the run if nobody chooses one, before it is known whether that can be
    /// had.
    pub fn level(&self) -> SandboxLevel {
        if self.tools.only_reads() {
            SandboxLevel::ReadOnly
        } else {
            SandboxLevel::Off
        }
    }

    /// Returns why the run does without the sandbox that its tools suggest.
    pub fn obstacle(&self, places: &Places) -> Option<String> {
        let own = self.own_obstacle();
        own.or_else(|| self.obstacle_here(places)).or_else(|| {
            let (provider, model) = match self.model {
                ModelChoice::Named {
                    provider, model, ..
                } => (provider.as_deref(), model.as_deref()),
                ModelChoice::Inherit => (None, None),
            };
            let agent = RoutedAgent {
                provider,
                model,
                cwd: self.cwd,
                session: None,
                trusted: self.trusted,
            };
            check_plain_route(agent, &Surroundings::from(places)).err()
        })
    }

    /// Returns the obstacle that is in the run itself.
    fn own_obstacle(&self) -> Option<String> {
        if let Some(agent) = self.runner.other_agent() {
            return Some(format!("{} cannot run in a sandbox", agent.title()));
        }
        if !self.mcp_servers.is_empty() && !self.tools.names_all() {
            return Some("its MCP servers may have to write".to_owned());
        }
        if let Some(gate) = self.gates.first() {
            return Some(format!("its gate \"{}\" may have to write", gate.command));
        }
        if let Some(command) = self.setup {
            return Some(format!("\"{command}\" prepares its worktree"));
        }
        let provider = provider_of(self.model);
        let is_far = |name: &&String| {
            let other = name.split_once('/').map(|(other, _)| other);
            other.is_none() || other != provider
        };
        let far = self.fallback_models.iter().find(is_far)?;
        Some(format!(
            "{far} may take over, and a sandbox has the key of one provider"
        ))
    }

    /// Returns the obstacle that is in this machine.
    fn obstacle_here(&self, places: &Places) -> Option<String> {
        match sandbox_trial(places) {
            SandboxTrial::All { .. } => None,
            trial if !trial.allows(SandboxLevel::ReadOnly, &NetworkReach::None) => {
                Some("this machine cannot make one".to_owned())
            }
            // Without namespaces a pi cannot make its locks, and ignores the settings of a project.
            SandboxTrial::ReadOnly { .. } if !self.runner.confines_its_shell() => {
                Some("this machine cannot make one for a pi process".to_owned())
            }
            SandboxTrial::ReadOnly { .. } | SandboxTrial::Nothing { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_must_write_or_needs_another_key_does_without() {
        let named = |model: &str| ModelChoice::Named {
            provider: None,
            model: Some(model.to_owned()),
            thinking: None,
        };
        let (model, gate) = (named("one/a"), Gate::from("make"));
        let (near, far) = (
            ["one/b".to_owned()],
            ["one/b".to_owned(), "two/c".to_owned()],
        );
        let run = ReadingRun {
            tools: &ToolPolicy::Nothing,
            runner: Runner::Embedded,
            model: &model,
            fallback_models: &near,
            mcp_servers: &[],
            gates: &[],
            setup: None,
            cwd: Path::new("/w"),
            trusted: false,
        };
        let tools = ToolPolicy::Only(vec!["read".to_owned(), "bash".to_owned()]);
        let without = |names: &[&str]| {
            ToolPolicy::AllExcept(names.iter().map(|name| (*name).to_owned()).collect())
        };
        let (reader, writer) = (without(&["write", "edit", "bash"]), without(&["bash"]));
        let levels = [&ToolPolicy::Nothing, &tools, &reader, &writer]
            .map(|tools| ReadingRun { tools, ..run }.level());
        let (on, off) = (SandboxLevel::ReadOnly, SandboxLevel::Off);
        assert_eq!(levels, [on, off, on, off]);
        let runs = [
            run,
            ReadingRun {
                fallback_models: &far,
                ..run
            },
            ReadingRun {
                gates: std::slice::from_ref(&gate),
                ..run
            },
            ReadingRun {
                setup: Some("npm ci"),
                ..run
            },
        ];
        let found = runs.map(|run| run.own_obstacle().unwrap_or_default());
        assert_eq!(
            found,
            [
                "",
                "two/c may take over, and a sandbox has the key of one provider",
                "its gate \"make\" may have to write",
                "\"npm ci\" prepares its worktree",
            ]
        );
    }
}
