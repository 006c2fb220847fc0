//! Plays one round from its beginning to the checks after it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use pi_subagents_testkit::process::{exists, kill};
use pi_subagents_testkit::sandbox::CommandOutput;
use pi_subagents_testkit::{Signal, wait_until};

use crate::arguments::Wishes;
use crate::census::Census;
use crate::checks::{self, Evidence, Failure, FailureKind};
use crate::children::TIMEOUT;
use crate::owner::{Client, returned_client};
use crate::record::{RunFiles, runs};
use crate::repository::struck;
use crate::round::{Farewell, FaultKind, OwnerKind, Role, Round};
use crate::stage::Stage;
use crate::strike::{cut_index, strike};

/// The time that a run may take beyond its limit: the steps of stopping, and the pipes.
const STOPPING: Duration = Duration::from_secs(8);

/// The time that a real pi may take to start, as a parent or as a child, on a busy machine.
const STARTING_PI: Duration = Duration::from_secs(15);

/// The outcome of a round.
#[derive(Debug, Default)]
pub(crate) struct Played {
    pub(crate) hits: Vec<FaultKind>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) took: Took,
}

/// The times of the parts that somebody waits for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Took {
    /// The owner, from when it should have left.
    pub(crate) overdue: Duration,
    /// The slowest command afterwards.
    pub(crate) command: Duration,
    /// The time until the leftovers of the tree were gone, after the next command.
    pub(crate) leftovers: Duration,
}

impl Played {
    /// Plays a round. A panic of the suite itself is reported as a failure of the suite.
    pub(crate) fn of(round: &Round, wishes: &Wishes) -> Self {
        catch_unwind(AssertUnwindSafe(|| play(round, wishes))).unwrap_or_else(|panic| Self {
            failures: vec![Failure::new(FailureKind::Suite, words_of(panic.as_ref()))],
            ..Self::default()
        })
    }
}

fn play(round: &Round, wishes: &Wishes) -> Played {
    let stage = Stage::new(round);
    let census = Census::begin(stage.sandbox.root());
    let mut played = Played::default();
    let mut client = Client::start(round, &stage);
    let struck = strike(round, &stage, &mut client);
    struck.go_on_again();
    played.hits = struck.hits;
    let mut afterwards = Afterwards {
        stage: &stage,
        wishes,
        played,
    };
    afterwards.part(round, &mut client);
    afterwards.strike_late(round);
    if round.returns() {
        afterwards.come_back();
    }
    let known = runs(&stage.sandbox).len();
    let mut status = afterwards.command(&["status", "--all", "--json"]);
    let begun = Instant::now();
    let left = census.wait_until_empty(wishes.hang_limit / 3);
    afterwards.played.took.leftovers = begun.elapsed();
    if runs(&stage.sandbox).len() > known {
        // On a busy machine a detached process opens its run after the others have been listed.
        status = afterwards.command(&["status", "--all", "--json"]);
    }
    let mut evidence = Evidence {
        round,
        stage: &stage,
        status,
        left,
        printed: client.printed(),
        shown: Vec::new(),
    };
    if !round.damages_record() {
        for run in runs(&stage.sandbox) {
            let shown = afterwards.command(&["session", run.session()]);
            evidence.shown.push((run, shown));
        }
    }
    if let Some(repository) = &stage.repository {
        afterwards.command(&["worktrees", "--all"]);
        let failures = repository.check(round, &stage.sandbox);
        afterwards.played.failures.extend(failures);
    }
    let mut played = afterwards.played;
    played.failures.extend(checks::check(&evidence));
    census.end_all();
    if !played.failures.is_empty() && wishes.keeps_sandboxes() {
        println!("kept: {}", stage.sandbox.root().display());
        std::mem::forget(stage.sandbox);
    }
    played
}

/// The time after the faults.
struct Afterwards<'a> {
    stage: &'a Stage,
    wishes: &'a Wishes,
    played: Played,
}

impl Afterwards<'_> {
    /// Lets the runs come to their ends, and the owner leave.
    fn part(&mut self, round: &Round, client: &mut Client<'_>) {
        if round.leaves_stopped(Role::Owner) {
            self.part_from_stopped(client);
        }
        if round.farewell == Farewell::HangsUp {
            self.hang_up(round, client);
        }
        let is_over = |client: &mut Client<'_>| {
            let runs = runs(&self.stage.sandbox);
            client.is_over() || (!runs.is_empty() && runs.iter().all(RunFiles::is_over))
        };
        let own_time = own_time(round);
        wait_until(own_time, || is_over(client).then_some(()));
        if matches!(
            round.owner,
            OwnerKind::Host | OwnerKind::Mcp | OwnerKind::Pi
        ) {
            client.hang_up();
        }
        self.wait_for_owner(client, own_time);
        client.close_watcher();
        let left = wait_until(self.wishes.hang_limit, || {
            client.watcher_is_over().then_some(())
        });
        if left.is_none() {
            self.fail(FailureKind::Hang, "attach does not leave".to_owned());
        }
    }

    /// Strikes with the faults that need an owner that has left, and leaves out those that did not
    /// come.
    fn strike_late(&mut self, round: &Round) {
        for fault in &round.faults {
            let has_struck = match fault.kind {
                FaultKind::IndexCut { hundredths } => cut_index(hundredths, self.stage),
                FaultKind::Git { .. } => struck(&self.stage.sandbox).exists(),
                _ => continue,
            };
            if !has_struck {
                self.played.hits.retain(|hit| *hit != fault.kind);
            }
        }
    }

    /// Lets the client come back with another process, which must find every run.
    fn come_back(&mut self) {
        let mut server = returned_client(self.stage);
        let answered = wait_until(self.wishes.hang_limit, || {
            server.stdout().contains("\"id\":2").then_some(())
        });
        let printed = server.stdout();
        server.close_stdin();
        if answered.is_none() {
            let message = format!("the server of a client that came back is silent: {printed}");
            self.fail(FailureKind::Hang, message);
        }
        for run in runs(&self.stage.sandbox) {
            if !printed.contains(run.id()) && !printed.contains(run.session()) {
                let message = format!("a client that came back does not see {}", run.id());
                self.fail(FailureKind::NextCommand, message);
            }
        }
        let left = wait_until(self.wishes.hang_limit, || {
            (!server.is_running()).then_some(())
        });
        if left.is_none() {
            self.fail(
                FailureKind::Hang,
                "the second server does not leave".to_owned(),
            );
        }
    }

    /// Waits for the end of the owner, and ends it if it does not come.
    fn wait_for_owner(&mut self, client: &mut Client<'_>, own_time: Duration) {
        let begun = Instant::now();
        let limit = own_time + self.wishes.hang_limit;
        let ended = wait_until(limit, || client.is_over().then_some(()));
        self.played.took.overdue = begun.elapsed().saturating_sub(own_time);
        if ended.is_some() {
            return;
        }
        let message = format!("the owner has not left after {} s", limit.as_secs());
        self.fail(FailureKind::Hang, message);
        for pid in client.owner().into_iter().chain([client.pid()]) {
            if exists(pid) {
                kill(pid, Signal::KILL);
            }
        }
        wait_until(Duration::from_secs(2), || client.is_over().then_some(()));
    }

    /// Ends an owner that is stopped for good, after a command has asked its runs to stop and got
    /// its answer.
    fn part_from_stopped(&mut self, client: &mut Client<'_>) {
        _ = self.command(&["stop", "--all"]);
        if let Some(owner) = client.owner() {
            kill(owner, Signal::KILL);
        }
    }

    fn hang_up(&mut self, round: &Round, client: &mut Client<'_>) {
        match round.owner {
            OwnerKind::Detached | OwnerKind::Watched => {
                _ = self.command(&["stop", "--all"]);
            }
            OwnerKind::Delegate
            | OwnerKind::Terminal
            | OwnerKind::Host
            | OwnerKind::Mcp
            | OwnerKind::Pi => client.hang_up(),
        }
    }

    /// Runs a command that must answer in time.
    fn command(&mut self, arguments: &[&str]) -> Option<CommandOutput> {
        let begun = Instant::now();
        let mut running = self.stage.command(arguments).stdin("").spawn();
        let ended = wait_until(self.wishes.hang_limit, || {
            (!running.is_running()).then_some(())
        });
        let took = begun.elapsed();
        self.played.took.command = self.played.took.command.max(took);
        if ended.is_some() {
            return Some(running.wait());
        }
        let name = arguments.join(" ");
        let message = format!("`{name}` has not answered after {} s", took.as_secs());
        self.fail(FailureKind::Hang, message);
        None
    }

    fn fail(&mut self, kind: FailureKind, message: String) {
        self.played.failures.push(Failure::new(kind, message));
    }
}

/// Returns how long the runs of a round may take by themselves.
fn own_time(round: &Round) -> Duration {
    let is_pi = |child: &crate::round::ChildPlan| child.kind == crate::round::ChildKind::Pi;
    let starting = if round.owner == OwnerKind::Pi || round.children.iter().any(is_pi) {
        STARTING_PI
    } else {
        Duration::ZERO
    };
    Duration::from_secs(TIMEOUT) + STOPPING + starting
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "the suite failed".to_owned())
}
