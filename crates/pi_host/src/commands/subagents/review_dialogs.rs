//! `/subagents review`: what waits for the person in this project, one dialog for each step.

use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::families::review_tool::send_back_from;
use pi_subagents_calls::review_desk::{Return, ReviewDesk, WantedAccept, dismiss, look_later};
use pi_subagents_calls::review_question::{gate_sentence, gates_of};
use pi_subagents_calls::service::CallService;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::review::{AcceptNews, ReviewQueue, WaitingResult, WantedParts};
use pi_subagents_runs::upkeep::tend;
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::review::{SentBack, TouchedPath};
use pi_subagents_vocabulary::text::{clean, count, first_of, one_line};
use pi_subagents_vocabulary::{Door, RunId, Timestamp};

use super::review_changes::change_lines;
use super::review_items::{Item, ItemKind, ResultItem, items, results, together};
use super::{MOST_ROUNDS, Shown, Subagents};
use crate::link::{HostLink, Level};

const ACCEPT_ALL: &str = "Accept all that stay green";
const UNDO: &str = "Take the last accept back";
const CHANGES: &str = "Show its changes";
const ACCEPT: &str = "Accept it";
const ACCEPT_FILES: &str = "Accept some of its files";
const SEND_BACK: &str = "Send it back with a note";
const REDO: &str = "Let it be done again on top of another result";
const DISCARD: &str = "Discard it";
const LATER: &str = "Later";
const DISMISS: &str = "List it no more";
const TAKE_CHOSEN: &str = "Accept the chosen files";
const NO: &str = "No";
const YES: &str = "Yes";

/// The most names in a question.
const MOST_NAMED: usize = 6;

/// Results that a person is about to accept.
struct ToAccept {
    runs: Vec<RunId>,
    names: String,
    /// The files that are wanted of the only result; all of them if that is `None`.
    files: Option<Vec<String>>,
}

impl ToAccept {
    fn of(results: &[&ResultItem]) -> Self {
        let names = results.iter().map(|one| one_line(&one.run.name));
        Self {
            names: first_of(names, MOST_NAMED, ", "),
            runs: results.iter().map(|one| one.run.run.clone()).collect(),
            files: None,
        }
    }
}

impl Subagents {
    /// Shows what waits, and lets the person decide about one after the other.
    pub(super) async fn review(&self, shown: &mut Shown) -> Result<(), CommandError> {
        if !self.has_ui {
            let list = |service: &CallService, caller: &Caller| {
                let queue = gather(service, caller)?;
                Ok(queue.lines(Timestamp::now()))
            };
            let text = self.service.beside(&self.caller, list).await?;
            shown.page = text
                .lines()
                .map(|line| Line::new(Role::Plain, line))
                .collect();
            if shown.page.is_empty() {
                shown.notes.push(NOTHING.to_owned());
            }
            return Ok(());
        }
        for _ in 0..MOST_ROUNDS {
            let look = |service: &CallService, caller: &Caller| {
                gather(service, caller).map(|queue| items(&queue))
            };
            let items = self.service.beside(&self.caller, look).await?;
            if items.is_empty() {
                self.say(NOTHING);
            }
            let Some(chosen) = self.choose_item(&items).await else {
                return Ok(());
            };
            if let Err(error) = self.act_on_choice(chosen, &items, shown).await {
                let words = error.lines(Door::PiCommand);
                self.link.notify(&clean(&words), Level::Error);
            }
        }
        Ok(())
    }

    /// Lets the person choose what to look at; `None` if they leave.
    async fn choose_item<'a>(&self, items: &'a [Item]) -> Option<Choice<'a>> {
        let mut lines: Vec<String> = items.iter().map(|item| item.line.clone()).collect();
        let all = ToAccept::of(&together(items));
        lines.extend((!all.runs.is_empty()).then(|| ACCEPT_ALL.to_owned()));
        lines.push(UNDO.to_owned());
        let title = match items.len() {
            0 => "Nothing waits for you in this project.".to_owned(),
            number => format!("{} for you in this project", waits(number)),
        };
        let chosen = self.link.select(&title, &lines).await?;
        match &*chosen {
            ACCEPT_ALL => Some(Choice::Accept(all)),
            UNDO => Some(Choice::Undo),
            line => {
                let item = items.iter().find(|item| item.line == line)?;
                Some(Choice::Look(item))
            }
        }
    }

    async fn act_on_choice(
        &self,
        choice: Choice<'_>,
        items: &[Item],
        shown: &mut Shown,
    ) -> Result<(), CommandError> {
        match choice {
            Choice::Accept(wanted) => self.accept(wanted).await,
            Choice::Undo => self.undo().await,
            Choice::Look(item) => self.look_at_item(item, items, shown).await,
        }
    }

    async fn look_at_item(
        &self,
        item: &Item,
        items: &[Item],
        shown: &mut Shown,
    ) -> Result<(), CommandError> {
        match &item.kind {
            ItemKind::Question(id) => {
                if let Some(said) = self.answer_of_project(id.clone()).await? {
                    self.say(&said);
                }
                Ok(())
            }
            ItemKind::Result(result) => self.look_at(result, items).await,
            ItemKind::Stopped { run, title, raise } => {
                let raise = raise.as_deref();
                self.look_at_stopped(run, title, raise, shown).await
            }
        }
    }

    /// Lets the person decide about a result. After reading its changes, they choose again.
    async fn look_at(&self, item: &ResultItem, items: &[Item]) -> Result<(), CommandError> {
        let later = if item.is_later {
            "Not later: now again"
        } else {
            LATER
        };
        let others: Vec<&ResultItem> = results(items)
            .filter(|other| other.run.run != item.run.run)
            .collect();
        let mut options = vec![CHANGES, ACCEPT];
        options.extend((item.files.len() > 1).then_some(ACCEPT_FILES));
        options.push(SEND_BACK);
        options.extend((!others.is_empty()).then_some(REDO));
        options.extend([DISCARD, later]);
        let options: Vec<String> = options.into_iter().map(str::to_owned).collect();
        for _ in 0..MOST_ROUNDS {
            let wish = self.link.select(&item.title, &options).await;
            match wish.as_deref() {
                Some(CHANGES) => self.read_changes(item).await?,
                Some(ACCEPT) => return self.accept(ToAccept::of(&[item])).await,
                Some(ACCEPT_FILES) => return self.accept_files(item).await,
                Some(SEND_BACK) => return self.send_back(item).await,
                Some(REDO) => return self.redo(item, &others).await,
                Some(DISCARD) => return self.discard_result(item).await,
                Some(_) => {
                    let run = item.run.clone();
                    let note = move |_: &CallService, _: &Caller| look_later(&run);
                    let said = self.service.beside(&self.caller, note).await?;
                    self.say(&said);
                    return Ok(());
                }
                None => return Ok(()),
            }
        }
        Ok(())
    }

    async fn look_at_stopped(
        &self,
        run: &RunId,
        title: &str,
        raise: Option<&str>,
        shown: &mut Shown,
    ) -> Result<(), CommandError> {
        let give = raise.map(|more| format!("Give {more}"));
        let usual = [super::SHOW, LATER, DISMISS].map(str::to_owned);
        let options: Vec<String> = give.iter().cloned().chain(usual).collect();
        let wish = self.link.select(title, &options).await;
        let act = match wish.as_deref() {
            Some(super::SHOW) => return self.show(run.as_str(), shown).await,
            Some(LATER) => StoppedAct::Later,
            Some(DISMISS) => StoppedAct::Dismiss,
            Some(other) if give.as_deref() == Some(other) => StoppedAct::Raise,
            Some(_) | None => return Ok(()),
        };
        let run = run.clone();
        let work = move |service: &CallService, caller: &Caller| {
            let runs = service.owner.index.runs().map_err(find_failure)?;
            let Some(run) = runs.iter().find(|one| one.run == run) else {
                return Err(CommandError::not_found("the run is gone"));
            };
            match act {
                StoppedAct::Later => look_later(run),
                StoppedAct::Dismiss => dismiss(run),
                StoppedAct::Raise => desk(service, caller).raise(run),
            }
        };
        let said = self.service.beside(&self.caller, work).await?;
        self.say(&said);
        Ok(())
    }

    /// Lets the person choose some files of a result, and accepts those.
    async fn accept_files(&self, item: &ResultItem) -> Result<(), CommandError> {
        let mut chosen = vec![true; item.files.len()];
        for _ in 0..MOST_ROUNDS {
            let number = chosen.iter().filter(|is_chosen| **is_chosen).count();
            let mut lines: Vec<String> = item
                .files
                .iter()
                .zip(&chosen)
                .map(|(file, is_chosen)| file_line(file, if *is_chosen { 'x' } else { ' ' }))
                .collect();
            lines.extend((number > 0).then(|| TAKE_CHOSEN.to_owned()));
            let of = count(item.files.len(), "file");
            let title = format!(
                "{number} of {of} of {} chosen; choosing a file again leaves it out",
                one_line(&item.run.name)
            );
            let Some(wish) = self.link.select(&title, &lines).await else {
                return Ok(());
            };
            if let Some(place) = lines
                .iter()
                .take(chosen.len())
                .position(|line| *line == wish)
            {
                chosen[place] = !chosen[place];
                continue;
            }
            let wanted = item.files.iter().zip(&chosen);
            let wanted = wanted.filter(|(_, is_chosen)| **is_chosen);
            let files: Vec<String> = wanted.map(|(file, _)| file.path.clone()).collect();
            let all = ToAccept::of(&[item]);
            let is_part = files.len() < item.files.len();
            return self
                .accept(ToAccept {
                    names: if is_part {
                        format!("{number} of {of} of {}", all.names)
                    } else {
                        all.names
                    },
                    files: is_part.then_some(files),
                    runs: all.runs,
                })
                .await;
        }
        Ok(())
    }

    /// Accepts results as far as they stay green, after a question that names the gates.
    async fn accept(&self, wanted: ToAccept) -> Result<(), CommandError> {
        let runs = wanted.runs.clone();
        let look = move |service: &CallService, caller: &Caller| {
            let queue = gather(service, caller)?;
            let results: Vec<&WaitingResult> = queue
                .results
                .iter()
                .filter(|one| runs.contains(&one.facts.run))
                .collect();
            gates_of(&results, &desk(service, caller))
        };
        let gates = self.service.beside(&self.caller, look).await?;
        let gate_words = gate_sentence(&gates);
        let title = format!("Take {} into your checkout? {gate_words}", wanted.names);
        if !self.says_yes(&title).await {
            return Ok(());
        }
        let link = self.link.clone();
        let work = move |service: &CallService, caller: &Caller| {
            let parts = wanted.runs.iter().cloned().zip(wanted.files);
            let wanted = WantedAccept {
                parts: parts
                    .map(|(run, files)| (run, WantedParts::Files(files)))
                    .collect(),
                only: wanted.runs,
                confirmed: Some(gates),
            };
            let report = desk(service, caller).accept(wanted, &mut |news| tell(&link, &news))?;
            let warnings = report.warnings.iter().map(|warning| format!("! {warning}"));
            let lines = report.lines().into_iter().chain(report.notes());
            Ok(lines.chain(warnings).collect::<Vec<_>>().join("\n"))
        };
        let said = self.service.beside(&self.caller, work).await?;
        self.say(&said);
        Ok(())
    }

    async fn undo(&self) -> Result<(), CommandError> {
        let work = |service: &CallService, caller: &Caller| desk(service, caller).undo();
        let said = self.service.beside(&self.caller, work).await?;
        self.say(&said);
        Ok(())
    }

    /// Sends a result back with a note, which becomes the next prompt of its session.
    async fn send_back(&self, item: &ResultItem) -> Result<(), CommandError> {
        let title = format!("What should {} do differently?", one_line(&item.run.name));
        let note = self.link.editor(&title, "").await.unwrap_or_default();
        if note.trim().is_empty() {
            return Ok(());
        }
        self.give_back(item, note, None).await
    }

    /// Sends a result back to be done again on top of another one, with a note if the person has one.
    async fn redo(&self, item: &ResultItem, others: &[&ResultItem]) -> Result<(), CommandError> {
        let name = one_line(&item.run.name);
        let lines: Vec<String> = others
            .iter()
            .map(|other| format!("{}  {}", one_line(&other.run.name), other.run.run))
            .collect();
        let title = format!("On top of which result shall {name} be done again?");
        let chosen = self.link.select(&title, &lines).await;
        let place = chosen.and_then(|chosen| lines.iter().position(|line| *line == chosen));
        let Some(other) = place.and_then(|place| others.get(place)) else {
            return Ok(());
        };
        let title = format!("What should {name} know? An empty note is enough.");
        let Some(note) = self.link.editor(&title, "").await else {
            return Ok(());
        };
        self.give_back(item, note, Some(other.run.run.clone()))
            .await
    }

    async fn give_back(
        &self,
        item: &ResultItem,
        note: String,
        on: Option<RunId>,
    ) -> Result<(), CommandError> {
        let back = Return {
            run: item.run.clone(),
            sent: SentBack {
                name: item.run.name.clone(),
                note,
                ..SentBack::default()
            },
            on,
        };
        let went = send_back_from(&self.service, &self.caller, back).await?;
        self.say(&went.sentence);
        Ok(())
    }

    async fn discard_result(&self, item: &ResultItem) -> Result<(), CommandError> {
        let name = one_line(&item.run.name);
        let title = format!("Discard what {name} changed? Git keeps it for 30 days.");
        if !self.says_yes(&title).await {
            return Ok(());
        }
        let run = item.run.clone();
        let work = move |service: &CallService, caller: &Caller| desk(service, caller).discard(run);
        let said = self.service.beside(&self.caller, work).await?;
        self.say(&said);
        Ok(())
    }

    async fn read_changes(&self, item: &ResultItem) -> Result<(), CommandError> {
        let (source, files) = (item.source.clone(), item.files.clone());
        let read = move |_: &CallService, _: &Caller| Ok(change_lines(&source, &files));
        let lines = self.service.beside(&self.caller, read).await?;
        let title = format!("Changes of {}", one_line(&item.run.name));
        self.link.view(&title, &lines).await;
        Ok(())
    }

    async fn says_yes(&self, title: &str) -> bool {
        let options = [NO, YES].map(str::to_owned);
        let chosen = self.link.select(&clean(title), &options).await;
        chosen.as_deref() == Some(YES)
    }

    fn say(&self, words: &str) {
        self.link.notify(&clean(words), Level::Info);
    }
}

/// The choice of a person in the list.
enum Choice<'a> {
    Look(&'a Item),
    Accept(ToAccept),
    Undo,
}

/// An act on a run that has stopped.
#[derive(Clone, Copy)]
enum StoppedAct {
    Later,
    Dismiss,
    Raise,
}

/// Writes a file that can be chosen.
fn file_line(file: &TouchedPath, mark: char) -> String {
    let (path, added, removed) = (one_line(&file.path), file.added, file.removed);
    format!("[{mark}] {path} +{added} −{removed}")
}

const NOTHING: &str = "Nothing waits for you in this project.";

fn waits(number: usize) -> String {
    match number {
        1 => "1 thing waits".to_owned(),
        number => format!("{number} things wait"),
    }
}

fn gather(service: &CallService, caller: &Caller) -> Result<ReviewQueue, CommandError> {
    let index = &service.owner.index;
    tend(index, &caller.places);
    ReviewQueue::gather(&caller.places, index)
}

fn desk<'a>(service: &'a CallService, caller: &'a Caller) -> ReviewDesk<'a> {
    ReviewDesk {
        places: &caller.places,
        index: &service.owner.index,
    }
}

/// Tells the person that a gate runs: it may take minutes.
fn tell(link: &HostLink, news: &AcceptNews<'_>) {
    match news {
        AcceptNews::Confined(_)
        | AcceptNews::GateBegan { .. }
        | AcceptNews::GateEnded { .. }
        | AcceptNews::Again => {
            link.notify(&clean(&news.sentence()), Level::Info);
        }
        AcceptNews::Lands => {}
    }
}
