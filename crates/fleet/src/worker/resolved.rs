//! From an order to the child on this machine: the worker's own programs, models and keys.

use std::path::Path;
use std::time::Duration;

use pi_subagents_configuration::PlanPatch;
use pi_subagents_fleet_queue::wire::{
    Model, Order, OrderCompletion, OrderGate, OrderLimits, OrderTools,
};
use pi_subagents_vocabulary::{
    Allowance, Definition, Dollars, Gate, Limits, ModelChoice, OutputSchema, RunnerChoice,
    ThinkingLevel, ToolPolicy,
};

use pi_subagents_calls::resolve::{ResolvedWork, Resolver, RunPlace};

/// Resolves an order for this machine, or returns the reason why this machine cannot do it.
pub(super) fn resolve_order(
    resolver: &Resolver<'_>,
    order: &Order,
) -> Result<ResolvedWork, NotHere> {
    let choice = RunnerChoice::from_word(&order.runner)
        .ok_or_else(|| NotHere::Refused(format!("there is no runner \"{}\"", order.runner)))?;
    let found = resolver.find_here(choice, model(&order.model));
    let found = found.map_err(NotHere::Missing)?;
    let patch = patch(order);
    patch
        .check_runner(found.runner)
        .map_err(|error| NotHere::Missing(error.to_string()))?;
    Ok(ResolvedWork {
        gates: order.gates.iter().map(gate).collect(),
        schema: schema(order)?,
        runner: found.runner,
        choice,
        model: found.model,
        tools: patch.tools.clone(),
        patch: Some(patch),
        api_key: None,
        place: RunPlace::Checkout,
        limits: limits(&order.limits),
        trusted: order.trusted,
        warning: found.warning,
        doubts: found.doubts,
    })
}

/// The reason why a worker does not do an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotHere {
    /// Something is not on this machine, and may be on another.
    Missing(String),
    /// No worker of this version can do it.
    Refused(String),
}

impl NotHere {
    /// Returns the reason alone.
    pub(super) fn into_words(self) -> String {
        match self {
            Self::Missing(words) | Self::Refused(words) => words,
        }
    }
}

fn model(model: &Model) -> ModelChoice {
    let thinking = model.thinking.as_deref().and_then(ThinkingLevel::from_word);
    match model {
        Model {
            provider: None,
            model: None,
            thinking: None,
        } => ModelChoice::Inherit,
        Model {
            provider, model, ..
        } => ModelChoice::Named {
            provider: provider.clone(),
            model: model.clone(),
            thinking,
        },
    }
}

/// Returns the changes of the caller's definition.
fn patch(order: &Order) -> PlanPatch {
    let title = match &order.definition {
        Some(definition) => format!("definition \"{}\"", definition.name),
        None => "the task".to_owned(),
    };
    let append = order.system_prompt.append.join("\n\n");
    PlanPatch {
        title,
        model: model(&order.model),
        system_prompt: order.system_prompt.replace.clone(),
        append_system_prompt: (!append.is_empty()).then_some(append),
        tools: match &order.tools {
            OrderTools::Default => ToolPolicy::Inherit,
            OrderTools::None => ToolPolicy::Nothing,
            OrderTools::Only(names) => ToolPolicy::Only(names.clone()),
            OrderTools::AllExcept(names) => ToolPolicy::AllExcept(names.clone()),
        },
        skills: Vec::new(),
        output_schema_file: None,
        definition: definition(order),
        warnings: Vec::new(),
    }
}

/// Returns the part of the caller's definition that the order does not hold in resolved form.
fn definition(order: &Order) -> Definition {
    let named = order.definition.as_ref();
    Definition {
        name: named.map_or_else(String::new, |definition| definition.name.clone()),
        extra_args: order.arguments.clone(),
        finalize: matches!(order.completion, OrderCompletion::Finalized(_)),
        ..Definition::default()
    }
}

/// Returns a gate of the caller. A caller who may give orders may have a shell here, so a gate
/// needs no permission of its own: the caller has decided who may name one, and signed the order.
fn gate(gate: &OrderGate) -> Gate {
    Gate {
        command: gate.command.clone(),
        timeout: time(gate.timeout),
        retries: gate.retries,
    }
}

/// Returns the schema of the caller, with the limits that hold for a schema of this machine too.
fn schema(order: &Order) -> Result<Option<OutputSchema>, NotHere> {
    let schema = order.output_schema.clone().map(OutputSchema::new);
    schema
        .transpose()
        .map_err(|why| NotHere::Refused(format!("outputSchema cannot be used: {why}.")))
}

fn time(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn limits(limits: &OrderLimits) -> Limits {
    Limits {
        timeout: limits.timeout.map(time),
        extension: time(limits.extension),
        repetitions: limits.repetitions,
        allowance: Allowance {
            tokens: limits.tokens,
            cost: limits.cost.map(Dollars::new),
        },
    }
}

/// Returns the directory in a workspace that an order names; it never leads out of the workspace.
pub(super) fn ordered_directory(
    workspace: &Path,
    order: &Order,
) -> Result<std::path::PathBuf, NotHere> {
    let relative = Path::new(&order.relative_cwd);
    let stays_inside = relative
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    if !stays_inside {
        return Err(NotHere::Refused(format!(
            "\"{}\" leads out of the workspace",
            order.relative_cwd
        )));
    }
    Ok(workspace.join(relative))
}
