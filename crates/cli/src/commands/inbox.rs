//! `inbox`: lists the questions that runs wait with, and `answer`: answers one of them.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_calls::acts::Resumption;
use pi_subagents_calls::caller::Caller;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_ground::signals::Signals;
use pi_subagents_runs::acts::{self, Addressee, Reach};
use pi_subagents_runs::ask_which::{ask_which, find_failure};
use pi_subagents_runs::follow::{AwaitedNews, Depth, FollowedRuns};
use pi_subagents_runs::inbox::{InboxQuestion, find_question, open_questions};
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::upkeep::tend_records;
use pi_subagents_view::figures::clock;
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::{QuestionId, Reply, Respondent, RunId, Timestamp, text};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::answer_output::print;
use crate::commands::option_place::OptionPlace;
use crate::commands::resume::go_on;
use crate::commands::words::joined;
use crate::places::find_places;

#[derive(Args)]
pub(crate) struct InboxArgs {
    /// Print the list again whenever it changes, until you press Ctrl-C
    #[arg(long)]
    watch: bool,
}

#[derive(Args)]
#[command(
    override_usage = "pi-subagents answer [OPTIONS] <ID> <TEXT>...\n       pi-subagents answer [OPTIONS] <ID> --option <N>\n       pi-subagents answer [OPTIONS] <ID> --yes|--no|--cancel"
)]
pub(crate) struct ReplyArgs {
    #[command(flatten)]
    options: OptionPlace,
    /// Question, as inbox lists it; the id or the name of a run stands for its only question
    id: String,
    /// The answer; several words are joined, and - reads it from stdin
    #[arg(value_name = "TEXT", required_unless_present_any = ["option", "yes", "no", "cancel"])]
    message: Vec<String>,
    /// Answer with the option of this number; the first is 1
    #[arg(long, value_name = "N", conflicts_with = "message")]
    option: Option<usize>,
    /// Answer with yes
    #[arg(long, conflicts_with_all = ["message", "option"])]
    yes: bool,
    /// Answer with no
    #[arg(long, conflicts_with_all = ["message", "option", "yes"])]
    no: bool,
    /// Give no answer: the sub-agent decides by itself, and the call of a dialog is not made
    #[arg(long, conflicts_with_all = ["message", "option", "yes", "no"])]
    cancel: bool,
}

/// The JSON of `inbox`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Inbox")]
pub(crate) struct InboxResult {
    /// The questions that wait for an answer, the oldest first.
    questions: Vec<InboxQuestion>,
}

/// The JSON of `answer`, for a run that goes on where it is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplyResult {
    /// The question.
    question_id: QuestionId,
    /// The run that has the answer.
    run_id: RunId,
    /// What happens now, in a sentence.
    text: String,
}

pub(crate) fn list(args: &InboxArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend_records(&index, &places);
    if args.watch {
        return block_on(watch(&index, &places, printer));
    }
    let questions = open_questions(&index).map_err(find_failure)?;
    show(&InboxResult { questions }, &places, printer);
    Ok(ExitCode::SUCCESS)
}

async fn watch(
    index: &KnownIndex,
    places: &Places,
    printer: Printer<'_>,
) -> Result<ExitCode, CommandError> {
    let mut signals = Signals::listen()?;
    let mut followed = FollowedRuns::start(places, Depth::Records);
    let mut shown = None;
    loop {
        tend_records(index, places);
        let questions = open_questions(index).map_err(find_failure)?;
        let ids: Vec<QuestionId> = questions
            .iter()
            .map(|question| question.asked.question.id.clone())
            .collect();
        if shown.as_ref() != Some(&ids) {
            show_again(&InboxResult { questions }, places, printer);
            shown = Some(ids);
        }
        let runs = index.runs().map_err(find_failure)?;
        followed.follow(runs.iter().filter(|run| run.is_open()));
        tokio::select! {
            _ = followed.next(AwaitedNews::ALL) => {}
            number = signals.next() => return Ok(exit::of_signal(number)),
        }
    }
}

fn show(inbox: &InboxResult, places: &Places, printer: Printer) {
    if printer.is_json() {
        return printer.json(inbox);
    }
    printer.data(&text_of(inbox, places));
}

fn show_again(inbox: &InboxResult, places: &Places, printer: Printer) {
    if printer.is_json() {
        return printer.json_line(inbox);
    }
    printer.screen(&text_of(inbox, places));
}

fn text_of(inbox: &InboxResult, places: &Places) -> String {
    if inbox.questions.is_empty() {
        return "No run waits for an answer.".to_owned();
    }
    let sheet = Sheet::of_stdout(places);
    let now = Timestamp::now();
    let lines = inbox.questions.iter();
    let lines: Vec<Line> = lines
        .flat_map(|question| drawn(question, &sheet, now))
        .collect();
    sheet.text(&lines)
}

/// Draws a question: who asks and since when, the question with its options, and how it is answered.
fn drawn(found: &InboxQuestion, sheet: &Sheet, now: Timestamp) -> Vec<Line> {
    let question = &found.asked.question;
    let id = question.id.as_str();
    let waited = now.duration_since(question.asked_at);
    let waited = clock(waited.try_into().unwrap_or_default());
    let state = if found.parked {
        format!("parked, asked {waited} ago")
    } else {
        format!("waits, {waited}")
    };
    let head = Line::new(Role::Warning, "? ")
        .with(Role::Accent, id)
        .with(Role::Plain, "  ")
        .with(Role::Title, &text::one_line(&text::clean(&found.path)))
        .with(Role::Muted, &format!("  {state}"));
    let mut lines = vec![head];
    let told = question
        .text
        .lines()
        .chain(question.context.iter().flat_map(|more| more.lines()));
    let told = told.map(|line| Line::new(Role::Plain, &format!("   {}", text::clean(line))));
    lines.extend(told.flat_map(|line| sheet.hang(&line, 3)));
    for (number, option) in question.options.iter().enumerate() {
        let line = Line::new(Role::Accent, &format!("   {} ", number + 1))
            .with(Role::Plain, &text::clean(option));
        lines.extend(sheet.hang(&line, 5));
    }
    let how = Line::new(
        Role::Muted,
        &format!("   pi-subagents answer {id} …   ({})", question.how()),
    );
    lines.push(how);
    lines
}

pub(crate) fn answer(
    args: &ReplyArgs,
    printer: Printer<'static>,
) -> Result<ExitCode, CommandError> {
    args.options.check(1, args.message.len())?;
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend_records(&index, &places);
    let found = found(&args.id, &index, &places, printer)?;
    if let Some(outcome) = &found.asked.outcome {
        let (id, how) = (&found.asked.question.id, outcome.sentence());
        let text = format!("question {id} is answered already: {}", text::clean(&how));
        return Err(CommandError::failed(text));
    }
    let reply = reply_of(args)?;
    if found.parked {
        return go_on_with(&found, &reply, places, printer);
    }
    let (reach, to) = (
        Reach::by_owners(&places),
        Addressee::from(found.run.clone()),
    );
    let question = &found.asked.question;
    let by = Respondent::CommandLine;
    let answered = block_on(acts::answer(&reach, &to, question, reply, by))?;
    if printer.is_json() {
        printer.json(&ReplyResult {
            question_id: question.id.clone(),
            run_id: answered.run.clone(),
            text: answered.sentence(),
        });
    } else {
        printer.data(&answered.sentence());
    }
    Ok(ExitCode::SUCCESS)
}

fn reply_of(args: &ReplyArgs) -> Result<Reply, CommandError> {
    Ok(match args.option {
        Some(number) => Reply::Option(number),
        None if args.yes => Reply::Yes,
        None if args.no => Reply::No,
        None if args.cancel => Reply::Cancel,
        None => Reply::Words(joined("answer", &args.message)?.trim_end().to_owned()),
    })
}

/// Finds the question that is meant: by its id, or by its run.
fn found(
    id: &str,
    index: &KnownIndex,
    places: &Places,
    printer: Printer,
) -> Result<InboxQuestion, CommandError> {
    let (mut questions, what) = if let Some(id) = QuestionId::parse(id) {
        (find_question(index, &id).map_err(find_failure)?, "question")
    } else {
        let which = |error| ask_which(&error, |run| format!("pi-subagents answer {run} TEXT"));
        let typed = TypedIds::running(index, places, printer);
        let runs = typed.runs(id).map_err(which)?;
        let mut open = open_questions(index).map_err(find_failure)?;
        open.retain(|question| runs.iter().any(|run| run.run == question.run_id));
        (open, "open question of")
    };
    match (questions.pop(), questions.is_empty()) {
        (Some(question), true) => Ok(question),
        (None, _) => Err(CommandError::not_found(format!("there is no {what} {id}"))
            .hint("pi-subagents inbox lists the open questions.")),
        (Some(_), false) => Err(CommandError::usage(format!(
            "{id} stands for {} open questions; name one by its id",
            questions.len() + 1
        ))
        .hint("pi-subagents inbox lists the open questions.")),
    }
}

/// Goes on with a parked run: its session gets the answer as its next prompt.
fn go_on_with(
    found: &InboxQuestion,
    reply: &Reply,
    places: Places,
    printer: Printer<'static>,
) -> Result<ExitCode, CommandError> {
    let question = &found.asked.question;
    let taken = question
        .take(reply)
        .map_err(|problem| CommandError::failed(format!("the answer was not taken: {problem}")))?;
    let index = KnownIndex::of(&places);
    let typed = TypedIds::newest(&index, &places, printer);
    let session = typed
        .conversation(found.run_id.as_str())
        .map_err(|error| ask_which(&error, |run| format!("pi-subagents resume {run} PROMPT")))?;
    let resumption = Resumption::of(session, Caller::at(places))?;
    let places = resumption.caller.places.clone();
    let answer = go_on(resumption, taken.prompt(&question.text), printer)?;
    Ok(print(&answer, &places, printer))
}
