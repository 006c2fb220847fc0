//! Stops and steers runs, and says on the screen what came of it.

use pi_subagents_records::IndexedRun;
use pi_subagents_view::Role;
use pi_subagents_vocabulary::{Door, Question, Reply, Respondent};

use super::message::Notice;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::acts::{self, Addressee, Reach};

/// Sends a message to the child of a run, and returns a notice about the outcome.
pub(super) async fn steer(places: Places, run: IndexedRun, message: String) -> Notice {
    let steered = acts::steer(&Reach::by_owners(&places), &Addressee::from(run), message).await;
    match steered {
        Ok(steered) => Notice::new(Role::Success, steered.sentence()),
        Err(error) => failed(&error),
    }
}

/// Answers the question of a run, and returns a notice about the outcome.
pub(super) async fn answer(
    places: Places,
    run: IndexedRun,
    question: Box<Question>,
    words: String,
) -> Notice {
    let (reach, to) = (Reach::by_owners(&places), Addressee::from(run));
    let reply = Reply::Words(words);
    match acts::answer(&reach, &to, &question, reply, Respondent::Attach).await {
        Ok(answered) => Notice::new(Role::Success, answered.sentence()),
        Err(error) => failed(&error),
    }
}

/// Stops a run, and returns a notice when all of its processes are gone.
pub(super) async fn stop(places: Places, run: IndexedRun) -> Notice {
    let stopped = acts::stop(&Reach::by_owners(&places), &Addressee::from(run)).await;
    match stopped {
        Ok(stopped) => match stopped.note() {
            None => Notice::new(Role::Success, stopped.sentence()),
            // There is one line for a notice, and the note has the news.
            Some(note) => Notice::new(Role::Warning, note),
        },
        Err(error) => failed(&error),
    }
}

fn failed(error: &CommandError) -> Notice {
    Notice::new(Role::Failed, error.to_answer(Door::Attach))
}
