//! Previews of the tools that ask a language server.

use super::arguments::Arguments;
use super::files::PATH;
use super::path::shorten;
use super::{PreviewContext, Sentence};
use crate::Role;

/// Shows `lsp_name → file:line:column`.
pub(super) fn position(tool: &str, arguments: Arguments<'_>, context: &PreviewContext) -> Sentence {
    let file = arguments.text(PATH);
    let line = arguments.optional_number(&["line"]);
    let column = arguments.optional_number(&["column", "character", "col"]);
    let sentence = Sentence::new(tool).about(&shorten(&file, context));
    [line, column]
        .into_iter()
        .flatten()
        .fold(sentence, |sentence, number| {
            sentence.count(Role::Muted, &format!(":{number}"))
        })
}

/// Shows `lsp_find_symbol → query`.
pub(super) fn find_symbol(tool: &str, arguments: Arguments<'_>) -> Sentence {
    Sentence::new(tool).about(&arguments.text(&["query", "symbol", "name"]))
}

/// Shows `lsp_refactor_symbol → file:line:column → newName`.
pub(super) fn refactor_symbol(
    tool: &str,
    arguments: Arguments<'_>,
    context: &PreviewContext,
) -> Sentence {
    let name = arguments.text(&["newName", "new_name"]);
    position(tool, arguments, context).count(Role::Muted, &format!(" → {name}"))
}
