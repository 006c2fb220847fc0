//! Writes ar archives, which is what a Debian package is.

use super::packed_file::{PackedFile, TIME};

/// Returns an archive of the files in the order in which they are given.
pub(super) fn ar(files: &[PackedFile]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for file in files {
        let header = format!(
            "{:<16}{TIME:<12}{:<6}{:<6}{:<8o}{:<10}`\n",
            file.path,
            0,
            0,
            0o100_000 | file.mode,
            file.bytes.len()
        );
        archive.extend(header.into_bytes());
        archive.extend(&file.bytes);
        if file.bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_odd_length_is_filled_up() {
        let files = [
            PackedFile::text("debian-binary", "2.0\n"),
            PackedFile::text("odd", "x"),
            PackedFile::text("even", "ab"),
        ];
        let archive = String::from_utf8(ar(&files)).unwrap();
        assert_eq!(
            archive,
            "!<arch>\n\
             debian-binary   1767225600  0     0     100644  4         `\n2.0\n\
             odd             1767225600  0     0     100644  1         `\nx\n\
             even            1767225600  0     0     100644  2         `\nab"
        );
    }
}
