//! The words about questions in the answer of a call.

use pi_subagents_vocabulary::text::{clean, one_line};
use pi_subagents_vocabulary::{Advice, Answerer, Door, Question};

/// Writes a question that a run waits with, and the way to answer it.
pub(crate) fn question_lines(name: &str, question: &Question, door: Door) -> [String; 2] {
    let id = question.id.as_str();
    let asked = clean(&question.line());
    let context = question.context.as_deref().map(one_line);
    let context = context.map_or(String::new(), |context| format!(" ({})", clean(&context)));
    let how = how_to_answer(question, door);
    [
        format!(
            "? {}: waits for an answer (question {id}): {asked}{context}",
            one_line(name)
        ),
        format!("  {how}"),
    ]
}

/// Says who answers a question, and how.
pub(crate) fn how_to_answer(question: &Question, door: Door) -> String {
    let advice = Advice::Answer(question.id.to_string());
    match question.answerer {
        Answerer::Parent => format!("Answer with {}.", advice.words(door)),
        // A model may not answer it.
        Answerer::Person => {
            let how = match door {
                Door::Pi | Door::PiCommand => advice.words(Door::PiCommand),
                Door::CommandLine | Door::Mcp | Door::Attach | Door::Page => {
                    format!("{} in a shell", advice.words(Door::CommandLine))
                }
            };
            format!("Only the user can answer it: {how}.")
        }
    }
}
