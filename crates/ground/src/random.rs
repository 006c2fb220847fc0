//! Unique ids.

use pi_subagents_os::{Machine as _, System};
use pi_subagents_vocabulary::{RunId, SessionId, Timestamp};

use crate::error::CommandError;

pub fn new_run_id() -> Result<RunId, CommandError> {
    let [a, b, c, d, ..] = random_bytes()?;
    Ok(RunId::new(
        Timestamp::now(),
        u32::from_ne_bytes([a, b, c, d]),
    ))
}

pub fn new_session_id() -> Result<SessionId, CommandError> {
    Ok(SessionId::new(u64::from_ne_bytes(random_bytes()?)))
}

/// Makes a secret that nobody can guess, as letters and digits.
pub fn new_secret() -> Result<String, CommandError> {
    let parts = [
        random_bytes()?,
        random_bytes()?,
        random_bytes()?,
        random_bytes()?,
    ];
    let numbers = parts.map(u64::from_ne_bytes);
    Ok(numbers.map(|number| format!("{number:016x}")).concat())
}

fn random_bytes() -> Result<[u8; 8], CommandError> {
    let mut bytes = [0; 8];
    System::random(&mut bytes).map_err(|error| {
        CommandError::failed("the system gave no random numbers").because(&error)
    })?;
    Ok(bytes)
}
