//! One run whose other side, the child and its keeper, is played by the test.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::net::UnixStream as StdStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_os::{Descriptors as _, ProcessName, System};
use pi_subagents_vocabulary::{
    Allowance, Completion, Here, Limits, McpServers, ModelChoice, Program, PromptTexts, QuestionId,
    QuestionTerms, RunBudgets, RunId, Runner, RunnerChoice, Sandbox, SessionId, SessionPolicy,
    Started, SystemPrompt, Task, TaskPlan, ToolPolicy, Work,
};
use pretty_assertions::assert_eq;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::child::LineMemory;
use crate::clock::RunClock;
use crate::known_children::KnownChildren;
use crate::launcher::Launcher;
use crate::live_child::*;
use crate::machine_room::{MachineRoom, MeetingPlace};
use crate::partial_feed::PartialFeed;
use crate::request::{UnitEvent, UnitEvents};

/// One run whose other side the test holds.
pub(super) struct Stand {
    pub(super) start: Instant,
    pub(super) output: Option<File>,
    pub(super) errors: Option<File>,
    keeper: Option<StdStream>,
    told: Told,
    pub(super) ask: mpsc::UnboundedSender<UnitRequest>,
    events: mpsc::Receiver<UnitEvents>,
    running: JoinHandle<()>,
    /// The messages to the keeper about the time of the run, which come beside all others.
    pub(super) deadlines: Vec<String>,
}

/// Stands for a keeper, which the test itself is: no process has this name.
pub(crate) const NOBODY: ProcessName = ProcessName {
    pid: 2,
    start_time: u64::MAX,
};

impl Stand {
    /// Makes a run whose child has just got its prompt.
    pub(super) async fn prompted(plan: TaskPlan) -> Self {
        let mut stand = Self::new(plan);
        assert_eq!(stand.next_order().await, PROMPT_LINE);
        stand
    }

    pub(super) fn new(plan: TaskPlan) -> Self {
        let (child_stdin, stdin) = System::pipe().unwrap();
        let (stdout, output) = System::pipe().unwrap();
        let (stderr, errors) = System::pipe().unwrap();
        let (ours, keepers) = StdStream::pair().unwrap();
        let child = LaunchedChild {
            started: Started {
                runner: Runner::Pi,
                child: 1,
                keeper: 2,
            },
            stdin: Outbox::new(stdin).unwrap(),
            stdout: Inbox::new(stdout, LineReader::new(LineMemory::new(1 << 20), None)).unwrap(),
            stderr: Inbox::new(stderr, StderrLines::default()).unwrap(),
            keeper: KeeperLink::new(NOBODY, tokio::spawn(async {}), ours).unwrap(),
        };
        let (events_in, events) = mpsc::channel(64);
        let (ask, requests) = mpsc::unbounded_channel();
        let unit = unit(plan, events_in, requests);
        let told = Told::by_keeper(&keepers);
        told.add("child", Receiver::from_owned_fd(child_stdin).unwrap());
        Self {
            start: told.start,
            output: Some(File::from(output)),
            errors: Some(File::from(errors)),
            keeper: Some(keepers),
            told,
            deadlines: Vec::new(),
            ask,
            events,
            running: tokio::spawn(live(unit, child)),
        }
    }

    pub(super) fn say(&mut self, line: &str) {
        let output = self.output.as_mut().unwrap();
        output.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(super) fn report(&mut self, report: &Report) {
        let line = serde_json::to_string(report).unwrap();
        let keeper = self.keeper.as_mut().unwrap();
        keeper.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Plays the exit of the child, with no process left.
    pub(super) fn exit(&mut self, code: i32) {
        self.output = None;
        self.errors = None;
        self.report(&Report::Exited {
            code: Some(code),
            signal: None,
        });
        self.report(&Report::Gone { killed: 0 });
    }

    pub(super) async fn next_order(&mut self) -> String {
        loop {
            let told = self.told.next().await;
            if !told.contains("\"deadline\"") {
                return told;
            }
            self.deadlines.push(told);
        }
    }

    pub(super) async fn sleep_until(&self, second: u64) {
        sleep_until(self.start + Duration::from_secs(second)).await;
    }

    /// Returns how often the child was corrected until it was started again, and the prompt of the
    /// next child.
    pub(super) async fn restart(self) -> (usize, String) {
        let mut corrections = 0;
        let mut again = None;
        for event in self.all_told().await {
            match event {
                UnitEvent::Happened(Happening::Corrected(_)) => corrections += 1,
                UnitEvent::Happened(Happening::Printed(words)) => again = Some(words),
                _ => {}
            }
        }
        let again = again.expect("another child to be started");
        (corrections, String::from_utf8_lossy(&again).into_owned())
    }

    /// Returns the id of the question that the run asks next.
    pub(super) async fn asked(&mut self) -> QuestionId {
        loop {
            let events = self.events.recv().await.expect("a question");
            let asked = events.what.into_iter().find_map(|(_, said)| match said {
                UnitEvent::Happened(Happening::Asked(question)) => Some(question.id),
                _ => None,
            });
            if let Some(id) = asked {
                return id;
            }
        }
    }

    /// Returns all events until the child was gone.
    async fn all_told(mut self) -> Vec<UnitEvent> {
        let patience = Duration::from_hours(1000);
        let ended = tokio::time::timeout(patience, self.running).await;
        ended.expect("the child to be gone").unwrap();
        self.events.close();
        let mut all = Vec::new();
        while let Some(events) = self.events.recv().await {
            all.extend(events.what.into_iter().map(|(_, said)| said));
        }
        all
    }

    /// Returns how the run ended, and how long after its start.
    pub(super) async fn ending_at(self) -> (Duration, Ending) {
        let start = self.start;
        let ending = self.ending().await;
        (start.elapsed(), ending)
    }

    pub(super) async fn ending(self) -> Ending {
        let mut ending = None;
        for event in self.all_told().await {
            if let UnitEvent::Happened(Happening::Ended(ended)) = event {
                assert_eq!(ending, None, "a run ends once");
                ending = Some(ended);
            }
        }
        ending.unwrap()
    }
}

/// Runs a unit whose first child is played by the test. A second child is not started.
async fn live(mut unit: Unit, child: LaunchedChild) {
    let mut progress = RunProgress::begin(&unit.task, &mut unit.plan);
    match Running::new(&mut unit, &mut progress, child).run().await {
        Outcome::Over(ending) => unit.report(Happening::Ended(ending)).await,
        Outcome::Again(prompt) => unit.report(Happening::Printed(prompt.into())).await,
    }
    unit.send_events().await;
}

/// The messages to the child and the keeper, with the millisecond at which they were sent.
pub(crate) struct Told {
    start: Instant,
    sender: mpsc::UnboundedSender<String>,
    messages: mpsc::UnboundedReceiver<String>,
}

impl Told {
    /// Begins with the messages to a keeper.
    pub(crate) fn by_keeper(keeper: &StdStream) -> Self {
        let (sender, messages) = mpsc::unbounded_channel();
        let told = Self {
            start: Instant::now(),
            sender,
            messages,
        };
        let orders = keeper.try_clone().unwrap();
        orders.set_nonblocking(true).unwrap();
        told.add("keeper", UnixStream::from_std(orders).unwrap());
        told
    }

    /// Notes the lines on a stream with their times, and the end of the stream.
    fn add(&self, who: &'static str, stream: impl tokio::io::AsyncRead + Unpin + Send + 'static) {
        let (start, told) = (self.start, self.sender.clone());
        tokio::spawn(async move {
            let mut lines = BufReader::new(stream).lines();
            loop {
                let line = lines.next_line().await.unwrap();
                let second = start.elapsed().as_millis();
                let text = line.clone().unwrap_or_else(|| "closed".to_owned());
                // The test may have stopped reading.
                _ = told.send(format!("{second} ms, {who}: {text}"));
                if line.is_none() {
                    return;
                }
            }
        });
    }

    pub(crate) async fn next(&mut self) -> String {
        // When nothing else can happen, paused time jumps here at once.
        let patience = Duration::from_hours(1000);
        let told = tokio::time::timeout(patience, self.messages.recv()).await;
        told.expect("somebody to be told something").unwrap()
    }
}

/// Makes the unit of a run.
pub(crate) fn unit(
    plan: TaskPlan,
    events: mpsc::Sender<UnitEvents>,
    requests: mpsc::UnboundedReceiver<UnitRequest>,
) -> Unit {
    Unit {
        partial: PartialFeed::new(Arc::default()),
        clock: RunClock::start(),
        task: Arc::new(task()),
        plan: Box::new(plan),
        head_start: None,
        launcher: Arc::new(Launcher {
            keeper: program("keeper"),
            confine: program("confine"),
            warden: program("warden"),
            known_children: KnownChildren::spare_unknown(),
            meeting_place: MeetingPlace::default(),
            file_limit: None,
            environment: Vec::new(),
            treasurer: None,
            secrets: std::collections::BTreeMap::new(),
        }),
        memory: LineMemory::new(1 << 20),
        room: Arc::default(),
        machine: MachineRoom::new(MeetingPlace::default(), 4),
        purse: None,
        events,
        unsent: Vec::new(),
        requests,
    }
}

fn program(name: &str) -> Program {
    Program {
        path: PathBuf::from(name),
        arguments: Vec::new(),
        has_mcp: false,
        keeps_tools: false,
    }
}

fn task() -> Task {
    Task::new(
        RunId::parse("r").unwrap(),
        SessionId::parse("s").unwrap(),
        "t",
        "p",
        PathBuf::from("/"),
    )
}

pub(crate) fn plan(limits: Limits) -> TaskPlan {
    TaskPlan {
        work: Work {
            prompt: "/p".to_owned(),
            runner: RunnerChoice::Pi,
            model: ModelChoice::Inherit,
            system_prompt: PromptTexts::default(),
            fallback_models: Vec::new(),
            tools: ToolPolicy::Inherit,
            completion: Completion::LastMessage,
            gates: Vec::new(),
            pollers: Vec::new(),
            limits,
            sandbox: Sandbox::default(),
            commands: Vec::new(),
            mcp_servers: McpServers::default(),
            questions: QuestionTerms::default(),
            trusted: false,
            arguments: Vec::new(),
        },
        here: Here {
            runner: Runner::Pi,
            program: program("pi"),
            system_prompt: SystemPrompt::Inherit,
            session: SessionPolicy::Nowhere,
            budgets: RunBudgets::default(),
            setup: None,
            shared: None,
            arguments: Vec::new(),
            wrap_up: None,
            ask: None,
            fallbacks: None,
            confinement: None,
            api_key: None,
            server_variables: std::collections::BTreeMap::new(),
        },
    }
}

pub(crate) fn limits(timeout: Option<u64>, extension: u64) -> Limits {
    Limits {
        timeout: timeout.map(Duration::from_secs),
        extension: Duration::from_secs(extension),
        repetitions: 3,
        turns: None,
        allowance: Allowance::default(),
        window_share: None,
        ends_at_once: false,
    }
}

pub(super) const PROMPT_LINE: &str =
    r#"0 ms, child: {"type":"prompt","id":"prompt","message":"\n/p"}"#;

pub(super) const ABORT_LINE: &str = r#"child: {"type":"abort"}"#;

pub(super) const SETTLED: &str = r#"{"type":"agent_settled"}"#;
