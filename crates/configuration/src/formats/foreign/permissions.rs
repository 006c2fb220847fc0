//! The permissions of opencode: for each tool `allow`, `ask` or `deny`, or a mapping from patterns of
//! commands and paths to these. The last entry that matches a tool counts.

use pi_subagents_pi_files::Problem;
use pi_subagents_pi_files::yaml::{Value, YamlEntry};
use pi_subagents_vocabulary::NoteKind;

use super::tool_list::{ToolList, ToolNote};

/// The names that permissions have for our tools.
const NAMES: [(&str, &[&str]); 6] = [
    ("read", &["read"]),
    ("edit", &["edit", "write"]),
    ("bash", &["bash"]),
    ("grep", &["grep"]),
    ("glob", &["find"]),
    ("list", &["ls"]),
];

/// Other names for the same permissions.
const OTHER_NAMES: [(&str, &str); 5] = [
    ("write", "edit"),
    ("patch", "edit"),
    ("apply_patch", "edit"),
    ("find", "glob"),
    ("ls", "list"),
];

/// The permission to leave the project, which nothing here can withhold.
const OUTSIDE: &str = "external_directory";

/// What an agent may do with a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Permission {
    Allow,
    Ask,
    Deny,
    /// Something with some commands or paths, and something else with others.
    InPart,
}

/// Takes away every tool that is not allowed as a whole.
pub(super) fn take(list: &mut ToolList, entry: &YamlEntry) -> Result<Vec<ToolNote>, Problem> {
    let rules = rules(entry)?;
    if let Some((_, Permission::Deny | Permission::InPart)) = last(&rules, OUTSIDE, false) {
        let message = format!(
            "{}.{OUTSIDE} cannot be kept: nothing here keeps an agent in its project",
            entry.key
        );
        return Err(Problem::at(entry.position, message));
    }
    let mut notes = Vec::new();
    for (name, tools) in NAMES {
        let Some((written, permission)) = last(&rules, name, true) else {
            continue;
        };
        let why = match permission {
            Permission::Allow => continue,
            Permission::Deny => None,
            Permission::Ask => Some("nobody can be asked"),
            Permission::InPart => Some("a part of a tool cannot be allowed alone"),
        };
        list.deny_all(tools);
        notes.extend(why.map(|why| ToolNote {
            kind: NoteKind::Narrower,
            subject: format!("{}.{written}", entry.key),
            reason: format!("{why}, so {} is taken away", tools.join(" and ")),
        }));
    }
    Ok(notes)
}

/// Returns the last rule that a permission meets.
fn last<'a>(
    rules: &'a [(String, Permission)],
    name: &str,
    takes_patterns: bool,
) -> Option<(&'a str, Permission)> {
    let meets = |pattern: &str| {
        let other = OTHER_NAMES.iter().find(|(other, _)| *other == pattern);
        let pattern = other.map_or(pattern, |(_, name)| *name);
        pattern == name || takes_patterns && pattern.contains('*') && matches(pattern, name)
    };
    let mut rules = rules.iter().rev();
    let (written, permission) = rules.find(|(pattern, _)| meets(pattern))?;
    Some((written, *permission))
}

fn rules(entry: &YamlEntry) -> Result<Vec<(String, Permission)>, Problem> {
    match &entry.value.value {
        Value::Map(entries) => entries
            .iter()
            .map(|rule| Ok((rule.key.to_ascii_lowercase(), permission(rule)?)))
            .collect(),
        Value::Text(_) | Value::Bool(_) => Ok(vec![("*".to_owned(), permission(entry)?)]),
        Value::Null => Ok(Vec::new()),
        Value::Number(_) | Value::List(_) => Err(unknown(entry)),
    }
}

fn permission(rule: &YamlEntry) -> Result<Permission, Problem> {
    match &rule.value.value {
        Value::Text(word) => word_of(word).ok_or_else(|| unknown(rule)),
        Value::Bool(is_allowed) => Ok(if *is_allowed {
            Permission::Allow
        } else {
            Permission::Deny
        }),
        Value::Map(parts) => {
            let parts: Vec<Permission> = parts.iter().map(permission).collect::<Result<_, _>>()?;
            let first = parts.first().copied().unwrap_or(Permission::Allow);
            let is_uniform = parts.iter().all(|part| *part == first);
            Ok(if is_uniform {
                first
            } else {
                Permission::InPart
            })
        }
        Value::Null | Value::Number(_) | Value::List(_) => Err(unknown(rule)),
    }
}

fn word_of(word: &str) -> Option<Permission> {
    match word.trim() {
        "allow" => Some(Permission::Allow),
        "ask" => Some(Permission::Ask),
        "deny" => Some(Permission::Deny),
        _ => None,
    }
}

fn unknown(rule: &YamlEntry) -> Problem {
    let message = format!(
        "\"{}\" must be allow, ask or deny, or a mapping to these",
        rule.key
    );
    Problem::at(rule.value.position, message)
}

/// Returns whether a pattern with `*` matches a name.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((before, behind)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(rest) = name.strip_prefix(before) else {
        return false;
    };
    let mut starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    starts.any(|at| matches(behind, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use pi_subagents_pi_files::yaml;
    use pretty_assertions::assert_eq;

    use super::super::tool_list::LeftTools;
    use super::*;

    fn left(text: &str) -> Result<LeftTools, String> {
        let entries = yaml::parse(text).unwrap();
        let mut list = ToolList::default();
        take(&mut list, &entries[0]).map_err(|problem| problem.message)?;
        list.left().map_err(|problem| problem.message)
    }

    fn but(tools: &[&str]) -> LeftTools {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        LeftTools::AllBut(tools)
    }

    #[test]
    fn only_what_is_allowed_as_a_whole_is_left() {
        assert_eq!(left("permission: allow"), Ok(LeftTools::Default));
        assert_eq!(left("permission: deny"), Ok(LeftTools::Nothing));
        assert_eq!(
            left("permission: {edit: deny}"),
            Ok(but(&["edit", "write"]))
        );
        assert_eq!(left("permission: {bash: ask}"), Ok(but(&["bash"])));
        assert_eq!(
            left("permission: {bash: {\"*\": allow}}"),
            Ok(LeftTools::Default)
        );
        assert_eq!(
            left("permission: {bash: {\"*\": ask, git: allow}}"),
            Ok(but(&["bash"]))
        );
        assert_eq!(
            left("permission: {\"*\": deny, read: allow}"),
            Ok(but(&["bash", "edit", "find", "grep", "ls", "write"]))
        );
        assert_eq!(
            left("permission: {read: allow, \"*\": deny}"),
            Ok(LeftTools::Nothing)
        );
        assert_eq!(
            left("permission: {webfetch: deny, task: {\"*\": deny}}"),
            Ok(LeftTools::Default)
        );
    }

    #[test]
    fn what_cannot_be_read_or_kept_is_refused() {
        assert!(left("permission: 3").is_err());
        assert!(left("permission: {bash: maybe}").is_err());
        assert!(left("permission: {external_directory: deny}").is_err());
        assert_eq!(
            left("permission: {external_directory: ask}"),
            Ok(LeftTools::Default)
        );
    }
}
