//! What becomes of a command whose output cannot be written.

use std::fs::OpenOptions;

use pretty_assertions::assert_eq;

use crate::stage::Stage;

#[test]
fn what_cannot_be_printed_is_an_error() {
    let stage = Stage::new();
    for arguments in [&["status", "--json"][..], &["tools"], &["man"]] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = stage
            .command(arguments)
            .std_command()
            .stdout(full)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), said.as_str()),
            (
                Some(1),
                "error: could not write to stdout: No space left on device (os error 28)\n"
            ),
            "{arguments:?}"
        );
    }
}
