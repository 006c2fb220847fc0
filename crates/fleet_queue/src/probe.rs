//! Looks at a fleet for somebody who wants to know whether it works.

use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;

use crate::connect::Fleet;
use crate::error::FleetError;

/// The result of a look at a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The time of one question and its answer.
    pub round_trip: Duration,
    /// The seconds by which our clock is behind the server's; negative if it is ahead.
    pub behind: i64,
    /// The server that leads the queue, if there are several.
    pub leader: Option<String>,
}

impl Fleet {
    /// Asks the server for the stream of the orders, and compares clocks.
    pub async fn probe(&self) -> Result<Probe, FleetError> {
        let subject = format!("$JS.API.STREAM.INFO.{}", self.names().work_stream());
        let begin = Instant::now();
        let answer = self.ask_server(&subject, Bytes::new()).await?;
        let round_trip = begin.elapsed();
        let theirs = answer["ts"]
            .as_str()
            .and_then(|text| text.parse::<Timestamp>().ok());
        let theirs = theirs.ok_or_else(|| FleetError::Strange {
            subject,
            why: "it does not say the time".to_owned(),
        })?;
        let behind = theirs.duration_since(Timestamp::now()).as_secs();
        let leader = answer["cluster"]["leader"].as_str().map(str::to_owned);
        Ok(Probe {
            round_trip,
            behind,
            leader,
        })
    }
}
