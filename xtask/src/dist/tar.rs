//! Writes tar archives in the format of POSIX (ustar).

use super::packed_file::{PackedFile, START, TIME, directories, sorted};
use crate::Outcome;

const BLOCK: usize = 512;

/// Returns an archive of the files and their directories.
pub(super) fn tar(files: &[PackedFile]) -> Outcome<Vec<u8>> {
    let mut archive = Vec::new();
    for directory in directories(files) {
        archive.extend(header(&directory, START, 0, b'5')?);
    }
    for file in sorted(files) {
        archive.extend(header(&file.path, file.mode, file.bytes.len(), b'0')?);
        archive.extend(&file.bytes);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    Ok(archive)
}

fn header(path: &str, mode: u32, size: usize, kind: u8) -> Outcome<[u8; BLOCK]> {
    let mut header = [0; BLOCK];
    if path.len() > 100 {
        return Err(format!("{path} is too long for a tar archive").into());
    }
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, path.as_bytes());
    put(100, format!("{mode:07o}").as_bytes());
    put(108, b"0000000");
    put(116, b"0000000");
    put(124, format!("{size:011o}").as_bytes());
    put(136, format!("{TIME:011o}").as_bytes());
    // The sum is counted with spaces in its place.
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    put(265, b"root");
    put(297, b"root");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::program;

    fn files() -> Vec<PackedFile> {
        vec![
            PackedFile::text("tool/man/tool.1", "manual"),
            PackedFile::program("tool/bin/tool", "x".repeat(513)),
        ]
    }

    #[test]
    fn the_same_files_in_another_order_are_the_same_archive() {
        let mut turned = files();
        turned.reverse();
        assert_eq!(tar(&files()).unwrap(), tar(&turned).unwrap());
    }

    #[test]
    fn tar_lists_what_was_written() {
        let path = std::env::temp_dir().join(format!("xtask-tar-{}", std::process::id()));
        std::fs::write(&path, tar(&files()).unwrap()).unwrap();
        let listed = program("tar")
            .args(["--utc", "--full-time", "-tvf"])
            .arg(&path)
            .output();
        std::fs::remove_file(&path).unwrap();
        let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
        let words: Vec<Vec<&str>> = listed
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let time = "2026-01-01 00:00:00";
        let expected = [
            format!("drwxr-xr-x root/root 0 {time} tool/"),
            format!("drwxr-xr-x root/root 0 {time} tool/bin/"),
            format!("drwxr-xr-x root/root 0 {time} tool/man/"),
            format!("-rwxr-xr-x root/root 513 {time} tool/bin/tool"),
            format!("-rw-r--r-- root/root 6 {time} tool/man/tool.1"),
        ];
        let words: Vec<String> = words.iter().map(|line| line.join(" ")).collect();
        assert_eq!(words, expected);
    }

    #[test]
    fn a_path_that_does_not_fit_is_an_error() {
        let long = PackedFile::text("x".repeat(101), "");
        assert!(tar(&[long]).is_err());
    }
}
