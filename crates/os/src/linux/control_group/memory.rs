//! The memory that the groups of this process leave it.

use std::fs;
use std::path::Path;

use super::own_directory;

/// Returns the bytes that the tightest group around this process still allows; `None` if no group
/// has a limit.
pub(in crate::system) fn free_memory() -> Option<u64> {
    let own = own_directory()?;
    own.ancestors().filter_map(free_in).min()
}

fn free_in(directory: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(directory.join(name)).ok();
    free(
        &read("memory.max")?,
        &read("memory.current")?,
        &read("memory.stat")?,
    )
}

/// Returns what is free of a limit. Pages of files that nobody uses now are given up when needed.
fn free(limit: &str, used: &str, stat: &str) -> Option<u64> {
    // A group without a limit has the word `max` there.
    let limit: u64 = limit.trim().parse().ok()?;
    let used: u64 = used.trim().parse().ok()?;
    let idle = stat
        .lines()
        .find_map(|line| line.strip_prefix("inactive_file "));
    let idle: u64 = idle
        .and_then(|bytes| bytes.trim().parse().ok())
        .unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(idle)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_leaves_what_is_not_used_and_what_can_be_given_up() {
        let stat = "anon 5\ninactive_file 100\nactive_file 7\n";
        assert_eq!(free("1000\n", "700\n", stat), Some(400));
        assert_eq!(free("1000\n", "1200\n", stat), Some(0));
        assert_eq!(free("max\n", "700\n", stat), None);
        assert_eq!(free("1000\n", "700\n", ""), Some(300));
    }
}
