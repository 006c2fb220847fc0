//! The extension that is written into a run directory for a pi child: its key, the tool it
//! reports with, and who asks.

use std::io;
use std::path::PathBuf;

use pi_subagents_definitions::PlanPatch;
use pi_subagents_delegation::{ModelChoice, Runner, Secret};
use pi_subagents_sessions::{RunDir, write_whole};
use serde_json::Value;

const SOURCE: &str = include_str!("child_extension.cjs");

/// Writes the extension of a child, if it is a pi, and tells where it is. Fails only where the
/// child cannot do without: a full disk does not stop a run.
pub(crate) fn write_child_extension(
    patch: Option<&PlanPatch>,
    runner: Runner,
    directory: &RunDir,
) -> io::Result<Option<PathBuf>> {
    if runner != Runner::Pi {
        return Ok(None);
    }
    let file = directory.path().join("child-extension.cjs");
    let is_needed = patch.is_some_and(|patch| patch.finalize || patch.api_key.is_some());
    match write_whole(&file, source(patch).as_bytes()) {
        Ok(()) => Ok(Some(file)),
        Err(error) if is_needed => Err(error),
        Err(_) => Ok(None),
    }
}

fn source(patch: Option<&PlanPatch>) -> String {
    let must_report = patch.is_some_and(|patch| patch.finalize);
    let provider = patch
        .and_then(|patch| provider_of(&patch.model))
        .map_or(Value::Null, Value::from);
    SOURCE
        .replacen("__FINALIZE__", &must_report.to_string(), 1)
        .replacen("__PROVIDER__", &provider.to_string(), 1)
}

/// The key of a definition, unless the call chose a model of another provider than the key's.
pub(crate) fn key_for(patch: &PlanPatch, chosen: &ModelChoice) -> Option<Secret> {
    match (provider_of(&patch.model), provider_of(chosen)) {
        (Some(own), Some(other)) if own != other => None,
        (Some(_) | None, _) => patch.api_key.clone(),
    }
}

/// The provider a model belongs to, as far as its name says it.
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
