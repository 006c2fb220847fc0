//! The look of one path on disk: its kind, its permissions and a hash of its content.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use pi_subagents_files::{Directory, EntryKind, FileRefusal, is_absent};
use ring::digest::{Context, SHA256};

/// The look of something on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Look {
    /// A regular file.
    File {
        /// Its permissions.
        mode: u32,
        /// The SHA-256 of its content.
        hash: String,
    },
    /// A link.
    Link {
        /// The SHA-256 of where it leads.
        hash: String,
    },
    /// A pipe, a socket or a device.
    Other,
}

impl Look {
    /// Looks at an entry of a directory; `None` if there is none, or only a directory: git knows
    /// files, and an empty directory makes room for one.
    pub(super) fn at(directory: &Directory, name: &Path) -> io::Result<Option<Self>> {
        let looked = match directory.entry_kind(name)? {
            None | Some(EntryKind::Directory) => return Ok(None),
            Some(EntryKind::File) => directory.open_file(name).and_then(of_file),
            Some(EntryKind::Link) => directory.link_target(name).map(|target| Self::Link {
                hash: hash_of(&target),
            }),
            Some(EntryKind::Other) => Ok(Self::Other),
        };
        match looked {
            Ok(look) => Ok(Some(look)),
            Err(error) if is_absent(&error) => Ok(None),
            // Something else has taken its place in this moment.
            Err(error) if FileRefusal::of(&error).is_some() => Ok(Some(Self::Other)),
            Err(error) => Err(error),
        }
    }

    /// Writes it as a word that [`Look::from_word`] reads.
    pub(super) fn to_word(look: Option<&Self>) -> String {
        match look {
            None => "none".to_owned(),
            Some(Self::File { mode, hash }) => format!("file:{mode:o}:{hash}"),
            Some(Self::Link { hash }) => format!("link:{hash}"),
            Some(Self::Other) => "other".to_owned(),
        }
    }

    /// Reads such a word. The outer `None` means that it is no such word.
    #[expect(clippy::option_option, reason = "no file is a look too")]
    pub(super) fn from_word(word: &str) -> Option<Option<Self>> {
        let mut parts = word.split(':');
        let look = match (parts.next()?, parts.next(), parts.next()) {
            ("none", None, None) => None,
            ("other", None, None) => Some(Self::Other),
            ("link", Some(hash), None) => Some(Self::Link {
                hash: hash.to_owned(),
            }),
            ("file", Some(mode), Some(hash)) => Some(Self::File {
                mode: u32::from_str_radix(mode, 8).ok()?,
                hash: hash.to_owned(),
            }),
            _ => return None,
        };
        Some(look)
    }
}

fn of_file(mut file: File) -> io::Result<Look> {
    let mode = file.metadata()?.permissions().mode() & 0o7777;
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => context.update(&buffer[..read]),
        }
    }
    Ok(Look::File {
        mode,
        hash: hex(context.finish().as_ref()),
    })
}

fn hash_of(content: &[u8]) -> String {
    hex(ring::digest::digest(&SHA256, content).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_read_as_it_was_written() {
        let file = Look::File {
            mode: 0o644,
            hash: hash_of(b"x"),
        };
        let link = Look::Link {
            hash: hash_of(b"y"),
        };
        for look in [None, Some(file), Some(link), Some(Look::Other)] {
            let word = Look::to_word(look.as_ref());
            assert_eq!(Look::from_word(&word), Some(look), "{word}");
        }
        for word in ["", "file", "file:9:x", "link", "none:x", "other:1:2", "x"] {
            assert_eq!(Look::from_word(word), None, "{word}");
        }
    }
}
