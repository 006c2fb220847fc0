//! `subagent`, from the call to its answer.

use pi_subagents_records::{SessionSize, StickySession};
use pi_subagents_vocabulary::{BudgetLimits, Refusal};

use super::answer::{details, notices, text};
use super::open::{FAMILY, NamedNewSession, converse, resolve};
use super::schema::SubagentCall;
use crate::answer::Outcomes;
use crate::call::{Call, OpenedRun, ResolvedCall, Worded};
use crate::first_requests::{EarlierPart, FirstRequest};
use crate::graph::{CallBounds, CallGraph};
use crate::open_run::{ChildConversation, Opening};
use crate::request::TaskRequest;
use crate::resolve::{Family, ResolvedTask, Resolver};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::known_index::KnownIndex;

impl Call for SubagentCall {
    const FAMILY: Family = FAMILY;

    type Session = Option<StickySession>;

    type Notes = NamedNewSession;

    fn resolve(
        &self,
        resolver: &Resolver<'_>,
        index: &KnownIndex,
    ) -> Result<ResolvedCall<Self>, CommandError> {
        resolve(self, resolver, index)
    }

    fn unfold(self, bounds: &CallBounds<'_>) -> Result<(Self, CallGraph), CommandError> {
        bounds.check_tasks(self.tasks().len())?;
        Ok((self, CallGraph::default()))
    }

    fn with_tasks(&self, tasks: Vec<TaskRequest>) -> Self {
        self.of_tasks(tasks)
    }

    fn check_free(&self, _: &[Self::Session], _: &KnownIndex) -> Result<(), CommandError> {
        // The lock of the session file keeps a second run out.
        Ok(())
    }

    fn converse(
        &self,
        _: &Opening<'_>,
        session: &Self::Session,
        beginning: &OpenedRun<'_>,
    ) -> Result<ChildConversation, Refusal> {
        let task = &self.tasks()[beginning.number];
        converse(task, session.as_ref(), beginning.directory)
    }

    fn first_request(
        &self,
        _: &Resolver<'_>,
        session: &Self::Session,
        task: &ResolvedTask,
    ) -> FirstRequest {
        let size = session.as_ref();
        let size = size.and_then(|session| SessionSize::read(session.file()));
        FirstRequest {
            earlier: size.map(EarlierPart::sent_again),
            ..FirstRequest::of(&task.request.prompt)
        }
    }

    fn budget(&self) -> BudgetLimits {
        self.budget
    }

    fn file_counts(&self) -> impl Iterator<Item = usize> {
        std::iter::empty()
    }

    fn word(&self, outcomes: &Outcomes, notes: &NamedNewSession) -> Worded {
        Worded {
            text: text(self, outcomes, notes),
            has_answers: true,
            details: details(self, outcomes, notes),
            notices: notices(outcomes, notes),
        }
    }
}
