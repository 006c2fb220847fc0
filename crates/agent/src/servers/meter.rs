//! Counts what a server sends. Each request may be answered with so many bytes; a server that floods
//! is read no further, which ends its connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

/// The bytes that a server may send until the next request.
pub(super) const MEGABYTES: u64 = 32;

/// The bytes that a server has sent since the last request; cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter(Arc<AtomicU64>);

impl Meter {
    /// Lets the server send as much again, for one more request. A server that sent too much once
    /// stays cut off.
    pub(super) fn refill(&self) {
        if !self.is_spent() {
            self.0.store(0, Ordering::Relaxed);
        }
    }

    /// Counts bytes; false if they are too many.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let counted = self.0.fetch_add(bytes, Ordering::Relaxed);
        counted.saturating_add(bytes) <= MEGABYTES << 20
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MEGABYTES << 20
    }
}

/// A stream that ends when its meter is spent.
#[derive(Debug)]
pub(super) struct MeteredReader<R> {
    pub(super) inner: R,
    pub(super) meter: Meter,
}

impl<R: AsyncRead + Unpin> AsyncRead for MeteredReader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.meter.is_spent() {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.inner).poll_read(context, buffer);
        let length = buffer.filled().len() - before;
        if !this.meter.take(length) {
            buffer.set_filled(before);
            return Poll::Ready(Ok(()));
        }
        read
    }
}
