//! `resume`: goes on where a run or a session ended.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use pi_subagents_records::IndexedRun;

use crate::cli::{ConcurrencyArgs, DryRunArgs, RunArgs};
use crate::commands::answered::print;
use crate::commands::call::answer_of;
use crate::commands::continued::Continued;
use crate::commands::delegate::caller;
use crate::commands::dry_run;
use crate::commands::option_place::OptionPlace;
use crate::commands::words::joined;
use pi_subagents_calls::Answer;
use pi_subagents_calls::TaskTerms;
use pi_subagents_calls::families::delegation::{DelegateCall, Resume, TaskCall};
use pi_subagents_calls::families::subagent::{AgentTask, SubagentCall};
use pi_subagents_calls::open_run::{EarlierSession, Inherited};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::known::KnownSession;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::tending::tend;
use pi_subagents_runs::typed::TypedIds;

#[derive(Args)]
#[command(
    mut_arg("runner", |arg| arg.help("How the sub-agent runs [default: as it did in the session]")),
    mut_arg("model", |arg| arg.help("Model to use: an id, provider/id or a pattern, with a thinking level if you like, as in sonnet:high [default: the model of the session]")),
    mut_arg("cwd", |arg| arg.help("Directory in which the sub-agent works [default: the directory of the session]")),
    mut_arg("timeout", |arg| arg.help("Time limit in seconds. While its tools are still active, the sub-agent may run longer [default: the timeout of the definition; without one, 600 for a session of delegate, and no limit for one of run or spawn]"))
)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    options: OptionPlace,
    /// Run or session: an id or its beginning, last, last~2, or the name of a task or definition
    id: String,
    /// The prompt; several words are joined, and - reads it from stdin
    #[arg(required = true)]
    prompt: Vec<String>,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    dry_run: DryRunArgs,
}

pub(crate) fn run(args: &ResumeArgs, printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    args.options.check(1, args.prompt.len())?;
    let caller = caller(&args.run)?;
    let index = KnownIndex::of(&caller.places);
    tend(&index, &caller.places);
    let typed = TypedIds::newest(&index, &caller.places, printer);
    let session = typed
        .conversation(&args.id)
        .map_err(|error| ask_which(&error, |run| format!("pi-subagents resume {run} PROMPT")))?;
    if session.is_running() {
        return Err(still_running(&session));
    }
    let continued = Continued::of(session, caller)?;
    let prompt = joined("prompt", &args.prompt)?;
    if args.dry_run.dry_run {
        let caller = &continued.caller;
        let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
        return dry_run::print(caller, &configuration, printer);
    }
    let places = continued.caller.places.clone();
    let answer = go_on(continued, prompt, printer)?;
    Ok(print(&answer, &places, printer))
}

/// Goes on with a session in the foreground.
pub(super) fn go_on(
    continued: Continued,
    prompt: String,
    printer: Printer<'static>,
) -> Result<Answer, CommandError> {
    let Continued {
        caller,
        session,
        latest,
        history,
        inherited,
        agent,
        definition,
    } = continued;
    let alone = ConcurrencyArgs::default();
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    let seen = (&caller, configuration);
    if let Some(agent) = agent {
        return answer_of(
            sticky(&latest, inherited, agent, prompt),
            seen,
            alone,
            printer,
        );
    }
    let earlier = EarlierSession::with_history(session, latest.run, history, inherited);
    let call = told(latest.name, Arc::new(earlier), definition, prompt)?;
    answer_of(call, seen, alone, printer)
}

/// Refuses to go on with a session that another process is writing in, with advice.
pub(super) fn still_running(session: &KnownSession) -> CommandError {
    let id = &session.id;
    CommandError::usage(format!("session {id} is still running"))
        .hint(format!(
            "pi-subagents steer {id} MESSAGE sends it a message now."
        ))
        .hint(format!(
            "pi-subagents wait {id} waits for its end; then resume can go on with it."
        ))
}

/// Makes the call that goes on in the child's own session.
fn sticky(latest: &IndexedRun, inherited: Inherited, agent: String, task: String) -> SubagentCall {
    SubagentCall::Single(Box::new(AgentTask {
        agent,
        task,
        model: None,
        cwd: None,
        session: Some(latest.session.clone()),
        earlier: Some(inherited),
        timeout: None,
        terms: TaskTerms::default(),
    }))
}

/// Makes the call whose child gets the earlier messages in its prompt.
fn told(
    name: String,
    earlier: Arc<EarlierSession>,
    profile: Option<String>,
    prompt: String,
) -> Result<DelegateCall, CommandError> {
    Ok(DelegateCall::new(vec![TaskCall {
        name,
        prompt,
        profile,
        resume: Some(Resume::Found(earlier)),
        ..TaskCall::default()
    }])?)
}
