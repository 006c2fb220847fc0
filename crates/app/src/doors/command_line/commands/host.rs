//! `host`: what the extension of pi talks to.

use std::process::ExitCode;

use crate::doors::pi::serve;
use crate::error::CommandError;
use crate::places::Places;
use crate::runtime::block_on;

pub(crate) fn run() -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    block_on(serve(&places))
}
