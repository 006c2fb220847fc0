//! Makes the built-in catalogue of models out of the data of an unpacked `pi-ai` package.
//!
//! `catalogue PACKAGE DATE` prints one line about the catalogue itself, then one line of JSON for each
//! provider. `cargo xtask models` calls it. Facts about models carry over: names, sizes, prices and
//! addresses. The default of each provider and the short names are ours, in `choices.rs`.

#![expect(
    clippy::disallowed_methods,
    reason = "a developer's command reads files that it has fetched"
)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing the catalogue is what this program is for"
)]

mod choices;
mod facts;
mod newest;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::choices::{CHOICES, ProviderChoice};
use crate::facts::ProviderFacts;
use crate::newest::newest;

fn main() -> ExitCode {
    match print_catalogue() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("catalogue: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print_catalogue() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(package), Some(date)) = (arguments.next(), arguments.next()) else {
        return Err("usage: catalogue PACKAGE DATE".into());
    };
    let package = PathBuf::from(package);
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(package.join("package.json"))?)?;
    let (name, version) = (&manifest["name"], &manifest["version"]);
    let from = format!(
        "{} {}",
        name.as_str().unwrap_or_default(),
        version.as_str().unwrap_or_default()
    );
    println!("{}", json!({"made": date, "from": from}));
    for choice in &CHOICES {
        let facts = ProviderFacts::read(&package, choice.provider)?;
        println!("{}", line(choice, &facts)?);
    }
    Ok(())
}

/// Returns the line of a provider.
fn line(choice: &ProviderChoice, facts: &ProviderFacts) -> Result<Value, String> {
    let ids = facts.ids();
    let meant = |pattern: &str| {
        newest(pattern, &ids).ok_or_else(|| {
            let provider = choice.provider;
            format!("{provider} has no model {pattern} any more: change choices.rs")
        })
    };
    let mut aliases = serde_json::Map::new();
    for alias in choice.aliases {
        aliases.insert(alias.name.to_owned(), json!(meant(alias.pattern)?));
    }
    Ok(json!({
        "provider": choice.provider,
        "default": meant(choice.default)?,
        "aliases": aliases,
        "api": facts.api,
        "baseUrl": facts.base_url,
        "models": facts.models,
    }))
}
