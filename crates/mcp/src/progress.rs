//! Reports the progress of a call to a client that asked for it.

use pi_subagents_calls::progress::{CallProgress, OnCallProgress};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::watch;

/// Tells a client how far its call is.
pub(crate) struct Teller {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    newest: watch::Receiver<Option<CallProgress>>,
    scale: Scale,
}

impl Teller {
    /// Makes a teller and the function that feeds it. Only the newest progress is held: a slow
    /// client gets fewer notifications, and the call does not wait for it.
    pub(crate) fn new(peer: Peer<RoleServer>, token: ProgressToken) -> (Self, OnCallProgress) {
        let (sender, newest) = watch::channel(None);
        let teller = Self {
            peer,
            token,
            newest,
            scale: Scale::default(),
        };
        let on_progress = move |progress| {
            // The receiver is gone when the call is cancelled.
            _ = sender.send(Some(progress));
        };
        (teller, Box::new(on_progress))
    }

    /// Tells everything until the call is over.
    pub(crate) async fn send_all(mut self) {
        while self.newest.changed().await.is_ok() {
            let newest = self.newest.borrow_and_update().clone();
            if let Some(progress) = newest {
                self.send_one(progress).await;
            }
        }
    }

    async fn send_one(&mut self, progress: CallProgress) {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a call has at most a few thousand parts"
        )]
        let total = progress.total as f64 * PART;
        let told =
            ProgressNotificationParam::new(self.token.clone(), self.scale.next(progress.finished))
                .with_total(total)
                .with_message(progress.message);
        // A client that does not get it is gone, and then the call is cancelled anyway.
        _ = self.peer.notify_progress(told).await;
    }
}

/// The points that a task is worth. People see these numbers, and a percentage made of them.
const PART: f64 = 100.0;

/// The protocol wants every number to be greater than the one before, also while no further part is
/// over. So the work under way moves the number by up to a half of a part, in numbers as short as
/// they can be.
#[derive(Default)]
struct Scale {
    finished: usize,
    told_since: u32,
    last: Option<f64>,
}

impl Scale {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a call has at most a few thousand parts"
    )]
    fn next(&mut self, finished: usize) -> f64 {
        if finished > self.finished {
            self.finished = finished;
            self.told_since = 0;
        }
        let told = f64::from(self.told_since);
        self.told_since += 1;
        let exact = self.finished as f64 * PART + PART / 2.0 * told / (told + PACE);
        let next = shortest_above(self.last, exact);
        self.last = Some(next);
        next
    }
}

/// The number of notices after which the work under way counts a quarter of a part.
const PACE: f64 = 10.0;

/// Returns the number with the fewest decimals near `exact` that is greater than the last one.
fn shortest_above(last: Option<f64>, exact: f64) -> f64 {
    let mut rounded = (0..8).map(|decimals| {
        let scale = 10_f64.powi(decimals);
        (exact * scale).floor() / scale
    });
    rounded
        .find(|number| last.is_none_or(|last| *number > last))
        .unwrap_or(exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_always_grow_and_never_overtake_the_parts() {
        let mut scale = Scale::default();
        let told = [0, 0, 0, 1, 1, 1, 3].map(|finished| scale.next(finished));
        let expected = [0.0, 4.0, 8.0, 100.0, 104.0, 108.0, 300.0];
        assert_eq!(
            told.map(|number| number.to_string()),
            expected.map(|number: f64| number.to_string())
        );
        let many: Vec<f64> = (0..100_000).map(|_| scale.next(3)).collect();
        assert!(many.is_sorted_by(|one, next| one < next));
        assert!(many.iter().all(|number| *number < 350.0));
        let of_an_hour = many[..3600].iter().map(|number| number.to_string().len());
        assert!(of_an_hour.max() <= Some("349.12345".len()));
    }
}
