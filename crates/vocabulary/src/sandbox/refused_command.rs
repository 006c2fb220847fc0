//! The sentence for a command that failed in a sandbox and printed why.

/// Words of a command that was refused a path or a host.
pub const REFUSAL_WORDS: [&str; 9] = [
    "Read-only file system",
    "Permission denied",
    "Operation not permitted",
    "Network is unreachable",
    "Could not resolve",
    "name resolution",
    "EACCES",
    "EROFS",
    "EPERM",
];

/// Returns the sentence for a command that was refused something in a sandbox, as people read its
/// level and network.
pub fn refusal_hint(sandbox: &str) -> String {
    format!("[sandbox: {sandbox}] The path or host may be outside what this run may use.")
}
