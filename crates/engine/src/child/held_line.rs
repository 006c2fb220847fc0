//! One line in memory, from its first byte until the last of its users drops it.

use bytes::Bytes;
use memmap2::MmapMut;

use super::memory::Hold;

/// The longest line that is held.
const LONGEST_LINE: usize = 8 << 20;

/// Lines up to this size are neither accounted for nor given memory of their own.
const SMALL_LINE: usize = 64 << 10;

/// The number of bytes that a large line takes from the budget at a time.
const STEP: usize = 256 << 10;

/// A line that became too long to be held, or for which there is no memory left.
#[derive(Debug)]
pub(super) struct TooLong;

/// The bytes of a line that is being read.
#[derive(Debug)]
pub(super) struct HeldLine {
    bytes: Storage,
    hold: Hold,
    /// The number of bytes of the line that the budget knows of.
    accounted: usize,
}

#[derive(Debug)]
enum Storage {
    Small(Vec<u8>),
    /// Memory of its own goes back to the system whole, where the allocator would keep pieces.
    /// It is mapped at full length and taken page by page, so it never has to be moved.
    Large {
        map: MmapMut,
        length: usize,
    },
}

impl HeldLine {
    /// Makes an empty line that takes its share of the budget through `hold`.
    pub(super) fn new(hold: Hold) -> Self {
        Self {
            bytes: Storage::Small(Vec::new()),
            hold,
            accounted: SMALL_LINE,
        }
    }

    /// Adds bytes. Adds none of them if the line would become too long.
    pub(super) fn extend(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        let length = self.as_ref().len() + bytes.len();
        if length > LONGEST_LINE {
            return Err(TooLong);
        }
        while self.accounted < length {
            if !self.hold.grow(STEP) {
                return Err(TooLong);
            }
            self.accounted += STEP;
        }
        if length > SMALL_LINE {
            self.grow_large()?;
        }
        match &mut self.bytes {
            Storage::Small(small) => small.extend_from_slice(bytes),
            Storage::Large { map, length } => {
                map[*length..*length + bytes.len()].copy_from_slice(bytes);
                *length += bytes.len();
            }
        }
        Ok(())
    }

    /// Moves a small line to memory of its own.
    fn grow_large(&mut self) -> Result<(), TooLong> {
        if let Storage::Small(small) = &self.bytes {
            let mut map = MmapMut::map_anon(LONGEST_LINE).map_err(|_| TooLong)?;
            map[..small.len()].copy_from_slice(small);
            let length = small.len();
            self.bytes = Storage::Large { map, length };
        }
        Ok(())
    }

    /// Returns the whole line. Its share of the budget is given back when its last user drops it.
    pub(super) fn into_bytes(self) -> Bytes {
        match self.bytes {
            Storage::Small(small) => Bytes::from(small),
            Storage::Large { .. } => Bytes::from_owner(self),
        }
    }
}

impl AsRef<[u8]> for HeldLine {
    fn as_ref(&self) -> &[u8] {
        match &self.bytes {
            Storage::Small(small) => small,
            Storage::Large { map, length } => &map[..*length],
        }
    }
}
