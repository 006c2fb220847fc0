//! The system prompt, and the files that it is made of: instructions of the user and of projects,
//! and skills.

mod skills;
#[cfg(test)]
mod skills_tests;
mod system;

pub(crate) use system::build;
