//! `resume`: goes on where a run or a session ended.

use std::process::ExitCode;

use clap::Args;

use crate::cli::{ConcurrencyArgs, DryRunArgs, RunArgs};
use crate::commands::answer_output::print;
use crate::commands::call::answer_of;
use crate::commands::delegate::caller;
use crate::commands::dry_run;
use crate::commands::junit::JunitArgs;
use crate::commands::option_place::OptionPlace;
use crate::commands::words::joined;
use pi_subagents_calls::Answer;
use pi_subagents_calls::acts::{RestOfCall, ResumedCall, Resumption};
use pi_subagents_calls::caller::Caller;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::upkeep::tend;

#[derive(Args)]
#[command(
    mut_arg("runner", |arg| arg.help("How the sub-agent runs [default: as it did in the session]")),
    mut_arg("model", |arg| arg.help("Model to use: an id, provider/id or a pattern, with a thinking level if you like, as in sonnet:high [default: the model of the session]")),
    mut_arg("cwd", |arg| arg.help("Directory in which the sub-agent works [default: the directory of the session]")),
    mut_arg("timeout", |arg| arg.help("Time limit in seconds. While its tools are still active, the sub-agent may run longer [default: the timeout of the agent; without one, 600 for a session of delegate, and no limit for one of run or spawn]"))
)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    options: OptionPlace,
    /// Run or session: an id or its beginning, last, last~2, or the name of a task or agent
    id: String,
    /// The prompt; several words are joined, and - reads it from stdin
    #[arg(required_unless_present = "failed")]
    prompt: Vec<String>,
    /// Do the rest of a call, which ID leads to by any of its runs: every task that has not completed begins anew, and none that has is repeated
    #[arg(long, conflicts_with = "prompt")]
    failed: bool,
    /// With --failed, begin no further task after the first one that fails
    #[arg(long, requires = "failed")]
    fail_fast: bool,
    #[command(flatten)]
    junit: JunitArgs,
    #[command(flatten)]
    concurrency: ConcurrencyArgs,
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
    if args.failed {
        return do_rest(args, typed, caller.clone(), printer);
    }
    let session = typed
        .conversation(&args.id)
        .map_err(|error| ask_which(&error, |run| format!("pi-subagents resume {run} PROMPT")))?;
    let resumption = Resumption::of(session, caller)?;
    let prompt = joined("prompt", &args.prompt)?;
    if args.dry_run.dry_run {
        let caller = &resumption.caller;
        let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
        return dry_run::print(caller, &configuration, printer);
    }
    let places = resumption.caller.places.clone();
    args.junit.check(&places)?;
    let answer = go_on(resumption, prompt, printer)?;
    args.junit.write(&answer, &places)?;
    Ok(print(&answer, &places, printer))
}

/// Does the tasks of a call that have not completed.
fn do_rest(
    args: &ResumeArgs,
    typed: TypedIds<'_>,
    caller: Caller,
    printer: Printer<'static>,
) -> Result<ExitCode, CommandError> {
    let found = typed.runs(&args.id);
    let found = found
        .map_err(|error| ask_which(&error, |run| format!("pi-subagents resume {run} --failed")));
    let run = found?.pop();
    let run = run.ok_or_else(|| CommandError::not_found(format!("{} has no runs", args.id)))?;
    let RestOfCall { caller, mut call } = RestOfCall::of(&run, typed.index, caller)?;
    call.stop_after = args.fail_fast.then_some(1);
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    if args.dry_run.dry_run {
        return dry_run::print(&caller, &configuration, printer);
    }
    args.junit.check(&caller.places)?;
    let answer = answer_of(call, &caller, configuration, args.concurrency, printer)?;
    args.junit.write(&answer, &caller.places)?;
    Ok(print(&answer, &caller.places, printer))
}

/// Goes on with a session in the foreground.
pub(super) fn go_on(
    resumption: Resumption,
    prompt: String,
    printer: Printer<'static>,
) -> Result<Answer, CommandError> {
    let alone = ConcurrencyArgs::default();
    let caller = resumption.caller.clone();
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    match resumption.call(prompt)? {
        ResumedCall::Sticky(call) => answer_of(call, &caller, configuration, alone, printer),
        ResumedCall::Retold(call) => answer_of(call, &caller, configuration, alone, printer),
    }
}
