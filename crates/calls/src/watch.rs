//! The part that a door takes in a call: the way in which it follows the call, and the details that
//! its answer carries.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pi_subagents_vocabulary::EventSink;

use crate::progress::OnCallProgress;
use crate::questions::QuestionDesk;
use crate::{SeenLines, WindowRecord};

/// The part that a door takes in a call.
pub struct Watch {
    /// Further sinks for the events of the runs.
    pub sinks: Vec<Box<dyn EventSink>>,
    pub follow: Follow,
    pub details: Details,
    /// The desk at which the questions of the runs arrive. With one, a call is answered when all
    /// that is left of it waits for the caller's model.
    pub desk: Option<QuestionDesk>,
    /// Becomes ready when nobody wants the answer any more.
    pub cancelled: Cancelled,
}

/// A future that becomes ready when nobody wants the answer of a call any more.
pub type Cancelled = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The way in which a door follows a call while it runs.
pub enum Follow {
    /// Not at all, or by a sink of its own.
    Nothing,
    /// In one line.
    Progress(OnCallProgress),
    /// In windows.
    Windows(WindowFollower),
}

/// A door that follows a call in windows.
pub struct WindowFollower {
    pub on_update: OnUpdate,
    /// True if a person sees the windows.
    pub is_drawn: bool,
    /// The look of that person's view.
    pub look: Arc<CallLook>,
    /// The address at which the runs can be watched in a browser.
    pub page: Option<String>,
}

/// Takes the windows of a call under way, and which of their lines are seen.
pub(crate) type OnUpdate = Box<dyn FnMut(&WindowRecord, SeenLines) + Send>;

/// The details that the answer of a call carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Details {
    /// The runs with their outputs.
    Runs,
    /// The windows, and the runs without their outputs: pi keeps the details in its session, which
    /// has the entries of the runs already.
    ForPi,
    /// The windows, and the runs with their outputs.
    All,
}

impl Watch {
    /// Returns the watch of a door that wants nothing but the answer.
    pub fn nobody() -> Self {
        Self {
            sinks: Vec::new(),
            follow: Follow::Nothing,
            details: Details::Runs,
            desk: None,
            cancelled: Box::pin(std::future::pending()),
        }
    }

    /// Returns whether anybody looks at the windows of the call. Otherwise they are not filled.
    pub(crate) fn wants_windows(&self) -> bool {
        let has_windows = match self.details {
            Details::ForPi | Details::All => true,
            Details::Runs => false,
        };
        has_windows || matches!(self.follow, Follow::Windows(_))
    }
}

/// The look of the view of a call; its door changes it while the call is under way.
#[derive(Debug, Default)]
pub struct CallLook {
    is_expanded: AtomicBool,
    /// The width of the view; 0 while it is not known.
    columns: AtomicUsize,
}

impl CallLook {
    pub fn set(&self, is_expanded: bool, columns: Option<usize>) {
        self.is_expanded.store(is_expanded, Ordering::Relaxed);
        self.set_columns(columns);
    }

    pub fn set_columns(&self, columns: Option<usize>) {
        self.columns.store(columns.unwrap_or(0), Ordering::Relaxed);
    }

    /// Returns which lines of the windows are seen.
    pub(crate) fn seen(&self) -> SeenLines {
        if self.is_expanded.load(Ordering::Relaxed) {
            SeenLines::All
        } else {
            SeenLines::Newest
        }
    }

    pub fn columns(&self) -> Option<usize> {
        Some(self.columns.load(Ordering::Relaxed)).filter(|columns| *columns > 0)
    }
}
