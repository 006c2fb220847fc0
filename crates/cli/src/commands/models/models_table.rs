//! The tables of `models`.

use pi_subagents_agent::{OfferedModel, OfferedProvider};
use pi_subagents_view::figures::tokens;
use pi_subagents_view::{Column, Line, Role, table};

use pi_subagents_ground::sheet::Sheet;

/// The columns of models. A narrow terminal loses the name for people first.
const MODELS: [Column; 6] = [
    Column::whole("MODEL", 0),
    Column::words("ALSO", 1, 8, 32),
    Column::number("CONTEXT", 2),
    Column::number("IN $/M", 3),
    Column::number("OUT $/M", 3),
    Column::words("NAME", 4, 12, 40),
];

/// The columns of providers without a key.
const KEYS: [Column; 3] = [
    Column::whole("PROVIDER", 0),
    Column::whole("VARIABLE", 0),
    Column::words("DEFAULT MODEL", 1, 16, usize::MAX),
];

/// Draws the models of providers.
pub(super) fn model_table(providers: &[OfferedProvider], sheet: &Sheet) -> Vec<Line> {
    let rows = providers.iter().flat_map(|provider| {
        let models = provider.models.iter();
        models.map(move |model| model_cells(&provider.name, model))
    });
    table(&MODELS, rows.collect(), sheet.columns())
}

fn model_cells(provider: &str, model: &OfferedModel) -> Vec<Line> {
    let mut also = model.aliases.clone();
    also.extend(model.is_default.then(|| "default".to_owned()));
    let price = |dollars: Option<f64>| dollars.map(|dollars| format!("{dollars:.2}"));
    let input = price(model.price.map(|price| price.input));
    let output = price(model.price.map(|price| price.output));
    let plain = |words: &str| Line::new(Role::Plain, words);
    vec![
        plain(&format!("{provider}/{}", model.id)),
        Line::new(Role::Success, &also.join(", ")),
        plain(&model.context_window.map(tokens).unwrap_or_default()),
        plain(&input.unwrap_or_default()),
        plain(&output.unwrap_or_default()),
        Line::new(Role::Muted, &model.title),
    ]
}

/// Draws the providers that need nothing but a key.
pub(super) fn key_table(providers: &[OfferedProvider], sheet: &Sheet) -> Vec<Line> {
    let rows = providers.iter().filter_map(|provider| {
        let default = provider.models.iter().find(|model| model.is_default)?;
        let variable = provider.variables.first()?;
        Some(vec![
            Line::new(Role::Plain, &provider.name),
            Line::new(Role::Plain, variable),
            Line::new(Role::Muted, &default.id),
        ])
    });
    table(&KEYS, rows.collect(), sheet.columns())
}
