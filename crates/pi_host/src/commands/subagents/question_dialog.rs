//! `/subagents answer`: a person answers a question of a run of this session.

use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::families::runs::of_caller;
use pi_subagents_calls::service::CallService;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::acts::{self, Addressee};
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::inbox::{InboxQuestion, find_question, may_ask, questions_of};
use pi_subagents_vocabulary::text::{clean, one_line};
use pi_subagents_vocabulary::{Advice, Door, QuestionId, Reply, Respondent};

use super::{Shown, Subagents};
use crate::questions::ask_person;

impl Subagents {
    /// Answers the question that was typed, or the only one there is, with the words behind it or by
    /// a dialog.
    pub(super) async fn answer(&self, typed: &str, shown: &mut Shown) -> Result<(), CommandError> {
        let (word, words) = typed.split_once(' ').unwrap_or((typed, ""));
        let open = self.open_questions().await?;
        let Some(asked) = self.chosen(word, open).await? else {
            return Ok(());
        };
        let said = self.give_answer(&asked, words.trim()).await?;
        shown.notes.extend(said);
        Ok(())
    }

    /// Lets the person answer a question of any run; returns what became of it, if they did.
    pub(super) async fn answer_of_project(
        &self,
        id: QuestionId,
    ) -> Result<Option<String>, CommandError> {
        let find = move |service: &CallService, _: &Caller| {
            let found = find_question(&service.owner.index, &id).map_err(find_failure)?;
            let open = found.into_iter().find(|asked| asked.asked.is_open());
            open.ok_or_else(|| CommandError::failed(format!("question {id} is answered already")))
        };
        let asked = self.service.beside(&self.caller, find).await?;
        self.give_answer(&asked, "").await
    }

    /// Answers a question with these words, or by a dialog without words.
    async fn give_answer(
        &self,
        asked: &InboxQuestion,
        words: &str,
    ) -> Result<Option<String>, CommandError> {
        let question = &asked.asked.question;
        if asked.parked {
            let how = Advice::Answer(question.id.to_string()).words(Door::CommandLine);
            return Err(CommandError::failed(format!(
                "{} waited so long for an answer that it was parked",
                one_line(&asked.name)
            ))
            .hint(format!("{how} in a shell continues it.")));
        }
        let reply = match words {
            "" if self.has_ui => ask_person(&self.link, &asked.name, question).await,
            "" => {
                return Err(CommandError::usage("the answer must not be empty")
                    .hint("Use /subagents answer ID TEXT."));
            }
            words => Some(Reply::Words(words.to_owned())),
        };
        let Some(reply) = reply else {
            return Ok(None);
        };
        let reach = self.service.owner.reach(&self.caller.places);
        let to = Addressee::from(asked.run.clone());
        let answered = acts::answer(&reach, &to, question, reply, Respondent::Pi).await?;
        Ok(Some(answered.sentence()))
    }

    /// Returns the open questions of the runs of this session.
    async fn open_questions(&self) -> Result<Vec<InboxQuestion>, CommandError> {
        let look = |service: &CallService, caller: &Caller| {
            let runs = of_caller(service, caller)?;
            let asked = runs
                .iter()
                .filter(|run| may_ask(run))
                .flat_map(questions_of);
            let open = asked.filter(|question| question.asked.is_open());
            Ok(open.collect())
        };
        self.service.beside(&self.caller, look).await
    }

    /// Returns the question that a word means, by its id or by its run; without a word the only one,
    /// or the one that the person chooses.
    async fn chosen(
        &self,
        word: &str,
        mut open: Vec<InboxQuestion>,
    ) -> Result<Option<InboxQuestion>, CommandError> {
        if !word.is_empty() {
            open.retain(|asked| {
                let id = asked.asked.question.id.as_str();
                id.eq_ignore_ascii_case(word)
                    || asked.name == word
                    || asked.run_id.as_str() == word
                    || asked.session_id.as_str() == word
            });
        }
        match open.len() {
            0 if word.is_empty() => Err(CommandError::not_found(
                "no sub-agent of this session waits for an answer",
            )),
            0 => Err(CommandError::not_found(format!(
                "no sub-agent of this session waits for an answer to \"{}\"",
                one_line(word)
            ))
            .hint("/subagents answer lists the questions.")),
            1 => Ok(open.pop()),
            _ if self.has_ui => {
                let lines: Vec<String> = open.iter().map(line).collect();
                let chosen = self.link.select("Which question?", &lines).await;
                let place = chosen.and_then(|chosen| lines.iter().position(|line| *line == chosen));
                Ok(place.map(|place| open.swap_remove(place)))
            }
            _ => {
                let lines: Vec<String> = open.iter().map(line).collect();
                Err(CommandError::usage(format!(
                    "{} questions are open:\n{}",
                    lines.len(),
                    lines.join("\n")
                ))
                .hint("Use /subagents answer ID TEXT."))
            }
        }
    }
}

fn line(asked: &InboxQuestion) -> String {
    let question = &asked.asked.question;
    let name = one_line(&asked.name);
    clean(&format!("{} • {name} • {}", question.id, question.line()))
}
