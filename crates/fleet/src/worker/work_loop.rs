//! A worker at work: it keeps its places filled until it is asked to end, and then lets its runs
//! end or gives them back.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pi_subagents_agent::{Surroundings, model_overview};
use pi_subagents_fleet_queue::wire::WorkerCard;
use pi_subagents_fleet_queue::{
    Delivery, Fleet, FleetError, MissingPart, Patience, Presence, Puller,
};
use pi_subagents_os::{Machine as _, System};
use pi_subagents_vocabulary::Timestamp;
use pi_subagents_vocabulary::text::count;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::warn;

use super::ground;
use super::leftover_runs;
use super::one_run::Worker;
use super::options::WorkerOptions;
use super::own_name::{self, NO_LEADER};
use super::unsent_changes;
use super::worker_lines::{cut_off, print_line, ready};
use crate::runs::OwnFleet;
use crate::runs::connection::{address, caller_of, die_in_tests, unreachable};
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::owner::Owner;
use pi_subagents_calls::runner::{Asking, find_pi};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::signals::Signals;

/// The pause after the fleet could not be asked for runs.
const ASK_AGAIN: Duration = Duration::from_secs(2);

/// The shortest pause between two looks at the size of the caches.
const MAKE_ROOM: Duration = Duration::from_mins(10);

/// Works until it is asked to end.
pub async fn work_as_worker(
    fleet: OwnFleet,
    options: WorkerOptions,
    places: Places,
    configuration: Configuration,
) -> Result<(), CommandError> {
    let mut signals = Signals::listen()?;
    die_in_tests(&places);
    if let Err(error) = System::hide_this_process() {
        warn!(%error, "children of this user could read the memory of this worker");
    }
    let settings = fleet.settings();
    let address = address(settings, Some(&options.name), &places)?;
    let fleet = Fleet::connect(&address).await.map_err(unreachable)?;
    let puller = puller(&fleet, &options).await;
    let puller = puller.map_err(|error| no_pools(error, &options))?;
    let _ground = ground::take(&options.root)?;
    let instance = ground::instance(&options.root)?;
    let lease = puller.lease();
    let left = leftover_runs::find(&options.root, lease.length);
    // It ends whatever processes an earlier one has left.
    let owner = Owner::start_worker(&places, &options.root, options.slots)?;
    ground::clear(&options.root, &owner.store);
    let unsent = unsent_changes::find(&options.root);
    ground::make_room(&options.root, options.disk);
    let caller = Caller::at(places);
    let card = card(&options, &caller, instance);
    let presence = tokio::select! {
        presence = own_name::take(&fleet, &options.name, &card, lease.length) => presence?,
        _ = signals.next() => return Ok(()),
    };
    leftover_runs::give_back(&fleet, &options.name, left).await;
    print_line(&ready(&options, &settings.servers.join(", ")));
    let worker = Arc::new(Worker {
        fleet,
        owner: Arc::new(owner),
        options,
        lease,
        caller,
        configuration,
        leaves: watch::Sender::new(false),
        used: Mutex::default(),
        served: Mutex::default(),
    });
    for unsent in unsent {
        tokio::spawn(Arc::clone(&worker).send_later(unsent));
    }
    let mut shift = Shift {
        worker,
        runs: JoinSet::new(),
        presence,
        card,
        idle_since: Instant::now(),
        has_taken: false,
        room_made: Instant::now(),
        is_cut_off: false,
    };
    let requests = shift.fill_places(puller, &mut signals).await;
    shift.end(requests, &mut signals).await;
    Ok(())
}

/// Makes the way to the queues. A worker that is started while the servers choose a leader waits for
/// it: nobody may be there to start it again.
async fn puller(fleet: &Fleet, options: &WorkerOptions) -> Result<Puller, FleetError> {
    let patience = Patience::of(NO_LEADER);
    loop {
        match fleet.puller(&options.pools, options.rank).await {
            Ok(puller) => return Ok(puller),
            Err(error) => patience.after(error).await?,
        }
    }
}

/// Returns the error that a worker cannot ask for runs of its pools.
fn no_pools(error: FleetError, options: &WorkerOptions) -> CommandError {
    let (name, pools) = (&options.name, options.pools.join(", "));
    let asked = format!("--pool {}", options.pools.join(" --pool "));
    match &error {
        FleetError::NotAllowed { .. } => CommandError::failed(format!(
            "the key of {name} may not take runs from all of these pools: {pools}"
        ))
        .because(&error)
        .hint(format!(
            "pi-subagents fleet key worker {name} {asked} makes a key that may."
        )),
        FleetError::NotSetUp {
            what: MissingPart::Consumer(_),
        } => CommandError::failed(format!(
            "the fleet does not have all of these pools: {pools}"
        ))
        .because(&error)
        .hint(format!(
            "pi-subagents fleet init {asked} makes them; its administrator may do that."
        )),
        _ => unreachable(error),
    }
}

/// The time of a worker from its beginning to its end.
struct Shift {
    worker: Arc<Worker>,
    /// The runs under way; each names itself when it is over.
    runs: JoinSet<String>,
    presence: Presence,
    card: WorkerCard,
    idle_since: Instant,
    has_taken: bool,
    /// The time of the last look at the caches.
    room_made: Instant,
    /// True if the last request for runs failed.
    is_cut_off: bool,
}

impl Shift {
    /// Takes runs until it is asked to end, has done its one run, or has waited long enough. Returns
    /// the requests for runs that are still on their way: the runs that they bring go back.
    async fn fill_places(&mut self, mut queues: Puller, signals: &mut Signals) -> JoinHandle<()> {
        loop {
            let free = self.free();
            let idle_end = self.idle_end();
            tokio::select! {
                pulled = queues.pull(free), if free > 0 => self.take(pulled).await,
                Some(ended) = self.runs.join_next() => self.ended(&ended.unwrap_or_default()),
                _ = signals.next() => break,
                () = sleep_until(idle_end.unwrap_or_else(Instant::now)), if idle_end.is_some() => {
                    print_line("nothing to do for as long as --idle-exit says");
                    break;
                }
            }
            if self.is_done() {
                break;
            }
        }
        self.card.draining = true;
        self.presence.publish(&self.card);
        tokio::spawn(queues.stop())
    }

    /// Begins the runs that came, or waits a moment if none could be asked for. That is said once,
    /// however long it lasts.
    async fn take(&mut self, pulled: Result<Vec<Delivery>, FleetError>) {
        let was_cut_off = std::mem::replace(&mut self.is_cut_off, pulled.is_err());
        match pulled {
            Ok(deliveries) => {
                if was_cut_off {
                    print_line("new runs can be taken again");
                }
                for one in deliveries {
                    self.begin(one);
                }
            }
            Err(error) => {
                if !was_cut_off {
                    print_line(&cut_off(&error));
                }
                sleep(ASK_AGAIN).await;
            }
        }
    }

    fn free(&self) -> usize {
        let options = &self.worker.options;
        match (options.is_once, self.has_taken) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => options.slots.saturating_sub(self.runs.len()),
        }
    }

    fn idle_end(&self) -> Option<Instant> {
        let patience = self.worker.options.idle_exit?;
        self.runs.is_empty().then(|| self.idle_since + patience)
    }

    fn is_done(&self) -> bool {
        self.worker.options.is_once && self.has_taken && self.runs.is_empty()
    }

    fn begin(&mut self, delivery: Delivery) {
        self.has_taken = true;
        let run = delivery.run().to_string();
        self.card.runs.push(run.clone());
        let serving = Arc::clone(&self.worker).serve(delivery);
        self.runs.spawn(async move {
            Box::pin(serving).await;
            run
        });
        self.publish_card();
    }

    fn ended(&mut self, run: &str) {
        self.idle_since = Instant::now();
        // Two deliveries of one run may be in our hands; the other one goes on.
        if let Some(at) = self.card.runs.iter().position(|one| one == run) {
            self.card.runs.remove(at);
        }
        self.publish_card();
        if self.room_made.elapsed() >= MAKE_ROOM {
            self.room_made = Instant::now();
            let (root, disk) = (self.worker.options.root.clone(), self.worker.options.disk);
            // It walks through many files, and nobody waits for it.
            drop(spawn_blocking(move || ground::make_room(&root, disk)));
        }
    }

    fn publish_card(&mut self) {
        let free = self.worker.options.slots.saturating_sub(self.runs.len());
        self.card.free = u32::try_from(free).unwrap_or(u32::MAX);
        self.presence.publish(&self.card);
    }

    /// Lets the runs end, and gives back the remaining ones when the time is over or a second
    /// signal comes.
    async fn end(mut self, requests: JoinHandle<()>, signals: &mut Signals) {
        let options = &self.worker.options;
        if !self.runs.is_empty() {
            let (left, drain) = (count(self.runs.len(), "run"), options.drain.as_secs());
            print_line(&format!(
                "takes nothing new; {left} may continue for {drain} s. Ctrl-C again gives back what is left now."
            ));
        }
        let end = Instant::now() + options.drain;
        let mut is_hurried = false;
        while !self.runs.is_empty() && !is_hurried {
            tokio::select! {
                Some(ended) = self.runs.join_next() => self.ended(&ended.unwrap_or_default()),
                _ = signals.next() => is_hurried = true,
                () = sleep_until(end) => break,
            }
        }
        self.worker.leaves.send_replace(true);
        while self.runs.join_next().await.is_some() {}
        if !is_hurried {
            // A run that a request brings after our end would lie unnoticed for a whole lease. A
            // request lasts some seconds.
            tokio::select! {
                _ = requests => {}
                _ = signals.next() => {}
            }
        }
        if let Err(error) = self.presence.leave().await {
            print_line(&format!(
                "others see this worker for a while still: {error}"
            ));
        }
        self.worker.fleet.close().await;
        print_line("worker has ended");
    }
}

/// Returns the card of a worker.
fn card(options: &WorkerOptions, caller: &Caller, instance: String) -> WorkerCard {
    let pi = find_pi(caller, Asking::IfNeeded);
    let models = model_overview(&Surroundings::from(&caller.places));
    let slots = u32::try_from(options.slots).unwrap_or(u32::MAX);
    WorkerCard {
        pools: options.pools.clone(),
        slots,
        free: slots,
        rank: options.rank,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        pi: pi.ok().map(|pi| pi.version),
        models: models
            .usable
            .iter()
            .map(|provider| format!("{}/*", provider.name))
            .collect(),
        since: Timestamp::now().to_string(),
        instance,
        machine: caller_of(&caller.places),
        ..WorkerCard::default()
    }
}
