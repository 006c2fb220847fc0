//! `meta.json`: the task of a run, and the process that owns the run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_vocabulary::{
    BadId, BudgetLimits, CallOfRun, ModelChoice, RunId, RunTerms, Sandbox, SessionId, Task,
    ThinkingLevel, Timestamp, UsedDefinition,
};
use serde::{Deserialize, Serialize};

use crate::OwnerName;
use crate::run_dir::RunDir;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Meta {
    pub(crate) format: u32,
    pub(crate) run_id: String,
    pub(crate) session_id: String,
    pub(crate) name: String,
    pub(crate) prompt: String,
    pub(crate) cwd: PathBuf,
    /// The definition the task uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) preset: Option<String>,
    /// The definition in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) preset_summary: Option<String>,
    /// The file it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) preset_source: Option<PathBuf>,
    /// The agent whose sticky session it was asked to continue, also if it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sticky_agent: Option<String>,
    /// The thinking level of its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thinking: Option<String>,
    /// The terms that its call has set, which a run that continues it inherits.
    #[serde(default, skip_serializing_if = "RunTerms::is_plain")]
    pub(crate) terms: RunTerms,
    /// The tools it was restricted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<Vec<String>>,
    /// The tools of the session it goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) known_tools: Option<BTreeSet<String>>,
    /// Commands that run tests, beside the well-known ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) test_commands: Vec<String>,
    /// True if its report must meet a schema, which is in `output-schema.json`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_schema: bool,
    /// The sandbox of the run.
    #[serde(default, skip_serializing_if = "Sandbox::is_plain")]
    pub(crate) sandbox: Sandbox,
    /// The system prompt of the child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) system_prompt: Option<String>,
    /// The file that holds the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) system_prompt_path: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) runner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The model as the caller wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) requested_model: Option<String>,
    /// The model that the child is started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resolved_model: Option<String>,
    pub(crate) accepted_at: String,
    /// Its call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<CallOfRun>,
    /// Its place among all runs of the user, for a rebuilt index.
    #[serde(default)]
    pub(crate) sequence: u64,
    /// The project its owner was started in.
    pub(crate) project: PathBuf,
    pub(crate) owner: OwnerName,
}

impl Meta {
    /// Returns the task as it was asked. Fails if the file was tampered with.
    pub(crate) fn task(&self, directory: &RunDir) -> Result<Arc<Task>, BadId> {
        Ok(Arc::new(Task {
            run: RunId::parse(&self.run_id)?,
            session: SessionId::parse(&self.session_id)?,
            name: self.name.clone(),
            prompt: self.prompt.clone(),
            cwd: self.cwd.clone(),
            definition: self.preset.clone().map(|name| UsedDefinition {
                name,
                summary: self.preset_summary.clone().unwrap_or_default(),
                model: ModelChoice::Named {
                    provider: None,
                    model: self.model.clone(),
                    thinking: self.thinking.as_deref().and_then(ThinkingLevel::from_word),
                },
                file: self.preset_source.clone(),
            }),
            requested_model: self.requested_model.clone(),
            timeout: self
                .timeout_seconds
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            directory: Some(directory.path().to_owned()),
            // It was a limit of the owner, who alone writes.
            record_limit: 0,
            known_tools: self.known_tools.clone(),
            test_commands: self.test_commands.clone(),
            has_schema: self.has_schema,
            sandbox: self.sandbox.clone(),
            call_budget: BudgetLimits::default(),
            accepted_at: None,
            call: self.call.clone(),
        }))
    }

    pub(crate) fn accepted_at(&self) -> Timestamp {
        self.accepted_at.parse().unwrap_or_default()
    }
}
