//! Watches the events of a run and writes its receipt.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::bounded_counts::{count_answer, count_failure, count_tool, name_model, with_usage};
use super::pending_calls::{Deed, Pending, PendingCalls};
use super::test_counts::count_passed;
use super::test_verdict::{TestPlace, TestState};
use super::{
    CommandEnd, CommandKind, Flag, GateState, MAX_COMMANDS, Receipt, SchemaState, SeenCommand,
    SeenFiles, SeenGate, SeenModel, SeenSchema, SeenTest, SeenTests,
};
use crate::child_protocol::ChildRecord;
use crate::shell_commands::CommandRefusal;
use crate::text;
use crate::{
    AnsweredQuestion, AssistantMessage, Ending, FellBack, GateStep, Gated, Happening,
    MOST_FALLBACKS, MOST_QUESTIONS, Message, Question, QuestionId, QuestionKind, RunEvent,
    StopReason, Task, ToolResult, Usage,
};

/// The number of characters of a gate that are kept.
const MAX_GATE: usize = 300;

/// The number of shell commands that may have changed files whose ends are remembered.
const MAX_UNCERTAIN: usize = 1000;

/// The number of calls of tests whose output is waited for.
const MAX_UNCOUNTED: usize = 50;

/// The fold that makes a receipt. It is bounded, however long a run is.
#[derive(Debug, Clone, Default)]
pub struct Witness {
    task: Option<Arc<Task>>,
    /// The receipt so far, without the fields that are derived at its end.
    receipt: Receipt,
    models: Vec<(SeenModel, Usage)>,
    commands: VecDeque<SeenCommand>,
    pending: PendingCalls,
    /// Counts all events, so that starts and ends have an order.
    order: u64,
    last_test: Option<LastTest>,
    /// The calls of tests that have ended and whose output has not come yet.
    uncounted: VecDeque<String>,
    /// The numbers of tests that passed.
    passed: Vec<u64>,
    /// The place of the last change of a file in that order.
    last_change: u64,
    /// The places in that order of the ends of shell commands that may have changed files.
    uncertain: VecDeque<u64>,
    /// True once a child has reported that a call begins; otherwise there are messages only.
    reports_begins: bool,
    /// The files that git found in the worktree of the run.
    worktree: Option<SeenFiles>,
    is_completed: bool,
    /// The time at which the last gate began.
    gate_began: Option<Timestamp>,
    /// The questions of its model that are open.
    asks: Vec<QuestionId>,
}

#[derive(Debug, Clone)]
struct LastTest {
    command: String,
    end: CommandEnd,
    state: TestState,
    /// The number of its beginning in the order of all events.
    began: u64,
    /// The number of its end in that order.
    ended: u64,
    /// The commands behind it in its own line that may have changed files.
    commands_since: usize,
}

impl Witness {
    /// Returns the receipt so far.
    pub fn receipt(&self) -> Receipt {
        let mut receipt = Receipt {
            models: with_usage(&self.models),
            commands: self.commands.iter().cloned().collect(),
            tests: self.tests(),
            ..self.receipt.clone()
        };
        receipt.flags = Flag::of(&receipt, self.is_completed);
        if let Some(files) = &self.worktree {
            receipt.take_files(files.clone());
        }
        receipt
    }

    /// Returns the command of the gate that is being run, if there is one, and the time at which it began.
    pub fn running_gate(&self) -> Option<(&str, Timestamp)> {
        let gate = self.receipt.gate.as_ref();
        let running = gate.filter(|gate| gate.state == GateState::Running);
        running
            .zip(self.gate_began)
            .map(|(gate, began)| (gate.command.as_str(), began))
    }

    /// Replaces the files that calls named with those that git found in the worktree of the run.
    pub fn take_worktree(&mut self, files: impl IntoIterator<Item = String>) {
        self.worktree = Some(SeenFiles::of_worktree(files));
    }

    /// Adds one more event of the run.
    pub fn apply(&mut self, event: &RunEvent) {
        match &event.happening {
            Happening::Accepted(task) => self.task = Some(Arc::clone(task)),
            Happening::Said { record, .. } => self.add_record(record, event.at),
            Happening::Reported(report) => {
                self.receipt.schema = Some(SeenSchema {
                    state: match report.misfit {
                        None => SchemaState::Met,
                        Some(_) => SchemaState::NotMet,
                    },
                    attempts: report.attempt,
                });
            }
            Happening::FellBack(change) => self.fall_back(change),
            Happening::Gated(gated) => self.gate_moved(gated, event.at),
            Happening::Asked(question) => self.asked(question),
            Happening::Answered(answered) => self.answered(answered),
            Happening::Ended(ending) => self.is_completed = *ending == Ending::Completed,
            Happening::Placed(_)
            | Happening::Started(_)
            | Happening::Printed(_)
            | Happening::Complained(_)
            | Happening::Granted(_)
            | Happening::Warned(_)
            | Happening::Steered(_)
            | Happening::Corrected(_)
            | Happening::Rung(_)
            | Happening::Stopping(_) => {}
        }
    }

    /// Notes a change of the model. The model before is listed, even if it never answered.
    fn fall_back(&mut self, change: &FellBack) {
        name_model(&mut self.models, &change.from);
        // A run asks each of its models once, and may begin with another one than its first.
        if self.receipt.fallbacks.len() <= MOST_FALLBACKS {
            self.receipt.fallbacks.push(change.clone());
        }
    }

    /// Counts a question of the model. Dialogs of extensions are no questions of its own.
    fn asked(&mut self, question: &Question) {
        if question.kind == QuestionKind::Ask && self.asks.len() < MOST_QUESTIONS {
            self.receipt.questions += 1;
            self.asks.push(question.id.clone());
        }
    }

    fn answered(&mut self, answered: &AnsweredQuestion) {
        let before = self.asks.len();
        self.asks.retain(|id| *id != answered.id);
        if self.asks.len() < before && answered.outcome.makes_it_assume() {
            self.receipt.assumed += 1;
        }
    }

    fn gate_moved(&mut self, gated: &Gated, at: Timestamp) {
        self.receipt.gate = Some(SeenGate {
            command: text::cut_characters(&gated.command, MAX_GATE),
            state: match &gated.step {
                GateStep::Began => GateState::Running,
                GateStep::Passed => GateState::Passed,
                GateStep::Failed { .. } => GateState::Failed,
            },
            attempts: gated.attempt,
            log: format!("gate-{}.log", gated.log),
        });
        if gated.step == GateStep::Began {
            self.gate_began = Some(at);
        }
    }

    fn add_record(&mut self, record: &ChildRecord, at: Timestamp) {
        match record {
            ChildRecord::MessageEnded(Message::Assistant(answer)) => self.add_answer(answer),
            ChildRecord::ToolStarted {
                call_id,
                tool,
                arguments,
            } => {
                self.reports_begins = true;
                self.call_began(call_id, tool, arguments, Some(at));
            }
            ChildRecord::ToolEnded {
                call_id,
                is_error,
                details,
                last_line,
                ..
            } => {
                let details = details.as_ref();
                let is_told = details.is_none_or(|details| details["exitCode"] != "unknown");
                let end = CalledEnd {
                    is_error: *is_error,
                    last_line,
                    is_told,
                };
                self.call_ended(call_id, end, Some(at));
            }
            // Events that were taken over from a session file have messages only.
            ChildRecord::MessageEnded(Message::ToolResult(result)) => {
                let text = if result.is_error {
                    result.text()
                } else {
                    String::new()
                };
                let last_line = text.lines().next_back().unwrap_or_default();
                let end = CalledEnd {
                    is_error: result.is_error,
                    last_line,
                    is_told: true,
                };
                self.call_ended(&result.call_id, end, None);
                self.count_tests(result);
            }
            _ => {}
        }
    }

    fn add_answer(&mut self, answer: &AssistantMessage) {
        if answer.is_answer() {
            self.receipt.turns += 1;
            count_answer(&mut self.models, answer);
        } else {
            let is_aborted = answer.stop_reason == Some(StopReason::Aborted);
            self.receipt.failed_requests += usize::from(!is_aborted);
            count_failure(&mut self.models, answer);
        }
        for call in answer.tool_calls() {
            self.call_began(&call.id, &call.name, &call.arguments, None);
        }
    }

    /// Notes a call. A child names each call twice, in its message and when it begins; calls
    /// inside other calls begin without a message.
    fn call_began(&mut self, id: &str, tool: &str, arguments: &Value, at: Option<Timestamp>) {
        self.order += 1;
        if let Some(known) = self.pending.find(id) {
            known.began = at.or(known.began);
            known.order = self.order;
            return;
        }
        count_tool(&mut self.receipt.tools, tool);
        let test_commands = self.task.as_ref().map(|task| task.test_commands.as_slice());
        self.pending.add(Pending {
            id: id.to_owned(),
            deed: Deed::read(tool, arguments, test_commands.unwrap_or_default()),
            began: at,
            order: self.order,
        });
    }

    /// Notes the end of a call, at its first report.
    fn call_ended(&mut self, id: &str, end: CalledEnd<'_>, at: Option<Timestamp>) {
        let CalledEnd {
            is_error,
            last_line,
            is_told,
        } = end;
        let Some(call) = self.pending.take(id) else {
            return;
        };
        self.order += 1;
        self.receipt.tool_errors += usize::from(is_error);
        match &call.deed {
            // Nothing was run.
            Deed::Command { .. } if is_error && self.was_never_run(&call, last_line) => {}
            Deed::Command {
                shown,
                test,
                may_change,
            } => {
                let end = if is_told || is_error {
                    CommandEnd::read(is_error, last_line)
                } else {
                    CommandEnd::not_told()
                };
                self.command_ended(&call, shown, *test, end, at);
                if *may_change {
                    self.add_uncertain();
                }
            }
            Deed::Change(path) if !is_error => {
                let cwd = self.task.as_ref().map(|task| task.cwd.as_path());
                self.receipt.files.add(path, cwd);
                self.last_change = self.order;
            }
            Deed::Change(_) | Deed::Other => {}
        }
    }

    /// Counts the tests that passed, if this is the output of a test.
    fn count_tests(&mut self, result: &ToolResult) {
        let found = self.uncounted.iter().position(|id| *id == result.call_id);
        if let Some(place) = found {
            self.uncounted.remove(place);
            count_passed(&result.text(), &mut self.passed);
        }
    }

    /// Returns whether a call that failed never got as far as its tool: the sub-agent does not have
    /// the tool or may not run the command, or the run ended before.
    fn was_never_run(&self, call: &Pending, last_line: &str) -> bool {
        let is_unknown = last_line.starts_with("Tool ") && last_line.ends_with(" not found");
        let is_refused = CommandRefusal::is_in(last_line);
        is_unknown || is_refused || (self.reports_begins && call.began.is_none())
    }

    fn add_uncertain(&mut self) {
        self.receipt.files.uncertain_commands += 1;
        if self.uncertain.len() >= MAX_UNCERTAIN {
            self.uncertain.pop_front();
        }
        self.uncertain.push_back(self.order);
    }

    fn command_ended(
        &mut self,
        call: &Pending,
        shown: &str,
        test: Option<TestPlace>,
        end: CommandEnd,
        at: Option<Timestamp>,
    ) {
        self.receipt.command_count += 1;
        if self.commands.len() >= MAX_COMMANDS {
            self.commands.pop_front();
        }
        self.commands.push_back(SeenCommand {
            command: shown.to_owned(),
            end,
            seconds: at.and_then(|at| Some(seconds_between(call.began?, at))),
            kind: test.map(|_| CommandKind::Test),
        });
        if let Some(place) = test {
            if self.uncounted.len() >= MAX_UNCOUNTED {
                self.uncounted.pop_front();
            }
            self.uncounted.push_back(call.id.clone());
            self.last_test = Some(LastTest {
                command: shown.to_owned(),
                end,
                state: place.judge(end),
                began: call.order,
                ended: self.order,
                commands_since: place.commands_since,
            });
        }
    }

    fn tests(&self) -> SeenTests {
        let Some(test) = &self.last_test else {
            return SeenTests::default();
        };
        let is_after = test.began > self.last_change;
        let commands_since = test.commands_since + self.uncertain_since(test);
        let state = match test.state {
            TestState::Passed if !is_after => TestState::Stale,
            TestState::Passed if commands_since > 0 => TestState::PassedBeforeCommands,
            other => other,
        };
        let last = Some(SeenTest {
            command: test.command.clone(),
            end: test.end,
            after_last_change: match commands_since {
                0 => Some(is_after),
                _ if is_after => None,
                _ => Some(false),
            },
            commands_since,
        });
        SeenTests {
            state,
            last,
            passed: self.passed.clone(),
        }
    }
}

impl Witness {
    /// Returns the number of other shell commands that may have changed files and that have ended
    /// since a test began, or have begun and not ended.
    fn uncertain_since(&self, test: &LastTest) -> usize {
        let is_since = |end: &&u64| **end > test.began && **end != test.ended;
        let ended = self.uncertain.iter().filter(is_since).count();
        ended + self.pending.uncertain().count()
    }
}

/// The end of a call, as its child reports it.
#[derive(Clone, Copy)]
struct CalledEnd<'a> {
    is_error: bool,
    last_line: &'a str,
    /// False if the child says that it does not know how a command ended.
    is_told: bool,
}

/// Returns the time between two moments in seconds, to a thousandth.
fn seconds_between(begin: Timestamp, end: Timestamp) -> f64 {
    let milliseconds = end.duration_since(begin).as_millis().max(0);
    let milliseconds = u32::try_from(milliseconds).unwrap_or(u32::MAX);
    f64::from(milliseconds) / 1000.0
}

#[cfg(test)]
#[path = "witness_tests.rs"]
mod tests;
