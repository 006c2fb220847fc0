//! Decides which schema the result of a task must meet.

use pi_subagents_configuration::PlanPatch;
use pi_subagents_files::read_own_text;
use pi_subagents_vocabulary::{LARGEST_SCHEMA, OutputSchema, Refusal, RunTerms};
use serde_json::Value;

/// Returns the schema of a task: the one that was set for it, else that of its definition.
pub(super) fn schema_of(
    terms: &RunTerms,
    patch: Option<&PlanPatch>,
) -> Result<Option<OutputSchema>, Refusal> {
    match (&terms.output_schema, patch) {
        (Some(Value::Bool(false)), _) | (None, None) => Ok(None),
        (Some(schema), _) => {
            let schema = OutputSchema::new(schema.clone());
            schema
                .map(Some)
                .map_err(|why| refusal("outputSchema", &why))
        }
        (None, Some(patch)) => of_definition(patch),
    }
}

fn of_definition(patch: &PlanPatch) -> Result<Option<OutputSchema>, Refusal> {
    if let Some(schema) = &patch.definition.output_schema {
        let field = format!("outputSchema of {}", patch.title);
        let schema = OutputSchema::new(schema.clone());
        return schema.map(Some).map_err(|why| refusal(&field, &why));
    }
    let Some(file) = &patch.output_schema_file else {
        return Ok(None);
    };
    let field = format!("outputSchemaFile {} of {}", file.display(), patch.title);
    let largest = u64::try_from(LARGEST_SCHEMA).unwrap_or(u64::MAX);
    let text = read_own_text(file, largest).map_err(|why| refusal(&field, &why))?;
    let schema = OutputSchema::read(&text);
    schema.map(Some).map_err(|why| refusal(&field, &why))
}

fn refusal(field: &str, why: &dyn std::fmt::Display) -> Refusal {
    Refusal {
        message: format!("{field} cannot be used: {why}."),
    }
}
