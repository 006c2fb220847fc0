//! Says what the model of a run is writing, while somebody listens.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pi_subagents_engine::PartialUpdate;
use pi_subagents_fleet_queue::Fleet;
use pi_subagents_vocabulary::RunId;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::runs::HEARD;
use pi_subagents_calls::owner::Owner;

/// The shortest time between two words.
const PACE: Duration = Duration::from_millis(200);

/// The time after which is looked whether anybody still listens, or the child has begun.
const LOOK: Duration = Duration::from_secs(1);

/// The voice of one run. It falls silent when it is dropped.
pub(super) struct Speaker {
    /// Until when somebody listens.
    until: watch::Sender<Instant>,
    speaking: JoinHandle<()>,
}

impl Speaker {
    /// Makes the voice of a run, which has another id on this machine.
    pub(super) fn new(fleet: &Fleet, owner: &Arc<Owner>, run: &RunId, local: &RunId) -> Self {
        let until = watch::Sender::new(Instant::now());
        let voice = Voice {
            fleet: fleet.clone(),
            owner: Arc::clone(owner),
            run: run.clone(),
            local: local.clone(),
        };
        let speaking = tokio::spawn(voice.speak(until.subscribe()));
        Self { until, speaking }
    }

    /// Notes that somebody listens.
    pub(super) fn somebody_listens(&self) {
        self.until.send_replace(Instant::now() + HEARD);
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        self.speaking.abort();
    }
}

struct Voice {
    fleet: Fleet,
    owner: Arc<Owner>,
    run: RunId,
    local: RunId,
}

impl Voice {
    async fn speak(self, mut until: watch::Receiver<Instant>) {
        while until
            .wait_for(|until| *until > Instant::now())
            .await
            .is_ok()
        {
            if let Ok(mut words) = self.owner.read_partial(self.local.clone()).await {
                words.begin_now();
                while *until.borrow() > Instant::now() {
                    match timeout(LOOK, words.changed()).await {
                        Ok(Some(message)) => {
                            let said = serde_json::to_vec(&PartialUpdate::whole(&message));
                            let said = Bytes::from(said.unwrap_or_default());
                            self.fleet.send_words(&self.run, said).await;
                            sleep(PACE).await;
                        }
                        Ok(None) => break,
                        Err(_) => {}
                    }
                }
            }
            sleep(LOOK).await;
        }
    }
}
