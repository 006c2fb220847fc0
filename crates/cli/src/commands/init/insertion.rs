//! The result of adding something to the text of a file.

/// A text to which something was added, if it was not there already.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Insertion {
    /// The text already has an entry of this name.
    Present,
    /// The entry was added; everything else is as it was.
    Made {
        /// The whole new text.
        text: String,
        /// The added part, for a person who has to find it again.
        added: String,
    },
}

/// The reason why a text is left alone.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum InsertionRefusal {
    #[error("it is not UTF-8 text")]
    NotText,
    #[error("it is not plain JSON ({0})")]
    NotJson(String),
    #[error("{0} in it is not an object")]
    NotObject(String),
    #[error("it is not TOML that can be read to its end")]
    NotToml,
    #[error("it writes mcp_servers without its own heading")]
    NoHeading,
    #[error("it has a name twice")]
    Ambiguous,
}
