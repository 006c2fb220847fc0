//! The tools that pi has built in, and those that are switched on by default.

use std::collections::BTreeSet;

/// The tools that both kinds of child have built in, in the order in which a model sees them.
pub const BUILT_IN_TOOLS: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/// The tools that a child has by default.
pub const DEFAULT_TOOLS: [&str; 4] = ["read", "bash", "edit", "write"];

/// Applies a `defaultTools` list to the tools that a child would have: plain names replace them,
/// `+name` adds one and `-name` takes one away.
pub fn with_default_tools<'a>(
    mut tools: BTreeSet<String>,
    listed: impl IntoIterator<Item = &'a str>,
) -> BTreeSet<String> {
    let names: Vec<&str> = listed.into_iter().collect();
    if names.is_empty() || names.iter().any(|name| !name.starts_with(['+', '-'])) {
        tools.clear();
    }
    for name in names {
        match (name.strip_prefix('+'), name.strip_prefix('-')) {
            (_, Some(taken)) => {
                tools.remove(taken);
            }
            (added, None) => {
                tools.insert(added.unwrap_or(name).to_owned());
            }
        }
    }
    tools
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn settings_replace_add_and_take_away() {
        let set = |names: &[&str]| -> BTreeSet<String> {
            names.iter().map(|&name| name.to_owned()).collect()
        };
        let tools =
            |names: &[&str]| with_default_tools(set(&["read", "bash"]), names.iter().copied());
        assert_eq!(tools(&["edit"]), set(&["edit"]));
        assert_eq!(tools(&[]), set(&[]));
        assert_eq!(tools(&["+ls", "-bash"]), set(&["read", "ls"]));
    }
}
