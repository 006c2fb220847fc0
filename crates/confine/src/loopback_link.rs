//! The loopback interface of a new network namespace.

use std::io;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};

/// `RTM_NEWLINK`: change a link.
const CHANGE_LINK: u16 = 16;
/// `NLM_F_REQUEST | NLM_F_ACK`.
const REQUEST_WITH_ANSWER: u16 = 1 | 4;
/// `NLMSG_ERROR`: the answer; the number in it is zero if all went well.
const ANSWER: u16 = 2;
/// The loopback interface is the first one of every namespace.
const LOOPBACK: i32 = 1;
/// `IFF_UP`.
const UP: u32 = 1;

/// Switches the interface on; its addresses come with that.
pub(crate) fn switch_on() -> io::Result<()> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let kernel = SocketAddrNetlink::new(0, 0);
    sendto(&socket, &request(), SendFlags::empty(), &kernel)?;
    let mut answer = [0; 64];
    let (length, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    refusal(answer.get(..length).unwrap_or_default()).map_or(Ok(()), Err)
}

/// Writes the message: a header of 16 bytes, and the link with its new flags.
fn request() -> [u8; 32] {
    let mut message = [0; 32];
    message[..4].copy_from_slice(&32_u32.to_ne_bytes());
    message[4..6].copy_from_slice(&CHANGE_LINK.to_ne_bytes());
    message[6..8].copy_from_slice(&REQUEST_WITH_ANSWER.to_ne_bytes());
    message[20..24].copy_from_slice(&LOOPBACK.to_ne_bytes());
    message[24..28].copy_from_slice(&UP.to_ne_bytes());
    message[28..32].copy_from_slice(&UP.to_ne_bytes());
    message
}

/// Returns the error that an answer holds.
fn refusal(answer: &[u8]) -> Option<io::Error> {
    let kind = answer.get(4..6).map(|bytes| [bytes[0], bytes[1]]);
    let number = answer.get(16..20).and_then(|bytes| bytes.try_into().ok());
    match (kind.map(u16::from_ne_bytes), number.map(i32::from_ne_bytes)) {
        (Some(ANSWER), Some(0)) => None,
        (Some(ANSWER), Some(number)) => Some(io::Error::from_raw_os_error(-number)),
        _ => Some(io::ErrorKind::InvalidData.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_without_a_number_is_good() {
        let mut answer = [0; 36];
        assert!(refusal(&answer).is_some());
        answer[4] = 2;
        assert!(refusal(&answer).is_none());
        answer[16..20].copy_from_slice(&(-1_i32).to_ne_bytes());
        assert_eq!(refusal(&answer).unwrap().raw_os_error(), Some(1));
        assert!(refusal(&[]).is_some());
    }
}
