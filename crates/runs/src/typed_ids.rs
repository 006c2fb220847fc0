//! Finds the runs that a person means at the command line, and prints which run a name led to.

use pi_subagents_records::{FindError, Finder, IndexedRun, Prefers, RunOrSession, find_removed};
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{RunId, SessionId};

use crate::ask_which::since;
use crate::find::{find_each, find_session, newest_of};
use crate::known_index::KnownIndex;
use crate::known_session::KnownSession;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;

/// Finds runs by the words of a person: an id, its beginning, `last`, `last~N`, the name of a task
/// or of a definition.
#[derive(Clone, Copy)]
pub struct TypedIds<'a> {
    pub index: &'a KnownIndex,
    pub places: &'a Places,
    /// Prints which run `last` or a name led to.
    pub(crate) printer: Printer<'a>,
    finder: Finder<'a>,
}

impl<'a> TypedIds<'a> {
    /// Finds the newest run if several have the typed name.
    pub fn newest(index: &'a KnownIndex, places: &'a Places, printer: Printer<'a>) -> Self {
        Self {
            index,
            places,
            printer,
            finder: newest_of(places),
        }
    }

    /// Finds the runs in progress if several have the typed name.
    pub fn running(index: &'a KnownIndex, places: &'a Places, printer: Printer<'a>) -> Self {
        let mut typed = Self::newest(index, places, printer);
        typed.finder.prefers = Prefers::Running;
        typed
    }

    /// Returns the runs that are meant, oldest first.
    pub fn runs(self, text: &str) -> Result<Vec<IndexedRun>, FindError> {
        let found = self.runs_of_each(&[text.to_owned()])?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Returns the runs that each of several words leads to.
    pub fn runs_of_each(self, texts: &[String]) -> Result<Vec<Vec<IndexedRun>>, FindError> {
        let words: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = find_each(self.index, self.places, self.finder, &words);
        let found = found.map_err(|error| self.removed(error))?;
        for (text, found) in texts.iter().zip(&found) {
            if let RunOrSession::Run(run) = found {
                self.print_choice(text, run);
            }
        }
        Ok(found.into_iter().map(RunOrSession::into_runs).collect())
    }

    /// Returns the whole id of the run or session that is meant.
    pub fn whole_id(self, text: &str) -> Result<String, FindError> {
        let (session, _, meant) = self.session(text)?;
        Ok(meant.map_or_else(|| session.to_string(), |run| run.to_string()))
    }

    /// Returns the session that is meant with all its runs, and the run if a run is meant.
    pub fn session(
        self,
        text: &str,
    ) -> Result<(SessionId, Vec<IndexedRun>, Option<RunId>), FindError> {
        let found = find_session(self.index, self.places, self.finder, text);
        let (session, runs, meant) = found.map_err(|error| self.removed(error))?;
        let run = runs.iter().find(|run| Some(&run.run) == meant.as_ref());
        if let Some(run) = run {
            self.print_choice(text, run);
        }
        Ok((session, runs, meant))
    }

    /// Returns the one conversation that is meant.
    pub fn conversation(self, text: &str) -> Result<KnownSession, FindError> {
        let (session, runs, meant) = self.session(text)?;
        KnownSession::recorded(session, runs, meant)
    }

    /// Returns that the run was removed, if the index remembers that.
    fn removed(self, error: FindError) -> FindError {
        let FindError::NotFound { id, .. } = &error else {
            return error;
        };
        let removed = self.index.store().removed_runs().unwrap_or_default();
        match find_removed(&removed, id) {
            Some(run) => FindError::Removed(Box::new(run)),
            None => error,
        }
    }

    /// Prints which run was taken, if the typed word is no id.
    fn print_choice(self, text: &str, run: &IndexedRun) {
        if !run.run.as_str().starts_with(text) {
            self.printer.note(&taken(text, run));
        }
    }
}

/// Returns the sentence about the run that was taken for the typed word.
fn taken(text: &str, run: &IndexedRun) -> String {
    let (id, session, since) = (&run.run, &run.session, since(run.accepted_at));
    let what = match one_line(&run.name) {
        name if name == text => text.to_owned(),
        name => format!("{text} is {name}"),
    };
    format!("{what} (run: {id}, session: {session}, started {since})")
}
