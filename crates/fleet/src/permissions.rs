//! What a caller and a worker may do on the server, as its configuration file says it.

use crate::error::FleetError;
use crate::names::{Names, check_name};
use crate::wire::Priority;

/// The subjects that a user of the server may publish to and listen to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    /// What the user may publish.
    pub publish: Vec<String>,
    /// What the user may listen to.
    pub subscribe: Vec<String>,
    /// Whether the user may answer requests.
    pub answers: bool,
}

impl Permissions {
    /// Returns what a caller needs whose answers come to this inbox.
    pub fn of_caller(names: &Names, name: &str) -> Self {
        let (subjects, streams) = (names.subjects(), names.streams());
        let work = names.work_stream();
        let mut publish = vec![format!("{subjects}work.>"), format!("{subjects}ctl.>")];
        publish.extend(["RUNS", "LEASES"].map(|bucket| format!("$KV.{streams}{bucket}.>")));
        publish.extend([
            format!("$O.{}.>", names.blobs()),
            "$JS.API.STREAM.INFO.*".to_owned(),
            format!("$JS.API.CONSUMER.INFO.{work}.*"),
            format!("$JS.API.CONSUMER.LIST.{work}"),
            format!("$JS.API.CONSUMER.NAMES.{work}"),
            format!("$JS.API.STREAM.PURGE.{work}"),
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

    /// Returns what a worker needs that takes orders from these pools.
    pub fn of_worker(names: &Names, name: &str, pools: &[String]) -> Result<Self, FleetError> {
        check_name("worker", name)?;
        let (subjects, streams) = (names.subjects(), names.streams());
        let work = names.work_stream();
        let mut publish = vec![
            format!("{subjects}rec.>"),
            format!("{subjects}say.>"),
            format!("$KV.{streams}RUNS.>"),
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
                format!("{subjects}ctl.>"),
            ],
            answers: true,
        })
    }
}

/// Returns what everybody needs who reads buckets and objects, and records where they may.
fn reading(names: &Names, records: bool) -> Vec<String> {
    let kv = ["RUNS", "LEASES", "WORKERS"];
    let mut streams: Vec<String> = kv
        .iter()
        .map(|bucket| format!("KV_{}{bucket}", names.streams()))
        .collect();
    streams.push(format!("OBJ_{}", names.blobs()));
    if records {
        streams.push(names.record_stream());
    }
    let mut subjects = vec!["$JS.FC.>".to_owned()];
    for stream in streams {
        subjects.extend([
            format!("$JS.API.DIRECT.GET.{stream}"),
            format!("$JS.API.DIRECT.GET.{stream}.>"),
            // A reader of several subjects has no name, and a named one has a name behind it.
            format!("$JS.API.CONSUMER.CREATE.{stream}"),
            format!("$JS.API.CONSUMER.CREATE.{stream}.>"),
            format!("$JS.API.CONSUMER.DELETE.{stream}.>"),
            format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.>"),
        ]);
    }
    subjects
}
