//! Keys, ciphers and accounts: who may do what, asked of a real server.

use std::sync::{Arc, Mutex, PoisonError};

use async_nats::{ConnectOptions, Event};
use pi_subagents_fleet_queue::names::Names;
use pi_subagents_fleet_queue::wire::{CallerCard, WorkerCard};
use pi_subagents_fleet_queue::{
    Address, Arrival, Begun, Claim, Fleet, FleetError, Kept, Key, Permissions, Terms,
};
use pi_subagents_testkit::fleet::{Certificates, NatsServer};
use pi_subagents_vocabulary::Secret;
use pretty_assertions::assert_eq;

use crate::stage::{LEASE, completed, leaves_the_queue, next, puller, shape, state, submit};

/// A server with an account for us and one for strangers.
struct Guarded {
    server: NatsServer,
    certificates: Certificates,
    admin: Key,
    caller: Key,
    worker: Key,
    stranger: Key,
}

impl Guarded {
    async fn start() -> Self {
        let certificates = Certificates::new();
        let names = Names::new("pi").unwrap();
        let [admin, caller, worker, stranger] = [(); 4].map(|()| Key::generate());
        let of_caller = Permissions::of_caller(&names, "ada");
        let pools = ["default".to_owned()];
        let of_worker = Permissions::of_worker(&names, "build-7", &pools).unwrap();
        let server = NatsServer::with_settings(&format!(
            "{}\naccounts {{\nOURS {{ jetstream: enabled, users: [\n{{ nkey: {} }}\n{}\n{}\n] }}\n\
             THEIRS {{ jetstream: enabled, users: [{{ nkey: {} }}] }}\n}}",
            certificates.settings(),
            admin.public(),
            entry(&caller, &of_caller),
            entry(&worker, &of_worker),
            stranger.public(),
        ));
        let guarded = Self {
            server,
            certificates,
            admin,
            caller,
            worker,
            stranger,
        };
        let admin = guarded.connect(&guarded.admin, "admin").await.unwrap();
        let mut shape = shape();
        shape.pools.push("gpu".to_owned());
        admin.set_up(&shape).await.unwrap();
        guarded
    }

    fn address(&self, name: &str) -> Address {
        let mut address = Address::new(&self.server.url(), name);
        address.authority = Some(self.certificates.authority());
        address
    }

    async fn connect(&self, key: &Key, name: &str) -> Result<Fleet, FleetError> {
        let mut address = self.address(name);
        address.nkey = Some(Secret::new(key.seed().unwrap()));
        Fleet::connect(&address).await
    }
}

fn entry(key: &Key, permissions: &Permissions) -> String {
    let list = |subjects: &[String]| format!("[\"{}\"]", subjects.join("\", \""));
    let responses = if permissions.answers {
        ", allow_responses: true"
    } else {
        ""
    };
    format!(
        "{{ nkey: {}, permissions: {{ publish: {{ allow: {} }}, subscribe: {{ allow: {} }}{} }} }}",
        key.public(),
        list(&permissions.publish),
        list(&permissions.subscribe),
        responses,
    )
}

#[tokio::test]
async fn nobody_gets_in_without_the_right_authority_and_a_known_key() {
    let guarded = Guarded::start().await;
    let mut unknown_server = guarded.address("ada");
    unknown_server.authority = None;
    unknown_server.nkey = Some(Secret::new(guarded.caller.seed().unwrap()));
    let error = Fleet::connect(&unknown_server).await.unwrap_err();
    assert!(matches!(error, FleetError::Unreachable { .. }), "{error}");
    let keyless = Fleet::connect(&guarded.address("ada")).await.unwrap_err();
    let server = guarded.server.url();
    assert_eq!(
        keyless,
        FleetError::NotLetIn {
            server: server.clone()
        }
    );
    let wrong = guarded.connect(&Key::generate(), "ada").await.unwrap_err();
    assert_eq!(wrong, FleetError::NotLetIn { server });
}

#[tokio::test]
async fn another_account_sees_nothing() {
    let guarded = Guarded::start().await;
    let caller = guarded.connect(&guarded.caller, "ada").await.unwrap();
    submit(&caller, "a").await;
    let stranger = guarded.connect(&guarded.stranger, "eve").await.unwrap();
    let missing = stranger.missing(&["default".to_owned()]).await.unwrap();
    assert_eq!(missing.len(), 10);
}

#[tokio::test]
async fn caller_and_worker_may_do_their_work() {
    let guarded = Guarded::start().await;
    let caller = guarded.connect(&guarded.caller, "ada").await.unwrap();
    let worker = guarded.connect(&guarded.worker, "build-7").await.unwrap();
    let lease = caller
        .caller_lease("call", &CallerCard::default(), LEASE)
        .await
        .unwrap();
    let card = WorkerCard::default();
    let arrival = worker.be_present("build-7", &card, LEASE).await;
    let Arrival::Present(presence) = arrival.unwrap() else {
        panic!("nobody else is there");
    };
    assert_eq!(caller.workers().await.unwrap().len(), 1);
    submit(&caller, "a").await;
    let terms = Terms {
        retries: 1,
        call: Some("call".to_owned()),
    };
    let claim = next(&mut puller(&worker).await)
        .await
        .claim("build-7", &terms)
        .await
        .unwrap();
    let Claim::Mine(held) = claim else {
        panic!("{claim:?}");
    };
    assert_eq!(held.begin().await, Ok(Begun::Begins));
    assert_eq!(caller.pool_load("default").await.unwrap().running, 1);
    assert_eq!(held.end(completed()).await, Ok(Kept::Done));
    assert_eq!(state(&caller, "a").await, "ended build-7 1");
    leaves_the_queue(&caller, held.run()).await;
    caller.wish_kept(held.run()).await.unwrap();
    presence.leave().await.unwrap();
    lease.end().await.unwrap();
}

#[tokio::test]
async fn what_is_not_permitted_is_refused_at_once_and_named() {
    let guarded = Guarded::start().await;
    let worker = guarded.connect(&guarded.worker, "build-7").await.unwrap();
    let pools = ["gpu".to_owned()];
    let error = worker.puller(&pools, 0).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "our key may not do this in the fleet: Permissions Violation for Publish to \
         \"$JS.API.CONSUMER.INFO.PI_WORK.gpu-high\""
    );
}

/// Publishes or listens to a subject, and returns whether the server let it.
struct Probe {
    client: async_nats::Client,
    refused: Arc<Mutex<Vec<String>>>,
}

impl Probe {
    async fn connect(guarded: &Guarded, key: &Key, name: &str) -> Self {
        let refused = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&refused);
        let client = ConnectOptions::with_nkey(key.seed().unwrap())
            .custom_inbox_prefix(Names::inbox(name))
            .add_root_certificates(guarded.certificates.authority())
            .event_callback(move |event| {
                if let Event::ServerError(error) = event {
                    let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
                    noted.push(error.to_string());
                }
                std::future::ready(())
            })
            .connect(guarded.server.url())
            .await
            .unwrap();
        Self { client, refused }
    }

    async fn publishes(&self, subject: &str) {
        let subject = subject.to_owned();
        self.client
            .publish_with_reply(subject, "_INBOX_nobody.1", "".into())
            .await
            .unwrap();
    }

    async fn listens(&self, subject: &str) {
        let subscriber = self.client.subscribe(subject.to_owned()).await.unwrap();
        self.client.flush().await.unwrap();
        drop(subscriber);
    }

    /// Returns which of the subjects were not refused.
    async fn permitted(&self, publish: &[&str], subscribe: &[&str]) -> Vec<String> {
        for subject in publish {
            self.publishes(subject).await;
        }
        for subject in subscribe {
            self.listens(subject).await;
        }
        // The refusal of the last one has come when a later one has.
        self.publishes("not.permitted.at.all").await;
        let last = "\"not.permitted.at.all\"";
        let refused = tokio::time::timeout(crate::stage::PATIENCE, async {
            loop {
                let refused = self
                    .refused
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                if refused.iter().any(|said| said.contains(last)) {
                    return refused;
                }
                tokio::task::yield_now().await;
            }
        });
        let refused = refused.await.unwrap();
        let is_refused = |verb: &str, subject: &str| {
            let said = format!("for {verb} to \"{subject}\"");
            refused.iter().any(|one| one.contains(&said))
        };
        let publish = publish.iter().filter(|one| !is_refused("Publish", one));
        let subscribe = subscribe
            .iter()
            .filter(|one| !is_refused("Subscription", one));
        let publish = publish.map(|one| format!("publish {one}"));
        let subscribe = subscribe.map(|one| format!("listen {one}"));
        publish.chain(subscribe).collect()
    }
}

const PUBLISH: &[&str] = &[
    "pi.work.default.normal.a",
    "pi.ctl.build-7.a",
    "pi.rec.a.1",
    "pi.say.a",
    "$KV.PI_RUNS.a",
    "$KV.PI_LEASES.call",
    "$KV.PI_SESSIONS.a",
    "$KV.PI_WORKERS.build-7",
    "$KV.PI_WORKERS.build-8",
    "$O.PI_BLOBS.C.a",
    "$JS.API.STREAM.INFO.PI_WORK",
    "$JS.API.STREAM.CREATE.PI_WORK",
    "$JS.API.STREAM.UPDATE.PI_WORK",
    "$JS.API.STREAM.DELETE.PI_WORK",
    "$JS.API.STREAM.PURGE.PI_WORK",
    "$JS.API.STREAM.PURGE.PI_REC",
    "$JS.API.STREAM.MSG.GET.PI_WORK",
    "$JS.API.STREAM.MSG.DELETE.PI_REC",
    "$JS.API.CONSUMER.INFO.PI_WORK.default-high",
    "$JS.API.CONSUMER.INFO.PI_WORK.gpu-high",
    "$JS.API.CONSUMER.NAMES.PI_WORK",
    "$JS.API.CONSUMER.CREATE.PI_WORK.mine",
    "$JS.API.CONSUMER.DELETE.PI_WORK.default-high",
    "$JS.API.CONSUMER.MSG.NEXT.PI_WORK.default-high",
    "$JS.API.CONSUMER.MSG.NEXT.PI_WORK.gpu-high",
    "$JS.ACK.PI_WORK.default-high.1.1.1.1.0",
    "$JS.ACK.PI_WORK.gpu-high.1.1.1.1.0",
    "$JS.API.DIRECT.GET.PI_WORK.pi.work.gpu.high.a",
    "$JS.API.DIRECT.GET.PI_REC.pi.rec.a.1",
    "$JS.API.DIRECT.GET.KV_PI_RUNS.$KV.PI_RUNS.a",
    "$JS.API.DIRECT.GET.KV_PI_WORKERS",
    "$JS.API.CONSUMER.CREATE.PI_REC.mine",
    "$JS.API.CONSUMER.CREATE.KV_PI_RUNS.mine",
    "$JS.API.CONSUMER.MSG.NEXT.OBJ_PI_BLOBS.mine",
    "_INBOX_other.a",
];

const SUBSCRIBE: &[&str] = &[
    "_INBOX_ada.>",
    "_INBOX_build-7.>",
    "pi.work.>",
    "pi.ctl.>",
    "pi.ctl.build-7.>",
    "pi.ctl.build-8.>",
    "pi.rec.>",
    "pi.say.>",
    ">",
];

#[tokio::test]
async fn callers_and_workers_may_do_exactly_what_is_written_down() {
    let guarded = Guarded::start().await;
    let caller = Probe::connect(&guarded, &guarded.caller, "ada").await;
    let worker = Probe::connect(&guarded, &guarded.worker, "build-7").await;
    let permitted =
        |title: &str, subjects: Vec<String>| format!("{title}\n{}\n", subjects.join("\n"));
    let told = [
        permitted("A caller may", caller.permitted(PUBLISH, SUBSCRIBE).await),
        permitted("A worker may", worker.permitted(PUBLISH, SUBSCRIBE).await),
    ];
    insta::assert_snapshot!(told.join("\n"));
}
