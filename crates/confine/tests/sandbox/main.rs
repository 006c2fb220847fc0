//! The sandbox, tried by processes that want to leave it, and by tools that must work in it. The
//! tests need user namespaces and Landlock; on a machine without them they fail and say so.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]
#![expect(
    clippy::print_stderr,
    reason = "what is not tried on this machine is said aloud"
)]

mod escapes;
mod faults;
mod stage;
mod tools;
