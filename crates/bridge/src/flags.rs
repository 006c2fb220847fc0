//! The command line of a bridge: the words of its agent, and pi's flags, as the engine writes them.

use std::path::PathBuf;

use crate::permission::Asking;
use pi_subagents_vocabulary::{OtherAgent, ThinkingLevel, ToolPolicy};

/// A command line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Flags {
    pub(crate) agent: OtherAgent,
    /// The program of the agent, with its arguments.
    pub(crate) command: Vec<String>,
    pub(crate) model: Option<String>,
    pub(crate) thinking: Option<ThinkingLevel>,
    /// The file whose text takes the place of the system prompt.
    pub(crate) system_prompt: Option<PathBuf>,
    pub(crate) appended: Vec<PathBuf>,
    pub(crate) tools: ToolPolicy,
    pub(crate) session: Option<PathBuf>,
    pub(crate) finalize: bool,
    pub(crate) schema: Option<PathBuf>,
    pub(crate) run_directory: Option<PathBuf>,
    /// The calls about which somebody can be asked.
    pub(crate) asking: Asking,
    /// The number of answers after which the agent itself ends.
    pub(crate) most_turns: Option<u32>,
    /// The dollars after which the agent itself ends.
    pub(crate) most_cost: Option<f64>,
    /// The file with the MCP servers of the task.
    pub(crate) servers: Option<PathBuf>,
}

/// The command line cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FlagError {
    #[error("{0:?} is not an agent; use one of {words}", words = words())]
    Agent(String),
    #[error("{0} needs a value")]
    Value(String),
    #[error("{flag}: other agents do not know it; use --runner pi or --runner embedded", flag = .0)]
    Unknown(String),
    #[error("no program is named: --program PATH")]
    Program,
}

fn words() -> String {
    OtherAgent::ALL.map(OtherAgent::as_str).join(", ")
}

/// Reads the words after `bridge acp`.
pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Flags, FlagError> {
    let mut words = words.into_iter();
    let name = words.next().unwrap_or_default();
    let agent = OtherAgent::from_word(&name).ok_or(FlagError::Agent(name))?;
    let mut flags = Flags {
        agent,
        command: Vec::new(),
        model: None,
        thinking: None,
        system_prompt: None,
        appended: Vec::new(),
        tools: ToolPolicy::Inherit,
        session: None,
        finalize: false,
        schema: None,
        run_directory: None,
        asking: Asking::Nobody,
        most_turns: None,
        most_cost: None,
        servers: None,
    };
    let mut provider = None;
    while let Some(flag) = words.next() {
        let mut value = || words.next().ok_or_else(|| FlagError::Value(flag.clone()));
        match flag.as_str() {
            "--program" | "--argument" => flags.command.push(value()?),
            "--model" => flags.model = Some(value()?),
            "--provider" => provider = Some(value()?),
            "--thinking" => flags.thinking = ThinkingLevel::from_word(&value()?),
            "--system-prompt" => flags.system_prompt = Some(value()?.into()),
            "--append-system-prompt" => flags.appended.push(value()?.into()),
            "--tools" => flags.tools = ToolPolicy::Only(list(&value()?)),
            "--exclude-tools" => flags.tools = ToolPolicy::AllExcept(list(&value()?)),
            "--no-tools" => flags.tools = ToolPolicy::Nothing,
            "--session" => flags.session = Some(value()?.into()),
            "--finalize" => flags.finalize = true,
            "--output-schema" => flags.schema = Some(value()?.into()),
            "--run-dir" => flags.run_directory = Some(value()?.into()),
            "--permissions" => flags.asking = Asking::from_word(&value()?),
            "--max-turns" => flags.most_turns = value()?.parse().ok(),
            "--max-cost" => flags.most_cost = value()?.parse().ok(),
            "--mcp-servers" => flags.servers = Some(value()?.into()),
            // The first is always rpc. A worktree is told to the agent in its instructions, and it
            // has no tool to ask with.
            "--mode" | "--leave-alone" | "--own" | "--ask" => drop(value()?),
            "--no-session" | "--approve" | "--no-approve" => {}
            _ => return Err(FlagError::Unknown(flag)),
        }
    }
    if flags.command.is_empty() {
        return Err(FlagError::Program);
    }
    if let (Some(provider), Some(model)) = (provider, &mut flags.model) {
        *model = format!("{provider}/{model}");
    }
    flags.split_level();
    Ok(flags)
}

impl Flags {
    /// Takes the thinking level off the end of the model.
    fn split_level(&mut self) {
        let Some((id, word)) = self
            .model
            .as_deref()
            .and_then(|model| model.rsplit_once(':'))
        else {
            return;
        };
        if let Some(level) = ThinkingLevel::from_word(word) {
            self.thinking = self.thinking.or(Some(level));
            self.model = Some(id.to_owned());
        }
    }
}

fn list(names: &str) -> Vec<String> {
    names.split(',').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(line: &str) -> Result<Flags, String> {
        parse(line.split(' ').map(str::to_owned)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_engine_writes_pis_flags() {
        let flags = read(
            "claude --program /bin/a --argument -x --mode rpc --session /s.jsonl --model opus:high \
             --append-system-prompt /a --tools read,grep --finalize --output-schema /o --run-dir /r \
             --no-approve --leave-alone /w --own /w/o --ask word --permissions all --max-turns 3 \
             --max-cost 0.5 --mcp-servers /m",
        );
        let expected = Flags {
            agent: OtherAgent::Claude,
            command: vec!["/bin/a".to_owned(), "-x".to_owned()],
            model: Some("opus".to_owned()),
            thinking: Some(ThinkingLevel::High),
            system_prompt: None,
            appended: vec!["/a".into()],
            tools: ToolPolicy::Only(vec!["read".to_owned(), "grep".to_owned()]),
            session: Some("/s.jsonl".into()),
            finalize: true,
            schema: Some("/o".into()),
            run_directory: Some("/r".into()),
            asking: Asking::All,
            most_turns: Some(3),
            most_cost: Some(0.5),
            servers: Some("/m".into()),
        };
        assert_eq!(flags, Ok(expected));
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        let refused = [
            "goose",
            "claude",
            "claude --program a --skill b",
            "codex --model",
        ];
        let told: Vec<String> = refused.iter().filter_map(|line| read(line).err()).collect();
        insta::assert_snapshot!(told.join("\n"), @r#"
        "goose" is not an agent; use one of claude, codex, gemini, copilot, opencode, qwen, acp
        no program is named: --program PATH
        --skill: other agents do not know it; use --runner pi or --runner embedded
        --model needs a value
        "#);
    }
}
