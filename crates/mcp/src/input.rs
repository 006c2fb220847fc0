//! What the client sends, and that it has stopped sending.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// A reader that tells at once when nothing more can come: the library tells it only after it has
/// waited for the calls under way.
pub(crate) struct Input<R> {
    reader: R,
    ended: CancellationToken,
}

impl<R> Input<R> {
    pub(crate) fn new(reader: R, ended: CancellationToken) -> Self {
        Self { reader, ended }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.reader).poll_read(context, buffer));
        let is_over = read.is_err() || (buffer.filled().len() == before && buffer.remaining() > 0);
        if is_over {
            self.ended.cancel();
        }
        Poll::Ready(read)
    }
}
