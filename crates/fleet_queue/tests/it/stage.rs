//! The parts that every test here needs: a server that is set up, orders, and workers.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use pi_subagents_fleet_queue::wire::Ended;
use pi_subagents_fleet_queue::{
    Address, Claim, Delivery, Fleet, Held, Puller, Shape, Submission, Submitted, Terms,
};
use pi_subagents_testkit::fleet::NatsServer;
use pi_subagents_vocabulary::{Priority, RunId};

/// The lease of all tests: short, so that a takeover does not take long.
pub(crate) const LEASE: Duration = Duration::from_secs(3);

/// The longest time that a test waits for anything.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn shape() -> Shape {
    Shape {
        lease: LEASE,
        record_bytes: 1_000_000_000,
        ..Shape::default()
    }
}

pub(crate) async fn connected(server: &NatsServer, name: &str) -> Fleet {
    connected_to(&server.url(), name).await
}

pub(crate) async fn connected_to(url: &str, name: &str) -> Fleet {
    Fleet::connect(&Address::new(url, name)).await.unwrap()
}

/// Starts a server and sets a fleet up on it.
pub(crate) async fn fleet() -> (NatsServer, Fleet) {
    let server = NatsServer::start();
    let fleet = connected(&server, "ada").await;
    fleet.set_up(&shape()).await.unwrap();
    (server, fleet)
}

pub(crate) fn run_id(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

pub(crate) async fn submit(fleet: &Fleet, run: &str) -> Submitted {
    submit_as(fleet, run, Priority::Normal).await
}

pub(crate) async fn submit_as(fleet: &Fleet, run: &str, priority: Priority) -> Submitted {
    let submission = Submission {
        run: &run_id(run),
        pool: "default",
        priority,
        payload: "{}".into(),
        headers: async_nats::HeaderMap::new(),
        again: None,
    };
    fleet.submit(&submission).await.unwrap()
}

pub(crate) async fn puller(fleet: &Fleet) -> Puller {
    fleet.puller(&["default".to_owned()], 0).await.unwrap()
}

/// Waits for the next delivery, whatever run it is of.
pub(crate) async fn next(puller: &mut Puller) -> Delivery {
    let next = async {
        loop {
            if let Some(delivery) = puller.pull(1).await.unwrap().pop() {
                return delivery;
            }
        }
    };
    tokio::time::timeout(PATIENCE, next).await.unwrap()
}

pub(crate) fn terms(retries: u32) -> Terms {
    Terms {
        retries,
        call: None,
    }
}

/// Claims a delivery that must be free to claim.
pub(crate) async fn claimed(delivery: Delivery, worker: &str) -> Held {
    match delivery.claim(worker, &terms(10)).await.unwrap() {
        Claim::Mine(held) => held,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn completed() -> Ended {
    let status = "completed".to_owned();
    Ended {
        status,
        ..Ended::default()
    }
}

/// Waits until an order has left the queue: its worker does not wait for that.
pub(crate) async fn leaves_the_queue(fleet: &Fleet, run: &RunId) {
    let end = Instant::now() + PATIENCE;
    while fleet.is_queued(run).await.unwrap() {
        assert!(Instant::now() < end, "{} stays queued", run.as_str());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns `state worker n` of a run's entry.
pub(crate) async fn state(fleet: &Fleet, run: &str) -> String {
    use pi_subagents_fleet_queue::wire::RunEntry;
    let Some(stored) = fleet.entry(&run_id(run)).await.unwrap() else {
        return "queued".to_owned();
    };
    let word = match &stored.value {
        RunEntry::Running(_) => "running",
        RunEntry::Released(_) => "released",
        RunEntry::Ended(_) => "ended",
    };
    format!("{word} {} {}", stored.value.worker(), stored.value.n())
}

/// A worker in a process of its own, which can be killed and stopped.
pub(crate) struct WorkerProcess {
    pub(crate) child: Child,
    lines: Receiver<String>,
}

impl WorkerProcess {
    pub(crate) fn start(servers: &str, name: &str, slots: usize, work: Duration) -> Self {
        let directory = std::env::current_exe().unwrap();
        let directory = directory.ancestors().nth(2).unwrap().to_owned();
        let mut child = Command::new(directory.join("examples/plain_worker"))
            .args([
                servers,
                name,
                &slots.to_string(),
                &work.as_millis().to_string(),
            ])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// Waits for a line that begins so, and returns it.
    pub(crate) fn wait_for(&self, begin: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap();
            if line.starts_with(begin) {
                return line;
            }
        }
    }

    /// Returns the next line, if there is one.
    pub(crate) fn line(&self) -> Option<String> {
        self.lines.try_recv().ok()
    }

    pub(crate) fn signal(&self, signal: pi_subagents_testkit::Signal) {
        pi_subagents_testkit::process::kill(self.child.id(), signal);
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}
