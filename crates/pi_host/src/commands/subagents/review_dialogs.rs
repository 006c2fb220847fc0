//! `/subagents review`: what waits for the person in this project, one dialog for each step.

use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::families::review_tool::{gates_of, send_back_from};
use pi_subagents_calls::review_desk::{Return, ReviewDesk, WantedAccept, dismiss, look_later};
use pi_subagents_calls::service::CallService;
use pi_subagents_ground::error::CommandError;
use pi_subagents_records::IndexedRun;
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::review::{
    AcceptNews, ResultSource, ReviewQueue, StoppedRun, WaitingResult, seen_lines,
};
use pi_subagents_runs::upkeep::tend;
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::review::{
    DiffLine, DiffSide, RiskTier, SentBack, TouchedPath, is_folded,
};
use pi_subagents_vocabulary::text::{clean, count, cut_characters, first_of, one_line};
use pi_subagents_vocabulary::{Door, QuestionId, RunId, Timestamp};

use super::{MOST_ROUNDS, Shown, Subagents};
use crate::link::{HostLink, Level};

const ACCEPT_ALL: &str = "Accept all that stay green";
const UNDO: &str = "Take the last accept back";
const CHANGES: &str = "Show its changes";
const ACCEPT: &str = "Accept it";
const SEND_BACK: &str = "Send it back with a note";
const DISCARD: &str = "Discard it";
const LATER: &str = "Later";
const DISMISS: &str = "List it no more";
const NO: &str = "No";
const YES: &str = "Yes";

/// The number of characters of reasons in a line of the list.
const SHORT_REASONS: usize = 100;

/// The number of characters of a task and of an answer above the choices.
const SHORT_TEXT: usize = 300;

/// The most files and facts above the choices.
const MOST_NAMED: usize = 6;

/// Something that waits, as the dialogs show it.
struct Item {
    line: String,
    kind: ItemKind,
}

enum ItemKind {
    /// A question, by its id.
    Question(QuestionId),
    Result(Box<ResultItem>),
    /// A run that failed or is at its limit, and what happened.
    Stopped {
        run: RunId,
        title: String,
    },
}

/// A result that waits.
struct ResultItem {
    run: IndexedRun,
    /// What a person should know of it, on a few lines.
    title: String,
    tier: RiskTier,
    is_later: bool,
    source: ResultSource,
    files: Vec<TouchedPath>,
}

/// Results that a person is about to accept.
struct ToAccept {
    runs: Vec<RunId>,
    names: String,
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
            if let Err(error) = self.act_on_choice(chosen, shown).await {
                let words = error.lines(Door::PiCommand);
                self.link.notify(&clean(&words), Level::Error);
            }
        }
        Ok(())
    }

    /// Lets the person choose what to look at; `None` if they leave.
    async fn choose_item<'a>(&self, items: &'a [Item]) -> Option<Choice<'a>> {
        let mut lines: Vec<String> = items.iter().map(|item| item.line.clone()).collect();
        let all = to_accept(items);
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
                Some(Choice::Look(&item.kind))
            }
        }
    }

    async fn act_on_choice(
        &self,
        choice: Choice<'_>,
        shown: &mut Shown,
    ) -> Result<(), CommandError> {
        match choice {
            Choice::Accept(wanted) => self.accept(wanted).await,
            Choice::Undo => self.undo().await,
            Choice::Look(ItemKind::Question(id)) => {
                if let Some(said) = self.answer_of_project(id.clone()).await? {
                    self.say(&said);
                }
                Ok(())
            }
            Choice::Look(ItemKind::Result(item)) => self.look_at(item).await,
            Choice::Look(ItemKind::Stopped { run, title }) => {
                self.look_at_stopped(run, title, shown).await
            }
        }
    }

    /// Lets the person decide about a result. After reading its changes, they choose again.
    async fn look_at(&self, item: &ResultItem) -> Result<(), CommandError> {
        let later = if item.is_later {
            "Not later: now again"
        } else {
            LATER
        };
        let options = [CHANGES, ACCEPT, SEND_BACK, DISCARD, later].map(str::to_owned);
        for _ in 0..MOST_ROUNDS {
            let wish = self.link.select(&item.title, &options).await;
            match wish.as_deref() {
                Some(CHANGES) => self.read_changes(item).await?,
                Some(ACCEPT) => {
                    return self
                        .accept(ToAccept {
                            runs: vec![item.run.run.clone()],
                            names: one_line(&item.run.name),
                        })
                        .await;
                }
                Some(SEND_BACK) => return self.send_back(item).await,
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
        shown: &mut Shown,
    ) -> Result<(), CommandError> {
        let options = [super::SHOW, LATER, DISMISS].map(str::to_owned);
        let wish = self.link.select(title, &options).await;
        let is_dismissed = match wish.as_deref() {
            Some(super::SHOW) => return self.show(run.as_str(), shown).await,
            Some(LATER) => false,
            Some(DISMISS) => true,
            Some(_) | None => return Ok(()),
        };
        let run = run.clone();
        let note = move |service: &CallService, _: &Caller| {
            let runs = service.owner.index.runs().map_err(find_failure)?;
            let Some(run) = runs.iter().find(|one| one.run == run) else {
                return Err(CommandError::not_found("the run is gone"));
            };
            if is_dismissed {
                dismiss(run)
            } else {
                look_later(run)
            }
        };
        let said = self.service.beside(&self.caller, note).await?;
        self.say(&said);
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
        let gate_words = if gates.is_empty() {
            "No gate runs.".to_owned()
        } else {
            let gates = gates.iter().map(|gate| format!("`{}`", one_line(gate)));
            format!(
                "Gates that must pass: {}.",
                first_of(gates, MOST_NAMED, ", ")
            )
        };
        let title = format!("Take {} into your checkout? {gate_words}", wanted.names);
        if !self.says_yes(&title).await {
            return Ok(());
        }
        let link = self.link.clone();
        let work = move |service: &CallService, caller: &Caller| {
            let wanted = WantedAccept::default()
                .only(wanted.runs)
                .confirmed(Some(gates));
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
        let back = Return {
            run: item.run.clone(),
            sent: SentBack {
                name: item.run.name.clone(),
                note,
                ..SentBack::default()
            },
            on: None,
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
    Look(&'a ItemKind),
    Accept(ToAccept),
    Undo,
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

/// Returns the results that can be accepted together without a decision.
fn to_accept(items: &[Item]) -> ToAccept {
    let results = items.iter().filter_map(|item| match &item.kind {
        ItemKind::Result(result) => Some(result),
        ItemKind::Question(_) | ItemKind::Stopped { .. } => None,
    });
    let fitting = results.filter(|one| one.tier <= RiskTier::Careful && !one.is_later);
    let fitting: Vec<&ResultItem> = fitting.map(AsRef::as_ref).collect();
    let names = fitting.iter().map(|one| one_line(&one.run.name));
    ToAccept {
        names: first_of(names, MOST_NAMED, ", "),
        runs: fitting.iter().map(|one| one.run.run.clone()).collect(),
    }
}

/// Lists everything that waits, in the order of the queue.
fn items(queue: &ReviewQueue) -> Vec<Item> {
    let questions = queue.questions.iter().map(|asked| Item {
        line: shown(&["asks", &asked.name, &asked.question]),
        kind: ItemKind::Question(asked.asked.id.clone()),
    });
    let results = queue.results.iter().map(result_item);
    let limits = queue.limits.iter().map(|one| stopped_item(one, "limit"));
    let failures = queue.failures.iter().map(|one| stopped_item(one, "failed"));
    questions
        .chain(limits)
        .chain(results)
        .chain(failures)
        .collect()
}

fn shown(parts: &[&str]) -> String {
    let parts = parts.iter().map(|part| one_line(&clean(part)));
    parts.collect::<Vec<_>>().join(" • ")
}

fn stopped_item(one: &StoppedRun, word: &str) -> Item {
    let report = &one.row.report;
    let message = report.error_message.as_deref().unwrap_or_default();
    let short = cut_characters(&one_line(message), SHORT_REASONS);
    let task = report.task.as_deref().map(short_text);
    let mut title = vec![format!("{}: {}", one_line(&report.name), one_line(message))];
    title.extend(task.map(|task| format!("Task: {task}")));
    Item {
        line: shown(&[word, &report.name, &short]),
        kind: ItemKind::Stopped {
            run: report.run_id.clone(),
            title: clean(&title.join("\n")),
        },
    }
}

fn result_item(one: &WaitingResult) -> Item {
    let [added, removed] = one.lines();
    let facts = &one.facts;
    let reasons: Vec<&str> = one
        .reasons
        .iter()
        .map(|reason| reason.words.as_str())
        .collect();
    let reasons = if reasons.is_empty() {
        "nothing to look at".to_owned()
    } else {
        cut_characters(&one_line(&reasons.join("; ")), SHORT_REASONS)
    };
    let reasons = if one.note.is_later {
        format!("later: {reasons}")
    } else {
        reasons
    };
    let lines = format!("+{added} −{removed}");
    Item {
        line: shown(&[one.tier.word(), &facts.name, &lines, &reasons]),
        kind: ItemKind::Result(Box::new(ResultItem {
            run: one.result.run.clone(),
            title: title_of(one),
            tier: one.tier,
            is_later: one.note.is_later,
            source: one.source(),
            files: facts.files.clone(),
        })),
    }
}

/// Says what a person should know of a result before they decide.
fn title_of(one: &WaitingResult) -> String {
    let (facts, report) = (&one.facts, &one.row.report);
    let [added, removed] = one.lines();
    let mut lines = vec![format!(
        "{}: {}, {}, +{added} −{removed}",
        one_line(&facts.name),
        one.tier.word(),
        count(facts.files.len(), "file")
    )];
    let task = report.task.as_deref().map(short_text);
    lines.extend(task.map(|task| format!("Task: {task}")));
    let reasons = one.reasons.iter().take(MOST_NAMED);
    lines.extend(reasons.map(|reason| format!("! {}", one_line(&reason.words))));
    let seen = seen_lines(report).into_iter().take(MOST_NAMED);
    lines.extend(seen.map(|seen| format!("Seen: {seen}")));
    let unseen = facts.unseen.iter().take(MOST_NAMED);
    lines.extend(unseen.map(|words| format!("Not seen: {}", one_line(words))));
    let files = facts.files.iter().map(|file| one_line(&file.path));
    lines.push(format!("Files: {}", first_of(files, MOST_NAMED, ", ")));
    let answer = report.output.as_deref().map(short_text);
    lines.extend(answer.map(|answer| format!("Answer: {answer}")));
    clean(&lines.join("\n"))
}

fn short_text(text: &str) -> String {
    cut_characters(&one_line(text), SHORT_TEXT)
}

/// Writes the changes of a result, without those of files that programs write.
fn change_lines(source: &ResultSource, files: &[TouchedPath]) -> Vec<Line> {
    let mut lines = Vec::new();
    for file in files {
        let heading = format!("{} +{} −{}", file.path, file.added, file.removed);
        lines.push(Line::new(Role::Heading, &heading));
        if is_folded(&file.path) {
            lines.push(Line::new(Role::Muted, "A program writes it."));
        } else {
            match source.diff(file) {
                Ok(diff) => lines.extend(diff.lines.iter().map(diff_line)),
                Err(why) => lines.push(Line::new(Role::Warning, &why)),
            }
        }
        lines.push(Line::default());
    }
    lines
}

fn diff_line(line: &DiffLine) -> Line {
    let (sign, role) = match line.side {
        DiffSide::Added => ("+", Role::Added),
        DiffSide::Removed => ("-", Role::Removed),
        DiffSide::Both => (" ", Role::Plain),
        DiffSide::Head | DiffSide::About => (" ", Role::Muted),
    };
    let number = line
        .new
        .or(line.old)
        .map_or(String::new(), |number| number.to_string());
    Line::new(Role::Muted, &format!("{number:>5} ")).with(role, &format!("{sign}{}", line.text))
}
