//! Measures the disk space that a run takes, and decides when its record is full.

use std::fs;
use std::time::{Duration, Instant};

use crate::run_dir::RunDir;

/// The time for which a look at the files that others write holds good.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The number of bytes that we may write before we look again.
const LOOK_AGAIN_AFTER: u64 = 16 << 20;

/// The disk space that the files of one run take.
#[derive(Debug)]
pub(crate) struct DiskUse {
    limit: u64,
    /// The size of the directory at the last look.
    found: u64,
    /// The bytes that we have written since.
    written: u64,
    looked_at: Option<Instant>,
    is_full: bool,
}

impl DiskUse {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            limit,
            found: 0,
            written: 0,
            looked_at: None,
            is_full: false,
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns whether this number of bytes of the child may be written. Once the answer was no, it
    /// stays no.
    pub(crate) fn has_room_for(&mut self, bytes: usize, directory: &RunDir) -> bool {
        if self.is_full {
            return false;
        }
        let is_old = |at: Instant| at.elapsed() >= LOOK_AGAIN;
        if self.written >= LOOK_AGAIN_AFTER || self.looked_at.is_none_or(is_old) {
            self.found = size_of(directory);
            self.written = 0;
            self.looked_at = Some(Instant::now());
        }
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.is_full = self
            .found
            .saturating_add(self.written)
            .saturating_add(bytes)
            > self.limit;
        !self.is_full
    }

    /// Counts written bytes.
    pub(crate) fn add(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.written = self.written.saturating_add(bytes);
    }

    /// Returns the sentence about a limit that was reached.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "its record has reached the limit of {} (maxRunDisk in settings.json); what its \
             sub-agent said after that is not recorded, except its answer",
            in_words(self.limit)
        )
    }
}

/// Returns the size of a run's files, without those that it shares with other runs.
fn size_of(directory: &RunDir) -> u64 {
    let entries = fs::read_dir(directory.path()).into_iter().flatten();
    // A link leads to a session that other runs continue too.
    let files = entries.flatten().filter_map(|entry| entry.metadata().ok());
    files
        .filter(fs::Metadata::is_file)
        .map(|file| file.len())
        .sum()
}

fn in_words(bytes: u64) -> String {
    const MEGABYTE: u64 = 1_000_000;
    if bytes.is_multiple_of(1000 * MEGABYTE) {
        format!("{} GB", bytes / (1000 * MEGABYTE))
    } else {
        format!("{} MB", bytes / MEGABYTE)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_others_wrote_counts_and_full_stays_full() {
        let home = tempfile::tempdir().unwrap();
        let directory = RunDir::new(home.path());
        fs::write(directory.child_session(), vec![0; 600]).unwrap();
        let mut disk = DiskUse::new(1000);
        assert!(disk.has_room_for(300, &directory));
        disk.add(300);
        assert!(disk.has_room_for(100, &directory));
        assert!(!disk.has_room_for(101, &directory));
        assert!(!disk.has_room_for(1, &directory));
    }

    #[test]
    fn limits_read_as_people_write_them() {
        assert_eq!(in_words(1_000_000_000), "1 GB");
        assert_eq!(in_words(20_000_000), "20 MB");
        assert_eq!(in_words(1_500_000_000), "1500 MB");
    }
}
