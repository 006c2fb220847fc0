//! Events of any body, cut at any place.

use std::collections::VecDeque;

use pretty_assertions::assert_eq;

use super::{EVENT_BYTES, EventReader, EventTooLong};

/// Bodies that were found by hand or by chance to be worth keeping.
const CORPUS: [(&[u8], &[&str]); 14] = [
    (b"", &[]),
    (b"data: a\n\n", &["a"]),
    (b"data:a\r\n\r\ndata:b\r\rdata: c\n\n", &["a", "b", "c"]),
    (b"data: a\r\r\n\r\ndata: b\n\n", &["a", "b"]),
    (b"data: a\ndata: b\n\n", &["a\nb"]),
    (b"event: x\nid: 1\nretry: 5\ndata: a\n\n", &["a"]),
    (b": comment\n\n:\n\n: data: a\n\n", &[]),
    (b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", &["a"]),
    (b"data: a", &["a"]),
    (b"data: a\ndata: b", &["a\nb"]),
    (b"data:  a \n\ndata\n\ndata:\n\n", &[" a "]),
    (
        b"data: \xff\xc3\n\ndata: \xc3\xa4\n\n",
        &["\u{fffd}\u{fffd}", "ä"],
    ),
    (b"<html>\n\n<body>data: a</body>\n\n{\"error\": 1}", &[]),
    (b"\0\0data: a\n\ndata: \0\n\n", &["\0"]),
];

/// Reads a body in pieces; `cuts` gives their lengths.
fn read(body: &[u8], mut cuts: impl FnMut() -> usize) -> Result<Vec<String>, EventTooLong> {
    let mut reader = EventReader::default();
    let mut events = VecDeque::new();
    let mut rest = body;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(cuts().clamp(1, rest.len()));
        reader.take(piece, &mut events)?;
        rest = behind;
    }
    events.extend(reader.finish());
    Ok(events.into())
}

fn whole(body: &[u8]) -> Vec<String> {
    read(body, || usize::MAX).unwrap()
}

/// A small generator: the same numbers in every run, and no dependency.
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

#[test]
fn the_corpus_is_read_as_written_wherever_it_is_cut() {
    for (body, events) in CORPUS {
        assert_eq!(whole(body), events, "{}", body.escape_ascii());
        for length in 1..=body.len() {
            let cut = read(body, || length).unwrap();
            assert_eq!(cut, events, "{} by {length}", body.escape_ascii());
        }
    }
}

#[test]
fn any_bytes_give_the_same_events_wherever_they_are_cut() {
    // Pieces that mean something to the reader, so that chance meets its rules.
    const PIECES: [&[u8]; 14] = [
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"data:",
        b"data: ",
        b":",
        b"event: x",
        b" ",
        b"\xef\xbb\xbf",
        b"\xc3",
        b"\xa4",
        b"[DONE]",
        b"{\"a\": \"b\"}",
    ];
    let mut chance = Chance(12);
    for _ in 0..3_000 {
        let mut body = Vec::new();
        for _ in 0..chance.next(40) {
            match chance.next(4) {
                0 => body.push(u8::try_from(chance.next(256)).unwrap()),
                _ => body.extend_from_slice(PIECES[chance.next(PIECES.len())]),
            }
        }
        let expected = whole(&body);
        for _ in 0..4 {
            let longest = 1 + chance.next(9);
            let cut = read(&body, || 1 + chance.next(longest)).unwrap();
            assert_eq!(cut, expected, "{}", body.escape_ascii());
        }
    }
}

/// Returns the work per byte of reading one event of `length` bytes in pieces of 1 KB.
fn work_per_byte(length: usize) -> usize {
    let mut reader = EventReader::default();
    let mut events = VecDeque::new();
    let body = [b"data: ", vec![b'x'; length].as_slice(), b"\n\n"].concat();
    for piece in body.chunks(1024) {
        reader.take(piece, &mut events).unwrap();
    }
    assert_eq!(events[0].len(), length);
    reader.work / length
}

#[test]
fn the_work_for_a_byte_does_not_grow_with_the_event() {
    let costs = [1 << 12, 1 << 18, EVENT_BYTES - 10].map(work_per_byte);
    assert!(costs.iter().all(|cost| *cost <= 3), "{costs:?}");
}

#[test]
fn an_event_without_an_end_is_refused_before_it_fills_the_memory() {
    for body in [&b"data: "[..], b": comment ", b"", b"data: a\ndata: "] {
        let mut reader = EventReader::default();
        let mut events = VecDeque::new();
        reader.take(body, &mut events).unwrap();
        let taken = (0..EVENT_BYTES).find(|_| reader.take(&[b'x'; 4096], &mut events).is_err());
        assert!(
            taken.unwrap() <= EVENT_BYTES / 4096,
            "{}",
            body.escape_ascii()
        );
        assert!(reader.line.capacity() <= 2 * EVENT_BYTES);
    }
    // Many short lines of one event do not evade the limit.
    let mut reader = EventReader::default();
    let mut events = VecDeque::new();
    let line = b"data: 0123456789012345678901234567890123456789\n".repeat(100);
    assert!((0..EVENT_BYTES / 1000).any(|_| reader.take(&line, &mut events).is_err()));
}
