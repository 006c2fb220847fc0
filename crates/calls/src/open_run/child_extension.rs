//! The extension that is written into a run directory for a pi child: its key, the tool it
//! reports with, and who asks.

use std::io;
use std::path::PathBuf;

use pi_subagents_files::{read_own, write_whole};
use pi_subagents_pi_files::SettingsFile;
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::shell_commands::{COMMAND_FITS, COMMAND_QUESTION};
use pi_subagents_vocabulary::{
    ModelChoice, NOBODY_ANSWERED, OutputSchema, REFUSAL_WORDS, REPORT_FITS, REPORT_QUESTION,
    WINDOW_HEADERS, WINDOWS_TITLE, Work, refusal_hint,
};
use serde_json::{Value, json};

use super::worktree::Isolated;
use crate::caller::Caller;
use crate::resolve::{ResolvedWork, provider_of};
use pi_subagents_ground::places::Places;
use pi_subagents_ground::random;

const SOURCE: &str = include_str!("child_extension.cjs");

/// The provider that wants to know who asks.
const COPILOT: &str = "github-copilot";

/// A larger file is not looked at.
const LARGEST_FILE: u64 = 16 << 20;

/// An extension that was written.
pub(super) struct ChildExtension {
    pub(super) file: PathBuf,
    /// The name of its command that takes tools away.
    pub(super) wrap_up: String,
}

/// Returns a word that nobody guesses.
pub(super) fn secret_word() -> io::Result<String> {
    let secret = random::new_secret().map_err(|error| io::Error::other(error.sentence()))?;
    let word: String = secret
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(12)
        .collect();
    Ok(word.to_ascii_lowercase())
}

/// Writes the extension of a pi child that needs one, and returns its path: a pi without any
/// extension starts a sixth faster.
pub(super) fn write_child_extension(
    resolved: &ResolvedWork,
    isolated: Option<&Isolated>,
    caller: &Caller,
    directory: &RunDir,
    ask: Option<&str>,
) -> io::Result<Option<ChildExtension>> {
    let ResolvedWork { work, here } = resolved;
    let must_have = isolated.is_some()
        || work.must_report()
        || here.api_key.is_some()
        || work.limits.needs_wrap_up()
        || (!here.budgets.scopes.is_empty() && !work.limits.ends_at_once)
        || !work.commands.is_empty()
        || ask.is_some()
        // In a sandbox its key comes on a descriptor.
        || !work.sandbox.is_off();
    if !must_have && !may_ask_copilot(&work.model, caller) {
        return Ok(None);
    }
    let file = directory.path().join("child-extension.cjs");
    let wrap_up = format!("subagents-wrap-up-{}", secret_word()?);
    let source = source(resolved, isolated, &wrap_up, ask);
    match write_whole(&file, source.as_bytes()) {
        Ok(()) => Ok(Some(ChildExtension { file, wrap_up })),
        Err(error) if must_have => Err(error),
        // A full disk does not stop a run.
        Err(_) => Ok(None),
    }
}

/// Returns whether the child may ask Copilot. If no provider is named, the user may have set up
/// Copilot as the default.
fn may_ask_copilot(model: &ModelChoice, caller: &Caller) -> bool {
    let prefix = format!("{COPILOT}/");
    match (provider_of(model), &caller.pi) {
        (Some(provider), _) => provider == COPILOT,
        (None, Some(pi)) => pi.models.iter().any(|name| name.starts_with(&prefix)),
        (None, None) => has_copilot(&caller.places),
    }
}

fn has_copilot(places: &Places) -> bool {
    let of_user = ["auth.json", "models.json", "settings.json"];
    let of_project = places.real_project().map(SettingsFile::of_project);
    let mentions = |file: PathBuf| {
        read_own(&file, LARGEST_FILE)
            .is_ok_and(|text| String::from_utf8_lossy(&text).contains(COPILOT))
    };
    places.variable("COPILOT_GITHUB_TOKEN").is_some()
        || of_user
            .map(|name| places.agent_dir.join(name))
            .into_iter()
            .any(mentions)
        || of_project
            .is_some_and(|settings| settings.is_ok_and(|settings| settings.mentions(COPILOT)))
}

fn source(
    resolved: &ResolvedWork,
    isolated: Option<&Isolated>,
    wrap_up: &str,
    ask: Option<&str>,
) -> String {
    let patch = resolved.here.patch.as_ref();
    let provider = patch
        .and_then(|patch| provider_of(&patch.model))
        .map_or(Value::Null, Value::from);
    let guard = isolated.map_or(Value::Null, Isolated::guard);
    // A schema may hold any words, so it comes last.
    SOURCE
        .replacen("__PROVIDER__", &provider.to_string(), 1)
        .replacen("__GUARD__", &guard.to_string(), 1)
        .replacen("__WRAP_UP__", &Value::from(wrap_up).to_string(), 1)
        .replacen("__ASK__", &ask_tool(ask).to_string(), 1)
        .replacen("__COMMANDS__", &commands(&resolved.work).to_string(), 1)
        .replacen("__SANDBOX__", &refusals(&resolved.work).to_string(), 1)
        .replacen("__WINDOWS__", &windows(&resolved.work).to_string(), 1)
        .replacen("__FINALIZE__", &finalize(&resolved.work), 1)
}

/// Returns the question about commands as the extension asks it; nothing if all may run.
fn commands(work: &Work) -> Value {
    if work.commands.is_empty() {
        return Value::Null;
    }
    json!({"question": COMMAND_QUESTION, "fits": COMMAND_FITS})
}

/// Returns how the extension explains what the sandbox refuses; nothing without a sandbox.
fn refusals(work: &Work) -> Value {
    if work.sandbox.is_off() {
        return Value::Null;
    }
    json!({"words": REFUSAL_WORDS, "hint": refusal_hint(&work.sandbox.to_string())})
}

/// Returns how the extension tells the windows of its provider; nothing if nobody asks.
fn windows(work: &Work) -> Value {
    if work.limits.window_share.is_none() {
        return Value::Null;
    }
    json!({"title": WINDOWS_TITLE, "headers": WINDOW_HEADERS})
}

/// Returns the tool by which the child asks, as the extension reads it: nothing, or the words that
/// stand before its questions and those that answer if nobody does.
fn ask_tool(word: Option<&str>) -> Value {
    let Some(word) = word else {
        return Value::Null;
    };
    json!({"word": word, "nobody": NOBODY_ANSWERED})
}

/// Returns the report tool as the extension reads it: nothing, or the schema of its result.
fn finalize(work: &Work) -> String {
    if !work.must_report() {
        return "null".to_owned();
    }
    let schema = work.schema();
    let tool = json!({
        "result": schema.map(OutputSchema::offered),
        "remark": schema.and_then(OutputSchema::remark),
        "question": REPORT_QUESTION,
        "fits": REPORT_FITS,
    });
    // As an object of JavaScript, a key `__proto__` would be no key.
    format!("JSON.parse({})", Value::String(tool.to_string()))
}
