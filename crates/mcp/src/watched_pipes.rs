//! The pipes to a client, watched: the end of what it sends, and how much goes each way.
//!
//! The protocol's library reports the end only after it has given the calls that are running five
//! seconds to end by themselves. Their children would work on for as long, with nobody there.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

/// The number of bytes that went through a pipe.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByteCount(Arc<AtomicUsize>);

impl ByteCount {
    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the number and begins again at zero.
    pub(crate) fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }

    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A reader that cancels a token as soon as nothing more can come.
pub(crate) struct WatchedInput<R> {
    reader: R,
    ended: CancellationToken,
    bytes: ByteCount,
}

impl<R> WatchedInput<R> {
    pub(crate) fn new(reader: R, ended: CancellationToken, bytes: ByteCount) -> Self {
        Self {
            reader,
            ended,
            bytes,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for WatchedInput<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.reader).poll_read(context, buffer);
        let read = buffer.filled().len() - before;
        let has_ended = match &polled {
            Poll::Ready(Ok(())) => read == 0,
            // An input that cannot be read has ended.
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        self.bytes.add(read);
        if has_ended {
            self.ended.cancel();
        }
        polled
    }
}

/// A writer that counts the bytes which the client has taken, or for which its pipe has room.
pub(crate) struct WatchedOutput<W> {
    writer: W,
    bytes: ByteCount,
}

impl<W> WatchedOutput<W> {
    pub(crate) fn new(writer: W, bytes: ByteCount) -> Self {
        Self { writer, bytes }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for WatchedOutput<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.writer).poll_write(context, bytes);
        if let Poll::Ready(Ok(written)) = &polled {
            self.bytes.add(*written);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn the_end_is_seen_when_it_is_read_and_not_before() {
        let ended = CancellationToken::new();
        let bytes_read = ByteCount::default();
        let mut input = WatchedInput::new(&b"line\n"[..], ended.clone(), bytes_read.clone());
        let mut bytes = [0; 5];
        input.read_exact(&mut bytes).await.unwrap();
        assert!(!ended.is_cancelled());
        assert_eq!(input.read(&mut bytes).await.unwrap(), 0);
        assert!(ended.is_cancelled());
        assert_eq!(bytes_read.take(), 5);
        assert_eq!(bytes_read.get(), 0);
    }
}
