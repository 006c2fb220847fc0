//! The input of a client, watched for its end.
//!
//! The protocol's library reports the end only after it has given the calls under way five seconds
//! to end by themselves. Their children would work on for as long, with nobody there.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// A reader that cancels a token as soon as nothing more can come.
pub(crate) struct WatchedInput<R> {
    reader: R,
    ended: CancellationToken,
}

impl<R> WatchedInput<R> {
    pub(crate) fn new(reader: R, ended: CancellationToken) -> Self {
        Self { reader, ended }
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
        let has_ended = match &polled {
            Poll::Ready(Ok(())) => buffer.filled().len() == before,
            // An input that cannot be read has ended.
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if has_ended {
            self.ended.cancel();
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn the_end_is_seen_when_it_is_read_and_not_before() {
        let ended = CancellationToken::new();
        let mut input = WatchedInput::new(&b"line\n"[..], ended.clone());
        let mut bytes = [0; 5];
        input.read_exact(&mut bytes).await.unwrap();
        assert!(!ended.is_cancelled());
        assert_eq!(input.read(&mut bytes).await.unwrap(), 0);
        assert!(ended.is_cancelled());
    }
}
