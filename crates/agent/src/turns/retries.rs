//! Decides whether a failed call of the model is repeated, and waits before the next call.

use std::time::Duration;

use pi_subagents_vocabulary::is_overflow;
use tracing::warn;

use super::{End, Run};
use crate::agent::Agent;
use crate::event::Event;
use crate::providers::ProviderError;

impl Agent {
    /// Returns how long to wait before the model is asked again; None if it is not.
    pub(crate) fn pause_before_retry(&self, end: &End, run: &Run) -> Option<Duration> {
        let retry = self.setup.retry;
        let End::Failed(error) = end else {
            return None;
        };
        let may_help = error.is_transient && !is_overflow(&error.message) && retry.can_wait(error);
        let worthwhile = may_help && retry.enabled && run.retries < self.most_retries(error);
        let allowed = worthwhile && !run.aborted.is_raised();
        allowed.then(|| retry.delay(run.retries + 1, error.retry_after))
    }

    /// Returns how often the model is asked again after an error.
    fn most_retries(&self, error: &ProviderError) -> u32 {
        let allowed = self.setup.retry.max_retries;
        error.most_retries.map_or(allowed, |most| most.min(allowed))
    }

    /// Waits; false if the run was aborted meanwhile.
    pub(crate) async fn wait_for_retry(
        &self,
        error: &ProviderError,
        pause: Duration,
        run: &mut Run,
    ) -> bool {
        run.retries += 1;
        warn!(
            attempt = run.retries,
            pause_s = pause.as_secs_f64(),
            "model is asked again"
        );
        self.output
            .emit(&Event::AutoRetryStart {
                attempt: run.retries,
                max_attempts: self.most_retries(error),
                delay_ms: u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
                error_message: &error.message,
            })
            .await;
        self.take_back_last(run).await;
        tokio::select! {
            () = run.aborted.raised() => {
                self.end_retry(run.retries, Err("Retry cancelled")).await;
                false
            }
            () = tokio::time::sleep(pause) => true,
        }
    }

    /// Keeps the last message in the file but shows it to the model no more.
    pub(crate) async fn take_back_last(&self, run: &Run) {
        let Some(failed) = run.messages.last() else {
            return;
        };
        let entry = self.conversation.borrow_mut().omit(failed);
        if let Some(entry) = entry {
            self.output
                .emit(&Event::EntryAppended { entry: &entry })
                .await;
        }
    }

    /// Says that the retries, if there were any, did not help.
    pub(crate) async fn give_up(&self, end: &End, run: &mut Run) {
        let attempt = std::mem::take(&mut run.retries);
        if attempt > 0 {
            let reason = match end {
                End::Failed(error) => error.message.as_str(),
                End::Done => "Retry cancelled",
            };
            self.end_retry(attempt, Err(reason)).await;
        }
    }

    pub(crate) async fn end_retry(&self, attempt: u32, outcome: Result<(), &str>) {
        self.output
            .emit(&Event::AutoRetryEnd {
                success: outcome.is_ok(),
                attempt,
                final_error: outcome.err(),
            })
            .await;
    }
}
