//! Reads from the disk the facts that the model needs.

use pi_subagents_vocabulary::Door;
use std::fs;
use std::sync::Arc;

use pi_subagents_records::RecordedRun;
use pi_subagents_view::Role;

use super::Session;
use crate::list_row::{Record, Recorded};
use crate::message::{Effect, Message, Notice};
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::upkeep::tend;

impl Session {
    /// Does the work that follows from the present model.
    pub(super) fn reconcile(&mut self) {
        if std::mem::replace(&mut self.is_reconciled, true) {
            return;
        }
        self.reader.follow(self.model.followed());
        self.read_along.read_only(self.model.partially_read());
        self.look_further();
        self.watch_records();
        self.read_records();
    }

    /// Watches the directories of open runs, each before its record is read, so that nothing happens
    /// unseen.
    fn watch_records(&mut self) {
        let runs = self.model.list.rows().iter().map(|row| &row.run);
        if self.followed.follow(runs) {
            self.reader.look();
        }
    }

    /// Tells when the servers of a fleet are away, and when they are back.
    pub(super) fn look_at_servers(&mut self) {
        let open = self.model.list.rows().iter().map(|row| &row.run);
        if let Some(news) = self.servers.look(open.filter(|run| run.is_open())) {
            let role = Role::Warning;
            self.update(Message::Finished(Notice::new(role, news)));
        }
    }

    /// Reads the records of finished runs that the list needs.
    fn read_records(&mut self) {
        let mut runs = self.model.unread();
        runs.retain(|run| self.asked.insert(run.run.clone()));
        if runs.is_empty() {
            return;
        }
        self.jobs.spawn_blocking(move || {
            let records = runs.into_iter().map(|run| {
                let record = match RecordedRun::read(&run.directory) {
                    Ok(record) => {
                        let row = RunRow::of_index_and_record(&run, &record);
                        Record::Read(Box::new(Recorded::of(&row)))
                    }
                    Err(_) => Record::Gone,
                };
                (run.run, record)
            });
            Message::RecordsRead(records.collect())
        });
    }

    /// Plans to read the index again if more of it is wanted than was read.
    pub(super) fn look_further(&mut self) {
        let wanted = self.model.reach;
        if self.reach != wanted {
            self.reach = wanted;
            self.pace.look_again();
        }
    }

    /// Reads the index, unless it is as it was.
    pub(super) fn look(&mut self) {
        let index = fs::metadata(self.known.store().index()).ok();
        let state = index.map(|index| (index.len(), index.modified().ok()));
        if !self.pace.begin_looking(state) {
            return;
        }
        let (known, places) = (Arc::clone(&self.known), self.places.clone());
        let (scope, reach) = (self.model.scope.clone(), self.model.reach);
        self.looking.spawn_blocking(move || {
            tend(&known, &places);
            match scope.read(&known, &places, reach) {
                Ok(runs) => Message::IndexRead(runs),
                Err(error) => {
                    let text = find_failure(error).to_answer(Door::Attach);
                    Message::Finished(Notice::new(Role::Failed, text))
                }
            }
        });
    }

    pub(super) fn looked(&mut self, message: Option<Message>) -> Vec<Effect> {
        self.pace.end_looking();
        message.map_or_else(Vec::new, |message| self.update(message))
    }
}
