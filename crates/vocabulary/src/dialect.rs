//! The table of the formats of a definition's file, and their common meaning for a run.
//!
//! A new format is a variant with its row here. How its values differ from those of the others is a
//! file of its own in `configuration/src/formats/`.

/// The format of a definition's file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// `agent-profiles/*.md`.
    #[default]
    Profile,
    /// `subagents/*.md`.
    Preset,
    /// `agents/*.md` and folders of the user's choice.
    Prompt,
}

/// Everything that differs from format to format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DialectRow {
    /// The word for it.
    pub word: &'static str,
    /// The word at the beginning of a sentence.
    pub title: &'static str,
    /// The name of the folder with its files.
    pub folder: &'static str,
    /// The meaning of the folder's name.
    pub folder_name: FolderName,
    /// The directories of a project that may have such a folder.
    pub project_folder: ProjectFolder,
    /// The use of the text under the frontmatter.
    pub body_use: BodyUse,
    /// True if runs end with a report unless the file sets something else.
    pub finalizes: bool,
    /// True if a file is refused without a description.
    pub needs_description: bool,
    /// The format in the help of a flag.
    pub help: &'static str,
    /// The format as a choice of the wizard.
    pub choice: &'static str,
    /// The format in the first comment of a starter.
    pub starter: &'static str,
}

/// The use of the text under the frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyUse {
    /// It takes the place of the child's own system prompt.
    Replace,
    /// It follows the child's own system prompt.
    Append,
}

/// The meaning of the name of a folder for the format of the files in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderName {
    /// All files in it have the format.
    Decides,
    /// The keys of each file show its format.
    LeavesItToKeys,
}

/// The directories of a project whose `.pi` may have a folder of definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectFolder {
    /// The working directory only.
    OfWorkingDirectory,
    /// The nearest directory that has one; a new folder is made at the top of the project.
    Nearest,
}

impl Dialect {
    /// All dialects, in the order of preference by default.
    pub const ALL: [Self; 3] = [Self::Profile, Self::Preset, Self::Prompt];

    /// Returns the row of this dialect.
    pub fn row(self) -> DialectRow {
        match self {
            Self::Profile => DialectRow {
                word: "profile",
                title: "Profile",
                folder: "agent-profiles",
                folder_name: FolderName::Decides,
                project_folder: ProjectFolder::OfWorkingDirectory,
                body_use: BodyUse::Replace,
                finalizes: false,
                needs_description: false,
                help: "A file in agent-profiles/ whose text replaces the system prompt",
                choice: "Profile: its text replaces the system prompt",
                starter: "A profile: the text below replaces the system prompt of the sub-agent.",
            },
            Self::Preset => DialectRow {
                word: "preset",
                title: "Preset",
                folder: "subagents",
                folder_name: FolderName::Decides,
                project_folder: ProjectFolder::Nearest,
                body_use: BodyUse::Append,
                finalizes: false,
                needs_description: true,
                help: "A file in subagents/ whose text follows the system prompt; it needs a description",
                choice: "Preset: its text is added to the system prompt",
                starter: "A preset: the text below is added to the system prompt of the sub-agent.",
            },
            Self::Prompt => DialectRow {
                word: "prompt",
                title: "Prompt",
                folder: "agents",
                folder_name: FolderName::LeavesItToKeys,
                project_folder: ProjectFolder::Nearest,
                body_use: BodyUse::Replace,
                finalizes: true,
                needs_description: false,
                help: "A file in agents/ whose text is the system prompt; its runs end with a report",
                choice: "Prompt: its text is the system prompt, and its runs end with a report",
                starter: "A prompt: the text below is the system prompt, and a run ends with a report.",
            },
        }
    }

    /// Reads the word for a dialect.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.as_str() == word)
    }

    /// Returns the word for this dialect.
    pub fn as_str(self) -> &'static str {
        self.row().word
    }

    /// Returns the word for this dialect at the beginning of a sentence.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// Returns the use of the text under the frontmatter.
    pub fn body_use(self) -> BodyUse {
        self.row().body_use
    }

    /// Returns whether runs end with a report unless the file sets something else.
    pub fn finalizes(self) -> bool {
        self.row().finalizes
    }

    /// Returns whether a file of this dialect is refused without a description.
    pub fn needs_description(self) -> bool {
        self.row().needs_description
    }
}
