//! The reason why an existing file is not read.

use std::io;

/// The reason for which a file was not opened or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileRefusal {
    /// It is a directory, a pipe, a socket or a device.
    #[error("it is not a regular file")]
    NotRegular,
    /// It lies in a file system whose files are made up by the kernel, such as `/proc`.
    #[error("it is not a file on a disk")]
    MadeUp,
    /// It holds more than the caller wants to read.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// The number of bytes that would have been read.
        limit: u64,
    },
    /// It is a link, or lies behind a link.
    #[error("it is a link")]
    Link,
    /// It is a link that leads out of the directory.
    #[error("it leads out of the directory it belongs to")]
    LeadsOut,
    /// The directory holds more entries than the caller wants to see.
    #[error("it holds more than {limit} entries")]
    TooMany {
        /// The number of entries that would have been listed.
        limit: usize,
    },
    /// Directories lie inside each other deeper than we look.
    #[error("its directories lie inside each other too deep")]
    TooDeep,
}

impl FileRefusal {
    /// Returns the refusal behind an error, if there is one.
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref::<Self>().copied()
    }
}

/// Returns whether an error means that there is no such file. This includes a file in the place of
/// one of its directories.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

impl From<FileRefusal> for io::Error {
    fn from(refusal: FileRefusal) -> Self {
        let kind = match refusal {
            FileRefusal::TooLarge { .. } | FileRefusal::TooMany { .. } => {
                io::ErrorKind::FileTooLarge
            }
            FileRefusal::NotRegular
            | FileRefusal::MadeUp
            | FileRefusal::Link
            | FileRefusal::LeadsOut
            | FileRefusal::TooDeep => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, refusal)
    }
}
