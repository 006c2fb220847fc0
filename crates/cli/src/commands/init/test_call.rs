//! One short request to a model, by the embedded agent: with the keys, addresses and formats that a run
//! uses, and without tools, without a session and without a record.

use std::time::{Duration, Instant};

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::own_commands::EMBEDDED;
use pi_subagents_ground::places::Places;
use pi_subagents_os::{EndedProgram, ProgramBounds, ProgramCommand, ProgramCut, run_bounded};
use pi_subagents_vocabulary::text::{clean, one_line};

/// The limits of the request. An answer that takes longer will not please anybody in a run either.
const BOUNDS: ProgramBounds = ProgramBounds {
    time: Duration::from_mins(1),
    output: 64 * 1024,
};

/// The number of characters of an answer that are shown.
const MOST_SHOWN: usize = 80;

const PROMPT: &str = "Answer with one word: ready";

/// Asks a model. Returns the sentence about its answer.
pub(super) fn ask(model: &str, places: &Places) -> Result<String, CommandError> {
    let arguments = [
        EMBEDDED,
        "--mode",
        "text",
        "--no-session",
        "--no-tools",
        "--no-skills",
        "--no-context-files",
        "--model",
        model,
        PROMPT,
    ];
    let command = ProgramCommand {
        program: places.program.clone(),
        arguments: arguments.map(Into::into).into(),
        environment: places.variables.clone(),
        directory: Some(places.home.clone()),
    };
    let begin = Instant::now();
    let failed = |why: &str| {
        CommandError::failed(format!("{model} did not answer: {why}"))
            .hint("pi-subagents doctor checks the keys; pi-subagents models lists other models.")
    };
    match run_bounded(&command, b"", BOUNDS) {
        Err(error) => Err(failed(&error.to_string())),
        Ok(Err(ProgramCut::TimedOut)) => Err(failed("it took more than 60 seconds")),
        Ok(Err(ProgramCut::TooMuch)) => Err(failed("its answer has no end")),
        Ok(Ok(ended)) => match answer(&ended) {
            Ok(answer) => {
                let seconds = begin.elapsed().as_secs_f64();
                Ok(format!("{model} answered in {seconds:.1} s: {answer}"))
            }
            Err(why) => Err(failed(&why)),
        },
    }
}

/// Returns the beginning of the answer, or why there is none.
fn answer(ended: &EndedProgram) -> Result<String, String> {
    let words = |bytes: &[u8]| one_line(&clean(&String::from_utf8_lossy(bytes)));
    let said = words(&ended.stdout);
    if ended.status.success() && !said.trim().is_empty() {
        return Ok(said.trim().chars().take(MOST_SHOWN).collect());
    }
    let why = words(&ended.stderr);
    let why = why.trim().trim_start_matches("Error: ");
    if why.is_empty() {
        Err(format!("it said nothing ({})", ended.status))
    } else {
        Err(why.to_owned())
    }
}
