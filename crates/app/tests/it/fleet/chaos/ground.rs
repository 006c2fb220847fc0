//! The ground of the test: three servers, two workers with homes of their own, and a user with many
//! calls.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use pi_subagents_fleet_queue::store::Written;
use pi_subagents_fleet_queue::wire::RunEntry;
use pi_subagents_fleet_queue::{Address, Fleet, FleetError, Shape};
use pi_subagents_testkit::fleet::NatsCluster;
use pi_subagents_testkit::sandbox::{CommandOutput, RunningCommand};
use pi_subagents_testkit::{Chance, Signal, process, wait_until};
use pi_subagents_vocabulary::RunId;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::time::sleep;

use super::strikes::Victim;
use crate::stage::{Stage, call};

/// The longest time that anything here may take.
pub(super) const PATIENCE: Duration = Duration::from_mins(5);

/// The time for which workers may be silent. An election of the servers takes a few seconds of it.
const LEASE: Duration = Duration::from_secs(10);

/// The options of a call to the fleet whose runs need no files, and which outlive many workers.
const ON_FLEET: [&str; 6] = ["--on", "fleet", "--workspace", "none", "--retries", "9"];

/// The number of tasks of a call in the foreground.
const TASKS: usize = 10;

pub(super) struct Ground {
    pub(super) cluster: NatsCluster,
    pub(super) fleet: Fleet,
    runtime: Runtime,
    pub(super) user: Stage,
    workers: Vec<Machine>,
    /// The calls in the foreground.
    calls: Vec<RunningCommand>,
    /// The commands that wait for the runs of killed followers.
    takers: Vec<Taker>,
    /// The processes that were killed as followers.
    pub(super) killed_followers: Vec<u32>,
    /// The runs whose entry was spoilt.
    pub(super) spoilt: Vec<String>,
    /// The runs that a killed worker had, whose work may be done twice.
    pub(super) had_by_killed: Vec<String>,
    /// The number of strikes of each kind.
    pub(super) killed: BTreeMap<&'static str, usize>,
}

/// A command that waits for runs in the place of a follower that was killed.
struct Taker {
    runs: Vec<String>,
    command: RunningCommand,
}

/// A machine with a worker, which is started again when it was killed.
struct Machine {
    name: &'static str,
    stage: Stage,
    worker: RunningCommand,
}

impl Ground {
    pub(super) fn start() -> Self {
        let cluster = NatsCluster::start();
        let runtime = Runtime::new().unwrap();
        let mut address = Address::new("", "watcher");
        address.servers = cluster.urls();
        let fleet = runtime.block_on(async {
            let fleet = patiently(async || Fleet::connect(&address).await).await;
            let shape = Shape {
                replicas: 3,
                lease: LEASE,
                record_bytes: 1_000_000_000,
                ..Shape::default()
            };
            patiently(async || fleet.set_up(&shape).await).await;
            fleet
        });
        Self {
            user: user(&cluster),
            cluster,
            fleet,
            runtime,
            workers: Vec::new(),
            calls: Vec::new(),
            takers: Vec::new(),
            killed_followers: Vec::new(),
            spoilt: Vec::new(),
            had_by_killed: Vec::new(),
            killed: BTreeMap::new(),
        }
    }

    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub(super) fn start_workers(&mut self) {
        let start = |name| Machine::start(name, &self.cluster);
        self.workers = ["build-7", "build-9"].map(start).into();
    }

    /// Makes calls with so many runs: a fifth of them in the background, the others in the
    /// foreground. Returns when all of them are queued, so that every follower is there when the
    /// first strike comes.
    pub(super) fn give(&mut self, runs: usize, chance: &mut Chance) {
        let names: Vec<String> = (1..=runs).map(|number| format!("task {number}")).collect();
        let mut task = |name: &String| {
            let pause = chance.between(50, 400);
            let done = format!("echo done >> '{}'", self.user.path(&side_effects(name)));
            json!([{"sleepMs": pause}, {"shell": done}, {"reply": format!("answer of {name}")}])
        };
        let (behind, front) = names.split_at(runs / 5);
        let front: Vec<(&str, Value)> = front
            .iter()
            .map(|name| (name.as_str(), task(name)))
            .collect();
        for tasks in front.chunks(TASKS) {
            self.calls
                .push(self.user.delegate(&call(tasks)).args(ON_FLEET).spawn());
        }
        for name in behind {
            let spawned = self
                .user
                .command(&["spawn", "--runner", "pi"])
                .args(ON_FLEET)
                .arg(task(name).to_string());
            spawned.run().expect_success();
        }
        let are_queued = || {
            let load = self.wait(self.fleet.pool_load("default")).ok()?;
            (load.queued >= runs as u64).then_some(())
        };
        let queued = wait_until(PATIENCE, are_queued);
        assert!(queued.is_some(), "not all {runs} are queued");
    }

    /// Waits until so many runs have ended. While the servers have no leader nothing is known.
    pub(super) fn wait_until_ended(&self, many: usize) {
        let ended = || {
            let entries = self.wait(self.fleet.entries()).unwrap_or_default();
            let is_over = |entry: &&RunEntry| matches!(entry, RunEntry::Ended(_));
            (entries.values().filter(is_over).count() >= many).then_some(())
        };
        assert!(
            wait_until(PATIENCE, ended).is_some(),
            "not {many} have ended"
        );
    }

    /// Kills, and says who it was.
    pub(super) fn strike(&mut self, victim: Victim, away: Duration) -> String {
        match victim {
            Victim::Orders => {
                self.count("orders");
                self.purge()
            }
            Victim::Entry(number) => self.spoil(usize::try_from(number).unwrap()),
            Victim::AllServers => {
                self.count("absences");
                self.cluster.kill_all();
                // This is the length of the absence, and nothing is waited for.
                std::thread::sleep(away);
                self.cluster.restart_all();
                format!("all servers were away for {} s", away.as_secs())
            }
            Victim::Worker(number) => {
                self.count("workers");
                self.kill_worker(usize::try_from(number).unwrap())
            }
            Victim::Leader => {
                self.count("leaders");
                self.kill_leader()
            }
            Victim::Follower(number) => {
                let living = self.followers();
                let Some(at) = usize::try_from(number).unwrap().checked_rem(living.len()) else {
                    return "nobody follows any more".to_owned();
                };
                self.count("followers");
                let said = self.kill_follower(living[at]);
                format!("{said}, one of {} followers", living.len())
            }
        }
    }

    /// Throws all orders away, as every caller can.
    fn purge(&self) -> String {
        let urls = self.cluster.urls();
        let purged = self.wait(patiently(async || {
            let client = async_nats::connect(&urls)
                .await
                .map_err(|error| error.to_string())?;
            let purge = client.request("$JS.API.STREAM.PURGE.PI_WORK", "{}".into());
            let answer = purge.await.map_err(|error| error.to_string())?;
            let answer: Value = serde_json::from_slice(&answer.payload).unwrap_or_default();
            answer["purged"].as_u64().ok_or(answer.to_string())
        }));
        format!("threw {purged} orders away")
    }

    /// Spoils the entry of one of the runs that workers have.
    fn spoil(&mut self, number: usize) -> String {
        let spoilt = self.wait(patiently(async || {
            let entries = self.fleet.entries().await?;
            let is_running = |entry: &RunEntry| matches!(entry, RunEntry::Running(_));
            let running = entries.iter().filter(|(_, entry)| is_running(entry));
            let mut running: Vec<&String> = running.map(|(run, _)| run).collect();
            running.sort();
            let Some(at) = number.checked_rem(running.len()) else {
                return Ok(None);
            };
            let run = RunId::parse(running[at]).unwrap();
            let seen = self.fleet.look_at_entry(&run).await?;
            if !seen.value.state().is_some_and(is_running) {
                return Ok(None);
            }
            let bucket = self.fleet.names().runs();
            let garbage = r#"{"garbage":true}"#;
            let written = self
                .fleet
                .write(&bucket, run.as_str(), garbage.into(), seen.revision)
                .await?;
            Ok::<_, FleetError>(matches!(written, Written::At(_)).then_some(run.to_string()))
        }));
        match spoilt {
            Some(run) => {
                self.count("entries");
                let said = format!("spoilt the entry of {run}");
                self.spoilt.push(run);
                said
            }
            None => "no entry could be spoilt".to_owned(),
        }
    }

    /// Kills a follower, and lets another command wait for its runs.
    fn kill_follower(&mut self, victim: u32) -> String {
        process::kill(victim, Signal::KILL);
        self.killed_followers.push(victim);
        let is_victim = |taker: &Taker| taker.command.pid() == victim;
        let (runs, kind) = match self.takers.iter().position(is_victim) {
            Some(at) => (self.takers.swap_remove(at).runs, "a command that waited"),
            None => (self.runs_of(victim), "the process"),
        };
        let ids: Vec<&str> = runs.iter().map(String::as_str).collect();
        let command = self.user.command(&["wait", "--json"]).args(&ids).spawn();
        let said = format!("killed {kind} of {} runs", runs.len());
        self.takers.push(Taker { runs, command });
        said
    }

    fn runs_of(&self, owner: u32) -> Vec<String> {
        let owners = self.owners().into_iter();
        let of_owner = owners.filter(|(_, pid)| *pid == owner);
        of_owner.map(|(run, _)| run).collect()
    }

    fn count(&mut self, kind: &'static str) {
        *self.killed.entry(kind).or_default() += 1;
    }

    fn kill_worker(&mut self, number: usize) -> String {
        let entries = self.wait(self.fleet.entries()).unwrap_or_default();
        let machine = &mut self.workers[number];
        let had = entries.into_iter().filter(|(_, entry)| {
            matches!(entry, RunEntry::Running(running) if running.worker == machine.name)
        });
        self.had_by_killed.extend(had.map(|(run, _)| run));
        let tree = process::descendants(machine.worker.pid());
        machine.worker.kill(Signal::KILL);
        assert_eq!(process::wait_until_gone(&tree, PATIENCE), Ok(()));
        machine.worker = worker(machine.name, &machine.stage);
        format!("killed {} and its {} processes", machine.name, tree.len())
    }

    fn kill_leader(&mut self) -> String {
        self.cluster.restart_dead();
        let leader = self.runtime.block_on(patiently(async || {
            let probe = self
                .fleet
                .probe()
                .await
                .map_err(|error| error.to_string())?;
            probe.leader.ok_or_else(|| "no leader".to_owned())
        }));
        self.cluster.kill(&leader);
        format!("killed the leader {leader}")
    }

    /// Returns the process that follows each run, as its record says.
    pub(super) fn owners(&self) -> BTreeMap<String, u32> {
        let runs = self.user.sandbox.project().join(".pi/subagents/runs");
        let entries = fs::read_dir(&runs).into_iter().flatten().flatten();
        let owner = |entry: fs::DirEntry| {
            let meta = fs::read_to_string(entry.path().join("meta.json")).ok()?;
            let meta: Value = serde_json::from_str(&meta).ok()?;
            let pid = u32::try_from(meta["owner"]["pid"].as_u64()?).ok()?;
            Some((meta["runId"].as_str()?.to_owned(), pid))
        };
        entries.filter_map(owner).collect()
    }

    fn followers(&self) -> Vec<u32> {
        let mut owners: Vec<u32> = self.owners().into_values().collect();
        owners.sort_unstable();
        owners.dedup();
        owners.extend(self.takers.iter().map(|taker| taker.command.pid()));
        owners.retain(|pid| process::exists(*pid) && !self.killed_followers.contains(pid));
        owners
    }

    /// Waits for the commands that took over. Returns the runs of each, and its answer.
    pub(super) fn wait_for_takers(&mut self) -> Vec<(Vec<String>, CommandOutput)> {
        let takers = std::mem::take(&mut self.takers).into_iter();
        let answer = |taker: Taker| (taker.runs, taker.command.wait_for_exit());
        takers.map(answer).collect()
    }

    /// Waits for the ends of all calls, and of what the next commands catch up with. Returns the
    /// answers of the calls that were not killed.
    pub(super) fn wait_for_answers(&mut self, runs: usize) -> Vec<CommandOutput> {
        self.cluster.restart_dead();
        let calls = std::mem::take(&mut self.calls).into_iter();
        let outputs = calls.map(RunningCommand::wait_for_exit);
        let answers = outputs.filter(|output| output.signal.is_none()).collect();
        let are_all_over = || {
            let listed = self.listed();
            let is_open = |run: &&Value| run["status"] == "running" || run["status"] == "queued";
            (listed.len() >= runs && listed.iter().find(is_open).is_none()).then_some(())
        };
        // The test counts the runs that are still open when the patience is over.
        _ = wait_until(PATIENCE, are_all_over);
        answers
    }

    /// Returns all runs as `status` lists them.
    pub(super) fn listed(&self) -> Vec<Value> {
        let listed = self.user.command(&["status", "--all", "--json"]).run();
        listed.json()["runs"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }
}

impl Machine {
    fn start(name: &'static str, cluster: &NatsCluster) -> Self {
        let stage = user(cluster);
        Self {
            worker: worker(name, &stage),
            name,
            stage,
        }
    }
}

fn worker(name: &str, stage: &Stage) -> RunningCommand {
    let worker = stage
        .command(&["fleet", "work", "--name", name, "--slots", "6"])
        .spawn();
    worker.wait_for_stderr("takes");
    worker
}

/// Returns the name of the file in which a task notes that its work is done.
pub(super) fn side_effects(name: &str) -> String {
    format!("done-{}", name.replace(' ', "-"))
}

/// Returns a user with a home of their own, whose settings name the servers.
fn user(cluster: &NatsCluster) -> Stage {
    let stage = Stage::new();
    let fleet = json!({"servers": cluster.urls(), "callerLease": 20});
    stage.settings(&json!({"fleet": fleet}));
    stage
}

/// Tries again while the servers choose a leader.
async fn patiently<T, E: std::fmt::Debug>(mut attempt: impl AsyncFnMut() -> Result<T, E>) -> T {
    let end = tokio::time::Instant::now() + PATIENCE;
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(error) => assert!(tokio::time::Instant::now() < end, "{error:?}"),
        }
        sleep(Duration::from_millis(100)).await;
    }
}
