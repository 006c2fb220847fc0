//! Keys and values on the servers. A value is written only over the revision that its writer has
//! seen, so that one of two writers learns that it was late.
//!
//! The store of the client library is not used: its updates lose the time after which a key
//! expires, and its errors do not name the refused request.

use std::time::Duration;

use async_nats::{HeaderMap, Message, StatusCode, header};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::time::timeout;

use crate::ask::{parse, server_error};
use crate::connect::{ANSWER, Fleet};
use crate::error::FleetError;
use crate::names::Bucket;

/// The code of the error of a write over another revision than the last.
const WRONG_REVISION: u64 = 10071;

/// The number of values in one answer to a list.
const PAGE: u64 = 256;

/// A value and its revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored<T> {
    /// The value.
    pub value: T,
    /// The number of the write, which grows.
    pub revision: u64,
}

/// The last write to a key: a value, or the mark of its removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastWrite {
    /// The key.
    pub key: String,
    /// The value, unless it is gone.
    pub value: Option<Bytes>,
    /// The number of the write.
    pub revision: u64,
    /// True if somebody has removed the value, which has not just expired.
    pub was_removed: bool,
}

/// The outcome of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// With this revision.
    At(u64),
    /// Not at all: somebody else wrote before.
    Late,
}

impl Fleet {
    /// Returns the value of a key, if it has one.
    pub async fn read<T: DeserializeOwned>(
        &self,
        bucket: &Bucket,
        key: &str,
    ) -> Result<Option<Stored<T>>, FleetError> {
        let Some(last) = self.last_write(bucket, key).await? else {
            return Ok(None);
        };
        let Some(value) = last.value else {
            return Ok(None);
        };
        let value = parse(&bucket.subject(key), &value)?;
        let revision = last.revision;
        Ok(Some(Stored { value, revision }))
    }

    /// Returns the last write to a key, if there was one.
    pub async fn last_write(
        &self,
        bucket: &Bucket,
        key: &str,
    ) -> Result<Option<LastWrite>, FleetError> {
        let subject = format!(
            "$JS.API.DIRECT.GET.{}.{}",
            bucket.stream(),
            bucket.subject(key)
        );
        let answer = match self.ask(&subject, None, Bytes::new()).await {
            Err(FleetError::Nobody { .. }) => return Err(self.why_nobody(&bucket.stream()).await),
            other => other?,
        };
        if answer.status == Some(StatusCode::NOT_FOUND) {
            return Ok(None);
        }
        last_write(bucket, &subject, &answer).map(Some)
    }

    /// Writes a value over the revision that was seen; 0 is for a key that was never written.
    pub async fn write(
        &self,
        bucket: &Bucket,
        key: &str,
        value: Bytes,
        over: u64,
    ) -> Result<Written, FleetError> {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE,
            over.to_string(),
        );
        self.put(bucket, key, headers, value).await
    }

    /// Writes a value that vanishes after a time, over any other value.
    pub async fn write_for(
        &self,
        bucket: &Bucket,
        key: &str,
        value: Bytes,
        time: Duration,
    ) -> Result<(), FleetError> {
        self.put(bucket, key, expiring(time), value).await.map(drop)
    }

    /// Writes a value that vanishes after a time, over the revision that was seen; 0 is for a key
    /// that was never written.
    pub async fn claim_for(
        &self,
        bucket: &Bucket,
        key: &str,
        value: Bytes,
        over: u64,
        time: Duration,
    ) -> Result<Written, FleetError> {
        let mut headers = expiring(time);
        headers.insert(
            header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE,
            over.to_string(),
        );
        self.put(bucket, key, headers, value).await
    }

    /// Writes a value, over any other value.
    pub async fn overwrite(
        &self,
        bucket: &Bucket,
        key: &str,
        value: Bytes,
    ) -> Result<(), FleetError> {
        self.put(bucket, key, HeaderMap::new(), value)
            .await
            .map(drop)
    }

    /// Removes a key.
    pub async fn remove(&self, bucket: &Bucket, key: &str) -> Result<(), FleetError> {
        let mut headers = HeaderMap::new();
        headers.insert("KV-Operation", "PURGE");
        headers.insert(header::NATS_ROLLUP, "sub");
        self.put(bucket, key, headers, Bytes::new()).await.map(drop)
    }

    /// Returns the last writes to all keys of a bucket, in the order in which they were made.
    pub async fn list(&self, bucket: &Bucket) -> Result<Vec<LastWrite>, FleetError> {
        self.list_under(bucket, "").await
    }

    /// Returns the last writes to the keys of a bucket that begin with these tokens.
    pub async fn list_under(
        &self,
        bucket: &Bucket,
        beginning: &str,
    ) -> Result<Vec<LastWrite>, FleetError> {
        let filter = bucket.subject(&format!("{beginning}>"));
        let mut found: Vec<LastWrite> = Vec::new();
        let mut from = 1;
        loop {
            let (page, is_last) = self.page(bucket, &filter, from).await?;
            let Some(end) = page.last().map(|write| write.revision) else {
                break;
            };
            found.extend(page);
            if is_last {
                break;
            }
            from = end + 1;
        }
        // A key is listed once, with its last write.
        let mut seen = std::collections::HashSet::new();
        let mut latest: Vec<LastWrite> = found
            .into_iter()
            .rev()
            .filter(|write| seen.insert(write.key.clone()))
            .collect();
        latest.reverse();
        Ok(latest)
    }

    /// Returns the writes from a revision on, and whether there are no more.
    async fn page(
        &self,
        bucket: &Bucket,
        filter: &str,
        from: u64,
    ) -> Result<(Vec<LastWrite>, bool), FleetError> {
        let subject = format!("$JS.API.DIRECT.GET.{}", bucket.stream());
        let question = json!({"seq": from, "next_by_subj": filter, "batch": PAGE});
        let page = self.read_page(bucket, &subject, question.to_string().into());
        self.unless_refused(&format!("\"{subject}\""), page).await?
    }

    async fn read_page(
        &self,
        bucket: &Bucket,
        subject: &str,
        question: Bytes,
    ) -> Result<(Vec<LastWrite>, bool), FleetError> {
        let client = &self.inner.client;
        let not_sent = |why: String| FleetError::NotSent {
            subject: subject.to_owned(),
            why,
        };
        let inbox = client.new_inbox();
        let answers = client.subscribe(inbox.clone()).await;
        let mut answers = answers.map_err(|error| not_sent(error.to_string()))?;
        let sent = client
            .publish_with_reply(subject.to_owned(), inbox, question)
            .await;
        sent.map_err(|error| not_sent(error.to_string()))?;
        let mut page = Vec::new();
        loop {
            let answer = timeout(ANSWER, answers.next()).await.ok().flatten();
            let answer = answer.ok_or_else(|| FleetError::NoAnswer {
                subject: subject.to_owned(),
                within: ANSWER,
            })?;
            match answer.status {
                None | Some(StatusCode::OK) => page.push(last_write(bucket, subject, &answer)?),
                Some(StatusCode::NOT_FOUND) => return Ok((page, true)),
                Some(StatusCode::NO_RESPONDERS) => {
                    return Err(self.why_nobody(&bucket.stream()).await);
                }
                // The mark of the end has the number of values that are left.
                Some(_) => {
                    let is_last = number(&answer, "Nats-Num-Pending").unwrap_or(0) == 0;
                    return Ok((page, is_last));
                }
            }
        }
    }

    async fn put(
        &self,
        bucket: &Bucket,
        key: &str,
        headers: HeaderMap,
        value: Bytes,
    ) -> Result<Written, FleetError> {
        let subject = bucket.subject(key);
        match self
            .publish(&subject, &bucket.stream(), headers, value)
            .await
        {
            Ok(receipt) => Ok(Written::At(receipt.sequence)),
            Err(FleetError::Refused {
                code: WRONG_REVISION,
                ..
            }) => Ok(Written::Late),
            Err(error) => Err(error),
        }
    }

    /// Publishes a message into a stream and returns the stream's receipt.
    pub async fn publish(
        &self,
        subject: &str,
        stream: &str,
        headers: HeaderMap,
        payload: Bytes,
    ) -> Result<StreamReceipt, FleetError> {
        let answer = match self.ask(subject, Some(headers), payload).await {
            Err(FleetError::Nobody { .. }) => return Err(self.why_nobody(stream).await),
            other => other?,
        };
        let value: serde_json::Value = parse(subject, &answer.payload)?;
        if let Some(error) = value.get("error") {
            return Err(server_error(subject, error));
        }
        let Some(sequence) = value["seq"].as_u64() else {
            return Err(FleetError::Strange {
                subject: subject.to_owned(),
                why: "it names no sequence".to_owned(),
            });
        };
        let is_duplicate = value["duplicate"].as_bool().unwrap_or(false);
        Ok(StreamReceipt {
            sequence,
            is_duplicate,
        })
    }

    /// Tells a missing stream from a stream whose servers have no leader at the moment.
    async fn why_nobody(&self, stream: &str) -> FleetError {
        let subject = format!("$JS.API.STREAM.INFO.{stream}");
        match self.ask_server(&subject, Bytes::new()).await {
            Err(error @ FleetError::NotSetUp { .. }) => error,
            _ => FleetError::Nobody {
                subject: stream.to_owned(),
            },
        }
    }
}

/// The receipt of a stream for a message that it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamReceipt {
    /// Its number in the stream.
    pub sequence: u64,
    /// This is true if it had the message already.
    pub is_duplicate: bool,
}

/// Returns the headers of a value that vanishes after a time.
fn expiring(time: Duration) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::NATS_MESSAGE_TTL,
        format!("{}s", time.as_secs().max(1)),
    );
    headers
}

fn last_write(bucket: &Bucket, subject: &str, answer: &Message) -> Result<LastWrite, FleetError> {
    let strange = |why: &str| FleetError::Strange {
        subject: subject.to_owned(),
        why: why.to_owned(),
    };
    let headers = answer
        .headers
        .as_ref()
        .ok_or_else(|| strange("it has no headers"))?;
    let revision = number(answer, "Nats-Sequence").ok_or_else(|| strange("it has no revision"))?;
    let of = headers
        .get("Nats-Subject")
        .map(async_nats::HeaderValue::as_str)
        .unwrap_or_default();
    let key = bucket
        .key(of)
        .ok_or_else(|| strange("it is of another bucket"))?;
    let was_removed = headers
        .get("KV-Operation")
        .is_some_and(|operation| operation.as_str() != "PUT");
    let is_gone = was_removed || headers.get(header::NATS_MARKER_REASON).is_some();
    Ok(LastWrite {
        key: key.to_owned(),
        value: (!is_gone).then(|| answer.payload.clone()),
        revision,
        was_removed,
    })
}

fn number(answer: &Message, name: &str) -> Option<u64> {
    answer.headers.as_ref()?.get(name)?.as_str().parse().ok()
}
