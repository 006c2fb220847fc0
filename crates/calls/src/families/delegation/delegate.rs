//! `delegate_to_subagents`, from the call to its answer.

use std::sync::Arc;

use pi_subagents_vocabulary::{BudgetLimits, Refusal};
use serde_json::Map;

use super::answer::summary;
use super::earlier_sessions::check_free;
use super::open::{FAMILY, conversation, first_request, resolve};
use super::schema::DelegateCall;
use crate::answer::Outcomes;
use crate::call::{Call, OpenedRun, ResolvedCall, Worded};
use crate::first_requests::FirstRequest;
use crate::graph::{CallBounds, CallGraph, DoneTasks, Unfolded, WrittenCall, unfold};
use crate::open_run::{ChildConversation, EarlierSession, Opening};
use crate::request::TaskRequest;
use crate::resolve::{Family, ResolvedTask, Resolver};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::known_index::KnownIndex;

impl Call for DelegateCall {
    const FAMILY: Family = FAMILY;

    type Session = Option<Arc<EarlierSession>>;

    type Notes = ();

    fn resolve(
        &self,
        resolver: &Resolver<'_>,
        index: &KnownIndex,
    ) -> Result<ResolvedCall<Self>, CommandError> {
        resolve(self, resolver, index)
    }

    fn unfold(self, bounds: &CallBounds<'_>) -> Result<(Self, CallGraph), CommandError> {
        let Self {
            mut tasks,
            profile,
            budget,
            stop_after,
            done,
        } = self;
        for task in &mut tasks {
            task.agent = task.agent.take().or_else(|| profile.clone());
        }
        let written = WrittenCall {
            tasks,
            stop_after,
            done,
        };
        let Unfolded { tasks, graph } = unfold(written, bounds)?;
        let call = Self {
            tasks,
            profile,
            budget,
            stop_after,
            done: DoneTasks::default(),
        };
        Ok((call, graph))
    }

    fn with_tasks(&self, tasks: Vec<TaskRequest>) -> Self {
        Self {
            tasks,
            profile: self.profile.clone(),
            budget: self.budget,
            stop_after: None,
            done: DoneTasks::default(),
        }
    }

    fn check_free(
        &self,
        sessions: &[Self::Session],
        index: &KnownIndex,
    ) -> Result<(), CommandError> {
        check_free(sessions, index)
    }

    fn converse(
        &self,
        opening: &Opening<'_>,
        session: &Self::Session,
        beginning: &OpenedRun<'_>,
    ) -> Result<ChildConversation, Refusal> {
        let task = &self.tasks[beginning.number];
        Ok(conversation(opening, task, session.as_deref(), beginning))
    }

    fn first_request(
        &self,
        resolver: &Resolver<'_>,
        session: &Self::Session,
        task: &ResolvedTask,
    ) -> FirstRequest {
        first_request(resolver, session.as_deref(), task)
    }

    fn budget(&self) -> BudgetLimits {
        self.budget
    }

    fn file_counts(&self) -> impl Iterator<Item = usize> {
        self.tasks.iter().map(|task| task.files.len())
    }

    fn word(&self, outcomes: &Outcomes, (): &()) -> Worded {
        Worded {
            text: summary(outcomes),
            has_answers: false,
            details: Map::new(),
            notices: Vec::new(),
        }
    }
}
