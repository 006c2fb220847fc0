//! The clocks of a run in paused time: the child and its keeper are played by the test.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::net::UnixStream as StdStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_delegation::{
    Completion, Decision, Limits, ModelChoice, Program, RunId, Runner, SessionId, SessionPolicy,
    Started, SystemPrompt, Task, TaskPlan, ToolPolicy,
};
use pretty_assertions::assert_eq;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::*;
use crate::Launcher;
use crate::child::LineMemory;
use crate::child::Speech;
use crate::own_children::OwnChildren;
use crate::request::{UnitEvents, UnitSaid};

/// One run whose other side the test holds.
struct Stand {
    start: Instant,
    output: Option<File>,
    errors: Option<File>,
    keeper: Option<StdStream>,
    /// What the child and the keeper were told, with the second they were told it.
    told: mpsc::UnboundedReceiver<String>,
    ask: mpsc::UnboundedSender<UnitRequest>,
    events: mpsc::Receiver<UnitEvents>,
    running: JoinHandle<()>,
}

impl Stand {
    fn new(limits: Limits) -> Self {
        Self::with_plan(plan(limits))
    }

    fn with_plan(plan: TaskPlan) -> Self {
        let (child_stdin, stdin) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let (stdout, output) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let (stderr, errors) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let (ours, keepers) = StdStream::pair().unwrap();
        let memory = LineMemory::new(1 << 20);
        let child = LaunchedChild {
            started: Started {
                runner: Runner::Pi,
                child: 1,
                keeper: 2,
            },
            stdin: Outbox::new(stdin).unwrap(),
            stdout: Inbox::new(stdout, LineReader::new(memory.clone(), None)).unwrap(),
            stderr: Inbox::new(stderr, StderrLines::default()).unwrap(),
            keeper: KeeperLink::new(2, tokio::spawn(async {}), ours).unwrap(),
        };
        let (events_in, events) = mpsc::channel(64);
        let (ask, requests) = mpsc::unbounded_channel();
        let unit = Unit {
            speech: Speech::default(),
            task: Arc::new(task()),
            plan: Box::new(plan),
            launcher: Arc::new(Launcher {
                keeper: program("keeper"),
                warden: program("warden"),
                own_children: OwnChildren::shared(),
                environment: Vec::new(),
            }),
            memory,
            events: events_in,
            untold: Vec::new(),
            requests,
        };
        let start = Instant::now();
        let (told_in, told) = mpsc::unbounded_channel();
        listen(
            start,
            "child",
            Receiver::from_owned_fd(child_stdin).unwrap(),
            told_in.clone(),
        );
        let orders = keepers.try_clone().unwrap();
        orders.set_nonblocking(true).unwrap();
        listen(
            start,
            "keeper",
            UnixStream::from_std(orders).unwrap(),
            told_in,
        );
        Self {
            start,
            output: Some(File::from(output)),
            errors: Some(File::from(errors)),
            keeper: Some(keepers),
            told,
            ask,
            events,
            running: tokio::spawn(live(unit, child)),
        }
    }

    fn say(&mut self, line: &str) {
        let output = self.output.as_mut().unwrap();
        output.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn report(&mut self, report: &Report) {
        let line = serde_json::to_string(report).unwrap();
        let keeper = self.keeper.as_mut().unwrap();
        keeper.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The child exits and nothing of it is left.
    fn exit(&mut self, code: i32) {
        self.output = None;
        self.errors = None;
        self.report(&Report::Exited {
            code: Some(code),
            signal: None,
        });
        self.report(&Report::Gone { killed: 0 });
    }

    async fn told(&mut self) -> String {
        // When nothing else can happen, paused time jumps here at once.
        let patience = Duration::from_hours(1000);
        let told = tokio::time::timeout(patience, self.told.recv()).await;
        told.expect("somebody to be told something").unwrap()
    }

    async fn sleep_until(&self, second: u64) {
        sleep_until(self.start + Duration::from_secs(second)).await;
    }

    /// How often the child was corrected until it was started again, and with which words it is.
    async fn restart(self) -> (usize, String) {
        let mut corrections = 0;
        let mut again = None;
        for event in self.all_told().await {
            match event {
                UnitSaid::Happened(Happening::Corrected(_)) => corrections += 1,
                UnitSaid::Happened(Happening::Printed(words)) => again = Some(words),
                _ => {}
            }
        }
        let again = again.expect("another child to be started");
        (corrections, String::from_utf8_lossy(&again).into_owned())
    }

    /// All that was told until the child was gone.
    async fn all_told(mut self) -> Vec<UnitSaid> {
        let patience = Duration::from_hours(1000);
        let ended = tokio::time::timeout(patience, self.running).await;
        ended.expect("the child to be gone").unwrap();
        self.events.close();
        let mut all = Vec::new();
        while let Some(events) = self.events.recv().await {
            all.extend(events.what);
        }
        all
    }

    async fn ending(self) -> Ending {
        let mut ending = None;
        for event in self.all_told().await {
            if let UnitSaid::Happened(Happening::Ended(ended)) = event {
                assert_eq!(ending, None, "a run ends once");
                ending = Some(ended);
            }
        }
        ending.unwrap()
    }
}

/// The life of a unit whose first child is played by the test, and whose next ones are not.
async fn live(mut unit: Unit, child: LaunchedChild) {
    let mut course = Course::begin(&mut unit.plan);
    match Running::new(&mut unit, &mut course, child).run().await {
        Outcome::Over(ending) => unit.tell(Happening::Ended(ending)).await,
        Outcome::Again(prompt) => unit.tell(Happening::Printed(prompt.into())).await,
    }
    unit.tell_all().await;
}

/// Notes what is said on a stream, with the time it was said, and when it closes.
fn listen(
    start: Instant,
    who: &'static str,
    stream: impl tokio::io::AsyncRead + Unpin + Send + 'static,
    told: mpsc::UnboundedSender<String>,
) {
    tokio::spawn(async move {
        let mut lines = BufReader::new(stream).lines();
        loop {
            let line = lines.next_line().await.unwrap();
            let second = start.elapsed().as_millis();
            let text = line.clone().unwrap_or_else(|| "closed".to_owned());
            // The test may have heard enough.
            _ = told.send(format!("{second} ms, {who}: {text}"));
            if line.is_none() {
                return;
            }
        }
    });
}

fn program(name: &str) -> Program {
    Program {
        path: PathBuf::from(name),
        arguments: Vec::new(),
    }
}

fn task() -> Task {
    Task {
        run: RunId::parse("r").unwrap(),
        session: SessionId::parse("s").unwrap(),
        name: "t".to_owned(),
        prompt: "p".to_owned(),
        cwd: PathBuf::from("/"),
        definition: None,
        timeout: None,
        directory: None,
    }
}

fn plan(limits: Limits) -> TaskPlan {
    TaskPlan {
        runner: Runner::Pi,
        program: program("pi"),
        prompt: "/p".to_owned(),
        model: ModelChoice::Inherit,
        system_prompt: SystemPrompt::Inherit,
        tools: ToolPolicy::Inherit,
        session: SessionPolicy::Nowhere,
        completion: Completion::LastMessage,
        limits,
        trusted: false,
        extra_arguments: Vec::new(),
        api_key: None,
    }
}

fn limits(timeout: Option<u64>, extension: u64) -> Limits {
    Limits {
        timeout: timeout.map(Duration::from_secs),
        extension: Duration::from_secs(extension),
        repetitions: 3,
    }
}

const PROMPT_LINE: &str = r#"0 ms, child: {"type":"prompt","id":"prompt","message":"\n/p"}"#;
const ABORT_LINE: &str = r#"child: {"type":"abort"}"#;
const SETTLED: &str = r#"{"type":"agent_settled"}"#;
const TOOL: &str =
    r#"{"type":"tool_execution_start","toolCallId":"1","toolName":"bash","args":{}}"#;
const TOOL_UPDATE: &str = r#"{"type":"tool_execution_update","toolCallId":"1"}"#;
const CALL: &str = r#"{"type":"message_end","message":{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"1","name":"bash","arguments":{"command":"ls"}}]}}"#;

fn timed_out(seconds: u64) -> Ending {
    Ending::TimedOut {
        limit: Duration::from_secs(seconds),
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_aborts_then_closes_stdin_then_ends_the_tree() {
    let mut stand = Stand::new(limits(Some(10), 30));
    assert_eq!(stand.told().await, PROMPT_LINE);
    assert_eq!(stand.told().await, format!("10000 ms, {ABORT_LINE}"));
    assert_eq!(stand.told().await, "10600 ms, child: closed");
    assert_eq!(
        stand.told().await,
        r#"10700 ms, keeper: {"stop":{"grace":{"secs":5,"nanos":0}}}"#
    );
    stand.exit(143);
    assert_eq!(stand.ending().await, timed_out(10));
}

#[tokio::test(start_paused = true)]
async fn a_child_that_settles_after_the_abort_is_let_go_at_once() {
    let mut stand = Stand::new(limits(Some(10), 30));
    assert_eq!(stand.told().await, PROMPT_LINE);
    assert_eq!(stand.told().await, format!("10000 ms, {ABORT_LINE}"));
    stand.say(SETTLED);
    assert_eq!(stand.told().await, "10000 ms, child: closed");
    stand.exit(0);
    assert_eq!(stand.ending().await, timed_out(10));
}

#[tokio::test(start_paused = true)]
async fn tools_at_work_extend_the_deadline_and_text_does_not() {
    let mut stand = Stand::new(limits(Some(10), 30));
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.sleep_until(9).await;
    stand.say(TOOL);
    stand.sleep_until(38).await;
    stand.say(TOOL_UPDATE);
    stand.sleep_until(60).await;
    stand.say(r#"{"type":"message_update","delta":"x"}"#);
    assert_eq!(stand.told().await, format!("68000 ms, {ABORT_LINE}"));
    stand.exit(0);
    assert_eq!(stand.ending().await, timed_out(10));
}

#[tokio::test(start_paused = true)]
async fn an_extension_of_zero_ends_the_run_at_its_timeout() {
    let mut stand = Stand::new(limits(Some(10), 0));
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.sleep_until(9).await;
    stand.say(TOOL);
    assert_eq!(stand.told().await, format!("10000 ms, {ABORT_LINE}"));
    stand.exit(0);
    assert_eq!(stand.ending().await, timed_out(10));
}

#[tokio::test(start_paused = true)]
async fn a_settled_child_has_two_seconds_to_leave_and_its_answer_counts() {
    let mut stand = Stand::new(limits(None, 30));
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.sleep_until(100_000).await;
    stand.say(SETTLED);
    assert_eq!(stand.told().await, "100000000 ms, child: closed");
    assert_eq!(
        stand.told().await,
        r#"100002000 ms, keeper: {"stop":{"grace":{"secs":5,"nanos":0}}}"#
    );
    stand.exit(1);
    assert_eq!(stand.ending().await, Ending::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_is_quicker_and_a_second_one_kills_at_once() {
    let mut stand = Stand::new(limits(None, 30));
    let shutdown = || UnitRequest::End(Decision::Shutdown { signal: 2 });
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.ask.send(shutdown()).unwrap();
    assert_eq!(stand.told().await, format!("0 ms, {ABORT_LINE}"));
    assert_eq!(stand.told().await, "300 ms, child: closed");
    assert_eq!(
        stand.told().await,
        r#"400 ms, keeper: {"stop":{"grace":{"secs":1,"nanos":0}}}"#
    );
    stand.ask.send(shutdown()).unwrap();
    assert_eq!(
        stand.told().await,
        r#"400 ms, keeper: {"stop":{"grace":{"secs":0,"nanos":0}}}"#
    );
    stand.exit(143);
    assert_eq!(
        stand.ending().await,
        Decision::Shutdown { signal: 2 }.ending()
    );
}

#[tokio::test(start_paused = true)]
async fn the_last_words_count_when_the_exit_is_heard_of_first() {
    let mut stand = Stand::new(limits(None, 30));
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.report(&Report::Exited {
        code: Some(0),
        signal: None,
    });
    assert_eq!(stand.told().await, "0 ms, child: closed");
    stand.say(SETTLED);
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_second_shutdown_does_not_wait_for_the_child_to_settle() {
    let mut stand = Stand::new(limits(None, 30));
    assert_eq!(stand.told().await, PROMPT_LINE);
    for _ in 0..2 {
        let decision = Decision::Shutdown { signal: 2 };
        stand.ask.send(UnitRequest::End(decision)).unwrap();
    }
    // The child may or may not hear of the abort before its stdin is closed.
    let order = loop {
        let told = stand.told().await;
        if told.contains("keeper") {
            break told;
        }
    };
    assert_eq!(
        order,
        r#"0 ms, keeper: {"stop":{"grace":{"secs":0,"nanos":0}}}"#
    );
    stand.exit(143);
    assert_eq!(
        stand.ending().await,
        Decision::Shutdown { signal: 2 }.ending()
    );
}

#[tokio::test(start_paused = true)]
async fn repeated_calls_over_several_messages_are_a_loop() {
    let mut stand = Stand::new(limits(None, 30));
    assert_eq!(stand.told().await, PROMPT_LINE);
    for second in 1..=3 {
        stand.sleep_until(second).await;
        stand.say(CALL);
    }
    assert_eq!(stand.told().await, format!("3000 ms, {ABORT_LINE}"));
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Looped { times: 3 });
}

#[tokio::test(start_paused = true)]
async fn a_child_that_closes_its_output_is_lost_after_two_seconds() {
    let mut stand = Stand::new(limits(None, 30));
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.output = None;
    assert_eq!(stand.told().await, "0 ms, child: closed");
    assert_eq!(
        stand.told().await,
        r#"2000 ms, keeper: {"stop":{"grace":{"secs":5,"nanos":0}}}"#
    );
    stand.exit(0);
    assert_eq!(
        stand.ending().await,
        Ending::Lost {
            reason: "it closed its output and lived on".to_owned()
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_ending_takes_no_more_steering() {
    let mut stand = Stand::new(limits(None, 30));
    assert_eq!(stand.told().await, PROMPT_LINE);
    let steer = |stand: &Stand, message: &str| {
        let (answer, answered) = tokio::sync::oneshot::channel();
        let message = message.to_owned();
        stand
            .ask
            .send(UnitRequest::Steer { message, answer })
            .unwrap();
        answered
    };
    assert_eq!(steer(&stand, "left").await.unwrap(), Ok(()));
    assert_eq!(
        stand.told().await,
        r#"0 ms, child: {"type":"steer","id":"steer","message":"left"}"#
    );
    stand.say(SETTLED);
    assert_eq!(stand.told().await, "0 ms, child: closed");
    let run = RunId::parse("r").unwrap();
    assert_eq!(
        steer(&stand, "right").await.unwrap(),
        Err(SteerError::Ending(run))
    );
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_dead_tree_whose_pipes_stay_open_is_waited_for_one_second() {
    let mut stand = Stand::new(limits(None, 30));
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.say(SETTLED);
    assert_eq!(stand.told().await, "0 ms, child: closed");
    stand.report(&Report::Gone { killed: 0 });
    let start = stand.start;
    let held = (stand.output.take(), stand.errors.take());
    assert_eq!(stand.ending().await, Ending::Completed);
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    drop(held);
}

/// A run whose child must report, and is told twice if it does not.
fn reporting() -> Stand {
    Stand::with_plan(TaskPlan {
        completion: Completion::Finalized { corrections: 2 },
        ..plan(limits(None, 30))
    })
}

fn report(details: &str) -> String {
    format!(
        r#"{{"type":"tool_execution_end","toolCallId":"1","toolName":"subagent_finalize","isError":false,"result":{{"details":{details}}}}}"#
    )
}

#[tokio::test(start_paused = true)]
async fn a_report_ends_the_run_even_if_the_model_goes_on() {
    let mut stand = reporting();
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.say(&report(r#"{"status":"ERROR","error":"no such table"}"#));
    assert_eq!(stand.told().await, "1000 ms, child: closed");
    stand.exit(0);
    let error = "no such table".to_owned();
    assert_eq!(stand.ending().await, Ending::ReportedError { error });
}

#[tokio::test(start_paused = true)]
async fn a_child_that_does_not_report_is_told_and_given_up_in_the_end() {
    let mut stand = reporting();
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.say(&report(r#"{"status":"SUCCESS","result":""}"#));
    for _ in 0..2 {
        stand.say(SETTLED);
        let told = stand.told().await;
        assert!(told.contains("You have not reported yet."), "{told}");
    }
    stand.say(SETTLED);
    assert_eq!(stand.told().await, "0 ms, child: closed");
    stand.exit(0);
    assert_eq!(
        stand.ending().await,
        Ending::NeverFinalized { corrections: 2 }
    );
}

#[tokio::test(start_paused = true)]
async fn a_report_after_a_correction_counts() {
    let mut stand = reporting();
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.say(SETTLED);
    assert!(stand.told().await.contains("You have not reported yet."));
    stand.say(&report(r#"{"status":"SUCCESS","result":"done"}"#));
    stand.say(SETTLED);
    assert_eq!(stand.told().await, "0 ms, child: closed");
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_report_beside_other_calls_ends_the_turn_at_once() {
    let mut stand = reporting();
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.say(r#"{"type":"message_end","message":{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"1","name":"subagent_finalize","arguments":{}},{"type":"toolCall","id":"2","name":"bash","arguments":{}}]}}"#);
    stand.say(&report(r#"{"status":"SUCCESS","result":"done"}"#));
    assert_eq!(stand.told().await, format!("0 ms, {ABORT_LINE}"));
    stand.say(r#"{"type":"message_end","message":{"role":"assistant","stopReason":"aborted","content":[],"errorMessage":"Request aborted"}}"#);
    stand.say(SETTLED);
    assert_eq!(stand.told().await, "0 ms, child: closed");
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Completed);
}

/// A run that must report, with a session that another child could continue.
fn reporting_with_session() -> Stand {
    Stand::with_plan(TaskPlan {
        completion: Completion::Finalized { corrections: 2 },
        session: SessionPolicy::File("/s.jsonl".into()),
        ..plan(limits(None, 30))
    })
}

const ANSWER: &str = r#"{"type":"message_end","message":{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"so"}]}}"#;

#[tokio::test(start_paused = true)]
async fn a_child_that_exits_without_a_report_is_corrected_once_for_its_exit() {
    // It settles and exits at once, and which of the two is heard of first is chance.
    for hears_correction in [false, true] {
        let mut stand = reporting_with_session();
        assert_eq!(stand.told().await, PROMPT_LINE);
        stand.say(ANSWER);
        if hears_correction {
            stand.say(SETTLED);
            assert!(stand.told().await.contains("You have not reported yet."));
        }
        stand.exit(0);
        let (corrections, again) = stand.restart().await;
        assert_eq!(corrections, 1, "{hears_correction}");
        assert!(again.starts_with("You have not reported yet."), "{again}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_that_exits_before_any_answer_is_not_started_again() {
    let mut stand = reporting_with_session();
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.exit(1);
    let stderr = String::new();
    assert_eq!(stand.ending().await, Ending::Exited { code: 1, stderr });
}

#[tokio::test(start_paused = true)]
async fn without_a_session_a_child_that_exits_ends_its_run() {
    let mut stand = reporting();
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.say(ANSWER);
    stand.exit(0);
    let stderr = String::new();
    assert_eq!(stand.ending().await, Ending::Exited { code: 0, stderr });
}

/// A run that asks for a provider.
fn choosing(provider: &str) -> Stand {
    Stand::with_plan(TaskPlan {
        model: ModelChoice::Named {
            provider: Some(provider.to_owned()),
            model: None,
            thinking: None,
        },
        ..plan(limits(None, 30))
    })
}

const STATE: &str = r#"{"type":"response","id":"check","command":"get_state","success":true,"data":{"model":{"provider":"fake","id":"m"}}}"#;

#[tokio::test(start_paused = true)]
async fn a_pi_is_asked_for_its_model_before_it_gets_the_prompt() {
    let mut stand = choosing("fake");
    let question = r#"0 ms, child: {"type":"get_state","id":"check"}"#;
    assert_eq!(stand.told().await, question);
    let (answer, answered) = tokio::sync::oneshot::channel();
    let message = "left".to_owned();
    let steer = UnitRequest::Steer { message, answer };
    stand.ask.send(steer).unwrap();
    let run = RunId::parse("r").unwrap();
    assert_eq!(answered.await.unwrap(), Err(SteerError::NotStarted(run)));
    stand.say(STATE);
    assert_eq!(stand.told().await, PROMPT_LINE);
    stand.say(SETTLED);
    assert_eq!(stand.told().await, "0 ms, child: closed");
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_pi_that_would_ask_another_provider_never_gets_the_prompt() {
    let mut stand = choosing("nope");
    assert!(stand.told().await.contains("get_state"));
    stand.say(STATE);
    assert_eq!(stand.told().await, "0 ms, child: closed");
    stand.exit(0);
    let Ending::ModelError { message } = stand.ending().await else {
        panic!("it ended otherwise");
    };
    assert!(message.contains("\"nope\""), "{message}");
}
