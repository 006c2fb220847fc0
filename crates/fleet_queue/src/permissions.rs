//! The permissions of a caller and of a worker on the server, as its configuration file has them.
use pi_subagents_vocabulary::Priority;

use crate::error::FleetError;
use crate::names::{Names, check_name};

/// The subjects that a user of the server may publish to and listen to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    /// The subjects to which the user may publish.
    pub publish: Vec<String>,
    /// The subjects to which the user may subscribe.
    pub subscribe: Vec<String>,
    /// True if the user may answer requests.
    pub answers: bool,
}

impl Permissions {
    /// Returns the permissions of somebody who sets a fleet up: everything in its account.
    pub fn of_admin() -> Self {
        let everything = vec![">".to_owned()];
        Self {
            publish: everything.clone(),
            subscribe: everything,
            answers: false,
        }
    }

    /// Returns the permissions of a caller with this name, whose answers come to its inbox.
    pub fn of_caller(names: &Names, name: &str) -> Self {
        let (subjects, streams) = (names.subjects(), names.streams());
        let work = names.work_stream();
        let mut publish = vec![format!("{subjects}work.>"), format!("{subjects}ctl.>")];
        publish.extend(
            ["RUNS", "LEASES", "SESSIONS"].map(|bucket| format!("$KV.{streams}{bucket}.>")),
        );
        publish.extend([
            format!("$O.{}.>", names.blobs()),
            "$JS.API.STREAM.INFO.*".to_owned(),
            format!("$JS.API.CONSUMER.INFO.{work}.*"),
            format!("$JS.API.CONSUMER.LIST.{work}"),
            format!("$JS.API.CONSUMER.NAMES.{work}"),
            format!("$JS.API.STREAM.PURGE.{work}"),
            format!("$JS.API.DIRECT.GET.{work}"),
            format!("$JS.API.DIRECT.GET.{work}.>"),
        ]);
        publish.extend(reading(names, true));
        Self {
            publish,
            subscribe: vec![
                format!("{}.>", Names::inbox(name)),
                format!("{subjects}say.>"),
            ],
            answers: false,
        }
    }

    /// Returns the permissions of a worker that takes orders from these pools.
    pub fn of_worker(names: &Names, name: &str, pools: &[String]) -> Result<Self, FleetError> {
        check_name("worker", name)?;
        let (subjects, streams) = (names.subjects(), names.streams());
        let work = names.work_stream();
        let mut publish = vec![
            format!("{subjects}rec.>"),
            format!("{subjects}say.>"),
            format!("$KV.{streams}RUNS.>"),
            format!("$KV.{streams}SESSIONS.>"),
            format!("$KV.{streams}WORKERS.{name}"),
            format!("$O.{}.>", names.blobs()),
            "$JS.API.STREAM.INFO.*".to_owned(),
        ];
        for pool in pools {
            check_name("pool", pool)?;
            for consumer in Priority::ALL.map(|priority| Names::consumer(pool, priority)) {
                publish.extend([
                    format!("$JS.API.CONSUMER.INFO.{work}.{consumer}"),
                    format!("$JS.API.CONSUMER.MSG.NEXT.{work}.{consumer}"),
                    format!("$JS.ACK.{work}.{consumer}.>"),
                ]);
            }
        }
        publish.extend(reading(names, false));
        Ok(Self {
            publish,
            subscribe: vec![
                format!("{}.>", Names::inbox(name)),
                format!("{subjects}ctl.{name}.>"),
            ],
            answers: true,
        })
    }
}

/// Returns the permissions of every reader of buckets and objects, and of records if they may be
/// read.
fn reading(names: &Names, records: bool) -> Vec<String> {
    let kv = ["RUNS", "LEASES", "WORKERS", "SESSIONS"];
    let mut streams: Vec<String> = kv
        .iter()
        .map(|bucket| format!("KV_{}{bucket}", names.streams()))
        .collect();
    streams.push(format!("OBJ_{}", names.blobs()));
    if records {
        streams.push(names.record_stream());
    }
    let mut subjects = vec!["$JS.API.INFO".to_owned(), "$JS.FC.>".to_owned()];
    for stream in streams {
        subjects.extend([
            format!("$JS.API.DIRECT.GET.{stream}"),
            format!("$JS.API.DIRECT.GET.{stream}.>"),
            // A reader of several subjects has no name; a reader of one subject has a name behind
            // it.
            format!("$JS.API.CONSUMER.CREATE.{stream}"),
            format!("$JS.API.CONSUMER.CREATE.{stream}.>"),
            format!("$JS.API.CONSUMER.DELETE.{stream}.>"),
            format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.>"),
        ]);
    }
    subjects
}
