//! The plan as text: what was found, what is left alone, and what is offered.

use super::proposals::{InitPlan, Proposal};
use super::survey::{FoundClient, FoundModel, FoundPiProgram, FoundSandbox, Survey};
use super::tilde;
use pi_subagents_confine::SandboxTrial;

/// Writes everything, for a reader who cannot be asked.
pub(super) fn whole(plan: &InitPlan) -> String {
    let mut parts = vec![beginning(plan)];
    if plan.proposals.is_empty() {
        parts.push("There is nothing to do.".to_owned());
    } else {
        parts.push("On a terminal, init would ask about:".to_owned());
    }
    for (number, proposal) in (1..).zip(&plan.proposals) {
        parts.push(format!("{number}. {}", shown(proposal)));
    }
    parts.join("\n\n")
}

/// Writes what was found and what is left alone.
pub(super) fn beginning(plan: &InitPlan) -> String {
    let remarks = plan.remarks.iter().map(String::as_str);
    let parts: Vec<&str> = [plan.found.as_str()].into_iter().chain(remarks).collect();
    parts.join("\n\n")
}

/// Writes one proposal.
pub(super) fn shown(proposal: &Proposal) -> String {
    format!("{}\n\n{}", proposal.title, indented(&proposal.preview))
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| format!("  {line}"));
    lines.collect::<Vec<String>>().join("\n")
}

/// Writes what is on this machine.
pub(super) fn found(survey: &Survey) -> String {
    let or_none = |text: &str| match text {
        "" => "none".to_owned(),
        text => text.to_owned(),
    };
    let mut rows = vec![
        ("Keys", or_none(&survey.keys)),
        ("Local servers", or_none(&survey.servers.join(" "))),
        ("Default model", default_model(&survey.model)),
        ("Sandbox", sandbox(&survey.sandbox)),
        ("pi", pi(survey)),
    ];
    let clients = survey.clients.iter();
    rows.extend(clients.map(|found| (found.client.title(), client(found, survey))));
    let width = rows.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    let lines = rows
        .iter()
        .map(|(name, text)| format!("  {name:width$}  {text}"));
    let lines: Vec<String> = ["Found on this machine:".to_owned()]
        .into_iter()
        .chain(lines)
        .collect();
    lines.join("\n")
}

fn default_model(model: &FoundModel) -> String {
    match model {
        FoundModel::None => "none".to_owned(),
        FoundModel::Named(name) => format!("{name}, as the settings say"),
        FoundModel::Found { model, .. } => model.name(),
    }
}

fn sandbox(found: &FoundSandbox) -> String {
    let possible = match &found.trial {
        SandboxTrial::All { .. } => "all levels",
        SandboxTrial::ReadOnly { .. } => "read-only only",
        SandboxTrial::Nothing { .. } => "none can be made here",
    };
    match found.level {
        Some(level) => format!("{possible}; the settings say {level}"),
        None => possible.to_owned(),
    }
}

fn pi(survey: &Survey) -> String {
    match &survey.pi {
        FoundPiProgram::None => "not found".to_owned(),
        FoundPiProgram::WithPackage(pi) => {
            format!("{}, with our package", tilde(pi, &survey.home))
        }
        FoundPiProgram::WithoutPackage(install) => tilde(&install.pi, &survey.home),
    }
}

fn client(found: &FoundClient, survey: &Survey) -> String {
    let program = client_program(found, survey);
    match found.runner {
        Some(runner) => format!("{program}; does runs too (--runner {})", runner.as_str()),
        None => program,
    }
}

fn client_program(found: &FoundClient, survey: &Survey) -> String {
    match &found.program {
        Some(program) => tilde(program, &survey.home),
        None if found.is_there => "its files, but not its program".to_owned(),
        None => "not found".to_owned(),
    }
}
