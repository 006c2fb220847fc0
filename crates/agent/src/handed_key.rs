//! The key that the caller hands over on a descriptor, so that it is in no argument and in no
//! environment.
//!
//! `PI_SUBAGENTS_SECRETS_FD` is the number of the reading end of a pipe with a JSON object of
//! variables, which are taken as if they were in the environment.
//!
//! `PI_SUBAGENTS_KEY_FD` is the number of the reading end of a pipe, and
//! `PI_SUBAGENTS_KEY_PROVIDER`, if set, the provider the key is for. The pipe is read to its end
//! before anything else happens. Nothing is left in it then, so a process that inherits the
//! descriptor finds it empty; anything but a pipe could be read again and is refused.

use std::collections::BTreeMap;
use std::io::{self, Read};

use pi_subagents_os::{Descriptors as _, System};

use crate::model_route::TOKEN_PREFIX;
use crate::models::{Credential, GivenKey};

const DESCRIPTOR: &str = "PI_SUBAGENTS_KEY_FD";
const VARIABLES: &str = "PI_SUBAGENTS_SECRETS_FD";
const PROVIDER: &str = "PI_SUBAGENTS_KEY_PROVIDER";
/// No key is longer.
const MAX_BYTES: u64 = 64 * 1024;

/// The key could not be taken over.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandedKeyError {
    #[error("{variable} is not the number of a descriptor: {value}")]
    NotANumber {
        variable: &'static str,
        value: String,
    },
    #[error("Cannot read the key from descriptor {number}: {source}")]
    Unreadable { number: u32, source: io::Error },
    #[error("Descriptor {0} is not a pipe, so the key in it could be read again")]
    NotAPipe(u32),
    #[error("The key on descriptor {0} is empty or not text")]
    NotAKey(u32),
    #[error("the data on descriptor {0} is not an object of variables")]
    NotVariables(u32),
}

/// Takes the key and the variables that lead to it.
pub(crate) fn take(
    variables: &mut BTreeMap<String, String>,
) -> Result<Option<GivenKey>, HandedKeyError> {
    let provider = variables.remove(PROVIDER).filter(|name| !name.is_empty());
    let Some(number) = number(variables, DESCRIPTOR)? else {
        return Ok(None);
    };
    let key = read(number)?;
    if key.is_empty() {
        return Err(HandedKeyError::NotAKey(number));
    }
    Ok(Some(GivenKey {
        provider,
        key: match key.strip_prefix(TOKEN_PREFIX) {
            Some(token) => Credential::Token(token.to_owned()),
            None => Credential::Key(key),
        },
    }))
}

/// Takes the variables that are in no environment, in place of the variable that leads to them.
pub(crate) fn take_variables(
    variables: &mut BTreeMap<String, String>,
) -> Result<(), HandedKeyError> {
    if let Some(number) = number(variables, VARIABLES)? {
        let handed: BTreeMap<String, String> = serde_json::from_str(&read(number)?)
            .map_err(|_| HandedKeyError::NotVariables(number))?;
        variables.extend(handed);
    }
    Ok(())
}

fn number(
    variables: &mut BTreeMap<String, String>,
    variable: &'static str,
) -> Result<Option<u32>, HandedKeyError> {
    let Some(value) = variables.remove(variable) else {
        return Ok(None);
    };
    match value.parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(HandedKeyError::NotANumber { variable, value }),
    }
}

fn read(number: u32) -> Result<String, HandedKeyError> {
    let unreadable = |source| HandedKeyError::Unreadable { number, source };
    let Some(pipe) = System::inherited_pipe(number).map_err(unreadable)? else {
        return Err(HandedKeyError::NotAPipe(number));
    };
    let mut bytes = Vec::new();
    pipe.take(MAX_BYTES)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    let text = String::from_utf8(bytes).unwrap_or_default();
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    fn variables(number: &impl ToString) -> BTreeMap<String, String> {
        BTreeMap::from([
            (DESCRIPTOR.to_owned(), number.to_string()),
            (PROVIDER.to_owned(), "fake".to_owned()),
            ("OTHER".to_owned(), "stays".to_owned()),
        ])
    }

    #[test]
    fn the_key_is_read_once_and_its_traces_are_gone() {
        let (mut reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"sk-handed\n").unwrap();
        drop(writer);
        let mut given = variables(&reader.as_raw_fd());
        let key = take(&mut given).unwrap().unwrap();
        assert_eq!(key.provider.as_deref(), Some("fake"));
        assert_eq!(key.key, Credential::Key("sk-handed".to_owned()));
        assert_eq!(given.keys().collect::<Vec<_>>(), ["OTHER"]);
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).unwrap();
        assert!(rest.is_empty());
        assert_eq!(take(&mut given).unwrap(), None);
    }

    #[test]
    fn variables_are_read_once_as_if_they_stood_in_the_environment() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(br#"{"MY_KEY": "sk"}"#).unwrap();
        drop(writer);
        let number = reader.as_raw_fd().to_string();
        let mut given = BTreeMap::from([(VARIABLES.to_owned(), number.clone())]);
        take_variables(&mut given).unwrap();
        assert_eq!(
            given,
            BTreeMap::from([("MY_KEY".to_owned(), "sk".to_owned())])
        );
        let mut again = BTreeMap::from([(VARIABLES.to_owned(), number)]);
        let refused = take_variables(&mut again).unwrap_err();
        assert!(matches!(refused, HandedKeyError::NotVariables(_)));
    }

    #[test]
    fn what_could_be_read_again_or_is_no_key_is_refused() {
        let file = tempfile::tempfile().unwrap();
        let refused = |number: &dyn ToString| {
            let refusal = take(&mut variables(&number.to_string())).unwrap_err();
            refusal
                .to_string()
                .replace(&file.as_raw_fd().to_string(), "N")
        };
        assert_eq!(
            refused(&file.as_raw_fd()),
            "Descriptor N is not a pipe, so the key in it could be read again"
        );
        assert_eq!(
            refused(&"x"),
            "PI_SUBAGENTS_KEY_FD is not the number of a descriptor: x"
        );
        let (reader, writer) = io::pipe().unwrap();
        drop(writer);
        let empty = take(&mut variables(&reader.as_raw_fd())).unwrap_err();
        assert!(matches!(empty, HandedKeyError::NotAKey(_)));
    }
}
