//! Policies of a plan as the flags people know them by.

use pi_subagents_vocabulary::{ModelChoice, SystemPrompt, ToolPolicy};

/// Returns the flags of a choice of model.
pub(super) fn model(model: &ModelChoice) -> Vec<String> {
    let ModelChoice::Named {
        provider,
        model,
        thinking,
    } = model
    else {
        return Vec::new();
    };
    let thinking = thinking.map(|level| level.as_str().to_owned());
    let flags = [
        ("--provider", provider),
        ("--model", model),
        ("--thinking", &thinking),
    ];
    flags
        .into_iter()
        .filter_map(|(flag, value)| Some([flag.to_owned(), value.clone()?]))
        .flatten()
        .collect()
}

/// Returns the flags of a system prompt.
pub(super) fn prompt(policy: &SystemPrompt) -> Vec<String> {
    let (replacing, appended) = match policy {
        SystemPrompt::Inherit => (None, &[][..]),
        SystemPrompt::Append(files) => (None, files.as_slice()),
        SystemPrompt::Replace { file, append } => (Some(file), append.as_slice()),
    };
    let replacing =
        replacing.map(|file| ["--system-prompt".to_owned(), file.display().to_string()]);
    let appended = appended.iter().map(|file| {
        [
            "--append-system-prompt".to_owned(),
            file.display().to_string(),
        ]
    });
    replacing.into_iter().chain(appended).flatten().collect()
}

/// Returns the flags of a choice of tools.
pub(super) fn tools(tools: &ToolPolicy) -> Vec<String> {
    match tools {
        ToolPolicy::Inherit => Vec::new(),
        ToolPolicy::Nothing => vec!["--no-tools".to_owned()],
        ToolPolicy::Only(names) => vec!["--tools".to_owned(), names.join(",")],
        ToolPolicy::AllExcept(names) => vec!["--exclude-tools".to_owned(), names.join(",")],
    }
}
