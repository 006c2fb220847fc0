//! Writes zip archives, which is what a bundle for MCP clients is.

use super::gzip::deflate;
use super::packed_file::{PackedFile, sorted};
use crate::Outcome;

/// 2.0: the data is deflated.
const NEEDED: u16 = 20;

/// Made on Unix, so that modes count.
const MADE_BY: u16 = (3 << 8) | NEEDED;

const DEFLATED: u16 = 8;

/// The date 2026-01-01 as years since 1980, month and day.
const DATE: u16 = ((2026 - 1980) << 9) | (1 << 5) | 1;

/// Returns an archive of the files.
pub(super) fn zip(files: &[PackedFile]) -> Outcome<Vec<u8>> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    let files = sorted(files);
    for file in &files {
        let offset = u32::try_from(archive.len())?;
        let deflated = deflate(&file.bytes)?;
        let facts = facts(file, deflated.crc, deflated.bytes.len())?;
        archive.extend(b"PK\x03\x04");
        archive.extend(&facts);
        archive.extend(file.path.as_bytes());
        archive.extend(deflated.bytes);
        directory.extend(b"PK\x01\x02");
        directory.extend(MADE_BY.to_le_bytes());
        directory.extend(&facts);
        // No comment, the first disk, and nothing about the content.
        directory.extend([0; 6]);
        directory.extend(((0o100_000 | file.mode) << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(file.path.as_bytes());
    }
    let count = u16::try_from(files.len())?.to_le_bytes();
    let (size, offset) = (
        u32::try_from(directory.len())?,
        u32::try_from(archive.len())?,
    );
    archive.extend(directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend([count, count].concat());
    archive.extend(size.to_le_bytes());
    archive.extend(offset.to_le_bytes());
    archive.extend([0, 0]);
    Ok(archive)
}

/// Returns the fields that stand before a file and in the directory alike.
fn facts(file: &PackedFile, crc: [u8; 4], deflated: usize) -> Outcome<Vec<u8>> {
    let mut facts = Vec::new();
    for field in [NEEDED, 0, DEFLATED, 0, DATE] {
        facts.extend(field.to_le_bytes());
    }
    facts.extend(crc);
    facts.extend(u32::try_from(deflated)?.to_le_bytes());
    facts.extend(u32::try_from(file.bytes.len())?.to_le_bytes());
    facts.extend(u16::try_from(file.path.len())?.to_le_bytes());
    facts.extend([0, 0]);
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::program;

    #[test]
    fn python_reads_what_was_written() {
        let files = [
            PackedFile::program("server/tool", "x".repeat(4000)),
            PackedFile::text("manifest.json", "{}"),
        ];
        let path = std::env::temp_dir().join(format!("xtask-zip-{}", std::process::id()));
        std::fs::write(&path, zip(&files).unwrap()).unwrap();
        let script = "import sys, zipfile\n\
                      archive = zipfile.ZipFile(sys.argv[1])\n\
                      print(archive.testzip())\n\
                      for file in archive.infolist():\n    \
                          print(file.filename, oct(file.external_attr >> 16), file.file_size, file.date_time)\n";
        let output = program("python3").args(["-c", script]).arg(&path).output();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            String::from_utf8(output.unwrap().stdout).unwrap(),
            "None\n\
             manifest.json 0o100644 2 (2026, 1, 1, 0, 0, 0)\n\
             server/tool 0o100755 4000 (2026, 1, 1, 0, 0, 0)\n"
        );
    }
}
