//! The three formats of a definition's file, and their common meaning for a run.

/// The format of a definition's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// `agent-profiles/*.md`.
    Profile,
    /// `subagents/*.md`.
    Preset,
    /// `agents/*.md` and folders of the user's choice.
    Prompt,
}

/// The use of the text under the frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyUse {
    /// It takes the place of the child's own system prompt.
    Replace,
    /// It follows the child's own system prompt.
    Append,
}

impl Dialect {
    /// All dialects, in the order of preference by default.
    pub const ALL: [Self; 3] = [Self::Profile, Self::Preset, Self::Prompt];

    /// Returns the word for this dialect.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Preset => "preset",
            Self::Prompt => "prompt",
        }
    }

    /// Returns the word for this dialect at the beginning of a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Self::Profile => "Profile",
            Self::Preset => "Preset",
            Self::Prompt => "Prompt",
        }
    }

    /// Returns the use of the text under the frontmatter.
    pub fn body_use(self) -> BodyUse {
        match self {
            Self::Profile | Self::Prompt => BodyUse::Replace,
            Self::Preset => BodyUse::Append,
        }
    }

    /// Returns whether runs end with a report unless the file sets something else.
    pub fn finalizes(self) -> bool {
        match self {
            Self::Profile | Self::Preset => false,
            Self::Prompt => true,
        }
    }
}
