//! The news of an accept, for whoever waits for its end.

use std::time::Duration;

use pi_subagents_vocabulary::text::{first_of, one_line};

/// Something that happens while results are accepted.
#[derive(Debug, Clone, Copy)]
pub enum AcceptNews<'a> {
    /// Gates run in this sandbox, because sub-agents that made the results had one.
    Confined(&'a str),
    /// A gate began on these results.
    GateBegan {
        results: &'a [&'a str],
        command: &'a str,
    },
    /// It ended.
    GateEnded {
        results: &'a [&'a str],
        command: &'a str,
        code: i32,
        took: Duration,
    },
    /// The checkout was changed meanwhile, and the results are rehearsed again.
    Again,
    /// From here the landing is finished, whatever happens.
    Lands,
}

impl AcceptNews<'_> {
    /// Says it in a sentence.
    pub fn sentence(&self) -> String {
        let names = |results: &[&str]| {
            if results.is_empty() {
                return "your checkout".to_owned();
            }
            let names = results.iter().map(|name| one_line(name));
            first_of(names, 6, ", ")
        };
        match self {
            Self::Confined(sandbox) => {
                format!("gates run in the sandbox of the results: {sandbox}")
            }
            Self::GateBegan { results, command } => {
                format!("{}: {} …", names(results), one_line(command))
            }
            Self::GateEnded {
                results,
                command,
                code,
                took,
            } => {
                let seconds = took.as_secs_f64();
                let (names, command) = (names(results), one_line(command));
                format!("{names}: {command} → {code} ({seconds:.1} s)")
            }
            Self::Again => {
                "the checkout has changed meanwhile; the results are tried again on it".to_owned()
            }
            Self::Lands => "the results land in the checkout".to_owned(),
        }
    }
}
