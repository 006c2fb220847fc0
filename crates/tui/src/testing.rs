//! Made-up runs for the tests of the model and of the frames.

use ratatui::layout::Size;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pi_subagents_records::{Detached, IndexedRun, OwnerName, RunDir, RunState};
use pi_subagents_view::{Paint, PreviewContext};
use pi_subagents_vocabulary::child_protocol::{ChildLine, decode};
use pi_subagents_vocabulary::{
    Ending, Happening, RunEvent, RunId, Runner, SessionId, Started, Status, Task, Timestamp, Usage,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::draw::draw;
use super::list_row::{Record, Recorded};
use super::message::{Effect, Message, MouseAct, Subject};
use super::model::Model;
use super::scope::{ScopedRuns, ScreenScope};
use pi_subagents_runs::row::RunRow;

pub(super) const PROJECT: &str = "/home/ada/engine";

/// Returns the moment this number of seconds after the runs began.
pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_794_000_000 + second).unwrap()
}

/// Makes a run with this name; runs with lower numbers began earlier.
pub(super) fn run(number: u32, name: &str, state: RunState) -> IndexedRun {
    let id = format!("20261115-000000-{number:03}-aaaaaa");
    IndexedRun {
        run: RunId::parse(&id).unwrap(),
        session: SessionId::new(0xa3f7_0000_0000_0000 + u64::from(number)),
        name: name.to_owned(),
        preset: None,
        model: None,
        directory: RunDir::new(format!("{PROJECT}/.pi/subagents/runs/{id}")),
        project: PathBuf::from(PROJECT),
        accepted_at: at(0),
        sequence: u64::from(number),
        owner: Arc::new(OwnerName {
            pid: 1,
            start_time: 1,
            host: "here".to_owned(),
            socket: None,
            fleet: None,
            caller: None,
            detached: None,
        }),
        state,
    }
}

pub(super) fn open(number: u32, name: &str) -> IndexedRun {
    run(number, name, RunState::Open)
}

pub(super) fn over(number: u32, name: &str) -> IndexedRun {
    let state = RunState::Over {
        status: Status::Completed,
        exit_code: 0,
        at: at(61),
        used: None,
    };
    run(number, name, state)
}

pub(super) fn in_background(mut run: IndexedRun) -> IndexedRun {
    Arc::make_mut(&mut run.owner).detached = Some(Detached { pi_session: None });
    run
}

/// A model with a screen, to which things happen.
pub(super) struct Desk {
    pub(super) model: Model,
    pub(super) effects: Vec<Effect>,
    pub(super) second: i64,
}

impl Desk {
    pub(super) fn new(columns: u16, rows: u16) -> Self {
        Self::with_scope(
            ScreenScope::Project(PathBuf::from(PROJECT)),
            Size::new(columns, rows),
        )
    }

    pub(super) fn with_scope(scope: ScreenScope, size: Size) -> Self {
        let context = PreviewContext {
            home: Some(PathBuf::from("/home/ada")),
            cwd: PathBuf::from(PROJECT),
            width: 200,
        };
        Self {
            model: Model::new(scope, PathBuf::from(PROJECT), context, size),
            effects: Vec::new(),
            second: 0,
        }
    }

    pub(super) fn happens(&mut self, message: Message) {
        let effect = self.model.update(message, at(self.second));
        self.effects.extend(effect);
    }

    pub(super) fn wait(&mut self, seconds: i64) {
        self.second += seconds;
        self.happens(Message::Tick);
    }

    pub(super) fn sees(&mut self, runs: &[IndexedRun]) {
        let runs = self.model.scope.choose(runs);
        self.happens(Message::IndexRead(ScopedRuns {
            runs,
            ..ScopedRuns::default()
        }));
    }

    pub(super) fn press(&mut self, keys: &str) {
        for character in keys.chars() {
            self.press_key(KeyCode::Char(character));
        }
    }

    pub(super) fn press_key(&mut self, code: KeyCode) {
        self.happens(Message::Pressed(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    /// Presses a key together with Ctrl.
    pub(super) fn press_control(&mut self, letter: char) {
        let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
        self.happens(Message::Pressed(key));
    }

    /// Clicks at a column and a row of the screen.
    pub(super) fn click(&mut self, column: u16, row: u16) {
        self.happens(Message::Mouse(MouseAct::Click, column, row));
    }

    /// Returns the last row of the screen.
    pub(super) fn footer(&self) -> String {
        let screen = self.screen();
        screen.lines().last().unwrap_or_default().to_owned()
    }

    /// Lets the record of a run grow, for all who follow it.
    pub(super) fn grow_record(&mut self, run: &IndexedRun, happenings: Vec<Happening>) {
        let events: Vec<RunEvent> = happenings
            .into_iter()
            .map(|happening| RunEvent {
                run: run.run.clone(),
                at: at(self.second),
                happening,
            })
            .collect();
        let subjects: Vec<Subject> = self.model.followed().into_keys().collect();
        for subject in subjects {
            let (Subject::Row(of) | Subject::Window(of, _)) = &subject;
            if *of == run.run {
                self.happens(Message::RecordGrew(subject, events.clone()));
            }
        }
    }

    /// Returns the screen, row by row.
    pub(super) fn screen(&self) -> String {
        let Size {
            width: columns,
            height: rows,
        } = self.model.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let now = at(self.second);
        terminal
            .draw(|frame| draw(&self.model, now, Paint::Ansi, frame))
            .unwrap();
        let buffer = terminal.backend().buffer();
        let rows: Vec<String> = buffer
            .content
            .chunks(columns.into())
            .map(|cells| row_text(cells).trim_end().to_owned())
            .collect();
        rows.join("\n").trim_end().to_owned()
    }
}

/// Returns the text of a row. A wide character hides the cell behind it.
fn row_text(cells: &[Cell]) -> String {
    let mut hidden = 0;
    let mut text = String::new();
    for cell in cells {
        if hidden == 0 {
            text.push_str(cell.symbol());
            hidden = cell.symbol().width();
        }
        hidden = hidden.saturating_sub(1);
    }
    text
}

pub(super) fn accepted(run: &IndexedRun, prompt: &str) -> Happening {
    Happening::Accepted(Arc::new(Task::new(
        run.run.clone(),
        run.session.clone(),
        run.name.clone(),
        prompt,
        PathBuf::from(PROJECT),
    )))
}

pub(super) fn started() -> Happening {
    Happening::Started(Started {
        runner: Runner::Embedded,
        child: 7,
        keeper: 6,
    })
}

pub(super) fn answer_event(text: &str) -> Happening {
    answered(&json!([{"type": "text", "text": text}]))
}

pub(super) fn called(tool: &str, arguments: &Value) -> Happening {
    answered(&json!([
        {"type": "toolCall", "id": "1", "name": tool, "arguments": arguments}
    ]))
}

/// Lets a tool answer the call with this id.
pub(super) fn tool_answered(id: &str, tool: &str, output: &str, is_error: bool) -> Happening {
    let line = json!({"type": "message_end", "message": {
        "role": "toolResult", "toolCallId": id, "toolName": tool, "isError": is_error,
        "content": [{"type": "text", "text": output}],
    }});
    recorded_line(&line)
}

/// Makes a call with an id of its own.
pub(super) fn called_as(id: &str, tool: &str, arguments: &Value) -> Happening {
    answered(&json!([
        {"type": "toolCall", "id": id, "name": tool, "arguments": arguments}
    ]))
}

fn answered(content: &Value) -> Happening {
    let line = json!({"type": "message_end", "message": {
        "role": "assistant", "content": content, "model": "haiku", "provider": "anthropic",
        "usage": {"input": 1000, "output": 500, "cost": {"total": 0.01}},
    }});
    recorded_line(&line)
}

fn recorded_line(line: &Value) -> Happening {
    let line = Bytes::from(line.to_string());
    match decode(&line) {
        ChildLine::Record(record) => Happening::Said { line, record },
        ChildLine::Text => Happening::Printed(line),
    }
}

pub(super) fn ended(ending: Ending) -> Happening {
    Happening::Ended(ending)
}

/// Makes a team: two runs work, one waits, and two are over.
pub(super) fn team(desk: &mut Desk) -> [IndexedRun; 5] {
    let runs = [
        open(3, "review"),
        in_background(open(4, "日本語の調査")),
        open(5, "tests"),
        over(1, "plan"),
        run(
            2,
            "a name that is much longer than its column",
            RunState::Over {
                status: Status::Failed,
                exit_code: 1,
                at: at(5),
                used: None,
            },
        ),
    ];
    desk.sees(&runs);
    desk.grow_record(
        &runs[0],
        vec![accepted(&runs[0], "Review the last commit."), started()],
    );
    desk.grow_record(&runs[1], vec![accepted(&runs[1], "Look."), started()]);
    desk.grow_record(&runs[2], vec![accepted(&runs[2], "Run the tests.")]);
    desk.wait(75);
    desk.grow_record(
        &runs[0],
        vec![
            answer_event("I look at the change first.\nIt touches the parser."),
            called("read", &json!({"path": "/home/ada/engine/src/parser.rs"})),
        ],
    );
    desk.grow_record(
        &runs[1],
        vec![called("bash", &json!({"command": "rg -n 設定"}))],
    );
    let recorded = |run: &IndexedRun, answer: &str| {
        let mut row = RunRow::of_index(run);
        let usage = Usage {
            input: 120_000,
            cost: Some(0.25),
            ..Usage::default()
        };
        row.report.model = Some("haiku".to_owned());
        row.report.usage = Some(usage);
        row.report.tool_calls = Some(7);
        row.report.output = Some(answer.to_owned());
        row.report.task = Some(format!("Do what {} says.", run.name));
        (run.run.clone(), Record::Read(Box::new(Recorded::of(&row))))
    };
    desk.happens(Message::RecordsRead(vec![
        recorded(&runs[3], "Three steps: parse, check, write."),
        recorded(&runs[4], "no key for anthropic"),
    ]));
    runs
}
