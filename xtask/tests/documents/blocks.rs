//! The code blocks of a document.

/// The exit code of a command that `timeout` has stopped.
const STOPPED: i32 = 124;

/// A code block with what a comment says about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The line of its first line of text, counted from 1.
    pub(crate) line: usize,
    /// The word behind its fence.
    pub(crate) language: String,
    pub(crate) text: String,
    pub(crate) remark: Remark,
}

/// The comment before a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Remark {
    None,
    /// It is not typed, for the reason in the comment.
    NotTyped,
    /// Its commands serve until somebody stops them.
    Serves,
    /// This command comes first, so that the commands find something.
    First(String),
    /// It is a file; a path without `~` is in the project.
    File(String),
    /// The exit codes of its commands, in order.
    Exits(Vec<i32>),
}

impl Remark {
    /// Returns the exit code that the command at this place of the block should have.
    pub(crate) fn exit_code(&self, place: usize) -> i32 {
        match self {
            Self::Exits(codes) => codes.get(place).copied().unwrap_or(0),
            Self::Serves => STOPPED,
            Self::None | Self::NotTyped | Self::File(_) | Self::First(_) => 0,
        }
    }

    fn of(line: &str) -> Option<Self> {
        let inside = line
            .trim()
            .strip_prefix("<!--")?
            .strip_suffix("-->")?
            .trim();
        let (word, rest) = inside.split_once(':').unwrap_or((inside, ""));
        match word {
            "serves" => Some(Self::Serves),
            "not typed" => Some(Self::NotTyped),
            "first" => Some(Self::First(rest.trim().to_owned())),
            "file" => Some(Self::File(rest.trim().to_owned())),
            "exits" => {
                let codes = rest.split_whitespace().filter_map(|code| code.parse().ok());
                Some(Self::Exits(codes.collect()))
            }
            _ => None,
        }
    }
}

/// Returns the code blocks of a document in order.
pub(crate) fn blocks(document: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    let mut remark = Remark::None;
    for (line, number) in document.lines().zip(1..) {
        let fence = line.trim_start().strip_prefix("```");
        match (&mut open, fence) {
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some(language)) => {
                open = Some(Block {
                    line: number + 1,
                    language: language.trim().to_owned(),
                    text: String::new(),
                    remark: std::mem::replace(&mut remark, Remark::None),
                });
            }
            (None, None) if line.trim().is_empty() => {}
            (None, None) => remark = Remark::of(line).unwrap_or(Remark::None),
        }
    }
    found
}

#[test]
fn a_comment_belongs_to_the_next_block_alone() {
    let document = "<!-- exits: 0 4 -->\n\n```sh\na\nb\n```\n\n```json\n{}\n```\n\
                    <!-- file: a.json -->\nText.\n```json\n```\n";
    let found = blocks(document);
    assert_eq!(found[0].remark, Remark::Exits(vec![0, 4]));
    assert_eq!((found[0].line, found[0].text.as_str()), (4, "a\nb\n"));
    assert_eq!(
        (found[0].remark.exit_code(1), found[0].remark.exit_code(2)),
        (4, 0)
    );
    assert_eq!(
        (&found[1].remark, &found[2].remark),
        (&Remark::None, &Remark::None)
    );
}
