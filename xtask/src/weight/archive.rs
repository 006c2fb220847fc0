//! The size of the program as it is downloaded.

use std::path::Path;

use crate::Outcome;
use crate::machine::program;

/// Returns the size of the program as gzip packs it, which is how npm ships it.
pub(super) fn size(path: &Path) -> Outcome<u64> {
    let output = program("gzip").args(["-9", "-c"]).arg(path).output()?;
    if !output.status.success() {
        return Err(format!("gzip ({})", output.status).into());
    }
    Ok(u64::try_from(output.stdout.len())?)
}
