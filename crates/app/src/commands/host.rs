//! `host`: what the extension of pi talks to.

use std::process::ExitCode;

use crate::commands::block_on;
use crate::error::CommandError;
use crate::host::serve;
use crate::places::Places;

pub(crate) fn run() -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    block_on(serve(&places))
}
