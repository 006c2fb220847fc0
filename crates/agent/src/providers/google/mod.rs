//! Google's generated content.

mod reader;
mod request;

pub(super) use reader::Reader;
pub(super) use request::body;

/// Makes an id for a call that came without an id.
fn made_up_id(name: &str, place: usize) -> String {
    format!("call#{name}#{place}")
}

/// Returns whether an id was made up by us; such ids are not sent back. An id that was used twice
/// has more digits at its end.
fn is_made_up(id: &str) -> bool {
    let place = id
        .strip_prefix("call#")
        .and_then(|rest| rest.rsplit_once('#'));
    place.is_some_and(|(name, place)| !name.is_empty() && place.parse::<u64>().is_ok())
}
