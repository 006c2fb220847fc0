//! The address at which the page of this user is served, so that a second call finds the first.

use std::io;
use std::path::PathBuf;

use pi_subagents_engine::ProcessName;
use pi_subagents_files::{Audience, read_own_text, replace};
use pi_subagents_page::{Power, Token, Tokens};
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::places::Places;
use crate::token_file::token_in;

/// The length of the longest file with the address.
const LONGEST: u64 = 4096;

/// The secrets with which the page is opened.
pub(super) struct Secrets {
    full: String,
    viewing: String,
}

/// A page that is served by some process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) port: u16,
    pub(super) power: Power,
    server: ProcessName,
}

impl Secrets {
    /// Reads the secrets of this user, which are made when they are first needed.
    pub(super) fn read(places: &Places) -> Result<Self, CommandError> {
        let file = |name: &str| places.agent_dir.join(name);
        Ok(Self {
            full: token_in(&file("subagents-web-token"))?,
            viewing: token_in(&file("subagents-web-view-token"))?,
        })
    }

    /// Returns the tokens that the server compares with.
    pub(super) fn tokens(&self) -> Tokens {
        Tokens {
            full: Token::new(&*self.full),
            viewing: Token::new(&*self.viewing),
        }
    }

    /// Returns the address for a browser. The part behind the `#` never reaches a server.
    pub(super) fn url(&self, port: u16, power: Power, further: &str) -> String {
        let token = match power {
            Power::Full => &self.full,
            Power::ReadOnly => &self.viewing,
        };
        format!("http://127.0.0.1:{port}/#t={token}{further}")
    }
}

fn file(places: &Places) -> PathBuf {
    places.agent_dir.join("subagents-web-address.json")
}

impl Address {
    /// Returns the address of a page that this process serves.
    pub(super) fn own(port: u16, power: Power) -> Self {
        Self {
            port,
            power,
            server: ProcessName::of_this_process(),
        }
    }

    /// Returns the page that is served already, if its process is alive.
    pub(super) fn read(places: &Places) -> Option<Self> {
        let content = read_own_text(&file(places), LONGEST).ok()?;
        Self::parse(&content).filter(|address| address.server.is_alive())
    }

    fn parse(content: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(content).ok()?;
        Some(Self {
            port: value["port"].as_u64()?.try_into().ok()?,
            power: if value["readOnly"].as_bool()? {
                Power::ReadOnly
            } else {
                Power::Full
            },
            server: ProcessName {
                pid: value["pid"].as_u64()?.try_into().ok()?,
                start_time: value["startTime"].as_u64()?,
            },
        })
    }

    /// Writes down where the page is.
    pub(super) fn write(&self, places: &Places) -> io::Result<()> {
        let content = json!({
            "port": self.port,
            "readOnly": self.power == Power::ReadOnly,
            "pid": self.server.pid,
            "startTime": self.server.start_time,
        });
        replace(
            &file(places),
            content.to_string().as_bytes(),
            Audience::Private,
        )
    }

    /// Removes the file with the address, unless another process has written its own address since.
    pub(super) fn forget(&self, places: &Places) {
        if Self::read(places) == Some(*self) {
            // A file that stays names a process that is gone, which everybody sees.
            _ = std::fs::remove_file(file(places));
        }
    }
}
