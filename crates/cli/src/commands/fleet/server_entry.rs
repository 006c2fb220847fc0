//! The entry of a user in the server's configuration file.

use std::fmt::Write as _;

use pi_subagents_fleet::values::NewKey;

/// Writes the entry of a user with exactly the permissions they need.
pub(super) fn server_entry(name: &str, key: &NewKey) -> String {
    let mut entry = format!("# {name}\n{{ nkey: {}, permissions: {{\n", key.public);
    list(&mut entry, "publish", &key.permissions.publish);
    list(&mut entry, "subscribe", &key.permissions.subscribe);
    if key.permissions.answers {
        entry.push_str("  allow_responses: { max: 100000, expires: \"1h\" }\n");
    }
    entry.push_str("} }");
    entry
}

fn list(entry: &mut String, what: &str, subjects: &[String]) {
    // Writing to a string cannot fail.
    _ = writeln!(entry, "  {what}: {{ allow: [");
    for subject in subjects {
        _ = writeln!(entry, "    \"{subject}\"");
    }
    entry.push_str("  ] }\n");
}
