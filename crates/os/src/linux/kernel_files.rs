//! Files that the kernel makes.

use std::ffi::OsStr;
use std::path::Path;

/// Returns whether a file of the kernel counts as regular and keeps its readers waiting.
pub fn keeps_readers_waiting(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    let is_of_kernel = path.starts_with("/proc") || path.starts_with("/sys");
    is_of_kernel && name.is_some_and(|name| ["kmsg", "trace_pipe"].contains(&name))
}
