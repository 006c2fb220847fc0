//! The secrets with which the page of this user is opened.

use pi_subagents_page::{Power, Token, Tokens};

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::token_file::token_in;

/// The secrets with which the page is opened.
pub(super) struct Secrets {
    full: String,
    viewing: String,
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
