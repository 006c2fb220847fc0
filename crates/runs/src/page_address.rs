//! The address at which the page of this user is served, so that a second call finds the first and
//! others can name it. The address alone opens nothing: the token is in another file.

use pi_subagents_vocabulary::Advice;
use pi_subagents_vocabulary::Door;
use std::io;
use std::path::PathBuf;

use pi_subagents_engine::ProcessName;
use pi_subagents_files::{Audience, read_own_text, replace};
use serde_json::{Value, json};

use pi_subagents_ground::places::Places;

/// The length of the longest file with the address.
const LONGEST: u64 = 4096;

/// Says where a person can watch, if a page is served. Models read it too, so it has no token: the
/// command opens the browser with it.
pub fn page_words(places: &Places, door: Door) -> Option<String> {
    let origin = page_origin(places)?;
    let how = Advice::OpenPage.words(door);
    Some(format!("{origin} shows it live; {how} opens it."))
}

/// Returns the address at which a person can watch, if a page is served. It has no token.
pub fn page_origin(places: &Places) -> Option<String> {
    PageAddress::read(places).map(PageAddress::origin)
}

/// The rights of everybody who has the token of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// It looks at runs, steers and stops them, lets them go on, merges and discards results.
    Full,
    /// It looks at runs. There are no routes for anything else.
    ReadOnly,
}

/// A page that is served by some process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageAddress {
    pub port: u16,
    pub power: Power,
    server: ProcessName,
}

fn file(places: &Places) -> PathBuf {
    places.agent_dir.join("subagents-web-address.json")
}

impl PageAddress {
    /// Returns the address of a page that this process serves.
    pub fn own(port: u16, power: Power) -> Self {
        Self {
            port,
            power,
            server: ProcessName::of_this_process(),
        }
    }

    /// Returns the page that is served already, if there is one whose process is alive.
    pub fn read(places: &Places) -> Option<Self> {
        let content = read_own_text(&file(places), LONGEST).ok()?;
        Self::parse(&content).filter(|address| address.server.is_alive())
    }

    /// Returns the address without the token, which opens nothing.
    pub(crate) fn origin(self) -> String {
        format!("http://127.0.0.1:{}", self.port)
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
    pub fn write(&self, places: &Places) -> io::Result<()> {
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

    /// Removes what was written down, unless another process has written its own address since.
    pub fn forget(&self, places: &Places) {
        if Self::read(places) == Some(*self) {
            // A file that stays names a process that is gone, which everybody sees.
            _ = std::fs::remove_file(file(places));
        }
    }
}
