//! From the command line to an exit code.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_files::read_own_text;
use pi_subagents_pi_files::{DEFAULT_TOOLS, with_default_tools};
use pi_subagents_vocabulary::shell_commands::CommandForms;
use pi_subagents_vocabulary::{LARGEST_SCHEMA, OutputSchema, ServerTool, ThinkingLevel, nearest};

use crate::agent::{Agent, Setup};
use crate::conversation::Conversation;
use crate::dialogs::Dialogs;
use crate::flags::{self, Flags, Mode};
use crate::model_access::{ModelAccess, ModelError};
use crate::models::{Choice, Credential, GivenKey, Wanted, is_everyday, secret_variables};
use crate::opened_session::{OpenError, OpenedSession};
use crate::output::{Output, Writer};
use crate::servers::{ServerPlaces, Servers, ToolChoice};
use crate::settings::Settings;
use crate::signals::Signals;
use crate::surroundings::Surroundings;
use crate::tools::{TOOLS, Tool, ToolName};
use crate::{handed_key, input, notices, one_shot, orphans, processes, prompt, rpc};

/// The time that a reader may take for the last lines.
const FAREWELL: Duration = Duration::from_secs(1);

/// Runs the agent until its stdin closes (rpc) or its prompts are answered, and returns
/// the exit code. `arguments` are pi's flags.
pub fn run(arguments: Vec<String>, mut surroundings: Surroundings) -> u8 {
    if let Err(error) = handed_key::take_variables(&mut surroundings.variables) {
        return refuse(&error);
    }
    let handed = match handed_key::take(&mut surroundings.variables) {
        Ok(handed) => handed,
        Err(error) => return refuse(&error),
    };
    let flags = match flags::parse(arguments) {
        Ok(flags) => flags,
        Err(error) => return refuse(&error),
    };
    if flags.help || flags.version {
        let text = if flags.help { HELP } else { VERSION };
        let _ = writeln!(std::io::stdout(), "{}", text.trim_end());
        return 0;
    }
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return refuse(&error),
    };
    processes::adopt_orphans();
    let (output, lines) = Output::channel();
    let writer = match flags.mode() {
        // Only the last answer is printed. Events that nobody takes would fill the channel, and the
        // agent would wait for ever; a closed channel drops them.
        Mode::Text => {
            drop(lines);
            None
        }
        Mode::Json | Mode::Rpc => match Writer::start(lines) {
            Ok(writer) => Some(writer),
            Err(error) => return refuse(&no_thread(&error)),
        },
    };
    let code = runtime.block_on(start(flags, surroundings, handed, output));
    // A file operation that hangs must not keep us here.
    runtime.shutdown_background();
    processes::end_descendants();
    if let Some(writer) = writer {
        writer.finish(FAREWELL);
    }
    code
}

const HELP: &str = include_str!("../prompts/help.txt");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Explains that the system has no room for one more thread.
fn no_thread(error: &std::io::Error) -> String {
    format!("no thread could be started, because there are too many processes: {error}")
}

fn refuse(error: &dyn std::fmt::Display) -> u8 {
    notices::error(error);
    1
}

async fn start(
    flags: Flags,
    surroundings: Surroundings,
    handed: Option<GivenKey>,
    output: Output,
) -> u8 {
    // From here on a signal lets us clean up.
    let signals = match Signals::catch() {
        Ok(signals) => signals,
        Err(error) => return refuse(&error),
    };
    let (agent, access) = match assemble(&flags, &surroundings, handed, output) {
        Ok(assembled) => assembled,
        Err(error) => return refuse(&error),
    };
    tokio::select! {
        code = work(&agent, &access, &flags, signals) => code,
        never = orphans::bury() => match never {},
    }
}

async fn work(agent: &Agent, access: &ModelAccess, flags: &Flags, signals: Signals) -> u8 {
    match flags.mode() {
        Mode::Rpc => match input::lines() {
            Ok(lines) => rpc::serve(agent, access, lines, signals).await,
            Err(error) => refuse(&no_thread(&error)),
        },
        mode => one_shot::answer(agent, access, flags, mode, signals).await,
    }
}

/// The reason why an agent cannot be put together.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Session(#[from] OpenError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("--tools names only unknown tools: {0}. Available tools: {1}")]
    UnknownTools(String, String),
    #[error("--output-schema {0}: {1}")]
    Schema(String, String),
    #[error("--mcp-servers {0}: {1}")]
    Servers(String, String),
    #[error("--api-key needs a model: name one with --model, or a provider with --provider.")]
    KeyWithoutModel,
}

/// Puts the agent together from the flags, the settings and the session.
pub(crate) fn assemble(
    flags: &Flags,
    surroundings: &Surroundings,
    handed: Option<GivenKey>,
    output: Output,
) -> Result<(Agent, ModelAccess), StartError> {
    let opened = OpenedSession::open(flags, surroundings)?;
    let recorded = opened.as_ref().and_then(|opened| opened.recorded.as_ref());
    let cwd = recorded.map_or_else(|| surroundings.cwd.clone(), |recorded| recorded.cwd.clone());
    let (settings, warnings) = Settings::read(
        &surroundings.agent_dir,
        trusted_project(flags, surroundings, &cwd),
    );
    for warning in warnings {
        notices::warn(&warning);
    }
    let mut access = ModelAccess::new(
        surroundings.agent_dir.clone(),
        cwd.clone(),
        surroundings.variables.clone(),
    );
    access.given = handed.map_or_else(|| key_of_flags(flags), |key| Ok(Some(key)))?;
    access.patience = settings.patience();
    let earlier = recorded.map(|recorded| (recorded.model.clone(), recorded.thinking.clone()));
    let conversation = match opened {
        Some(opened) => opened.conversation(&cwd)?,
        None => Conversation::begin(None, uuid::Uuid::now_v7().to_string(), &cwd),
    };
    if flags.mode() != Mode::Rpc {
        // An owner has compared its lists before.
        for doubt in tool_doubts(flags)? {
            notices::warn(&doubt);
        }
    }
    let tools = choose_tools(flags, settings.default_tools.as_deref());
    let servers = servers(flags, surroundings, &cwd)?;
    let setup = Setup {
        sections: prompt::build(flags, &tools, &cwd, surroundings),
        cwd,
        home: surroundings.home.clone(),
        guarded: flags.guarded(),
        commands: CommandForms::of(&flags.commands),
        output_schema: output_schema(flags)?,
        dialogs: flags
            .ask
            .as_ref()
            .map(|word| Dialogs::new(word, output.clone())),
        run_directory: flags.run_dir.as_ref().map(PathBuf::from),
        variables: without_secrets(surroundings, &servers),
        tools,
        servers,
        retry: settings.retry,
        compaction: settings.compaction,
    };
    let agent = Agent::new(output, setup, conversation);
    let (model, thinking) = earlier.unwrap_or_default();
    equip(
        &agent,
        &access,
        flags,
        &settings,
        model,
        thinking.as_deref(),
    )?;
    access.bind_given_key(&agent);
    if let Some(name) = &flags.name {
        agent.conversation.borrow_mut().set_name(name);
    }
    Ok((agent, access))
}

/// Reads the servers that an owner has written down, and the lists that choose among their tools.
fn servers(flags: &Flags, surroundings: &Surroundings, cwd: &Path) -> Result<Servers, StartError> {
    let wanted = match &flags.mcp_servers {
        Some(file) => Servers::read(file).map_err(|why| StartError::Servers(file.clone(), why))?,
        None => Vec::new(),
    };
    let choice = ToolChoice {
        allowed: flags.tools.clone(),
        excluded: flags.exclude_tools.clone(),
        is_nothing: flags.no_tools,
    };
    let places = ServerPlaces {
        cwd: cwd.to_owned(),
        agent_dir: surroundings.agent_dir.clone(),
        variables: surroundings.variables.clone(),
    };
    Ok(Servers::new(wanted, choice, places))
}

/// Reads the schema that the reported result must meet, if there is one.
fn output_schema(flags: &Flags) -> Result<Option<OutputSchema>, StartError> {
    let Some(file) = &flags.output_schema else {
        return Ok(None);
    };
    let refused = |why: &dyn std::fmt::Display| StartError::Schema(file.clone(), why.to_string());
    let largest = u64::try_from(LARGEST_SCHEMA).unwrap_or(u64::MAX);
    let text = read_own_text(Path::new(file), largest).map_err(|error| refused(&error))?;
    let schema = OutputSchema::read(&text).map_err(|error| refused(&error))?;
    Ok(Some(schema))
}

/// Returns the directory whose `.pi` counts: the working directory, if the caller trusts it and it
/// is safe from other users.
fn trusted_project<'a>(
    flags: &Flags,
    surroundings: &Surroundings,
    cwd: &'a Path,
) -> Option<&'a Path> {
    let own = surroundings.never_projects.own_directories(cwd);
    (flags.approve && !own.is_empty()).then_some(cwd)
}

/// Returns the key of the command line; it is visible there, but pi has the flag too.
fn key_of_flags(flags: &Flags) -> Result<Option<GivenKey>, StartError> {
    match (&flags.api_key, &flags.model, &flags.provider) {
        (Some(_), None, None) => Err(StartError::KeyWithoutModel),
        (Some(key), ..) => Ok(Some(GivenKey {
            provider: flags.provider.clone(),
            key: Credential::Key(key.clone()),
        })),
        (None, ..) => Ok(None),
    }
}

/// Chooses model and thinking: flags, then the session, then the settings.
fn equip(
    agent: &Agent,
    access: &ModelAccess,
    flags: &Flags,
    settings: &Settings,
    earlier_model: Option<(String, String)>,
    earlier_thinking: Option<&str>,
) -> Result<(), ModelError> {
    let mut wanted = Wanted {
        provider: flags.provider.clone(),
        model: flags.model.clone(),
        default_provider: settings.default_provider.clone(),
        default_model: settings.default_model.clone(),
        default_place: settings.default_place.clone(),
    };
    if let Some((provider, model)) = earlier_model
        && wanted.provider.is_none()
        && wanted.model.is_none()
    {
        (wanted.provider, wanted.model) = (Some(provider), Some(model));
    }
    let mut choice = match access.choose(&wanted) {
        Ok(choice) => choice,
        // A caller that uses the protocol gets the error as the answer to its prompt; we do not
        // exit.
        Err(why) if flags.mode() == Mode::Rpc => {
            access.refuse_prompts(&why);
            Choice::default()
        }
        Err(why) => return Err(why),
    };
    if let Some(warning) = &choice.warning {
        notices::warn(warning);
    }
    let asked = flags.thinking.as_deref().and_then(|name| {
        let level = ThinkingLevel::from_word(name);
        if level.is_none() {
            notices::warn(&format!("Invalid thinking level \"{name}\" ignored."));
        }
        level
    });
    let asked = asked.or(choice.thinking);
    if let Some(model) = choice.model.as_mut().filter(|_| choice.is_unlisted) {
        // The abilities of an unlisted model are unknown, so a user who asks it to think is
        // believed.
        model.reasoning = asked.is_some();
    }
    let level = asked
        .or_else(|| earlier_thinking.and_then(ThinkingLevel::from_word))
        .or(settings.default_thinking_level)
        .unwrap_or_default();
    let level = choice
        .model
        .as_ref()
        .map_or(level, |model| model.clamp(level));
    if let Some(model) = choice.model {
        access.install(agent, model)?;
    }
    agent.set_thinking(level);
    Ok(())
}

/// Returns warnings about tools of the flags that do not exist; fails if no allowed tool exists.
fn tool_doubts(flags: &Flags) -> Result<Vec<String>, StartError> {
    let known: Vec<&str> = TOOLS.iter().map(|tool| tool.id).collect();
    let is_unknown =
        |name: &&String| !known.contains(&name.as_str()) && ServerTool::read(name).is_none();
    let allowed = flags.tools.as_deref().unwrap_or_default();
    if !allowed.is_empty() && allowed.iter().all(|name| is_unknown(&name)) {
        let unknown = allowed.join(", ");
        return Err(StartError::UnknownTools(unknown, known.join(", ")));
    }
    let unknown = allowed
        .iter()
        .chain(&flags.exclude_tools)
        .filter(is_unknown);
    let doubt = |name: &String| match nearest(name, known.iter().copied()) {
        Some(meant) => format!("There is no tool \"{name}\"; did you mean \"{meant}\"?"),
        None => format!("There is no tool \"{name}\"."),
    };
    Ok(unknown.map(doubt).collect())
}

/// Returns the tools of this run: those that the flags or the settings name, else the default ones.
///
/// A run ends by finalizing, so no list takes that tool away.
fn choose_tools(flags: &Flags, usual: Option<&[String]>) -> Vec<&'static Tool> {
    let named: BTreeSet<String> = match (&flags.tools, usual) {
        _ if flags.no_tools => BTreeSet::new(),
        (Some(tools), _) => tools.iter().cloned().collect(),
        (None, None) => DEFAULT_TOOLS.map(str::to_owned).into(),
        (None, Some(listed)) => {
            let default = DEFAULT_TOOLS.map(str::to_owned).into();
            with_default_tools(default, listed.iter().map(String::as_str))
        }
    };
    let is_on = |tool: &&Tool| {
        let is_excluded = flags.exclude_tools.iter().any(|name| name == tool.id);
        match tool.name {
            ToolName::Finalize => flags.finalize || named.contains(tool.id),
            // It goes with the client, whatever the lists say.
            ToolName::Ask => flags.ask.is_some(),
            _ => named.contains(tool.id) && !is_excluded,
        }
    };
    TOOLS.iter().filter(is_on).collect()
}

/// Returns the environment of shell commands: no secret, and nothing of another agent's session.
fn without_secrets(surroundings: &Surroundings, servers: &Servers) -> BTreeMap<String, String> {
    let mut kept = surroundings.variables.clone();
    let of_servers = servers.variables().filter(|name| !is_everyday(name));
    for name in secret_variables(&surroundings.agent_dir)
        .into_iter()
        .chain(of_servers)
    {
        kept.remove(&name);
    }
    for name in [
        "PI_SESSION_ID",
        "PI_SESSION_FILE",
        "PI_PROVIDER",
        "PI_MODEL",
        "PI_REASONING_LEVEL",
    ] {
        kept.remove(name);
    }
    kept
}
