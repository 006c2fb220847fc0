//! The certificates that this machine trusts, read from the one file in which most systems keep
//! them all.
//!
//! The library that reqwest asks by itself reads this file and the directory beside it, which has
//! the same certificates once more, and decodes them in constant time, as if they were secret. That
//! was three quarters of all instructions of a run of one request.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use pi_subagents_files::read_own;
use reqwest::Certificate;
use rustls::RootCertStore;

/// Where the systems keep the file: Debian, RHEL, Fedora, openSUSE, `OpenELEC`, Alpine, Entware.
const FILES: [&str; 7] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/ssl/cert.pem",
    "/opt/etc/ssl/certs/ca-certificates.crt",
];
/// The longest file that is read. Debian's has 0.2 MB.
const LONGEST_FILE: u64 = 16 << 20;

const BEGIN: &[u8] = b"-----BEGIN CERTIFICATE-----";
const END: &[u8] = b"-----END CERTIFICATE-----";

/// The variable of OpenSSL that names a file with certificates; it replaces those of the system.
const FILE_VARIABLE: &str = "SSL_CERT_FILE";
/// The variable of OpenSSL that names directories with certificates.
const DIRECTORY_VARIABLE: &str = "SSL_CERT_DIR";

/// Returns the certificates of this machine. There are none if they are kept in another way, such
/// as in directories that `SSL_CERT_DIR` names.
pub(super) fn system_roots(variables: &BTreeMap<String, String>) -> Vec<Certificate> {
    if variables.contains_key(DIRECTORY_VARIABLE) {
        return Vec::new();
    }
    let file = match variables.get(FILE_VARIABLE) {
        Some(named) => Some(PathBuf::from(named)),
        None => FILES.iter().map(PathBuf::from).find(|file| file.exists()),
    };
    file.map(|file| roots_in(&file)).unwrap_or_default()
}

fn roots_in(file: &Path) -> Vec<Certificate> {
    let text = read_own(file, LONGEST_FILE).unwrap_or_default();
    let usable = ders(&text).into_iter().filter(|der| is_usable(der));
    usable
        .filter_map(|der| Certificate::from_der(&der).ok())
        .collect()
}

/// Returns whether TLS can use a certificate. One that it cannot would fail the whole client, and
/// systems do have such.
fn is_usable(der: &[u8]) -> bool {
    RootCertStore::empty().add(der.into()).is_ok()
}

/// Returns the certificates of a text in the format PEM. What cannot be decoded is left out.
fn ders(text: &[u8]) -> Vec<Vec<u8>> {
    let (begin, end) = (memmem::Finder::new(BEGIN), memmem::Finder::new(END));
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = begin.find(rest) {
        rest = &rest[at + BEGIN.len()..];
        let Some(length) = end.find(rest) else { break };
        // Line by line: byte by byte takes three times as long.
        let mut digits = Vec::with_capacity(length);
        for line in rest[..length].split(|byte| *byte == b'\n') {
            digits.extend_from_slice(line.trim_ascii());
        }
        found.extend(STANDARD.decode(digits));
        rest = &rest[length + END.len()..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_decoded_and_all_else_is_passed_over() {
        let text = "# a comment\n-----BEGIN CERTIFICATE-----\r\naGVs\nbG8=\n-----END CERTIFICATE-----\n\
                    -----BEGIN CERTIFICATE-----\nnot*base64\n-----END CERTIFICATE-----\n\
                    -----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n\
                    -----BEGIN CERTIFICATE-----\nYW5k-----END CERTIFICATE-----\n\
                    -----BEGIN CERTIFICATE-----\naGVsbG8=";
        assert_eq!(ders(text.as_bytes()), [b"hello".to_vec(), b"and".to_vec()]);
    }

    #[test]
    fn what_tls_cannot_use_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("roots.pem");
        let real = &webpki_root_certs::TLS_SERVER_ROOT_CERTS[0];
        let pem = |der: &[u8]| {
            let digits = STANDARD.encode(der);
            format!("-----BEGIN CERTIFICATE-----\n{digits}\n-----END CERTIFICATE-----\n")
        };
        let text = format!("{}{}", pem(b"hello"), pem(real));
        pi_subagents_files::write_whole(&file, text.as_bytes()).unwrap();
        let named = |name: &str, path: &Path| (name.to_owned(), path.display().to_string());
        let of_file = BTreeMap::from([named(FILE_VARIABLE, &file)]);
        assert_eq!(system_roots(&of_file).len(), 1);
        let missing = BTreeMap::from([named(FILE_VARIABLE, &directory.path().join("none"))]);
        assert_eq!(system_roots(&missing).len(), 0);
        let of_directory = BTreeMap::from([
            named(FILE_VARIABLE, &file),
            named(DIRECTORY_VARIABLE, directory.path()),
        ]);
        assert_eq!(system_roots(&of_directory).len(), 0);
    }
}
