//! Servers of `mcp.json` that a confined pi may know: those without a key in their entry. Pure.

use serde_json::Value;

/// Fields whose values may be keys, and fields of which nobody knows that they are none.
const KNOWN: [&str; 10] = [
    "type",
    "command",
    "args",
    "cwd",
    "url",
    "timeout",
    "enabled",
    "exposure",
    "toolExposure",
    "description",
];

/// Fields with values that may be keys, unless they name a variable.
const VALUES: [&str; 2] = ["env", "headers"];

/// Parts of words that keys stand in or behind.
const KEY_WORDS: [&str; 7] = [
    "key",
    "token",
    "secret",
    "passw",
    "credential",
    "bearer",
    "auth",
];

/// Returns whether an entry holds no key. In doubt it holds one: without the entry the pi lacks the
/// tools of a server, and with it every command of the pi could read the key.
pub(super) fn holds_no_key(entry: &Value) -> bool {
    let Some(fields) = entry.as_object() else {
        return true;
    };
    fields.iter().all(|(name, value)| match name.as_str() {
        "args" => value
            .as_array()
            .is_some_and(|words| words.iter().all(is_plain)),
        "url" | "command" => is_plain(value),
        name if VALUES.contains(&name) => {
            let values = value.as_object();
            values.is_some_and(|values| values.values().all(names_variable))
        }
        name => KNOWN.contains(&name),
    })
}

/// Returns whether a value is the name of a variable and nothing else, as in `${DOCS_TOKEN}`.
fn names_variable(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    let text = text.strip_prefix("Bearer ").unwrap_or(text);
    let name = text
        .strip_prefix("${")
        .and_then(|text| text.strip_suffix('}'));
    name.is_some_and(|name| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        !name.is_empty() && name.bytes().all(is_letter)
    })
}

/// Returns whether a word is neither a key nor stands before one.
fn is_plain(word: &Value) -> bool {
    let Some(word) = word.as_str() else {
        return false;
    };
    let lower = word.to_lowercase();
    let has_user = word.contains("://") && word.contains('@');
    !has_user && !word.contains('?') && !KEY_WORDS.iter().any(|key| lower.contains(key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_with_anything_that_may_be_a_key_is_left_out() {
        for plain in [
            json!({"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}),
            json!({"command": "serve", "env": {"TOKEN": "${MY_TOKEN}"}, "timeout": 5}),
            json!({"url": "https://docs.example/mcp", "headers": {"Authorization": "Bearer ${DOCS}"}}),
            json!({"enabled": false}),
        ] {
            assert!(holds_no_key(&plain), "{plain}");
        }
        for keyed in [
            json!({"command": "serve", "env": {"DATABASE": "postgres://me:pw@host"}}),
            json!({"command": "serve", "env": {"TOKEN": "${A:-sk-1}"}}),
            json!({"command": "serve", "args": ["--api-key", "sk-1"]}),
            json!({"command": "serve", "args": ["postgres://me:pw@host"]}),
            json!({"url": "https://docs.example/mcp?k=1"}),
            json!({"url": "https://docs.example/mcp", "headers": {"X": "!print key"}}),
            json!({"url": "https://docs.example/mcp", "oauth": {"clientSecret": "x"}}),
        ] {
            assert!(!holds_no_key(&keyed), "{keyed}");
        }
    }
}
