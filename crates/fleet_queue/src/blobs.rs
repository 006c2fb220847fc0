//! Large objects: bundles, results, conversations. They lie in the layout of NATS' object store, so
//! its other clients can read them; they are written with several chunks under way.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::{
    ContextBuilder, PublishAckFuture, PublishError, PublishErrorKind,
};
use async_nats::jetstream::object_store::{InfoErrorKind, ObjectInfo, ObjectOptions};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use bytes::Bytes;
use pi_subagents_files as files;
use ring::digest;
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, sleep, timeout};

use crate::connect::Fleet;

/// The number of bytes in one chunk.
const CHUNK: usize = 512 << 10;

/// The number of chunks that may be under way without a confirmation.
const WINDOW: usize = 8;

/// The time that the server may take to confirm a chunk.
const TO_CONFIRM: Duration = Duration::from_secs(30);

/// The time that the next bytes of an object may take.
const TO_READ: Duration = Duration::from_secs(20);

/// The time for which storing an object is tried while the servers choose a leader.
const NO_LEADER: Duration = Duration::from_secs(20);

/// The pause between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// The number of times that an object is read from its beginning.
const TRIES: u32 = 3;

/// The reason why an object could not be stored or fetched.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// No object has this name.
    #[error("the fleet has no object {name}: it was removed, or it never came there")]
    Missing {
        /// Its name.
        name: String,
    },
    /// It is larger than the reader allows.
    #[error("the object {name} has {size} bytes, and at most {limit} are read")]
    TooLarge {
        /// Its name.
        name: String,
        /// Its size.
        size: u64,
        /// The number of bytes that the reader allows.
        limit: u64,
    },
    /// The file that is sent or written cannot be used.
    #[error("could not use {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The servers did not do it.
    #[error("the object {name} could not be {verb}: {why}")]
    Server {
        /// Its name.
        name: String,
        /// The operation that was tried: "stored" or "fetched".
        verb: &'static str,
        /// The reason that the servers gave.
        why: String,
        /// This is true if the same may succeed a little later: the servers choose a leader.
        is_passing: bool,
    },
}

/// The objects of a fleet.
#[derive(Debug, Clone)]
pub struct Blobs {
    fleet: Fleet,
    context: Context,
    bucket: String,
}

impl Fleet {
    /// Returns the objects of this fleet.
    pub fn blobs(&self) -> Blobs {
        Blobs {
            fleet: self.clone(),
            context: ContextBuilder::new()
                .timeout(TO_CONFIRM)
                .build(self.inner.client.clone()),
            bucket: self.names().blobs(),
        }
    }
}

impl Blobs {
    /// Returns the number of bytes of an object; `None` if no object has this name.
    pub async fn size(&self, name: &str) -> Result<Option<u64>, BlobError> {
        let info = self.permitted(name, "fetched", self.info(name)).await?;
        Ok(info.map(|info| info.size as u64))
    }

    /// Stores a file under a name. An object that was there before is replaced. Servers that have just
    /// come back have no leader for it for some seconds, so it is tried again for a while.
    pub async fn put(&self, name: &str, path: &Path) -> Result<u64, BlobError> {
        let begun = Instant::now();
        loop {
            let putting = self.put_file(name, path);
            match self.permitted(name, "stored", putting).await {
                Err(BlobError::Server {
                    is_passing: true,
                    why,
                    ..
                }) if begun.elapsed() < NO_LEADER => {
                    tracing::debug!(name, why, "object is stored again");
                    sleep(PAUSE).await;
                }
                other => return other,
            }
        }
    }

    async fn put_file(&self, name: &str, path: &Path) -> Result<u64, BlobError> {
        let unusable = |source| BlobError::File {
            path: path.to_owned(),
            source,
        };
        let file = files::open_plain(path).map_err(unusable)?;
        let mut file = tokio::fs::File::from_std(file);
        let mut putting = Putting::new(self, name);
        loop {
            let mut chunk = Vec::with_capacity(CHUNK);
            let limit = CHUNK as u64;
            let read = (&mut file).take(limit).read_to_end(&mut chunk).await;
            if read.map_err(unusable)? == 0 {
                return putting.finish().await;
            }
            putting.chunk(chunk.into()).await?;
        }
    }

    /// Stores some bytes under a name.
    pub async fn put_bytes(&self, name: &str, bytes: Bytes) -> Result<u64, BlobError> {
        let put = async {
            let mut putting = Putting::new(self, name);
            let mut rest = bytes;
            while !rest.is_empty() {
                let chunk = rest.split_to(rest.len().min(CHUNK));
                putting.chunk(chunk).await?;
            }
            putting.finish().await
        };
        self.permitted(name, "stored", put).await
    }

    /// Fetches an object of at most `limit` bytes into a new file. Its digest is checked; a file
    /// that did not become whole is removed.
    pub async fn get(&self, name: &str, path: &Path, limit: u64) -> Result<u64, BlobError> {
        let unusable = |source| BlobError::File {
            path: path.to_owned(),
            source,
        };
        let mut tried = 0;
        loop {
            tried += 1;
            let file = files::create_new(path).map_err(unusable)?;
            let mut file = tokio::fs::File::from_std(file);
            let fetching = self.fetch(name, &mut file, limit);
            let fetched = Box::pin(self.permitted(name, "fetched", fetching)).await;
            match fetched {
                Ok(size) => return Ok(size),
                Err(error) => {
                    std::fs::remove_file(path).map_err(unusable)?;
                    let is_passing = matches!(error, BlobError::Server { .. });
                    if !is_passing || tried == TRIES {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Fetches an object of at most `limit` bytes into memory.
    pub async fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, BlobError> {
        let mut content = Vec::new();
        let fetching = self.fetch(name, &mut content, limit);
        Box::pin(self.permitted(name, "fetched", fetching)).await?;
        Ok(content)
    }

    /// Does work on an object, and fails at once where our key does not permit it.
    async fn permitted<T>(
        &self,
        name: &str,
        verb: &'static str,
        work: impl Future<Output = Result<T, BlobError>>,
    ) -> Result<T, BlobError> {
        let done = self.fleet.unless_refused(&self.bucket, work).await;
        done.unwrap_or_else(|refusal| Err(not_done(name, verb, refusal.to_string())))
    }

    async fn fetch(
        &self,
        name: &str,
        target: &mut (impl AsyncWrite + Unpin),
        limit: u64,
    ) -> Result<u64, BlobError> {
        let failed = |why: String| not_done(name, "fetched", why);
        let size = self.size(name).await?.ok_or_else(|| missing(name))?;
        if size > limit {
            let name = name.to_owned();
            return Err(BlobError::TooLarge { name, size, limit });
        }
        let store = self.context.get_object_store(&self.bucket).await;
        let store = store.map_err(|error| failed(error.to_string()))?;
        let object = store.get(name).await;
        let mut object = object.map_err(|error| failed(error.to_string()))?;
        let mut buffer = vec![0; CHUNK];
        let mut written = 0;
        loop {
            let read = timeout(TO_READ, object.read(&mut buffer)).await;
            let read = read.map_err(|_| failed(silence()))?;
            let read = read.map_err(|error| failed(error.to_string()))?;
            if read == 0 {
                break;
            }
            written += read as u64;
            if written > limit {
                let (name, size) = (name.to_owned(), written);
                return Err(BlobError::TooLarge { name, size, limit });
            }
            let kept = target.write_all(&buffer[..read]).await;
            kept.map_err(|error| failed(error.to_string()))?;
        }
        let flushed = target.flush().await;
        flushed.map_err(|error| failed(error.to_string()))?;
        if written == size {
            Ok(written)
        } else {
            Err(failed(format!("{written} of {size} bytes came")))
        }
    }

    async fn info(&self, name: &str) -> Result<Option<ObjectInfo>, BlobError> {
        let failed = |why: String| not_done(name, "fetched", why);
        let store = self.context.get_object_store(&self.bucket).await;
        let store = store.map_err(|error| failed(error.to_string()))?;
        match store.info(name).await {
            Ok(info) => Ok((!info.deleted).then_some(info)),
            Err(error) if error.kind() == InfoErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

/// An object that is being stored.
struct Putting<'a> {
    blobs: &'a Blobs,
    name: &'a str,
    /// The name of its chunks, which no other object has.
    nuid: String,
    digest: digest::Context,
    size: usize,
    chunks: usize,
    flight: VecDeque<PublishAckFuture>,
}

impl<'a> Putting<'a> {
    fn new(blobs: &'a Blobs, name: &'a str) -> Self {
        // An inbox ends with an id that no other has.
        let inbox = blobs.context.client().new_inbox();
        let nuid = inbox.rsplit('.').next().unwrap_or(&inbox).to_owned();
        Self {
            blobs,
            name,
            nuid,
            digest: digest::Context::new(&digest::SHA256),
            size: 0,
            chunks: 0,
            flight: VecDeque::new(),
        }
    }

    async fn chunk(&mut self, bytes: Bytes) -> Result<(), BlobError> {
        if self.flight.len() == WINDOW {
            self.confirm().await?;
        }
        self.digest.update(&bytes);
        self.size += bytes.len();
        self.chunks += 1;
        let subject = format!("$O.{}.C.{}", self.blobs.bucket, self.nuid);
        let published = self.blobs.context.publish(subject, bytes).await;
        self.flight
            .push_back(published.map_err(|error| self.not_published(&error))?);
        Ok(())
    }

    async fn confirm(&mut self) -> Result<(), BlobError> {
        let Some(oldest) = self.flight.pop_front() else {
            return Ok(());
        };
        let confirmed = oldest.await;
        confirmed.map_err(|error| self.not_published(&error))?;
        Ok(())
    }

    /// Waits for all chunks and publishes the description of the object.
    async fn finish(mut self) -> Result<u64, BlobError> {
        while !self.flight.is_empty() {
            self.confirm().await?;
        }
        let digest = URL_SAFE.encode(self.digest.clone().finish());
        let info = ObjectInfo {
            name: self.name.to_owned(),
            description: None,
            metadata: HashMap::new(),
            headers: None,
            options: Some(ObjectOptions {
                link: None,
                max_chunk_size: Some(CHUNK),
            }),
            bucket: self.blobs.bucket.clone(),
            nuid: self.nuid.clone(),
            size: self.size,
            chunks: self.chunks,
            modified: None,
            digest: Some(format!("SHA-256={digest}")),
            deleted: false,
        };
        let content = serde_json::to_vec(&info).map_err(|error| self.failed(error.to_string()))?;
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Rollup", "sub");
        let subject = format!("$O.{}.M.{}", self.blobs.bucket, URL_SAFE.encode(self.name));
        let published = self
            .blobs
            .context
            .publish_with_headers(subject, headers, content.into())
            .await;
        let published = published.map_err(|error| self.not_published(&error))?;
        self.flight.push_back(published);
        self.confirm().await?;
        Ok(self.size as u64)
    }

    fn failed(&self, why: String) -> BlobError {
        not_done(self.name, "stored", why)
    }

    fn not_published(&self, error: &PublishError) -> BlobError {
        let passing = [
            PublishErrorKind::StreamNotFound,
            PublishErrorKind::TimedOut,
            PublishErrorKind::BrokenPipe,
        ];
        BlobError::Server {
            name: self.name.to_owned(),
            verb: "stored",
            why: error.to_string(),
            is_passing: passing.contains(&error.kind()),
        }
    }
}

fn missing(name: &str) -> BlobError {
    BlobError::Missing {
        name: name.to_owned(),
    }
}

fn silence() -> String {
    format!("nothing came for {} s", TO_READ.as_secs())
}

fn not_done(name: &str, verb: &'static str, why: String) -> BlobError {
    BlobError::Server {
        name: name.to_owned(),
        verb,
        why,
        is_passing: false,
    }
}
