//! Decides which bytes of a chunk are new to a reader.

/// The reader's use of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkFit {
    /// The reader has the whole chunk.
    Known,
    /// The reader appends the chunk without this number of bytes at its beginning.
    New(usize),
    /// The reader lacks bytes that come before it. They come again, or they are lost.
    Gap,
}

/// Returns the use of `length` bytes from place `at` on, for a reader that has `have` bytes of a
/// file.
pub fn chunk_fit(have: u64, at: u64, length: usize) -> ChunkFit {
    let Some(known) = have.checked_sub(at) else {
        return ChunkFit::Gap;
    };
    match usize::try_from(known) {
        Ok(known) if known < length => ChunkFit::New(known),
        Ok(_) | Err(_) => ChunkFit::Known,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_chunk_is_taken_from_the_first_byte_that_is_new() {
        assert_eq!(chunk_fit(0, 0, 5), ChunkFit::New(0));
        assert_eq!(chunk_fit(10, 10, 5), ChunkFit::New(0));
        assert_eq!(chunk_fit(12, 10, 5), ChunkFit::New(2));
        assert_eq!(chunk_fit(15, 10, 5), ChunkFit::Known);
        assert_eq!(chunk_fit(10, 10, 0), ChunkFit::Known);
        assert_eq!(chunk_fit(9, 10, 5), ChunkFit::Gap);
        assert_eq!(chunk_fit(u64::MAX, 0, 5), ChunkFit::Known);
    }

    proptest! {
        /// Leaves the reader with the bytes of the file and nothing else, wherever the sender goes
        /// back and whichever chunks are lost until it does.
        #[test]
        fn whatever_comes_twice_or_again_leaves_the_same_bytes(
            file in proptest::collection::vec(any::<u8>(), 0..200),
            sends in proptest::collection::vec((0_usize..200, 1_usize..40, any::<bool>()), 0..60),
        ) {
            let mut copy: Vec<u8> = Vec::new();
            let mut take = |at: usize, length: usize| {
                let at = at.min(file.len());
                let bytes = &file[at..(at + length).min(file.len())];
                if let ChunkFit::New(known) = chunk_fit(copy.len() as u64, at as u64, bytes.len()) {
                    copy.extend_from_slice(&bytes[known..]);
                }
                copy.len()
            };
            for (at, length, is_lost) in sends {
                if !is_lost {
                    take(at, length);
                }
            }
            // The last go-back sends everything in order.
            for at in (0..file.len()).step_by(7) {
                take(at, 7);
            }
            prop_assert_eq!(copy, file);
        }
    }
}
