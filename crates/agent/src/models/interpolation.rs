//! Values of the configuration that name a variable or a command instead of a secret.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::Command;

use super::bounded_output::{Overrun, output_of};
use super::secrets::secret_variables;

/// The time that a command may take to print a secret.
const COMMAND_TIME: Duration = Duration::from_secs(10);

/// The reason why a value is not resolved; the subject of these words is the value, or its command.
/// They repeat neither of them, because both may hold a secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unresolved {
    #[error("names a variable that is not set")]
    Variable,
    #[error(transparent)]
    Command(#[from] CommandFailure),
}

/// The reason why a command gives no value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandFailure {
    #[error(transparent)]
    Overrun(#[from] Overrun),
    #[error("failed with {0}")]
    Failed(ExitStatus),
    #[error("printed nothing")]
    Nothing,
    #[error("printed something that is not UTF-8")]
    NotText,
}

/// Resolves `!command`, `$NAME`, `${NAME}`, `$$` and `$!`; any other text is itself.
///
/// One missing variable leaves the whole value unresolved: half a key helps nobody.
///
/// A command gets no secret of the environment but those that it names.
pub(crate) async fn resolve(
    value: &str,
    variables: &BTreeMap<String, String>,
    agent_dir: &Path,
) -> Result<String, Unresolved> {
    let Some(command) = value.strip_prefix('!') else {
        let expanded = expand(value, |name| variables.get(name).cloned());
        return expanded.ok_or(Unresolved::Variable);
    };
    let named = names(command);
    let mut variables = variables.clone();
    for secret in secret_variables(agent_dir) {
        if !named.contains(&secret) {
            variables.remove(&secret);
        }
    }
    Ok(run(command, &variables).await?)
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

async fn run(
    command: &str,
    variables: &BTreeMap<String, String>,
) -> Result<String, CommandFailure> {
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
        .stderr(Stdio::null());
    let output = output_of(&mut process, COMMAND_TIME).await?;
    if !output.status.success() {
        return Err(CommandFailure::Failed(output.status));
    }
    let text = String::from_utf8(output.stdout).map_err(|_| CommandFailure::NotText)?;
    match text.trim() {
        "" => Err(CommandFailure::Nothing),
        text => Ok(text.to_owned()),
    }
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
            "!true",
            "!printf '\\377'",
            "!yes",
            "!env | grep OPENAI_",
            "!env | grep OPENAI_ # $OPENAI_API_KEY",
            "${KEY",
        ] {
            let found = resolve(value, &variables, Path::new("nowhere")).await;
            let found = found.map_err(|why| why.to_string());
            resolved.push(format!("{value} => {found:?}"));
        }
        insta::assert_snapshot!(resolved.join("\n"), @r#"
        plain => Ok("plain")
        $KEY => Ok("secret")
        a-${KEY}-b => Ok("a-secret-b")
        $MISSING => Err("names a variable that is not set")
        x$KEY$MISSING => Err("names a variable that is not set")
        $$KEY => Ok("$KEY")
        $!x => Ok("!x")
        $ => Ok("$")
        5$  => Ok("5$ ")
        !echo " $KEY " => Ok("secret")
        !false => Err("failed with exit status: 1")
        !true => Err("printed nothing")
        !printf '\377' => Err("printed something that is not UTF-8")
        !yes => Err("printed more than 64 kB")
        !env | grep OPENAI_ => Err("failed with exit status: 1")
        !env | grep OPENAI_ # $OPENAI_API_KEY => Ok("OPENAI_API_KEY=other")
        ${KEY => Ok("${KEY")
        "#);
    }
}
