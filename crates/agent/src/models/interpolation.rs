//! Values of the configuration that name a variable or a command instead of a secret.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::secrets::secret_variables;

/// The time that a command may take to print a secret.
const COMMAND_TIME: Duration = Duration::from_secs(10);

/// Resolves `!command`, `$NAME`, `${NAME}`, `$$` and `$!`; any other text is itself.
///
/// One missing variable leaves the whole value unresolved: half a key helps nobody.
///
/// A command gets no secret of the environment but those that it names.
pub(crate) async fn resolve(
    value: &str,
    variables: &BTreeMap<String, String>,
    agent_dir: &Path,
) -> Option<String> {
    match value.strip_prefix('!') {
        Some(command) => {
            let named = names(command);
            let mut variables = variables.clone();
            for secret in secret_variables(agent_dir) {
                if !named.contains(&secret) {
                    variables.remove(&secret);
                }
            }
            run(command, &variables).await
        }
        None => expand(value, |name| variables.get(name).cloned()),
    }
}

/// Returns the variables that a value names.
pub(super) fn names(value: &str) -> Vec<String> {
    let mut names = Vec::new();
    if !value.starts_with('!') {
        expand(value, |name| {
            names.push(name.to_owned());
            Some(String::new())
        });
    }
    names
}

fn expand(value: &str, mut lookup: impl FnMut(&str) -> Option<String>) -> Option<String> {
    let mut expanded = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('$') {
        expanded.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(literal) = after
            .chars()
            .next()
            .filter(|next| matches!(next, '$' | '!'))
        {
            expanded.push(literal);
            rest = &after[1..];
        } else if let Some((name, remaining)) = name_at_start(after) {
            expanded.push_str(&lookup(name)?);
            rest = remaining;
        } else {
            expanded.push('$');
            rest = after;
        }
    }
    expanded.push_str(rest);
    Some(expanded)
}

fn name_at_start(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = match text.strip_prefix('{') {
        Some(braced) => braced.split_once('}')?,
        None => text.split_at(
            text.find(|one: char| !one.is_ascii_alphanumeric() && one != '_')
                .unwrap_or(text.len()),
        ),
    };
    let begins_well = name.starts_with(|one: char| one.is_ascii_alphabetic() || one == '_');
    begins_well.then_some((name, rest))
}

async fn run(command: &str, variables: &BTreeMap<String, String>) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the user's configuration names a command that prints the key"
    )]
    let mut process = Command::new("sh");
    process
        .args(["-c", command])
        .env_clear()
        .envs(variables)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let _at_work = crate::processes::ShellTree::enter(String::new());
    let (child, _awaited) = crate::orphans::start(|| process.spawn()).ok()?;
    let output = tokio::time::timeout(COMMAND_TIME, child.wait_with_output()).await;
    let output = output.ok()?.ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn values_name_variables_and_commands() {
        let variables = BTreeMap::from([
            ("KEY".to_owned(), "secret".to_owned()),
            ("OPENAI_API_KEY".to_owned(), "other".to_owned()),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ]);
        let mut resolved = Vec::new();
        for value in [
            "plain",
            "$KEY",
            "a-${KEY}-b",
            "$MISSING",
            "x$KEY$MISSING",
            "$$KEY",
            "$!x",
            "$",
            "5$ ",
            "!echo \" $KEY \"",
            "!false",
            "!env | grep OPENAI_",
            "!env | grep OPENAI_ # $OPENAI_API_KEY",
            "${KEY",
        ] {
            resolved.push(format!(
                "{value} => {:?}",
                resolve(value, &variables, Path::new("nowhere")).await
            ));
        }
        insta::assert_snapshot!(resolved.join("\n"), @r#"
        plain => Some("plain")
        $KEY => Some("secret")
        a-${KEY}-b => Some("a-secret-b")
        $MISSING => None
        x$KEY$MISSING => None
        $$KEY => Some("$KEY")
        $!x => Some("!x")
        $ => Some("$")
        5$  => Some("5$ ")
        !echo " $KEY " => Some("secret")
        !false => None
        !env | grep OPENAI_ => None
        !env | grep OPENAI_ # $OPENAI_API_KEY => Some("OPENAI_API_KEY=other")
        ${KEY => Some("${KEY")
        "#);
    }
}
