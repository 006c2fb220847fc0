//! Tries out what our key permits, line by line, without changing anything on the server.

use std::time::Duration;

use async_nats::{HeaderMap, header};
use bytes::Bytes;
use futures_util::future::try_join_all;
use serde_json::json;
use tokio::time::sleep;

use crate::connect::Fleet;
use crate::error::FleetError;
use crate::permissions::Permissions;

/// A revision that no key has. A write over it is refused by the store, after the server has let it
/// through.
const NO_REVISION: &str = "9007199254740991";

/// The time after the answer to a later request within which the refusal of a subscription may
/// come.
const REFUSAL: Duration = Duration::from_millis(200);

impl Fleet {
    /// Returns the lines of some permissions that the server refuses, such as
    /// `publish "pi.work.>"`.
    pub async fn refused(&self, permissions: &Permissions) -> Result<Vec<String>, FleetError> {
        let publish = permissions.publish.iter();
        let publish = try_join_all(publish.map(|line| self.may_publish(line))).await?;
        let own = |line: &&String| !line.starts_with("_INBOX_");
        let subscribe: Vec<&String> = permissions.subscribe.iter().filter(own).collect();
        let heard = try_join_all(subscribe.iter().map(|line| self.may_subscribe(line))).await?;
        let publish = permissions.publish.iter().zip(publish);
        let publish = publish.map(|(line, is_allowed)| ("publish", line, is_allowed));
        let subscribe = subscribe.into_iter().zip(heard);
        let subscribe = subscribe.map(|(line, is_allowed)| ("subscribe", line, is_allowed));
        let refused = publish.chain(subscribe).filter(|(_, _, allowed)| !allowed);
        Ok(refused
            .map(|(verb, line, _)| format!("{verb} \"{line}\""))
            .collect())
    }

    /// Sends something that nobody takes: a write over a revision that is not there, a request about
    /// what does not exist, or one for runs under a wrong group.
    async fn may_publish(&self, line: &str) -> Result<bool, FleetError> {
        let mut headers = HeaderMap::new();
        headers.insert(header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, NO_REVISION);
        let nothing = format!("{}work.probe.normal.probe", self.names().subjects());
        let payload = json!({"filter": nothing, "batch": 1, "no_wait": true, "group": "probe"});
        let payload = Bytes::from(payload.to_string());
        match self.ask(&example(line), Some(headers), payload).await {
            Ok(_) | Err(FleetError::Nobody { .. }) => Ok(true),
            Err(FleetError::NotAllowed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn may_subscribe(&self, line: &str) -> Result<bool, FleetError> {
        let subject = example(line);
        let heard = async {
            let subscribed = self.inner.client.subscribe(subject.clone()).await;
            let _subscribed = subscribed.map_err(|error| FleetError::NotSent {
                subject: subject.clone(),
                why: error.to_string(),
            })?;
            self.probe().await?;
            sleep(REFUSAL).await;
            Ok(true)
        };
        match self.unless_refused(&format!("\"{subject}\""), heard).await {
            Ok(heard) => heard,
            Err(_) => Ok(false),
        }
    }
}

/// Returns a subject that a line of permissions is about.
fn example(line: &str) -> String {
    line.replace(['*', '>'], "probe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_tried_with_one_of_its_subjects() {
        let tried = [
            "pi.work.>",
            "$JS.API.STREAM.INFO.*",
            "$KV.PI_WORKERS.build-7",
        ]
        .map(example);
        let expected = [
            "pi.work.probe",
            "$JS.API.STREAM.INFO.probe",
            "$KV.PI_WORKERS.build-7",
        ];
        assert_eq!(tried, expected);
    }
}
