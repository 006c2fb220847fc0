//! The packages of the clients for programs: an archive for npm, and a wheel for Python. The
//! client in Rust has no package: programs name the repository in their `Cargo.toml`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::checksum::digest;
use super::contents::own_file;
use super::npm_package::package;
use super::packed_file::PackedFile;
use super::release::Release;
use super::zip::zip;
use crate::Outcome;

/// The name of the module, and of the wheel.
const MODULE: &str = "pi_subagents_client";

/// Returns the package for npm.
pub(super) fn typescript() -> Outcome<Vec<u8>> {
    let mut files = vec![PackedFile::text("LICENSE", own_file("LICENSE")?)];
    for name in ["README.md", "index.d.ts", "index.js", "package.json"] {
        let text = own_file(&format!("clients/typescript/{name}"))?;
        files.push(PackedFile::text(name, text));
    }
    package(files)
}

/// Returns the wheel: the module, and the facts that installers read.
pub(super) fn python(release: &Release) -> Outcome<Vec<u8>> {
    let facts = format!("{MODULE}-{}.dist-info", release.version);
    let readme = String::from_utf8(own_file("clients/python/README.md")?)?;
    let metadata = format!(
        "Metadata-Version: 2.1\nName: pi-subagents-client\nVersion: {}\nSummary: Sub-agents for Python programs\nLicense: MIT\nRequires-Python: >=3.10\nDescription-Content-Type: text/markdown\n\n{readme}",
        release.version
    );
    let wheel = "Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    let mut files = vec![
        PackedFile::text(format!("{facts}/METADATA"), metadata),
        PackedFile::text(format!("{facts}/WHEEL"), wheel),
        PackedFile::text(format!("{facts}/LICENSE"), own_file("LICENSE")?),
    ];
    for name in ["__init__.py", "py.typed"] {
        let path = format!("{MODULE}/{name}");
        let text = own_file(&format!("clients/python/src/{path}"))?;
        files.push(PackedFile::text(path, text));
    }
    let path = format!("{facts}/RECORD");
    let mut lines = Vec::new();
    for file in &files {
        let sum = encoded(&digest(&file.bytes)?)?;
        lines.push(format!("{},sha256={sum},{}", file.path, file.bytes.len()));
    }
    lines.push(format!("{path},,\n"));
    files.push(PackedFile::text(path, lines.join("\n")));
    zip(&files)
}

/// Returns a checksum as wheels write it.
fn encoded(digits: &str) -> Outcome<String> {
    let pairs = (0..digits.len()).step_by(2);
    let bytes: Result<Vec<u8>, _> = pairs
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16))
        .collect();
    Ok(URL_SAFE_NO_PAD.encode(bytes?))
}
