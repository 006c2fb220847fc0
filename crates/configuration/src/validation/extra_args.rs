//! The rules for further arguments that a definition gives to a child.
//!
//! No shell ever sees these arguments; the documented refusals of shell syntax stand all the same.
//! The flags that matter are those by which a child would leave the engine's control.

use super::Invalid;

/// The number of characters of an unsafe argument that are shown.
const SHOWN: usize = 40;

/// The flags that decide over tools.
const TOOL_FLAGS: &[&str] = &[
    "--tools",
    "-t",
    "--no-tools",
    "-nt",
    "--exclude-tools",
    "-xt",
    "--no-builtin-tools",
    "-nbt",
];

/// The flags by which the engine holds its child.
const ENGINE_FLAGS: &[&str] = &[
    "--mode",
    "-p",
    "--print",
    "--no-session",
    "-c",
    "--continue",
    "-r",
    "--resume",
    "--fork",
    "-a",
    "--approve",
    "-na",
    "--no-approve",
    "-e",
    "--extension",
    "--api-key",
    "--finalize",
    "--command",
];

/// Checks one argument of a definition.
pub(crate) fn check(argument: &str, restricts_tools: bool) -> Result<(), Invalid> {
    if argument.contains('\0') {
        return Err(Invalid::NullByte);
    }
    if looks_like_shell(argument) {
        return Err(Invalid::UnsafeArgument(
            argument.chars().take(SHOWN).collect(),
        ));
    }
    let flag = argument.split('=').next().unwrap_or(argument);
    if restricts_tools && TOOL_FLAGS.contains(&flag) {
        return Err(Invalid::ToolArgument(argument.to_owned()));
    }
    if ENGINE_FLAGS.contains(&flag) || flag.starts_with("--session") {
        return Err(Invalid::EngineArgument(argument.to_owned()));
    }
    if argument.starts_with('@') {
        return Err(Invalid::FileArgument(argument.to_owned()));
    }
    Ok(())
}

/// Returns whether an argument fits the documented pattern:
/// ``/^[\s|&;$\\`!]|&&|\|\||;|>|>>|<|<</``.
fn looks_like_shell(argument: &str) -> bool {
    let begins_badly = argument.starts_with(|first: char| {
        first.is_whitespace() || first == '\u{feff}' || "|&;$\\`!".contains(first)
    });
    let separates = ["&&", "||", ";", ">", "<"]
        .iter()
        .any(|mark| argument.contains(mark));
    begins_badly || separates
}
