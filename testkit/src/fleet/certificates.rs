//! The certificate of a server on this machine, for tests. It is signed by an authority that signs
//! nothing else, and its key is known to everybody who reads this.

use std::fs;
use std::path::PathBuf;

const AUTHORITY: &str = include_str!("certificates/authority.pem");
const SERVER: &str = include_str!("certificates/server.pem");
const KEY: &str = include_str!("certificates/server-key.pem");

/// The files of a certificate, in a directory of their own.
#[derive(Debug)]
pub struct Certificates(tempfile::TempDir);

impl Certificates {
    /// Writes the files.
    #[expect(clippy::new_without_default, reason = "it writes files")]
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, text) in [
            ("authority.pem", AUTHORITY),
            ("server.pem", SERVER),
            ("server-key.pem", KEY),
        ] {
            fs::write(directory.path().join(name), text).expect("a file");
        }
        Self(directory)
    }

    /// Returns the file of the authority, for clients.
    pub fn authority(&self) -> PathBuf {
        self.0.path().join("authority.pem")
    }

    /// Returns the settings of a server that accepts encrypted connections only.
    pub fn settings(&self) -> String {
        let directory = self.0.path().display();
        format!(
            "tls {{ cert_file: \"{directory}/server.pem\", key_file: \"{directory}/server-key.pem\" }}"
        )
    }
}
