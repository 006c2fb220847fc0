//! Any interleaving of what workers and servers do, over a model of queue and store: a run that was
//! accepted ends, ends once, and no message is lost before.

use pi_subagents_fleet_queue::claim::{ClaimDecision, Facts, Taking, decide};
use pi_subagents_fleet_queue::ending::{Next, after_look};
use pi_subagents_fleet_queue::lease::{Holder, Looks};
use pi_subagents_fleet_queue::wire::{Ended, Released, RunEntry, Running};
use proptest::prelude::*;

const WORKERS: usize = 3;

/// The message of the run, as the server has it.
#[derive(Debug, Clone, Default)]
struct Message {
    deliveries: u64,
    /// This is true if somebody has it, as far as the server knows.
    is_lent: bool,
    is_acknowledged: bool,
}

/// A worker and what it believes.
#[derive(Debug, Clone, Default)]
enum Worker {
    #[default]
    Idle,
    /// It was handed the run.
    Got { n: u64 },
    /// It has looked at the entry and will take the run.
    Taking { n: u64, taking: Taking, over: u64 },
    /// It holds the run.
    Holding {
        n: u64,
        taking: Taking,
        revision: u64,
        looks: Looks,
    },
    /// It tried to end the run and does not know how that came out.
    Asking { n: u64, taking: Taking, over: u64 },
    /// It has ended the run and will acknowledge.
    Done,
}

/// A thing that can happen.
#[derive(Debug, Clone, Copy)]
enum Step {
    Deliver(usize),
    Look(usize),
    Claim(usize),
    Begin(usize),
    Beat(usize),
    /// It writes its ending; the answer may be lost.
    End(usize, bool),
    Acknowledge(usize),
    Release(usize),
    /// It dies, or is dropped.
    Lose(usize),
    /// The server thinks that whoever has the message is gone.
    LeaseEnds,
    /// A server comes back that had not heard of the last acknowledgement.
    Restart,
    /// The caller ends the run, whoever has it.
    EndForCaller,
    /// A stranger to the lease, such as a zombie, gets the same delivery again.
    Echo(usize, u64),
}

#[derive(Debug, Default)]
struct World {
    message: Message,
    entry: Option<RunEntry>,
    revision: u64,
    endings: u32,
    workers: [Worker; WORKERS],
}

fn name(worker: usize) -> String {
    format!("w{worker}")
}

impl World {
    /// Writes over a revision, as the store does.
    fn write(&mut self, entry: RunEntry, over: u64) -> bool {
        let last = if self.entry.is_some() {
            self.revision
        } else {
            0
        };
        if over != last {
            return false;
        }
        assert!(
            !matches!(self.entry, Some(RunEntry::Ended(_))),
            "an ending was overwritten"
        );
        self.endings += u32::from(matches!(entry, RunEntry::Ended(_)));
        self.entry = Some(entry);
        self.revision += 1;
        true
    }

    fn seen(&self) -> (Option<RunEntry>, u64) {
        let revision = if self.entry.is_some() {
            self.revision
        } else {
            0
        };
        (self.entry.clone(), revision)
    }

    fn acknowledge(&mut self) {
        let has_ended = matches!(self.entry, Some(RunEntry::Ended(_)));
        assert!(
            has_ended,
            "a message was acknowledged before its run had ended"
        );
        self.message.is_acknowledged = true;
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Deliver(worker) => self.deliver(worker),
            Step::Look(worker) => self.look(worker),
            Step::Claim(worker) => self.claim(worker),
            Step::Begin(worker) => self.begin(worker),
            Step::Beat(worker) => self.beat(worker),
            Step::End(worker, is_answered) => self.end(worker, is_answered),
            Step::Acknowledge(worker) => {
                if let Worker::Done = self.workers[worker] {
                    self.acknowledge();
                    self.workers[worker] = Worker::Idle;
                }
            }
            Step::Release(worker) => self.release(worker),
            Step::Lose(worker) => self.workers[worker] = Worker::Idle,
            Step::LeaseEnds => self.message.is_lent = false,
            Step::Restart => self.message.is_acknowledged = false,
            Step::EndForCaller => {
                let (entry, over) = self.seen();
                if !matches!(entry, Some(RunEntry::Ended(_))) {
                    let ended = RunEntry::Ended(Box::default());
                    assert!(self.write(ended, over));
                }
            }
            Step::Echo(worker, n) => {
                if let Worker::Idle = self.workers[worker]
                    && n <= self.message.deliveries
                {
                    self.workers[worker] = Worker::Got { n };
                }
            }
        }
    }

    fn deliver(&mut self, worker: usize) {
        let message = &mut self.message;
        if message.is_lent
            || message.is_acknowledged
            || !matches!(self.workers[worker], Worker::Idle)
        {
            return;
        }
        message.is_lent = true;
        message.deliveries += 1;
        self.workers[worker] = Worker::Got {
            n: message.deliveries,
        };
    }

    fn look(&mut self, worker: usize) {
        let (entry, over) = self.seen();
        match self.workers[worker].clone() {
            Worker::Got { n } => {
                let (stop, is_caller_gone) = (None, false);
                let entry = entry.as_ref();
                let facts = Facts {
                    entry,
                    unreadable: None,
                    n,
                    retries: 2,
                    stop,
                    is_caller_gone,
                };
                self.workers[worker] = match decide(&facts) {
                    ClaimDecision::Acknowledge => Worker::Done,
                    ClaimDecision::Leave => Worker::Idle,
                    ClaimDecision::Take(taking) => Worker::Taking { n, taking, over },
                };
            }
            Worker::Asking { n, taking, over } => {
                let holder = name(worker);
                let holder = Holder { worker: &holder, n };
                let seen = self.entry.as_ref().map(|entry| (entry, self.revision));
                self.workers[worker] = match after_look(&holder, seen, false, over) {
                    Next::Done => Worker::Done,
                    Next::Fenced => Worker::Idle,
                    Next::Again { over: revision } => Worker::Holding {
                        n,
                        taking,
                        revision,
                        looks: Looks::default(),
                    },
                };
            }
            _ => {}
        }
    }

    fn claim(&mut self, worker: usize) {
        if let Worker::Taking { n, taking, over } = self.workers[worker].clone() {
            let entry = running(worker, n, &taking, false);
            self.workers[worker] = if self.write(entry, over) {
                let revision = self.revision;
                Worker::Holding {
                    n,
                    taking,
                    revision,
                    looks: Looks::default(),
                }
            } else {
                Worker::Got { n }
            };
        }
    }

    fn begin(&mut self, worker: usize) {
        if let Worker::Holding {
            n,
            taking,
            revision,
            looks,
        } = self.workers[worker].clone()
            && self.write(running(worker, n, &taking, true), revision)
        {
            let revision = self.revision;
            self.workers[worker] = Worker::Holding {
                n,
                taking,
                revision,
                looks,
            };
        }
    }

    fn beat(&mut self, worker: usize) {
        let entry = self.entry.clone();
        if let Worker::Holding { n, looks, .. } = &mut self.workers[worker] {
            let holder = name(worker);
            let sight = Holder {
                worker: &holder,
                n: *n,
            }
            .sees(entry.as_ref());
            if looks.is_fenced(sight) {
                self.workers[worker] = Worker::Idle;
            }
        }
    }

    fn end(&mut self, worker: usize, is_answered: bool) {
        if let Worker::Holding {
            n,
            taking,
            revision,
            ..
        } = self.workers[worker].clone()
        {
            let ended = Ended {
                worker: name(worker),
                n,
                ..Ended::default()
            };
            let is_written = self.write(RunEntry::Ended(Box::new(ended)), revision);
            self.workers[worker] = if is_written && is_answered {
                Worker::Done
            } else {
                Worker::Asking {
                    n,
                    taking,
                    over: revision,
                }
            };
        }
    }

    fn release(&mut self, worker: usize) {
        if let Worker::Holding {
            n,
            taking,
            revision,
            ..
        } = self.workers[worker].clone()
        {
            let (attempt, losses) = (taking.attempt, taking.losses);
            let worker_name = name(worker);
            let released = Released {
                n,
                worker: worker_name,
                attempt,
                losses,
                ..Released::default()
            };
            if self.write(RunEntry::Released(released), revision) {
                self.message.is_lent = false;
            }
            self.workers[worker] = Worker::Idle;
        }
    }

    /// Lets everybody do what comes next, until the message is gone.
    fn finish(&mut self) {
        for _ in 0..20 {
            self.step(Step::LeaseEnds);
            for worker in 0..WORKERS {
                for step in [
                    Step::Look(worker),
                    Step::Claim(worker),
                    Step::End(worker, true),
                    Step::Look(worker),
                    Step::Acknowledge(worker),
                    Step::Deliver(worker),
                ] {
                    self.step(step);
                }
            }
        }
    }
}

fn running(worker: usize, n: u64, taking: &Taking, begun: bool) -> RunEntry {
    RunEntry::Running(Running {
        worker: name(worker),
        n,
        since: String::new(),
        attempt: taking.attempt,
        begun,
        losses: taking.losses,
        ..Running::default()
    })
}

fn step() -> impl Strategy<Value = Step> {
    let worker = 0..WORKERS;
    prop_oneof![
        3 => worker.clone().prop_map(Step::Deliver),
        4 => worker.clone().prop_map(Step::Look),
        4 => worker.clone().prop_map(Step::Claim),
        2 => worker.clone().prop_map(Step::Begin),
        2 => worker.clone().prop_map(Step::Beat),
        3 => (worker.clone(), any::<bool>()).prop_map(|(worker, told)| Step::End(worker, told)),
        2 => worker.clone().prop_map(Step::Acknowledge),
        1 => worker.clone().prop_map(Step::Release),
        2 => worker.clone().prop_map(Step::Lose),
        3 => Just(Step::LeaseEnds),
        1 => Just(Step::Restart),
        1 => Just(Step::EndForCaller),
        1 => (worker, 1_u64..4).prop_map(|(worker, n)| Step::Echo(worker, n)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_ends_once_whatever_happens(steps in prop::collection::vec(step(), 0..60)) {
        let mut world = World::default();
        for step in steps {
            world.step(step);
        }
        world.finish();
        prop_assert_eq!(world.endings, 1);
        prop_assert!(world.message.is_acknowledged);
    }
}
