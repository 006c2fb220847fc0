//! The storage of a fleet on its servers: the space in use, the space that is left, and the servers that
//! hold it.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::connect::Fleet;
use crate::error::FleetError;
use crate::names::probe_key;

/// The time for which the message of a probe is kept.
const PROBE: Duration = Duration::from_secs(1);

/// The store of a fleet on its servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Storage {
    /// The number of bytes in the streams of the fleet.
    pub bytes: u64,
    /// The number of bytes that the account may keep, with everything else in it; `None` if the
    /// account has no limit of its own.
    pub limit: Option<u64>,
    /// The words with which the servers refuse to keep more, if they do.
    pub refusal: Option<String>,
    /// The servers that do not have what they should have.
    pub lagging: Vec<LaggingServer>,
}

/// A server that should keep a copy of streams, and is away or behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaggingServer {
    /// Its name.
    pub server: String,
    /// The streams of which it has no good copy.
    pub streams: Vec<String>,
    /// This is true if the other servers do not reach it.
    pub is_offline: bool,
    /// The time since the leader of the streams last heard of it.
    pub silent_for: Duration,
}

impl Fleet {
    /// Looks at the store: writes a message that vanishes at once, and asks for figures.
    pub async fn storage(&self) -> Result<Storage, FleetError> {
        let mut storage = Storage {
            refusal: self.refusal_to_keep().await?,
            limit: self.account_limit().await?,
            ..Storage::default()
        };
        for stream in self.names().all_streams() {
            let subject = format!("$JS.API.STREAM.INFO.{stream}");
            let info = self.ask_server(&subject, Bytes::new()).await?;
            storage.bytes += info["state"]["bytes"].as_u64().unwrap_or_default();
            storage.note_copies(&stream, &info["cluster"]);
        }
        Ok(storage)
    }

    /// Returns the words with which the servers refuse to keep anything more; `None` if they keep it.
    pub async fn refusal_to_keep(&self) -> Result<Option<String>, FleetError> {
        let (bucket, key) = (self.names().runs(), probe_key(&self.inner.name));
        match self.write_for(&bucket, &key, "{}".into(), PROBE).await {
            Ok(()) => Ok(None),
            Err(error) if error.is_full() => Ok(Some(error.to_string())),
            Err(error) => Err(error),
        }
    }

    async fn account_limit(&self) -> Result<Option<u64>, FleetError> {
        let info = self.ask_server("$JS.API.INFO", Bytes::new()).await?;
        // Without a limit the number is negative.
        Ok(info["limits"]["max_storage"].as_u64())
    }
}

impl Storage {
    /// Notes the copies of a stream that are not good, as its leader sees them.
    fn note_copies(&mut self, stream: &str, cluster: &Value) {
        let replicas = cluster["replicas"].as_array();
        for replica in replicas.into_iter().flatten() {
            let is_offline = replica["offline"].as_bool().unwrap_or(false);
            if !is_offline && replica["current"].as_bool().unwrap_or(true) {
                continue;
            }
            let name = replica["name"].as_str().unwrap_or("?");
            let silent_for = replica["active"].as_u64().unwrap_or_default();
            let silent_for = Duration::from_nanos(silent_for);
            match self.lagging.iter_mut().find(|one| one.server == name) {
                Some(known) => {
                    known.streams.push(stream.to_owned());
                    known.is_offline |= is_offline;
                    known.silent_for = known.silent_for.max(silent_for);
                }
                None => self.lagging.push(LaggingServer {
                    server: name.to_owned(),
                    streams: vec![stream.to_owned()],
                    is_offline,
                    silent_for,
                }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_without_good_copies_is_named_once_with_all_streams() {
        let mut storage = Storage::default();
        let cluster = json!({"leader": "n0", "replicas": [
            {"name": "n1", "current": true, "active": 5},
            {"name": "n2", "current": false, "offline": true, "active": 2_000_000_000},
        ]});
        storage.note_copies("PI_WORK", &cluster);
        storage.note_copies("PI_REC", &cluster);
        storage.note_copies("KV_PI_RUNS", &json!(null));
        let expected = LaggingServer {
            server: "n2".to_owned(),
            streams: vec!["PI_WORK".to_owned(), "PI_REC".to_owned()],
            is_offline: true,
            silent_for: Duration::from_secs(2),
        };
        assert_eq!(storage.lagging, [expected]);
    }
}
