//! The sizes of models' contexts, as far as files on this machine know them. Records do not have
//! them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pi_subagents_agent::{ModelCatalogue, Surroundings};

use pi_subagents_ground::places::Places;

/// The sizes of the contexts of models that were asked for.
#[derive(Default)]
pub(super) struct ContextSizes(Mutex<HashMap<String, Option<u64>>>);

impl ContextSizes {
    /// Returns the number of tokens that a model reads at most. `model` has its provider before a
    /// slash.
    pub(super) fn of(&self, model: &str, places: &Places) -> Option<u64> {
        let mut sizes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = sizes.get(model) {
            return *known;
        }
        let size = model.split_once('/').and_then(|(provider, id)| {
            let catalogue = ModelCatalogue::read(Surroundings::from(places));
            catalogue.context_window(provider, id)
        });
        sizes.insert(model.to_owned(), size);
        size
    }
}
