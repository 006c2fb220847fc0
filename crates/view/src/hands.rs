//! Hands on the runs of a live view: keys select one, steer it, answer it and stop it.
//!
//! Pure: a key and the windows come in, a wish comes out, and what there is to see is drawn in a few
//! lines below the windows. Nothing is selected before a key is pressed. A question never takes the
//! keyboard: it is shown, the bell rings once, and Tab goes there.

use std::collections::{HashMap, HashSet};

use pi_subagents_vocabulary::{Question, QuestionId, QuestionKind, Reply, RunId, text};

use crate::paint::fit;
use crate::{Line, Role, Wall, Window};

/// A longer text is not for a line.
const LONGEST: usize = 64 << 10;

/// A key that a live view understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveKey {
    /// The arrow up.
    Up,
    /// The arrow down.
    Down,
    /// To the next run that asks.
    Tab,
    /// Sends what was typed.
    Enter,
    /// Leaves what was typed for later.
    Escape,
    /// Takes the last character away.
    Erase,
    /// A character.
    Letter(char),
}

/// What a person wants of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveWish {
    /// The run gets this message.
    Steer {
        /// The run.
        run: RunId,
        /// The message.
        message: String,
    },
    /// The question of the run gets this answer.
    Answer {
        /// The run.
        run: RunId,
        /// The question.
        question: Box<Question>,
        /// The answer.
        reply: Reply,
    },
    /// The run is to be stopped.
    Stop {
        /// The run.
        run: RunId,
    },
    /// The call is to go on behind the shell.
    Background,
}

/// What the keys mean now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Holding {
    /// They select and begin something.
    #[default]
    Nothing,
    /// They write a message to the selected run.
    Message,
    /// They write the answer to this question.
    Answer(QuestionId),
    /// They say whether the selected run is stopped.
    Stop,
    /// They still write something that nobody needs any more: the run is over, or somebody else has
    /// answered. Nothing that is typed on may begin anything else.
    Lost,
}

/// The hands of one person on the runs of one view.
#[derive(Debug, Clone, Default)]
pub struct Hands {
    selected: Option<RunId>,
    holding: Holding,
    /// The number of lines that are below the screen while the story of the selected run is read.
    reading: Option<usize>,
    /// The messages that were not sent, by their runs.
    drafts: HashMap<RunId, String>,
    /// The answers that were not sent, by their questions.
    replies: HashMap<QuestionId, String>,
    notice: Option<(Role, String)>,
    /// The questions for which the bell has rung.
    rung: HashSet<QuestionId>,
}

impl Hands {
    /// Takes a key, and returns what it asks for.
    pub fn press(&mut self, key: LiveKey, wall: &Wall) -> Option<LiveWish> {
        self.notice = None;
        self.let_go_of_what_is_over(wall);
        match self.holding.clone() {
            Holding::Nothing => {
                if let Some(wish) = self.decide_on_budget(key, wall) {
                    return Some(wish);
                }
                if key == LiveKey::Letter('&') && self.is_running(wall) {
                    return Some(LiveWish::Background);
                }
                if !self.read(key, wall) {
                    self.choose(key, wall);
                }
                None
            }
            Holding::Stop => self.confirm(key),
            Holding::Lost => {
                if matches!(key, LiveKey::Enter | LiveKey::Escape) {
                    self.holding = Holding::Nothing;
                }
                None
            }
            Holding::Message => self.write_message(key, wall),
            Holding::Answer(id) => self.write_answer(key, &id, wall),
        }
    }

    /// Shows a sentence until the next key.
    pub fn tell(&mut self, role: Role, sentence: impl Into<String>) {
        self.notice = Some((role, sentence.into()));
    }

    /// Returns whether the bell is to ring, because a run asks that did not ask before.
    pub(crate) fn rings(&mut self, wall: &Wall) -> bool {
        let asked = wall.windows().iter().filter_map(question);
        let mut is_new = false;
        for question in asked {
            is_new |= self.rung.insert(question.id.clone());
        }
        is_new
    }

    /// Takes a key while the story of the selected run is read. Returns whether the key was for that.
    fn read(&mut self, key: LiveKey, wall: &Wall) -> bool {
        let Some(below) = self.reading else {
            return false;
        };
        let all = self
            .window(wall)
            .map_or(0, |window| window.all_lines().len());
        self.reading = match key {
            LiveKey::Up => Some((below + 1).min(all)),
            LiveKey::Down => Some(below.saturating_sub(1)),
            LiveKey::Enter | LiveKey::Escape => None,
            // They mean what they mean in the list.
            LiveKey::Tab | LiveKey::Erase | LiveKey::Letter(_) => return false,
        };
        true
    }

    /// Returns the window whose story is read, and the number of lines below the screen.
    pub fn story<'a>(&self, wall: &'a Wall) -> Option<(&'a Window, usize)> {
        Some((self.window(wall)?, self.reading?))
    }

    /// Returns the answer of a key that decides about a budget: about that of the selected run, or
    /// of the first that asks.
    fn decide_on_budget(&mut self, key: LiveKey, wall: &Wall) -> Option<LiveWish> {
        let reply = match key {
            LiveKey::Letter('+') => Reply::Option(1),
            LiveKey::Letter('.') => Reply::Option(2),
            _ => return None,
        };
        let (run, question) = self.at_limit(wall)?;
        Some(LiveWish::Answer {
            run: run.clone(),
            question: Box::new(question.clone()),
            reply,
        })
    }

    /// Returns the run that waits for its budget, with its question: the selected one or the first.
    fn at_limit<'a>(&self, wall: &'a Wall) -> Option<(&'a RunId, &'a Question)> {
        let of = |window: &'a Window| {
            let asked = question(window).filter(|asked| asked.kind == QuestionKind::Budget)?;
            Some((window.run(), asked))
        };
        let selected = self.window(wall).and_then(of);
        selected.or_else(|| wall.windows().iter().find_map(of))
    }

    fn choose(&mut self, key: LiveKey, wall: &Wall) {
        match key {
            LiveKey::Up => self.select(wall, -1),
            LiveKey::Down => self.select(wall, 1),
            LiveKey::Tab => self.go_to_question(wall),
            LiveKey::Enter => match self.window(wall).map(question) {
                Some(Some(question)) => self.holding = Holding::Answer(question.id.clone()),
                Some(None) => self.reading = Some(0),
                None => {}
            },
            LiveKey::Escape => self.selected = None,
            LiveKey::Letter('s') if self.is_running(wall) => self.holding = Holding::Message,
            LiveKey::Letter('x') if self.is_running(wall) => self.holding = Holding::Stop,
            LiveKey::Letter(letter) if letter.is_ascii_digit() => {
                if let Some(question) = self.window(wall).and_then(question) {
                    self.holding = Holding::Answer(question.id.clone());
                    self.replies.insert(question.id.clone(), letter.to_string());
                }
            }
            LiveKey::Erase | LiveKey::Letter(_) => {}
        }
    }

    fn confirm(&mut self, key: LiveKey) -> Option<LiveWish> {
        self.holding = Holding::Nothing;
        if let (LiveKey::Letter('y'), Some(run)) = (key, &self.selected) {
            return Some(LiveWish::Stop { run: run.clone() });
        }
        self.tell(Role::Muted, "It continues.");
        None
    }

    fn write_message(&mut self, key: LiveKey, wall: &Wall) -> Option<LiveWish> {
        let run = self.selected.clone()?;
        match key {
            LiveKey::Escape => self.holding = Holding::Nothing,
            LiveKey::Tab => self.go_to_question(wall),
            LiveKey::Enter => {
                self.holding = Holding::Nothing;
                let message = self.drafts.remove(&run).unwrap_or_default();
                return (!message.trim().is_empty()).then_some(LiveWish::Steer { run, message });
            }
            key => edit(self.drafts.entry(run).or_default(), key),
        }
        None
    }

    fn write_answer(&mut self, key: LiveKey, id: &QuestionId, wall: &Wall) -> Option<LiveWish> {
        match key {
            LiveKey::Escape => self.holding = Holding::Nothing,
            LiveKey::Tab => self.go_to_question(wall),
            LiveKey::Enter => return self.send_answer(id, wall),
            key => edit(self.replies.entry(id.clone()).or_default(), key),
        }
        None
    }

    fn send_answer(&mut self, id: &QuestionId, wall: &Wall) -> Option<LiveWish> {
        let question = self.window(wall).and_then(question)?.clone();
        let reply = Reply::Words(self.replies.get(id).cloned().unwrap_or_default());
        if let Err(problem) = question.take(&reply) {
            self.tell(Role::Warning, format!("{problem}"));
            return None;
        }
        self.holding = Holding::Nothing;
        self.replies.remove(id);
        Some(LiveWish::Answer {
            run: self.selected.clone()?,
            question: Box::new(question),
            reply,
        })
    }

    /// Selects the run that is so many places further down.
    fn select(&mut self, wall: &Wall, step: isize) {
        let windows = wall.windows();
        let place = |run: &RunId| windows.iter().position(|window| window.run() == run);
        let now = self.selected.as_ref().and_then(place);
        let next = match now {
            None if step < 0 => windows.len().checked_sub(1),
            None => Some(0),
            Some(now) => now.checked_add_signed(step),
        };
        if let Some(window) = next.and_then(|next| windows.get(next)) {
            self.selected = Some(window.run().clone());
        }
    }

    /// Selects the next run that asks, after the selected one, and begins to answer it.
    fn go_to_question(&mut self, wall: &Wall) {
        let windows = wall.windows();
        let selected = self.selected.as_ref();
        let now = windows
            .iter()
            .position(|window| Some(window.run()) == selected);
        let from = now.map_or(0, |now| now + 1);
        let (before, behind) = windows.split_at(from.min(windows.len()));
        let mut asking = behind.iter().chain(before);
        let found = asking.find_map(|window| Some((window.run(), question(window)?)));
        if let Some((run, question)) = found {
            self.selected = Some(run.clone());
            self.holding = Holding::Answer(question.id.clone());
        }
    }

    /// Gives up what cannot be done any more: the run is over, or somebody else has answered.
    fn let_go_of_what_is_over(&mut self, wall: &Wall) {
        let holds = match &self.holding {
            Holding::Nothing | Holding::Lost => true,
            Holding::Message | Holding::Stop => self.is_running(wall),
            Holding::Answer(id) => {
                let open = self.window(wall).and_then(question);
                open.is_some_and(|question| question.id == *id)
            }
        };
        if !holds {
            self.holding = Holding::Lost;
        }
    }

    fn window<'a>(&self, wall: &'a Wall) -> Option<&'a Window> {
        wall.window(self.selected.as_ref()?)
    }

    fn is_running(&self, wall: &Wall) -> bool {
        let window = self.window(wall);
        window.is_some_and(|window| !window.status().is_over() && !window.is_stopping())
    }

    /// Draws what the hands hold and what the keys do, in lines of this width.
    pub fn draw(&self, wall: &Wall, columns: usize) -> Vec<Line> {
        let mut hands = self.clone();
        hands.let_go_of_what_is_over(wall);
        let mut lines = Vec::new();
        if let Some(window) = hands.window(wall) {
            lines.push(marked(
                Role::Title,
                &text::one_line(&text::clean(window.name())),
            ));
        }
        lines.extend(hands.held(wall, columns));
        lines.extend(hands.asking(wall));
        lines.extend(
            hands
                .notice
                .as_ref()
                .map(|(role, words)| Line::new(*role, words)),
        );
        lines.push(hands.footer(wall, columns));
        lines.into_iter().map(|line| fit(&line, columns)).collect()
    }

    /// Draws what is being written.
    fn held(&self, wall: &Wall, columns: usize) -> Vec<Line> {
        let typed = |words: &str| {
            let room = columns.saturating_sub(9);
            let words = text::end_columns(&text::one_line(words), room);
            Line::new(Role::Accent, "▌ ").with(Role::Accent, &format!("you: {words}█"))
        };
        match (&self.holding, &self.selected) {
            (Holding::Message, Some(run)) => {
                vec![typed(self.drafts.get(run).map_or("", String::as_str))]
            }
            (Holding::Answer(id), _) => {
                let mut lines = Vec::new();
                if let Some(question) = self.window(wall).and_then(question) {
                    lines.push(marked(Role::Warning, &format!("? {}", question.line())));
                    let hidden = question.secret;
                    let words = self.replies.get(id).map_or("", String::as_str);
                    let stars = "*".repeat(words.chars().count());
                    lines.push(typed(if hidden { &stars } else { words }));
                }
                lines
            }
            (Holding::Stop, _) => vec![marked(Role::Warning, "Stop it and everything it started?")],
            (Holding::Lost, _) => vec![marked(
                Role::Muted,
                "The question is closed, or somebody else has answered.",
            )],
            (Holding::Nothing | Holding::Message, _) => Vec::new(),
        }
    }

    /// Names the runs that ask, unless one of them is being answered.
    fn asking(&self, wall: &Wall) -> Vec<Line> {
        if matches!(self.holding, Holding::Answer(_)) {
            return Vec::new();
        }
        let asking = wall.windows().iter();
        let mut asking = asking.filter_map(|window| Some((window, question(window)?)));
        let Some((window, question)) = asking.next() else {
            return Vec::new();
        };
        let name = text::one_line(&text::clean(window.name()));
        let more = match asking.count() {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        vec![
            Line::new(Role::Warning, "? ")
                .with(Role::Title, &name)
                .with(Role::Warning, &format!("{more} asks: {}", question.line())),
        ]
    }

    /// Names the keys that do something now.
    fn footer(&self, wall: &Wall, columns: usize) -> Line {
        let asks = wall
            .windows()
            .iter()
            .any(|window| question(window).is_some());
        let tab = [("Tab", "answer")];
        let keys: &[(&str, &str)] = match &self.holding {
            Holding::Message => &[("Enter", "send"), ("Esc", "not yet")],
            Holding::Answer(_) => &[("Enter", "answer"), ("Esc", "later"), ("Tab", "next")],
            Holding::Stop => &[("y", "stop"), ("any other key", "no")],
            Holding::Lost => &[("Esc", "continue")],
            Holding::Nothing if self.reading.is_some() => &[("↑↓", "scroll"), ("Esc", "back")],
            Holding::Nothing if self.is_running(wall) => &[
                ("↑↓", "select"),
                ("Enter", self.enter(wall)),
                ("s", "steer"),
                ("x", "stop"),
            ],
            Holding::Nothing if self.selected.is_some() => {
                &[("↑↓", "select"), ("Enter", "whole story")]
            }
            Holding::Nothing => &[("↑↓", "select")],
        };
        let leave = [("Esc", "leave")];
        let leaves =
            self.holding == Holding::Nothing && self.reading.is_none() && self.selected.is_some();
        let behind = [("&", "background")];
        let goes_behind = leaves && self.is_running(wall);
        let limit = [("+", "more"), (".", "end")];
        let is_at_limit = self.holding == Holding::Nothing && self.at_limit(wall).is_some();
        let offers_tab = asks && !matches!(self.holding, Holding::Answer(_) | Holding::Stop);
        let limit = limit.iter().filter(|_| is_at_limit);
        let all = keys.iter().chain(limit);
        let all = all.chain(tab.iter().filter(|_| offers_tab));
        let all = all.chain(leave.iter().filter(|_| leaves));
        let mut all: Vec<_> = all.chain(behind.iter().filter(|_| goes_behind)).collect();
        // The last keys give way where there is no room.
        loop {
            let line = keys_line(&all);
            if line.width() <= columns || all.pop().is_none() {
                return line;
            }
        }
    }

    /// Says what Enter does with the selected run.
    fn enter(&self, wall: &Wall) -> &'static str {
        match self.window(wall).and_then(question) {
            Some(_) => "answer",
            None => "whole story",
        }
    }
}

fn keys_line(keys: &[&(&str, &str)]) -> Line {
    let numbered = keys.iter().enumerate();
    numbered.fold(Line::default(), |line, (number, (key, does))| {
        let gap = if number > 0 { "  " } else { "" };
        line.with(Role::Accent, &format!("{gap}{key}"))
            .with(Role::Muted, &format!(" {does}"))
    })
}

/// Returns the question that a run waits with.
fn question(window: &Window) -> Option<&Question> {
    window.facts().question.as_ref()
}

fn marked(role: Role, words: &str) -> Line {
    Line::new(Role::Accent, "▌ ").with(role, words)
}

fn edit(words: &mut String, key: LiveKey) {
    match key {
        LiveKey::Erase => _ = words.pop(),
        LiveKey::Letter(letter) if words.len() < LONGEST && !letter.is_control() => {
            words.push(letter);
        }
        _ => {}
    }
}
