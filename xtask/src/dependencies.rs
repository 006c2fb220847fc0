//! Lists the packages that are linked into our programs and tests, by asking cargo.

use crate::Outcome;
use crate::machine::cargo;

/// Returns a line for each package that is built on this machine: its name and version, a bar and
/// its licence. No network is needed, because the workspace was built before.
pub fn licensed() -> Outcome<String> {
    tree("--workspace --edges normal,build,dev --format {p}|{l}")
}

/// Asks cargo for a tree, and returns each of its lines once.
fn tree(arguments: &str) -> Outcome<String> {
    let output = cargo()
        .args(["tree", "--locked", "--offline"])
        .args(["--prefix", "none", "--no-dedupe"])
        .args(arguments.split(' '))
        .output()?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo tree ({}): {complaint}", output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    // A star stands for a package whose tree was printed before, as in a circle by tests.
    let lines = text.lines().map(|line| line.trim_end_matches(" (*)"));
    let mut lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    lines.dedup();
    Ok(lines.join("\n"))
}
