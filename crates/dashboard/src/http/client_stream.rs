//! A client's connection that is closed when the client takes none of the written bytes, and that
//! stays open until the client has read its answer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::limits::Limits;

/// Writing fails when it makes no progress for a while. Reading has no limit: a client that waits
/// for an answer sends nothing.
///
/// Shutting down ends the sending, then reads away what the client still sends, for a limited time.
/// Closing with bytes unread would reset the connection, and a client in the middle of a large body
/// may then never see why it was refused (RFC 9112, section 9.6).
#[derive(Debug)]
pub(super) struct ClientStream<S> {
    stream: S,
    limits: Limits,
    /// Runs while the stream takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Runs from the end of the sending on.
    lingers: Option<Pin<Box<Sleep>>>,
}

impl<S> ClientStream<S> {
    pub(super) fn new(stream: S, limits: Limits) -> Self {
        Self { stream, limits, stalled: None, lingers: None }
    }

    /// Notes the result of an attempt to write.
    fn judge(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let begin = || Box::pin(tokio::time::sleep(self.limits.stall_time));
        let stalled = self.stalled.get_or_insert_with(begin);
        stalled.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ClientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.lingers.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
        }
        let begin = || Box::pin(tokio::time::sleep(this.limits.linger_time));
        // Asked before reading, which may take all that the runtime lets a task do at once.
        if this.lingers.get_or_insert_with(begin).as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        loop {
            let mut bytes = [0; 8_192];
            let mut unread = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut this.stream).poll_read(context, &mut unread));
            if read.is_err() || unread.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
