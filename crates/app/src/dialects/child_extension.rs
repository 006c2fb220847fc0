//! The extension that is written into a run directory for a pi child: its key, and the tool it
//! reports with.

use std::io;
use std::path::PathBuf;

use pi_subagents_definitions::PlanPatch;
use pi_subagents_delegation::{ModelChoice, Runner};
use pi_subagents_sessions::{RunDir, write_whole};
use serde_json::Value;

const SOURCE: &str = include_str!("child_extension.js");

/// Writes the extension if this child needs one, and tells where it is.
pub(crate) fn write_child_extension(
    patch: &PlanPatch,
    runner: Runner,
    directory: &RunDir,
) -> io::Result<Option<PathBuf>> {
    let is_needed = patch.finalize || patch.api_key.is_some();
    if runner != Runner::Pi || !is_needed {
        return Ok(None);
    }
    let file = directory.path().join("child-extension.js");
    write_whole(&file, source(patch).as_bytes())?;
    Ok(Some(file))
}

fn source(patch: &PlanPatch) -> String {
    let provider = provider_of(&patch.model).map_or(Value::Null, Value::from);
    SOURCE
        .replacen("__FINALIZE__", &patch.finalize.to_string(), 1)
        .replacen("__PROVIDER__", &provider.to_string(), 1)
}

/// The provider a model belongs to, as far as the definition says it.
fn provider_of(model: &ModelChoice) -> Option<&str> {
    let ModelChoice::Named {
        provider, model, ..
    } = model
    else {
        return None;
    };
    let of_pattern = || Some(model.as_deref()?.split_once('/')?.0);
    provider.as_deref().or_else(of_pattern)
}
