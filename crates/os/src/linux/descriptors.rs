//! Descriptors. The kernel makes them closed for other programs in one step, so nothing has to be
//! held back while a process is started.

use std::fs::{self, File};
use std::io::{self, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{Descriptors, System};

impl Descriptors for System {
    fn starting<T>(start: impl FnOnce() -> T) -> T {
        start()
    }

    fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
        Ok(pipe_with(PipeFlags::CLOEXEC)?)
    }

    /// A pipe takes 64 KiB, and less once the user has very many pipes. A write that would wait for
    /// a reader is therefore not made at all.
    fn filled_pipe(content: &[u8]) -> io::Result<Option<OwnedFd>> {
        let (reading, writing) = Self::pipe()?;
        fcntl_setfl(&writing, fcntl_getfl(&writing)? | OFlags::NONBLOCK)?;
        match File::from(writing).write_all(content) {
            Ok(()) => Ok(Some(reading)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn socket_pair() -> io::Result<(UnixStream, UnixStream)> {
        UnixStream::pair()
    }

    fn send(socket: &UnixStream, byte: u8, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let bytes = [byte];
        sendmsg(
            socket,
            &[IoSlice::new(&bytes)],
            &mut ancillary,
            SendFlags::NOSIGNAL,
        )?;
        Ok(())
    }

    fn receive(socket: &UnixStream) -> io::Result<(u8, Vec<OwnedFd>)> {
        let mut byte = [0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        recvmsg(
            socket,
            &mut [IoSliceMut::new(&mut byte)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        let mut received = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                received.extend(descriptors);
            }
        }
        Ok((byte[0], received))
    }

    /// Opened by its name: making a descriptor from a number is nothing safe code can do.
    fn inherited_pipe(number: u32) -> io::Result<Option<File>> {
        let path = format!("/proc/self/fd/{number}");
        if !fs::metadata(&path)?.file_type().is_fifo() {
            return Ok(None);
        }
        File::open(path).map(Some)
    }

    fn open_count() -> usize {
        fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
    }

    fn limit() -> Option<u64> {
        getrlimit(Resource::Nofile).current
    }

    fn raise_limit() -> Option<u64> {
        let limit = getrlimit(Resource::Nofile);
        set_limit(limit.maximum);
        limit.current
    }

    fn lower_limit(limit: u64) {
        set_limit(Some(limit));
    }

    fn wait_for_hang_up(stream: BorrowedFd<'_>) -> io::Result<()> {
        loop {
            let mut watched = [PollFd::from_borrowed_fd(stream, PollFlags::RDHUP)];
            match poll(&mut watched, None) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn set_limit(current: Option<u64>) {
    let rest = getrlimit(Resource::Nofile);
    // A limit can always be lowered, and with the usual one a few hundred children still fit.
    _ = setrlimit(Resource::Nofile, Rlimit { current, ..rest });
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::fd::{AsFd as _, AsRawFd as _};

    use super::*;

    #[test]
    fn a_pipe_is_filled_only_if_nobody_has_to_read_meanwhile() {
        let mut read = Vec::new();
        let pipe = System::filled_pipe(b"secret").unwrap().unwrap();
        File::from(pipe).read_to_end(&mut read).unwrap();
        assert_eq!(read, b"secret");
        assert!(System::filled_pipe(&vec![b'x'; 1 << 20]).unwrap().is_none());
    }

    #[test]
    fn descriptors_arrive_in_their_order() {
        let (ours, theirs) = System::socket_pair().unwrap();
        let pipes = ["a", "b"].map(|text| System::filled_pipe(text.as_bytes()).unwrap().unwrap());
        let sent = pipes.each_ref().map(OwnedFd::as_fd);
        System::send(&ours, b'!', &sent).unwrap();
        let (byte, received) = System::receive(&theirs).unwrap();
        let texts = received.into_iter().map(|descriptor| {
            let mut text = String::new();
            File::from(descriptor).read_to_string(&mut text).unwrap();
            text
        });
        let texts: Vec<String> = texts.collect();
        assert_eq!((byte, texts), (b'!', vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn only_a_pipe_is_an_inherited_pipe() {
        let pipe = System::filled_pipe(b"x").unwrap().unwrap();
        let number = |descriptor: &OwnedFd| descriptor.as_raw_fd().unsigned_abs();
        assert!(System::inherited_pipe(number(&pipe)).unwrap().is_some());
        let file = OwnedFd::from(tempfile::tempfile().unwrap());
        assert!(System::inherited_pipe(number(&file)).unwrap().is_none());
        assert!(System::inherited_pipe(1 << 30).is_err());
    }
}
