//! The descriptors that a child would inherit.

use std::fs;
use std::io;

/// `O_CLOEXEC` in the flags that the kernel shows of a descriptor.
const CLOSED_AT_EXECUTION: u32 = 0o2_000_000;

/// Closes the descriptors that the child would inherit and should not: all but its three streams
/// and those that are kept.
pub(crate) fn close_others(kept: &[i32]) -> io::Result<()> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    for number in numbers {
        if number > 2 && !kept.contains(&number) && is_inherited(number) {
            // It is open, and nobody here owns it.
            nix::unistd::close(number)?;
        }
    }
    Ok(())
}

/// Returns whether an open descriptor survives the execution of a program. Ours do not.
fn is_inherited(number: i32) -> bool {
    let Ok(shown) = fs::read_to_string(format!("/proc/self/fdinfo/{number}")) else {
        // It was the descriptor with which the list was read.
        return false;
    };
    let flags = shown.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_none_or(|flags| flags & CLOSED_AT_EXECUTION == 0)
}
