//! The delegation family: `delegate_to_subagents` and its companions.

mod answer;
mod attachments;
mod delegate;
mod earlier_sessions;
mod open;
mod profiles;
mod retrieval;
mod schema;
mod tools;

pub use answer::sentence;
pub use attachments::FileSpec;
pub use open::ASKER;
pub(crate) use profiles::profiles;
pub use retrieval::{ReadSession, output, session};
pub use schema::DelegateCall;
pub use tools::{DELEGATE, OUTPUT, PROFILES, SESSION, tools};
