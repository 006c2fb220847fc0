//! A call under way, as far as its door follows it.

use pi_subagents_view::PreviewContext;
use pi_subagents_vocabulary::EventSink;

use super::WindowRecord;
use super::progress::ProgressRecord;
use super::updates::Updates;
use super::watch::{Cancelled, Follow, Watch};

/// The sinks and the updates of a call while it runs.
pub(crate) struct Followed {
    pub(crate) sinks: Vec<Box<dyn EventSink>>,
    pub(crate) updates: Option<Updates>,
    pub(crate) cancelled: Cancelled,
}

impl Followed {
    /// Adds the sinks that are needed to follow a call as its door wants to.
    pub(crate) fn new(
        watch: Watch,
        windows: Option<&WindowRecord>,
        context: PreviewContext,
    ) -> Self {
        let Watch {
            mut sinks,
            follow,
            cancelled,
            ..
        } = watch;
        let is_drawn = matches!(&follow, Follow::Windows(follower) if follower.is_drawn);
        if let Some(windows) = windows {
            let sink = if is_drawn {
                windows.drawn()
            } else {
                windows.clone()
            };
            sinks.push(Box::new(sink));
        }
        let updates = match (follow, windows) {
            (Follow::Windows(follower), Some(windows)) => Some(windows.updates(follower)),
            (Follow::Progress(on_progress), _) => {
                let record = ProgressRecord::new(context);
                sinks.push(Box::new(record.clone()));
                Some(record.updates(on_progress))
            }
            (Follow::Windows(_) | Follow::Nothing, _) => None,
        };
        Self {
            sinks,
            updates,
            cancelled,
        }
    }
}
