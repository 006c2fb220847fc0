//! Calls that have a record, for which their clients ask again and again: done by detached processes,
//! followed, answered and cancelled.

use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::detached_process::{
    AnsweredCall, CallRecord, DetachedOrder, WaitedCall, WaitedReply,
};
use pi_subagents_calls::service::CallService;
use pi_subagents_records::IndexedRun;
use pi_subagents_runs::acts;
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::page_address::page_origin;
use pi_subagents_vocabulary::Door;
use serde_json::{Map, Value};
use tracing::debug;

use super::{MOST_TASKS, ServedTools};
use crate::elicitation::{answer, reply_in};
use crate::tools::LongCall;
use crate::waited_answer::{count_of_tasks, may_take_long};

impl ServedTools {
    /// Has a detached process do a call that has a record, and follows it to its end.
    pub(super) async fn follow(&self, call: &LongCall, caller: &Caller, record: &mut CallRecord) {
        let Some(tool) = may_take_long(&call.tool) else {
            return;
        };
        let arguments = Value::Object(call.arguments.clone());
        let wanted = count_of_tasks(&arguments).min(MOST_TASKS);
        let Ok(_in_background) = self.room.acquire_many(wanted).await else {
            return;
        };
        if record.is_cancelled() {
            let words = "Cancelled before it began.".to_owned();
            // Without its record nobody can ask for it.
            _ = record.end(AnsweredCall::refused(words));
            return;
        }
        let order = DetachedOrder::of_call(tool, &arguments, caller, self.options.concurrency)
            .given_places()
            .kept_in(record, self.notes(&call.tool, caller));
        let mut places = self.places_of(wanted);
        let known_children = &self.service.owner.known_children;
        match WaitedCall::start(&order, &caller.places, known_children).await {
            Ok(mut call) => {
                // Its record has what it asks.
                while let Ok(WaitedReply::Progress(_) | WaitedReply::Asked(_)) =
                    places.next_reply(&mut call).await
                {}
            }
            Err(error) => {
                // The process has ended the record itself, if it could begin at all.
                let found = CallRecord::read(&caller.places.agent_dir, record.id());
                if found.is_some_and(|found| found.answer.is_none()) {
                    _ = record.end(AnsweredCall::refused(error.to_answer(Door::Mcp)));
                }
            }
        }
    }

    /// Reads the record of a call.
    pub(super) async fn record(&self, id: &str) -> Option<CallRecord> {
        let id = id.to_owned();
        let read = move |_: &CallService, caller: &Caller| {
            let record = CallRecord::read(&caller.places.agent_dir, &id);
            // A person who watches a client may rather watch the page, if it is served.
            Ok(record.map(|mut record| {
                let page = page_origin(&caller.places);
                if let Some((message, page)) = record.news.message.as_mut().zip(page) {
                    message.push_str(" · live at ");
                    message.push_str(&page);
                }
                record
            }))
        };
        self.service.beside(&self.caller, read).await.ok()?
    }

    /// Stops the runs of a call that have not ended.
    async fn stop_runs(&self, record: &CallRecord) {
        let ids: Vec<String> = record.runs.iter().map(|run| run.run.clone()).collect();
        let find = move |service: &CallService, _: &Caller| {
            let runs = service.owner.index.runs().map_err(find_failure)?;
            let is_meant =
                |run: &&IndexedRun| run.is_open() && ids.iter().any(|id| id == run.run.as_str());
            Ok(runs.iter().filter(is_meant).cloned().collect())
        };
        let runs: Vec<IndexedRun> = self
            .service
            .beside(&self.caller, find)
            .await
            .unwrap_or_default();
        let reach = self.service.owner.reach(&self.caller.places);
        // Their state, which the client asks for, shows what became of them.
        _ = acts::stop_all(&reach, runs).await;
    }

    /// Gives the answers of a client to the questions of a call.
    pub(super) async fn answer_kept(&self, id: &str, answers: Map<String, Value>) {
        let questions = self.record(id).await.map(|record| record.news.questions);
        for asked in questions.unwrap_or_default() {
            let told = answers.get(asked.question.id.as_str());
            let reply = told.and_then(|told| reply_in(&asked.question, told));
            if let Some(reply) = reply {
                _ = answer(&asked, reply, &self.service, &self.caller).await;
            }
        }
    }

    /// Cancels a call, and stops its runs.
    pub(super) async fn cancel_kept(&self, id: &str) {
        let Some(record) = self.record(id).await else {
            return;
        };
        if record.answer.is_some() || record.is_lost() {
            return;
        }
        // A call that has not begun yet sees the wish when it does.
        if let Err(error) = record.cancel() {
            debug!(%error, "a task could not be marked as cancelled");
        }
        // It may have begun since it was read.
        if let Some(record) = self.record(id).await {
            self.stop_runs(&record).await;
        }
    }
}
