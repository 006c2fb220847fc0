//! The table of the formats of a definition's file, and their common meaning for a run.
//!
//! A new format is a variant with its row here. The keys of other tools, and what they mean for us,
//! are in `configuration/src/formats/foreign/`.

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
    /// Sub-agents of Claude Code.
    Claude,
    /// Custom agents of Copilot, on the command line and in VS Code.
    Copilot,
    /// Agent roles of Codex.
    Codex,
    /// Agents of opencode.
    Opencode,
    /// Sub-agents of Gemini CLI.
    Gemini,
    /// Sub-agents of Cursor.
    Cursor,
    /// Agents of `@tintinweb/pi-subagents`, in the same folder as prompts.
    Tintinweb,
    /// Agents of the pi extension `pi-subagents` of nicobailon, in the same folder as prompts.
    Nicobailon,
}

/// Everything that differs from format to format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DialectRow {
    /// The word for it.
    pub word: &'static str,
    /// The word at the beginning of a sentence.
    pub title: &'static str,
    /// The use of the text under the frontmatter.
    pub body_use: BodyUse,
    /// True if runs end with a report unless the file sets something else.
    pub finalizes: bool,
    /// True if a file is refused without a description.
    pub needs_description: bool,
    /// The files of the format.
    pub files: DialectFiles,
}

/// The files of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialectFiles {
    /// The format is ours: its files are read and written.
    Ours(OurFiles),
    /// The format belongs to another tool: its files are read and never written.
    Foreign(ForeignFiles),
}

/// The files of a format of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OurFiles {
    /// The name of the folder with its files.
    pub folder: &'static str,
    /// The meaning of the folder's name.
    pub folder_name: FolderName,
    /// The directories of a project that may have such a folder.
    pub project_folder: ProjectFolder,
    /// The format in the help of a flag.
    pub help: &'static str,
    /// The format as a choice of the wizard.
    pub choice: &'static str,
    /// The format in the first comment of a starter.
    pub starter: &'static str,
}

/// The files of a format of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignFiles {
    /// The name of the tool.
    pub product: &'static str,
    /// The folders in a directory of a project; empty if the files lie in a folder of ours.
    pub in_project: &'static [&'static str],
    /// The folders in the home directory.
    pub in_home: &'static [&'static str],
    /// The folders that count below such a folder.
    pub depth: FolderDepth,
    /// The ending of the files.
    pub ending: &'static str,
    /// The part of a file that names its agent.
    pub name: NameSource,
}

/// The folders that count below a folder of definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderDepth {
    /// Only the folder itself.
    Flat,
    /// All folders in it.
    Deep,
}

/// The part of a file that names its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameSource {
    /// The key `name`, which is required.
    Key,
    /// The key `name`, or else the name of the file.
    KeyOrFile,
    /// The name of the file; the key `name` is a second name.
    File,
    /// The path of the file below its folder.
    Path,
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
    /// The formats of ours, in the order of preference by default.
    pub const OURS: [Self; 3] = [Self::Profile, Self::Preset, Self::Prompt];

    /// The formats of other tools, in the order of preference.
    pub const FOREIGN: [Self; 8] = [
        Self::Claude,
        Self::Copilot,
        Self::Codex,
        Self::Opencode,
        Self::Gemini,
        Self::Cursor,
        Self::Tintinweb,
        Self::Nicobailon,
    ];

    /// Returns the row of this dialect.
    pub fn row(self) -> DialectRow {
        match self {
            Self::Profile => DialectRow {
                word: "profile",
                title: "Profile",
                body_use: BodyUse::Replace,
                finalizes: false,
                needs_description: false,
                files: DialectFiles::Ours(OurFiles {
                    folder: "agent-profiles",
                    folder_name: FolderName::Decides,
                    project_folder: ProjectFolder::OfWorkingDirectory,
                    help: "A file in agent-profiles/ whose text replaces the system prompt",
                    choice: "Profile: its text replaces the system prompt",
                    starter: "A profile: the text below replaces the system prompt of the sub-agent.",
                }),
            },
            Self::Preset => DialectRow {
                word: "preset",
                title: "Preset",
                body_use: BodyUse::Append,
                finalizes: false,
                needs_description: true,
                files: DialectFiles::Ours(OurFiles {
                    folder: "subagents",
                    folder_name: FolderName::Decides,
                    project_folder: ProjectFolder::Nearest,
                    help: "A file in subagents/ whose text follows the system prompt; it needs a description",
                    choice: "Preset: its text is added to the system prompt",
                    starter: "A preset: the text below is added to the system prompt of the sub-agent.",
                }),
            },
            Self::Prompt => DialectRow {
                word: "prompt",
                title: "Prompt",
                body_use: BodyUse::Replace,
                finalizes: true,
                needs_description: false,
                files: DialectFiles::Ours(OurFiles {
                    folder: "agents",
                    folder_name: FolderName::LeavesItToKeys,
                    project_folder: ProjectFolder::Nearest,
                    help: "A file in agents/ whose text is the system prompt; its runs end with a report",
                    choice: "Prompt: its text is the system prompt, and its runs end with a report",
                    starter: "A prompt: the text below is the system prompt, and a run ends with a report.",
                }),
            },
            Self::Claude => DialectRow::foreign(
                "claude",
                "Claude agent",
                ForeignFiles {
                    product: "Claude Code",
                    in_project: &[".claude/agents"],
                    in_home: &[".claude/agents"],
                    depth: FolderDepth::Deep,
                    ..ForeignFiles::PLAIN
                },
            ),
            Self::Copilot => DialectRow::foreign(
                "copilot",
                "Copilot agent",
                ForeignFiles {
                    product: "Copilot",
                    in_project: &[".github/agents"],
                    in_home: &[".copilot/agents"],
                    name: NameSource::File,
                    ..ForeignFiles::PLAIN
                },
            ),
            Self::Codex => DialectRow::foreign(
                "codex",
                "Codex agent",
                ForeignFiles {
                    product: "Codex",
                    in_project: &[".codex/agents"],
                    in_home: &[".codex/agents"],
                    ending: "toml",
                    ..ForeignFiles::PLAIN
                },
            ),
            Self::Opencode => DialectRow::foreign(
                "opencode",
                "Opencode agent",
                ForeignFiles {
                    product: "opencode",
                    in_project: &[".opencode/agent", ".opencode/agents"],
                    in_home: &[".config/opencode/agent", ".config/opencode/agents"],
                    depth: FolderDepth::Deep,
                    name: NameSource::Path,
                    ..ForeignFiles::PLAIN
                },
            ),
            Self::Gemini => DialectRow::foreign(
                "gemini",
                "Gemini agent",
                ForeignFiles {
                    product: "Gemini CLI",
                    in_project: &[".gemini/agents"],
                    in_home: &[".gemini/agents"],
                    ..ForeignFiles::PLAIN
                },
            ),
            Self::Cursor => DialectRow::foreign(
                "cursor",
                "Cursor agent",
                ForeignFiles {
                    product: "Cursor",
                    in_project: &[".cursor/agents"],
                    in_home: &[".cursor/agents"],
                    name: NameSource::KeyOrFile,
                    ..ForeignFiles::PLAIN
                },
            ),
            Self::Tintinweb => DialectRow::foreign(
                "tintinweb",
                "Tintinweb agent",
                ForeignFiles {
                    product: "tintinweb's pi-subagents",
                    name: NameSource::KeyOrFile,
                    ..ForeignFiles::PLAIN
                },
            ),
            Self::Nicobailon => DialectRow::foreign(
                "nicobailon",
                "Nicobailon agent",
                ForeignFiles {
                    product: "nicobailon's pi-subagents",
                    name: NameSource::KeyOrFile,
                    ..ForeignFiles::PLAIN
                },
            ),
        }
    }

    /// Reads the word for a dialect, ours or that of another tool.
    pub fn from_word(word: &str) -> Option<Self> {
        let mut all = Self::OURS.into_iter().chain(Self::FOREIGN);
        all.find(|dialect| dialect.as_str() == word)
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

    /// Returns the files of this dialect, if it is that of another tool.
    pub fn foreign_files(self) -> Option<ForeignFiles> {
        match self.row().files {
            DialectFiles::Foreign(files) => Some(files),
            DialectFiles::Ours(_) => None,
        }
    }

    /// Returns the files of this dialect, if it is ours.
    pub fn our_files(self) -> Option<OurFiles> {
        match self.row().files {
            DialectFiles::Ours(files) => Some(files),
            DialectFiles::Foreign(_) => None,
        }
    }

    /// Returns whether the dialect is that of another tool.
    pub fn is_foreign(self) -> bool {
        self.foreign_files().is_some()
    }
}

impl DialectRow {
    /// Returns the row of another tool's format: its text replaces the system prompt, and its runs
    /// answer with their last text.
    fn foreign(word: &'static str, title: &'static str, files: ForeignFiles) -> Self {
        Self {
            word,
            title,
            body_use: BodyUse::Replace,
            finalizes: false,
            needs_description: false,
            files: DialectFiles::Foreign(files),
        }
    }
}

impl ForeignFiles {
    /// What most tools have in common.
    const PLAIN: Self = Self {
        product: "",
        in_project: &[],
        in_home: &[],
        depth: FolderDepth::Flat,
        ending: "md",
        name: NameSource::Key,
    };
}
