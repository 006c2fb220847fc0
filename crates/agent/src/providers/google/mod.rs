//! Google's generated content.

mod reader;
mod request;

pub(super) use reader::Reader;
pub(super) use request::body;

/// An id for a call that came without one.
fn made_up_id(name: &str, place: usize) -> String {
    format!("call#{name}#{place}")
}

/// Whether an id was made up, by us or by an earlier version; such ids are not sent back.
/// One that was used already has got more digits at its end.
fn is_made_up(id: &str) -> bool {
    let place = id
        .strip_prefix("call#")
        .and_then(|rest| rest.rsplit_once('#'));
    place.is_some_and(|(name, place)| !name.is_empty() && place.parse::<u64>().is_ok())
}
