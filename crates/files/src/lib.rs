//! # Files that a stranger may have prepared
//!
//! A project comes from somewhere, and a run's record lies in a project. Whatever is opened there
//! may be a link to a secret, a pipe that never ends, a device, or larger than memory. This crate
//! is the one place that opens, reads and writes such files:
//!
//! - [`Directory`] opens files relative to a directory that is held open. The `plain` methods
//!   follow no link at all; the `beneath` methods follow a link if it stays inside the directory.
//! - [`read_own`] and [`open_own`] are for files of the user, such as those of the agent directory,
//!   which may be links to wherever the user keeps them.
//! - All of them open regular files only, never wait for a pipe, and never read more than the limit
//!   that the caller gives. A [`FileRefusal`] says why a file was not read.
//! - [`Directory::remove_tree`] removes a directory with all it holds, and never what a link inside
//!   leads to.
//! - [`Directory::exchange`] lets two files take each other's place in one step.
//! - Written files are for the user alone, and a reader never sees half a file ([`write_whole`]).
//! - Locks between processes ([`lock_file`], [`try_lock`]) are waited for only so long, and an error
//!   names who holds them.
//! - [`Ownership`] answers whether a directory belongs to the user and whether somebody else may
//!   write into it; [`is_protected`] answers it for a path with all that lies above it.
//! - [`NeverProjects`] decides which directory is the project and which of those above may be
//!   looked at.
//!
//! The crate reads no environment.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests make the files that they read"
    )
)]

mod directory;
mod directory_entries;
mod exchange;
mod lock;
mod opening;
mod own_files;
mod ownership;
mod projects;
mod refusal;
mod regular_files;
mod removal;
mod whole_files;

pub use directory::Directory;
pub use directory_entries::DirectoryEntry;
pub use exchange::EntryKind;
pub use lock::{
    HeldLock, LockError, PassingLock, is_named, lock_directory, lock_file, remove_free_lock,
    share_file, share_open, try_lock,
};
pub use own_files::{
    append_own, create_directories, create_new, open_own, open_plain, read_own, read_own_text,
    replace, sync, write_whole, write_whole_once,
};
pub use ownership::{Ownership, is_protected, ownership};
pub use projects::NeverProjects;
pub use refusal::{FileRefusal, is_absent};
pub use regular_files::read_bounded;
pub use whole_files::Audience;
