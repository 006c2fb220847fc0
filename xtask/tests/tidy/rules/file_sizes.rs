//! No file is so big that a clone suffers from it. This is about bytes, never about lines.

use xtask::source::Tree;

use crate::finding::Finding;

const LIMIT: u64 = 1024 * 1024;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let big = tree.files.iter().filter(|file| file.size > LIMIT);
    big.map(|file| {
        let message = format!(
            "has {} bytes, and a clone should stay small; generate it where it is needed",
            file.size
        );
        Finding::of_file(&file.path, message)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_file_over_one_mebibyte_is_found() {
        let limit = "x".repeat(1024 * 1024);
        let over = format!("{limit}x");
        let found = found(check, &[("fits.bin", &limit), ("docs/film.gif", &over)]);
        assert_eq!(
            found,
            [
                "docs/film.gif: has 1048577 bytes, and a clone should stay small; generate it where it is needed"
            ]
        );
    }
}
