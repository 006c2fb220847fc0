//! Profiles: the body replaces the system prompt, and only the name is required.

/// Keys that only profiles have.
pub(super) const TELLING_KEYS: &[&str] = &[
    "thinkingLevel",
    "excludeTools",
    "noTools",
    "noExtensions",
    "noSkills",
    "noContextFiles",
    "suggestedSkills",
    "loadSkills",
];
