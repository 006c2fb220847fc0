//! `models`: the models that can be asked here, with their sizes, prices and short names.

mod models_result;
mod models_table;

use std::process::ExitCode;

use clap::Args;
use pi_subagents_agent::{
    ModelCatalogue, OfferedProvider, Surroundings, all_providers, catalogue_origin, offered_models,
};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_vocabulary::nearest;

pub(crate) use self::models_result::ModelsResult;
use self::models_table::{key_table, model_table};
use crate::places::find_places;
use pi_subagents_ground::sheet::Sheet;

#[derive(Args)]
pub(crate) struct ModelsArgs {
    /// Provider whose models are listed, also if it has no key [default: all that have one]
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
}

/// Lists models.
pub(crate) fn run(args: &ModelsArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let surroundings = Surroundings::from(&places);
    let providers = match &args.provider {
        Some(name) => vec![provider(&surroundings, name)?],
        None => offered_models(&surroundings),
    };
    let default = default_model(&places);
    let origin = catalogue_origin();
    if printer.is_json() {
        printer.json(&ModelsResult::new(&providers, default.as_deref(), &origin));
        return Ok(ExitCode::SUCCESS);
    }
    let sheet = Sheet::of_stdout(&places);
    if providers.is_empty() {
        printer.note("no provider has a key; these providers need nothing else:");
        printer.painted(&sheet.text(&key_table(&all_providers(&surroundings), &sheet)));
        printer.note("hint: Set the variable of one of them, and run this again.");
        return Ok(ExitCode::SUCCESS);
    }
    printer.painted(&sheet.text(&model_table(&providers, &sheet)));
    if let Some(default) = default {
        printer.note(&format!("A run without --model asks {default}."));
    }
    printer.note(&format!(
        "Prices are dollars for a million tokens, as of {}. Any other id of a provider works too: --model PROVIDER/ID.",
        origin.made
    ));
    Ok(ExitCode::SUCCESS)
}

/// Returns the model that a run without a model asks. Asks the servers on this machine if nothing else
/// names one.
fn default_model(places: &Places) -> Option<String> {
    let settings = Configuration::read_once(places, false).settings;
    settings.default_model.or_else(|| {
        let found = ModelCatalogue::read(Surroundings::from(places)).default_model();
        found.map(|found| found.name())
    })
}

/// Finds a provider by its name.
fn provider(surroundings: &Surroundings, name: &str) -> Result<OfferedProvider, CommandError> {
    let all = all_providers(surroundings);
    let names: Vec<String> = all.iter().map(|provider| provider.name.clone()).collect();
    let found = all.into_iter().find(|provider| provider.name == name);
    found.ok_or_else(|| {
        let error = CommandError::not_found(format!("there is no provider \"{name}\""));
        match nearest(name, names.iter().map(String::as_str)) {
            Some(meant) => error.hint(format!("Did you mean \"{meant}\"?")),
            None => error.hint(format!("There are {}.", names.join(", "))),
        }
    })
}
