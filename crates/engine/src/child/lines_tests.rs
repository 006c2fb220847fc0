use pi_subagents_vocabulary::{Message, Part};
use pretty_assertions::assert_eq;

use super::*;
use crate::partial_feed::{Extent, PartialReader};

fn reader() -> LineReader {
    LineReader::new(LineMemory::new(24 << 20), None)
}

/// Feeds the output in pieces of `size` bytes and describes the lines.
fn read_in_pieces(output: &[u8], size: usize) -> Vec<String> {
    let mut reader = reader();
    let mut lines = Vec::new();
    for piece in output.chunks(size) {
        reader.feed(piece, &mut lines);
    }
    reader.finish(&mut lines);
    lines.iter().map(describe).collect()
}

fn describe(line: &Line) -> String {
    match line {
        Line::Record { record, .. } => format!("{record:?}"),
        Line::Text(line) => format!("text {:?}", String::from_utf8_lossy(line)),
        Line::ToolReported => "tool reported".to_owned(),
    }
}

const OUTPUT: &str = concat!(
    "{\"type\":\"agent_start\"}\n",
    "{\"type\":\"message_start\",\"message\":{}}\n",
    "{\"type\":\"message_update\",\"delta\":\"x\"}\n",
    "{\"type\":\"tool_execution_update\",\"partialResult\":{}}\n",
    "hello \u{2028} wörld\r\n",
    "\n",
    "null\n",
    "{\"no\":\"type\"}\n",
    "{\"type\":5}\n",
    "{\"type\":\"from_the_future\"}\n",
    "{\"id\":\"1\",\"type\":\"agent_settled\"}",
);

#[test]
fn the_same_lines_come_out_however_the_bytes_arrive() {
    let whole = read_in_pieces(OUTPUT.as_bytes(), OUTPUT.len());
    assert_eq!(
        whole,
        [
            "AgentStarted",
            "tool reported",
            "text \"hello \\u{2028} wörld\"",
            "text \"null\"",
            "text \"{\\\"no\\\":\\\"type\\\"}\"",
            "text \"{\\\"type\\\":5}\"",
            "Other { kind: \"from_the_future\" }",
            "Settled",
        ]
    );
    for size in 1..40 {
        assert_eq!(read_in_pieces(OUTPUT.as_bytes(), size), whole, "{size}");
    }
}

#[test]
fn invalid_utf8_becomes_text() {
    assert_eq!(
        read_in_pieces(b"a\xff\xfeb\n{\"type\":\"x\xff\"}\n", 3),
        [
            "text \"a\u{fffd}\u{fffd}b\"",
            "text \"{\\\"type\\\":\\\"x\u{fffd}\\\"}\""
        ]
    );
}

fn answer_of(bytes: usize) -> Vec<u8> {
    let opening = br#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":""#;
    [opening.as_slice(), &vec![b'x'; bytes], b"\"}]}}\n"].concat()
}

fn text_of(line: &Line) -> String {
    match line {
        Line::Record {
            record: ChildRecord::MessageEnded(Message::Assistant(answer)),
            ..
        } => match answer.parts.as_slice() {
            [Part::Text(text)] => text.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{}", describe(other)),
    }
}

#[test]
fn a_line_of_megabytes_is_held_and_given_back() {
    let memory = LineMemory::new(24 << 20);
    let mut reader = LineReader::new(memory.clone(), None);
    let mut lines = Vec::new();
    for piece in answer_of(7 << 20).chunks(65_536) {
        reader.feed(piece, &mut lines);
    }
    assert_eq!(text_of(&lines[0]).len(), 7 << 20);
    assert!(!memory.hold().grow(20 << 20));
    lines.clear();
    assert!(memory.hold().grow(24 << 20));
}

#[test]
fn a_longer_line_goes_to_a_file_and_the_next_line_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let mut reader = LineReader::new(
        LineMemory::new(24 << 20),
        Some(directory.path().to_path_buf()),
    );
    let mut lines = Vec::new();
    let long = answer_of(9 << 20);
    for piece in long.chunks(65_536) {
        reader.feed(piece, &mut lines);
    }
    reader.feed(b"{\"type\":\"agent_settled\"}\n", &mut lines);
    assert_eq!(
        text_of(&lines[0]),
        format!(
            "[a line of {} bytes was written to long-line-1.txt in the run directory]",
            long.len() - 1
        )
    );
    assert_eq!(describe(&lines[1]), "Settled");
    let written = std::fs::read(directory.path().join("long-line-1.txt")).unwrap();
    assert_eq!(written, &long[..long.len() - 1]);
}

#[test]
fn long_lines_take_no_more_of_the_disk_than_they_may() {
    let directory = tempfile::tempdir().unwrap();
    let mut reader = LineReader::new(
        LineMemory::new(24 << 20),
        Some(directory.path().to_path_buf()),
    )
    .with_long_line_room(10 << 20);
    let mut lines = Vec::new();
    for _ in 0..2 {
        for piece in answer_of(9 << 20).chunks(65_536) {
            reader.feed(piece, &mut lines);
        }
    }
    assert!(text_of(&lines[0]).ends_with("written to long-line-1.txt in the run directory]"));
    assert!(text_of(&lines[1]).ends_with(
        "written to long-line-2.txt in the run directory, as far as maxRunDisk in settings.json lets it]"
    ));
    let length = |name: &str| {
        std::fs::metadata(directory.path().join(name))
            .unwrap()
            .len()
    };
    assert_eq!(
        length("long-line-1.txt") + length("long-line-2.txt"),
        10 << 20
    );
}

#[test]
fn when_memory_is_used_up_a_line_is_spilled_early_and_nothing_waits() {
    let memory = LineMemory::new(2 << 20);
    let mut all_of_it = memory.hold();
    assert!(all_of_it.grow(2 << 20));
    let mut reader = LineReader::new(memory, None);
    let mut lines = Vec::new();
    for piece in answer_of(1 << 20).chunks(65_536) {
        reader.feed(piece, &mut lines);
    }
    assert!(text_of(&lines[0]).ends_with("was lost: the run has no directory]"));
}

#[test]
fn updates_of_messages_are_fed_while_somebody_reads_and_skipped_otherwise() {
    let mut reader = reader();
    let feed = PartialFeed::new(Arc::default());
    reader.feed_partial(feed.clone());
    let piece = |text: &str| {
        format!(
            r#"{{"type":"message_update","assistantMessageEvent":{{"type":"text_end","contentIndex":0,"content":"{text}"}}}}"#
        ) + "\n"
    };
    let answer =
        "{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":\"x\"}}\n";
    let mut lines = Vec::new();
    reader.feed(piece("unread").as_bytes(), &mut lines);
    let mut read = feed.subscribe(Extent::Whole);
    read.begin_now();
    assert_eq!(text(&mut read), (0, String::new()));
    for byte in piece("read").as_bytes() {
        reader.feed(&[*byte], &mut lines);
    }
    assert_eq!(text(&mut read), (0, "read".to_owned()));
    reader.feed(piece(&"long".repeat(1 << 20)).as_bytes(), &mut lines);
    assert_eq!(read.news(), None);
    assert_eq!(lines, []);
    reader.feed(answer.as_bytes(), &mut lines);
    assert_eq!((lines.len(), text(&mut read)), (1, (1, String::new())));
}

/// Returns the number and the text of the message if it is new.
fn text(reader: &mut PartialReader) -> (usize, String) {
    let message = reader.news().unwrap();
    (message.number, message.text)
}

proptest::proptest! {
    #[test]
    fn any_bytes_in_any_pieces_are_the_same_lines(
        bytes in proptest::collection::vec(any_byte(), 0..400),
        cuts in proptest::collection::vec(1..60_usize, 1..40),
    ) {
        let whole = read_in_pieces(&bytes, bytes.len().max(1));
        let mut reader = reader();
        let mut lines = Vec::new();
        let (mut rest, mut cuts) = (bytes.as_slice(), cuts.iter().cycle());
        while !rest.is_empty() {
            let cut = cuts.next().map_or(1, |cut| rest.len().min(*cut));
            reader.feed(&rest[..cut], &mut lines);
            rest = &rest[cut..];
        }
        reader.finish(&mut lines);
        let cut: Vec<String> = lines.iter().map(describe).collect();
        proptest::prop_assert_eq!(cut, whole);
    }
}

/// Draws a byte, more often a byte that has a meaning in lines or records.
fn any_byte() -> impl proptest::strategy::Strategy<Value = u8> {
    let meaning = b"\n\n\r{}\"\":,[]type message_update\\".to_vec();
    proptest::prop_oneof![
        3 => proptest::sample::select(meaning),
        1 => proptest::num::u8::ANY,
    ]
}
