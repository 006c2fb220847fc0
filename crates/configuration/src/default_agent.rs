//! The sub-agent that needs no definition.

use std::path::PathBuf;
use std::sync::LazyLock;

use pi_subagents_vocabulary::{Definition, Dialect, Scope};

/// The name of the default agent. A user's definition with this name takes its place.
pub const DEFAULT_AGENT: &str = "default";

/// Returns the definition without any wishes: the child has its default tools and prompt, and the
/// caller's model, else its default one. It has no file.
pub(crate) fn default_agent() -> &'static Definition {
    static PLAIN: LazyLock<Definition> = LazyLock::new(|| Definition {
        description: Some("a plain sub-agent that needs no file".to_owned()),
        ..Definition::new(
            DEFAULT_AGENT,
            Dialect::Profile,
            Scope::Global,
            PathBuf::new(),
        )
    });
    &PLAIN
}
