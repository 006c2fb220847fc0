//! Finds the definition of a task, and its changes to the plan.

use pi_subagents_vocabulary::Advice;
use std::borrow::Cow;
use std::path::Path;

use pi_subagents_configuration::{
    Asker, ParentTools, PlanPatch, ResolvedSkills, Skills, ToolFacts, check_paths, model_of,
    summary, validate,
};
use pi_subagents_vocabulary::{Definition, Refusal, Runner, Translation, UsedDefinition, nearest};

use crate::arguments::CallError;
use crate::caller::Caller;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_vocabulary::Door;

/// The reason why a definition is not used: a fault of the call, or of the task alone.
pub(super) enum Unusable {
    Call(CommandError),
    Task(Refusal),
}

/// Finds a definition by its name.
pub(super) fn find_definition<'a>(
    name: &str,
    asker: Asker,
    configuration: &'a Configuration,
    door: Door,
) -> Result<&'a Definition, Refusal> {
    let found = configuration.catalogue.find(name, asker);
    found.map(|found| found.definition).map_err(|error| {
        let message = if error.ignored.is_empty() {
            error.to_string()
        } else {
            let notices = configuration.catalogue.notices(&Advice::Trust.words(door));
            format!("{error}. {}", notices.join(" "))
        };
        Refusal { message }
    })
}

/// Fails if there is no definition of this name, with advice on getting one.
pub(crate) fn check_definition(
    name: &str,
    asker: Asker,
    configuration: &Configuration,
    door: Door,
) -> Result<(), CommandError> {
    // Its folder may be named only in the settings.
    configuration.check()?;
    let Err(refusal) = find_definition(name, asker, configuration, door) else {
        return Ok(());
    };
    let mut warnings = configuration.catalogue.warnings().iter();
    if warnings.any(|warning| warning.keeps_out(name)) {
        // The definition exists, and the error already says what is wrong with it.
        return Err(CommandError::usage(refusal.message));
    }
    let error = CommandError::not_found(refusal.message);
    let mut ignored = configuration.catalogue.ignored();
    if ignored.any(|(definition, _)| definition.is_called(name)) {
        // The definition exists, and the error already says what it waits for.
        return Err(error);
    }
    let known = configuration.catalogue.effective(asker);
    let meant = nearest(
        name,
        known.iter().map(|definition| definition.name.as_str()),
    );
    let error = match meant {
        Some(meant) => error.hint(format!("Did you mean {meant}?")),
        None => error,
    };
    Err(error.advise("", Advice::GetAgent, ""))
}

/// Returns the changes of a definition, for a task that this kind of child does in `cwd`.
pub(super) fn patch_of(
    definition: &Definition,
    runner: Runner,
    cwd: &Path,
    caller: &Caller,
    configuration: &Configuration,
) -> Result<PlanPatch, Unusable> {
    let refuse = |message: String| Unusable::Task(Refusal { message });
    validate(definition).map_err(|invalid| {
        if invalid.fails_the_call() {
            Unusable::Call(CallError(invalid.to_string()).into())
        } else {
            refuse(invalid.to_string())
        }
    })?;
    check_paths(definition, cwd, &caller.places.home).map_err(|error| refuse(error.to_string()))?;
    let skills = resolved_skills(definition, cwd, caller, configuration).map_err(refuse)?;
    let surroundings = ToolFacts {
        runner,
        parent: caller.pi.as_ref().map(|pi| ParentTools {
            active: &pi.active_tools,
            all: &pi.all_tools,
        }),
    };
    let mut patch = PlanPatch::of(definition, &skills, &surroundings)
        .map_err(|error| refuse(error.to_string()))?;
    patch
        .check_runner(runner)
        .map_err(|error| refuse(error.to_string()))?;
    let of_file = configuration.catalogue.warnings_of(definition);
    patch.warnings.extend(of_file.map(ToString::to_string));
    patch.warnings.extend(losses(definition));
    Ok(patch)
}

/// Returns one sentence about everything that an agent of another tool cannot do here.
fn losses(definition: &Definition) -> Option<String> {
    let losses = definition.translation.iter().flat_map(Translation::losses);
    let losses: Vec<String> = losses
        .map(|note| format!("line {}: {}", note.line, note.sentence()))
        .collect();
    let (kind, name, file) = (
        definition.dialect.title(),
        &definition.name,
        definition.file.display(),
    );
    (!losses.is_empty()).then(|| {
        format!(
            "{kind} \"{name}\" ({file}) can do less here: {}",
            losses.join("; ")
        )
    })
}

/// Returns the facts about the definition of a task, for its answer.
pub(super) fn used(definition: &Definition) -> UsedDefinition {
    UsedDefinition {
        name: definition.name.clone(),
        summary: summary(definition),
        model: model_of(definition),
        file: (!definition.is_built_in()).then(|| definition.file.clone()),
    }
}

fn resolved_skills(
    definition: &Definition,
    cwd: &Path,
    caller: &Caller,
    configuration: &Configuration,
) -> Result<ResolvedSkills, String> {
    if definition.suggested_skills.is_empty() && definition.load_skills.is_empty() {
        return Ok(ResolvedSkills::default());
    }
    let ours = configuration.skills_of_task(&caller.places, cwd);
    let found = match &caller.pi {
        // The skills of pi come first. Pi knows nothing of the directory that PI_AGENT_DIR names.
        Some(pi) => {
            let of_pi = Skills::of_pi(&pi.skills, caller.places.real_project());
            Cow::Owned(Skills::from_list(of_pi.iter().chain(ours.iter()).cloned()))
        }
        None => ours,
    };
    found.resolve(definition).map_err(|error| {
        let how = Advice::Trust.words(caller.door);
        match configuration.ignored_skills(definition, &found, &caller.places, cwd) {
            Some(ignored) => format!("{error}. {ignored} {how}"),
            None => error.to_string(),
        }
    })
}
