//! One run of a gate's command, from its start until all of its processes are gone.

use std::time::Duration;

use pi_subagents_vocabulary::Decision;
use tokio::time::{Instant, sleep_until};
use tracing::info;

use super::output::GateOutput;
use crate::child::{CommandOfRun, Inbox, LaunchError, LaunchedCommand, launch_command};
use crate::completion::Exit;
use crate::keeper::{KeeperLink, Report};
use crate::pause::Pause;
use crate::request::UnitRequest;
use crate::stop_phases::Pace;
use crate::sweep::end_inherited;
use crate::to_child::NotSent;
use crate::unit::Unit;

/// The time that a command may take to end after its time limit.
const GRACE: Duration = Duration::from_secs(2);

/// The time that a keeper may take, beyond the grace of its order, to report that nothing is left.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time for which the pipe of a command that is gone is read.
const DRAIN: Duration = Duration::from_secs(1);

/// The end of a gate's command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GateEnd {
    /// It exited by itself.
    Exited(i32),
    /// It died of a signal.
    Signalled(i32),
    /// It took longer than this.
    TimedOut(Duration),
    /// It could not be run, or nobody saw its end.
    Unknown(String),
    /// Its sandbox could not be made, and nothing was run.
    NotConfined(String),
    /// The run was to end.
    Ended(Decision),
}

impl GateEnd {
    /// Returns why the gate has not passed, in a few words, or `None` if it has.
    pub(crate) fn reason(&self) -> Option<String> {
        Some(match self {
            Self::Exited(0) => return None,
            Self::Exited(126) => "exit 126: it cannot be executed".to_owned(),
            Self::Exited(127) => "exit 127: the command was not found".to_owned(),
            Self::Exited(code) => format!("exit {code}"),
            Self::Signalled(signal) => format!("it was killed by signal {signal}"),
            Self::TimedOut(limit) => format!("it did not end within {}s", limit.as_secs()),
            Self::Unknown(why) | Self::NotConfined(why) => why.clone(),
            Self::Ended(_) => "the run was ended".to_owned(),
        })
    }

    /// Returns whether a sub-agent could do anything about it. If the command could not be run or
    /// did not end by itself, nothing was proved.
    pub(super) fn is_mendable(&self) -> bool {
        matches!(self, Self::Exited(code) if !matches!(code, 126 | 127))
    }
}

/// Runs the command of a gate in the directory of the run.
pub(crate) async fn run_command(
    unit: &mut Unit,
    command: CommandOfRun<'_>,
    limit: Duration,
) -> (GateEnd, GateOutput) {
    let launched = launch_command(&unit.launcher, &unit.task, &unit.plan, command).await;
    let LaunchedCommand { output, keeper } = match launched {
        Ok(launched) => launched,
        Err(LaunchError::NotConfined(reason)) => {
            return (GateEnd::NotConfined(reason), GateOutput::default());
        }
        Err(error) => {
            let why = format!("it could not be started: {}", error.with_causes());
            return (GateEnd::Unknown(why), GateOutput::default());
        }
    };
    match Inbox::new(output, GateOutput::default()) {
        Ok(output) => watch(unit, keeper, output, limit).await,
        Err(error) => {
            // The keeper ends the command when its link is dropped.
            let why = format!("its output cannot be read: {error}");
            (GateEnd::Unknown(why), GateOutput::default())
        }
    }
}

/// Watches a command that has been started until all of its processes are gone.
async fn watch(
    unit: &mut Unit,
    keeper: KeeperLink,
    output: Inbox<GateOutput>,
    limit: Duration,
) -> (GateEnd, GateOutput) {
    let mut running = RunningCommand {
        keeper,
        output,
        output_is_open: true,
        alarm: Instant::now() + limit,
        limit,
        end: None,
        is_ending: false,
        is_gone: false,
        pause: Pause::No,
    };
    while !running.is_gone {
        let wake = running.next(unit).await;
        running.handle(wake, unit).await;
    }
    running.finish().await
}

/// Everything that can wake us while a command runs.
enum Wake {
    OutputClosed,
    Keeper(Option<Report>),
    Asked(UnitRequest),
    Alarm,
}

struct RunningCommand {
    keeper: KeeperLink,
    output: Inbox<GateOutput>,
    output_is_open: bool,
    /// The time at which the command, and after it its keeper, has taken too long.
    alarm: Instant,
    limit: Duration,
    end: Option<GateEnd>,
    is_ending: bool,
    is_gone: bool,
    pause: Pause,
}

impl RunningCommand {
    async fn next(&mut self, unit: &mut Unit) -> Wake {
        loop {
            let (alarm, is_paused) = (self.alarm, self.pause.stops_clocks());
            let wake = tokio::select! {
                _ = self.output.next(), if self.output_is_open => Wake::OutputClosed,
                report = self.keeper.next() => Wake::Keeper(report),
                Some(request) = unit.requests.recv() => Wake::Asked(request),
                () = sleep_until(alarm), if !is_paused => Wake::Alarm,
            };
            match wake {
                Wake::OutputClosed => self.output_is_open = false,
                other => return other,
            }
        }
    }

    async fn handle(&mut self, wake: Wake, unit: &Unit) {
        match wake {
            Wake::OutputClosed => {}
            Wake::Keeper(Some(report)) => self.keeper_reported(&report),
            Wake::Keeper(None) => self.keeper_died(unit).await,
            Wake::Asked(UnitRequest::End(decision)) => self.asked_to_end(decision),
            Wake::Asked(UnitRequest::Pause { paused }) => {
                self.keeper.pause();
                self.pause = Pause::Asked(paused);
            }
            Wake::Asked(UnitRequest::Resume { pause }) => {
                self.pause = Pause::No;
                self.alarm += pause;
                self.keeper.resume();
            }
            Wake::Asked(UnitRequest::Send { answer, .. }) => {
                // The asker may have left.
                _ = answer.send(Err(NotSent::Ending(unit.task.run.clone())));
            }
            Wake::Alarm if self.is_ending => {
                self.keeper.kill();
                self.keeper_died(unit).await;
            }
            Wake::Alarm => {
                info!(run = %unit.task.run, "a gate took too long");
                self.end.get_or_insert(GateEnd::TimedOut(self.limit));
                self.stop(GRACE);
            }
        }
    }

    /// Ends the command because its run is to end; a second shutdown kills at once.
    fn asked_to_end(&mut self, decision: Decision) {
        let is_second = matches!(
            (&self.end, decision),
            (
                Some(GateEnd::Ended(Decision::Shutdown(_))),
                Decision::Shutdown(_)
            )
        );
        self.end = Some(GateEnd::Ended(decision));
        self.stop(if is_second {
            Duration::ZERO
        } else {
            Pace::of(decision).grace
        });
    }

    fn keeper_reported(&mut self, report: &Report) {
        match report {
            Report::Exited { code, signal } => {
                let end = match Exit::new(*code, *signal) {
                    Exit::Code(code) => GateEnd::Exited(code),
                    Exit::Signal(signal) => GateEnd::Signalled(signal),
                    Exit::Unknown => GateEnd::Unknown("nobody saw how it exited".to_owned()),
                };
                self.end.get_or_insert(end);
                self.expect_end(Duration::ZERO);
            }
            Report::Gone { .. } => self.is_gone = true,
            Report::Paused => self.pause.tree_stopped(),
            Report::Stopping => {
                self.end.get_or_insert(GateEnd::Ended(Decision::Stop));
            }
            // What a gate was refused stands in its own output.
            Report::Noted { .. }
            | Report::Overdue
            | Report::Started { .. }
            | Report::NotConfined { .. }
            | Report::CouldNotStart { .. } => {}
        }
    }

    fn stop(&mut self, grace: Duration) {
        self.keeper.stop(grace);
        self.expect_end(grace);
    }

    fn expect_end(&mut self, grace: Duration) {
        self.is_ending = true;
        self.alarm = Instant::now() + grace + PATIENCE;
    }

    /// Ends the processes of a dead keeper: the owner has inherited them.
    async fn keeper_died(&mut self, unit: &Unit) {
        end_inherited(&unit.launcher, &unit.task.run).await;
        let lost = || GateEnd::Unknown("its supervisor was killed".to_owned());
        self.end.get_or_insert_with(lost);
        self.is_gone = true;
    }

    /// Reads the rest of the output. Returns the end of the command, and its output.
    async fn finish(mut self) -> (GateEnd, GateOutput) {
        if self.output_is_open {
            // A process that nobody could end may hold the pipe.
            _ = tokio::time::timeout(DRAIN, self.output.next()).await;
        }
        let output = std::mem::take(self.output.splitter_mut());
        self.keeper.ended().await;
        let unknown = || GateEnd::Unknown("nobody saw how it exited".to_owned());
        (self.end.unwrap_or_else(unknown), output)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use pi_subagents_os::{Descriptors as _, System};
    use pi_subagents_vocabulary::Interruption;
    use pretty_assertions::assert_eq;
    use tokio::sync::mpsc;
    use tokio::task::JoinHandle;

    use super::*;
    use crate::live_child::tests::stand::{NOBODY, Told, limits, plan, unit};

    /// A command whose keeper is played by the test.
    struct Command {
        keeper: UnixStream,
        told: Told,
        ask: mpsc::UnboundedSender<UnitRequest>,
        running: JoinHandle<GateEnd>,
    }

    impl Command {
        fn start(limit: Duration) -> Self {
            let (ours, keeper) = UnixStream::pair().unwrap();
            let link = KeeperLink::new(NOBODY, tokio::spawn(async {}), ours).unwrap();
            // Nobody has the other end, so the output is over at once.
            let (output, _) = System::pipe().unwrap();
            let output = Inbox::new(output, GateOutput::default()).unwrap();
            let (events, _nobody) = mpsc::channel(64);
            let (ask, requests) = mpsc::unbounded_channel();
            let mut unit = unit(plan(limits(None, 0)), events, requests);
            let running = async move { watch(&mut unit, link, output, limit).await.0 };
            Self {
                told: Told::by_keeper(&keeper),
                keeper,
                ask,
                running: tokio::spawn(running),
            }
        }

        fn report(&mut self, report: &Report) {
            let line = serde_json::to_string(report).unwrap();
            self.keeper
                .write_all(format!("{line}\n").as_bytes())
                .unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_stops_the_clock_of_a_command() {
        let mut command = Command::start(Duration::from_secs(10));
        tokio::time::sleep(Duration::from_secs(4)).await;
        let (paused, mut all) = mpsc::channel(1);
        command.ask.send(UnitRequest::Pause { paused }).unwrap();
        assert_eq!(command.told.next().await, r#"4000 ms, keeper: "pause""#);
        command.report(&Report::Paused);
        assert_eq!(all.recv().await, None);
        tokio::time::sleep(Duration::from_secs(100)).await;
        let pause = Duration::from_secs(100);
        command.ask.send(UnitRequest::Resume { pause }).unwrap();
        assert_eq!(command.told.next().await, r#"104000 ms, keeper: "resume""#);
        assert_eq!(
            command.told.next().await,
            r#"110000 ms, keeper: {"stop":{"grace":{"secs":2,"nanos":0}}}"#
        );
        command.report(&Report::Gone { killed: 1 });
        let end = command.running.await.unwrap();
        assert_eq!(end, GateEnd::TimedOut(Duration::from_secs(10)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_shutdown_kills_a_command_at_once() {
        let mut command = Command::start(Duration::from_secs(10));
        let shutdown = Decision::Shutdown(Interruption::Signal(2));
        for grace in [1, 0] {
            command.ask.send(UnitRequest::End(shutdown)).unwrap();
            assert_eq!(
                command.told.next().await,
                format!(r#"0 ms, keeper: {{"stop":{{"grace":{{"secs":{grace},"nanos":0}}}}}}"#)
            );
        }
        command.report(&Report::Gone { killed: 1 });
        assert_eq!(command.running.await.unwrap(), GateEnd::Ended(shutdown));
    }
}
