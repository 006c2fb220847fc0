//! Waiting for runs, whichever processes own them, until they need somebody.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_ground::error::CommandError;
use pi_subagents_records::IndexedRun;
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::follow::{AwaitedNews, Depth, FollowedRuns};
use pi_subagents_runs::live_figures::UnderWay;
use pi_subagents_vocabulary::QuestionId;
use tokio::time::sleep;

use super::QuestionDesk;
use crate::caller::Caller;
use crate::service::CallService;

/// The longest time for which runs are not looked at, although nothing of them has changed.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// The shortest pause between two looks.
const PACE: Duration = Duration::from_millis(250);

/// Runs that somebody waits for.
pub(crate) struct Awaited<'a> {
    pub(crate) runs: &'a [IndexedRun],
    /// The question that was just answered; the record may not have that yet.
    pub(crate) answered: Option<&'a QuestionId>,
}

/// Waits until each of these runs is over, or asks something that no person at the door is about to
/// answer.
pub(crate) async fn until_needed(
    service: &Arc<CallService>,
    caller: &Caller,
    awaited: Awaited<'_>,
) -> Result<(), CommandError> {
    let Awaited { runs, answered } = awaited;
    let mut followed = FollowedRuns::start(&caller.places, Depth::Records);
    let desk = runs.iter().find_map(|run| service.left.desk_of(&run.run));
    let mut changes = desk.as_ref().map(QuestionDesk::changes);
    let mut under_way = UnderWay::default();
    loop {
        followed.follow(runs.iter());
        let asked = runs.to_vec();
        let answered = answered.cloned();
        let mut known = std::mem::take(&mut under_way);
        let look = move |service: &CallService, _: &Caller| {
            let now = service.owner.index.again(&asked).map_err(find_failure)?;
            let mut open = now.iter().filter(|run| run.is_open());
            let asks = |run: &IndexedRun| {
                let mut asked = asked_by(run, &mut known).into_iter();
                asked.any(|id| Some(&id) != answered.as_ref() && !service.left.is_with_person(&id))
            };
            let is_needed = open.all(asks);
            Ok((known, is_needed))
        };
        let (known, is_needed) = service.beside(caller, look).await?;
        if is_needed {
            return Ok(());
        }
        under_way = known;
        let at_desk = async {
            match &mut changes {
                Some(changes) => changes.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = followed.next(AwaitedNews::ALL) => {}
            () = at_desk => {}
            () = sleep(LOOK_AGAIN) => {}
        }
        // A run that works changes its record all the time, and is read as a whole.
        sleep(PACE).await;
    }
}

/// Returns the questions that a run waits with.
fn asked_by(run: &IndexedRun, under_way: &mut UnderWay) -> Vec<QuestionId> {
    let summary = under_way.look(run);
    let open = summary
        .into_iter()
        .flat_map(|summary| summary.questions.open());
    open.map(|question| question.id.clone()).collect()
}
