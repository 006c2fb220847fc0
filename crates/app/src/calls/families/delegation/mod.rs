//! The delegation family: `delegate_to_subagents` and its companions.

mod answer;
mod attachments;
mod delegate;
mod earlier;
mod open;
mod profiles;
mod retrieval;
mod schema;
mod task;
mod tools;

pub(crate) use answer::sentence;
pub(crate) use attachments::FileSpec;
pub(crate) use delegate::check_profile;
pub(crate) use open::ASKER;
pub(crate) use profiles::profiles;
pub(crate) use retrieval::{ReadSession, output, session};
pub(crate) use task::{DelegateCall, Resume, TaskCall};
pub(crate) use tools::{DELEGATE, OUTPUT, PROFILES, SESSION, tools};
