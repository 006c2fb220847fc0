//! A session that a task goes on with, and the prompt of its next child.

use std::borrow::Cow;
use std::fmt;
use std::io;

use pi_subagents_configuration::ResumeMode;
use pi_subagents_files::{create_new, open_own};
use pi_subagents_records::{RunDir, SessionSize, tokens_of_bytes, transcript};
use pi_subagents_vocabulary::{HeldMessages, RunHistory, RunId, SessionId};

use super::inheritance::Inherited;
use crate::first_requests::EarlierPart;
use pi_subagents_runs::conversation::MayBeRecorded as _;
use pi_subagents_runs::known_session::{KnownRun, KnownSession};
use pi_subagents_runs::missing_record::{LostRecord, what_is_missing};

/// A session with the runs it has had.
pub struct EarlierSession {
    session: KnownSession,
    /// A run of the session whose history has been read already.
    read: Option<(RunId, RunHistory)>,
    /// The terms that the next run inherits from the latest one.
    inherited: Inherited,
}

impl EarlierSession {
    pub(crate) fn new(session: KnownSession) -> Self {
        let latest = session.runs.last();
        let inherited = latest.map(|run| {
            let recorded = run.recorded();
            Inherited::new(recorded.as_deref(), run.workspace().cloned())
        });
        Self {
            inherited: inherited.unwrap_or_default(),
            session,
            read: None,
        }
    }

    /// Hands on what was read of a run of the session, so that it is not read again.
    pub fn with_history(
        session: KnownSession,
        run: RunId,
        history: RunHistory,
        inherited: Inherited,
    ) -> Self {
        Self {
            session,
            read: Some((run, history)),
            inherited,
        }
    }

    pub(crate) fn id(&self) -> &SessionId {
        &self.session.id
    }

    pub(crate) fn is_running(&self) -> bool {
        self.session.is_running()
    }

    /// Returns what the next run inherits.
    pub(crate) fn inherited(&self) -> &Inherited {
        &self.inherited
    }

    /// Prepares the prompt of a run that goes on with this session. If the settings want it, the
    /// child gets a copy of the earlier session file; otherwise its prompt begins with the
    /// transcript. Also returns the missing parts of the transcript.
    pub(crate) fn prepare_prompt(
        &self,
        prompt: &str,
        mode: ResumeMode,
        directory: Option<&RunDir>,
    ) -> (String, Option<String>) {
        if mode == ResumeMode::Session && self.copy_child_session(directory) {
            return (prompt.to_owned(), None);
        }
        let (mut runs, mut lost) = (Vec::new(), Vec::new());
        for run in &self.session.runs {
            match self.history(run) {
                Ok(history) => runs.push(history),
                Err(error) => lost.push(error),
            }
        }
        let told = transcript::resumed_prompt(&transcript::for_resuming(&runs), prompt);
        let missing = what_is_missing(&lost);
        (
            told,
            missing
                .map(|missing| format!("{missing}; the sub-agent is not told what was said in it")),
        )
    }

    /// Returns what the next run of the session sends of it.
    pub(crate) fn part_of_request(&self, mode: ResumeMode) -> Option<EarlierPart> {
        let latest = self.session.runs.last()?;
        let file = latest.record().map(|run| run.directory.child_session());
        let size = file.and_then(|file| SessionSize::read(&file))?;
        if mode == ResumeMode::Session {
            return Some(EarlierPart::sent_again(size));
        }
        let (told, _) = self.prepare_prompt("", ResumeMode::Transcript, None);
        Some(EarlierPart {
            tokens: tokens_of_bytes(told.len() as u64),
            last_answer: size.last_answer,
            may_be_cached: false,
            model: size.model,
        })
    }

    fn history(&self, run: &KnownRun) -> Result<Cow<'_, RunHistory>, LostRecord> {
        match &self.read {
            Some((read, history)) if run.run == *read => Ok(Cow::Borrowed(history)),
            Some(_) | None => run.history(HeldMessages::Newest).map(Cow::Owned),
        }
    }

    /// Gives the child a copy of the session file of the latest run, if there is one; the record of
    /// the earlier run stays as it is.
    fn copy_child_session(&self, directory: Option<&RunDir>) -> bool {
        let latest = self.session.runs.last().and_then(KnownRun::record);
        let (Some(directory), Some(latest)) = (directory, latest) else {
            return false;
        };
        let copied = open_own(&latest.directory.child_session()).and_then(|mut earlier| {
            let mut copy = create_new(&directory.child_session())?;
            io::copy(&mut earlier, &mut copy)
        });
        copied.is_ok()
    }
}

impl fmt::Debug for EarlierSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EarlierSession")
            .field("id", &self.session.id)
            .finish_non_exhaustive()
    }
}
