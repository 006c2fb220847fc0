//! What a server may be called, and which of its values may stand in a file.

use super::ServerReach;

/// The longest name of a server. It is a part of the names of tools, which providers limit.
const LONGEST_NAME: usize = 32;
/// The longest value.
const LONGEST_VALUE: usize = 4096;
/// The most values of one kind.
const MOST_VALUES: usize = 64;

/// Words in the names of variables and headers whose values are keys.
const KEY_WORDS: [&str; 9] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
    "auth",
    "cookie",
    "bearer",
];

/// Checks the name of a server.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let fits = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && name.bytes().all(is_allowed)
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_');
    if fits {
        return Ok(());
    }
    Err(format!(
        "has the server \"{name}\", whose name must have at most {LONGEST_NAME} letters, digits, \"-\" and single \"_\""
    ))
}

/// Checks that a server can be reached so, and that no key stands in the file.
pub(super) fn check_reach(name: &str, reach: &ServerReach) -> Result<(), String> {
    let refuse = |why: String| Err(format!("has the server \"{name}\": {why}"));
    match reach {
        ServerReach::Configured => Ok(()),
        ServerReach::Program {
            command,
            arguments,
            environment,
            directory,
        } => {
            let words = std::iter::once(command).chain(arguments).chain(directory);
            for word in words {
                if let Err(why) = check_word(word) {
                    return refuse(why);
                }
            }
            if arguments.len() > MOST_VALUES || environment.len() > MOST_VALUES {
                return refuse(format!(
                    "it may have at most {MOST_VALUES} arguments and variables"
                ));
            }
            for (variable, value) in environment {
                if !is_variable(variable) {
                    return refuse(format!("\"{variable}\" is not a name of a variable"));
                }
                if let Err(why) = check_value(variable, value) {
                    return refuse(why);
                }
            }
            Ok(())
        }
        ServerReach::Address { url, headers } => {
            if let Err(why) = check_url(url, !headers.is_empty()) {
                return refuse(why);
            }
            if headers.len() > MOST_VALUES {
                return refuse(format!("it may have at most {MOST_VALUES} headers"));
            }
            for (header, value) in headers {
                let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
                if header.is_empty() || !header.bytes().all(is_name) {
                    return refuse(format!("\"{header}\" is not a name of a header"));
                }
                if let Err(why) = check_value(header, value) {
                    return refuse(why);
                }
            }
            Ok(())
        }
    }
}

/// Checks a word of a command. Everybody on this machine can read the arguments of a process, so no
/// variable is put into one.
fn check_word(word: &str) -> Result<(), String> {
    if word.is_empty() || word.len() > LONGEST_VALUE || word.contains('\0') {
        return Err("each word of its command must have from 1 to 4096 bytes".to_owned());
    }
    if word.contains("${") {
        return Err(format!(
            "\"{word}\" names a variable, and arguments can be read by everybody on this machine; name it in \"env\""
        ));
    }
    Ok(())
}

fn check_value(name: &str, value: &str) -> Result<(), String> {
    if value.len() > LONGEST_VALUE || value.chars().any(char::is_control) {
        return Err(format!(
            "the value of {name} must be one line of at most {LONGEST_VALUE} bytes"
        ));
    }
    let lower = name.to_lowercase();
    let holds_key = KEY_WORDS.iter().any(|word| lower.contains(word));
    if holds_key && variables_in(value).is_empty() && !value.is_empty() {
        return Err(format!(
            "the value of {name} would be a key in a file; name a variable that holds it, as in \"${{{}}}\", or a key of auth.json, as in \"${{auth.json:NAME}}\"",
            variable_for(name)
        ));
    }
    Ok(())
}

/// Returns a name for the variable that could hold the value of a header.
fn variable_for(name: &str) -> String {
    let letters = name.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() => letter.to_ascii_uppercase(),
        _ => '_',
    });
    letters.collect()
}

fn check_url(url: &str, has_headers: bool) -> Result<(), String> {
    let (scheme, rest) = url
        .split_once("://")
        .filter(|(scheme, _)| ["http", "https"].contains(scheme))
        .ok_or_else(|| format!("\"{url}\" must begin with https:// or http://"))?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_odd = url.len() > LONGEST_VALUE
        || url
            .chars()
            .any(|letter| letter.is_control() || letter.is_whitespace());
    if host.is_empty() || is_odd {
        return Err(format!("\"{}\" is not an address", url.escape_debug()));
    }
    if host.contains('@') || url.contains("${") {
        return Err("its address may hold no key; send it in \"headers\"".to_owned());
    }
    let is_here = ["localhost", "127.0.0.1", "[::1]"].iter().any(|here| {
        host == *here
            || host
                .strip_prefix(here)
                .is_some_and(|port| port.starts_with(':'))
    });
    if scheme == "http" && has_headers && !is_here {
        return Err("its headers would be sent without encryption; use https".to_owned());
    }
    Ok(())
}

/// Returns whether a text can be the name of a variable.
fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the variables that a value names in `${NAME}`, without the words after `:-`.
pub fn variables_in(value: &str) -> Vec<String> {
    let mut parts = value.split("${");
    parts.next();
    parts
        .filter_map(|part| {
            let (name, _) = part.split_once('}')?;
            let name = name.split_once(":-").map_or(name, |(name, _)| name);
            (!name.is_empty()).then(|| name.to_owned())
        })
        .collect()
}
