//! The lines of a record, each up to a length: a longer one comes of damage, and is passed over.

use std::io::{self, BufRead};

/// Longer lines are not written.
pub(crate) const LONGEST_LINE: u64 = 64 << 20;

/// Reads the next line with its end; returns false behind the last one. A line that is too long
/// comes empty.
pub(crate) fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = io::Read::take(&mut *reader, LONGEST_LINE).read_until(b'\n', line)?;
    let is_cut = read as u64 == LONGEST_LINE && line.last() != Some(&b'\n');
    if is_cut {
        // The memory is given back too.
        *line = Vec::new();
        reader.skip_until(b'\n')?;
    }
    Ok(read > 0)
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read as _, repeat};

    use super::*;

    #[test]
    fn a_line_that_is_too_long_comes_empty_and_the_next_is_whole() {
        let long = repeat(b'x').take(LONGEST_LINE + 9);
        let text = b"a\n".chain(long).chain(&b"\nb\nlast"[..]);
        let mut reader = BufReader::new(text);
        let mut line = Vec::new();
        let mut lines = Vec::new();
        while next_line(&mut reader, &mut line).unwrap() {
            lines.push(String::from_utf8(line.clone()).unwrap());
        }
        assert_eq!(lines, ["a\n", "", "b\n", "last"]);
    }
}
