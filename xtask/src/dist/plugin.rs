//! What agents other than pi install: the plugin for Claude Code and Codex, the extension of Gemini,
//! and the bundle for desktop clients of MCP.

use super::contents::{Contents, own_file};
use super::gzip::gzip;
use super::packed_file::PackedFile;
use super::release::{NAME, Release};
use super::tar::tar;
use super::template::filled;
use super::zip::zip;
use crate::Outcome;

/// The files of the plugin, which stand in the repository as they are installed.
const PLUGIN: [&str; 4] = [
    ".claude-plugin/marketplace.json",
    "packaging/claude-plugin/.claude-plugin/plugin.json",
    "packaging/claude-plugin/.mcp.json",
    "packaging/claude-plugin/skills/delegate/SKILL.md",
];

/// Returns an archive of the marketplace with its plugin.
pub(super) fn marketplace() -> Outcome<Vec<u8>> {
    let file = |path: &&str| Ok(PackedFile::text(*path, own_file(path)?));
    let files: Outcome<Vec<PackedFile>> = PLUGIN.iter().map(file).collect();
    gzip(&tar(&files?)?)
}

/// Returns an archive of the extension of Gemini.
pub(super) fn gemini(release: &Release) -> Outcome<Vec<u8>> {
    let manifest = filled("gemini/gemini-extension.json", &release.values())?;
    gzip(&tar(&[PackedFile::text(
        "gemini-extension.json",
        manifest,
    )])?)
}

/// Returns the bundle with the program in it.
pub(super) fn bundle(release: &Release, contents: &Contents) -> Outcome<Vec<u8>> {
    let manifest = filled("mcpb/manifest.json", &release.values())?;
    zip(&[
        PackedFile::text("manifest.json", manifest),
        PackedFile::text("LICENSE", own_file("LICENSE")?),
        PackedFile::program(format!("server/{NAME}"), contents.program.clone()),
    ])
}
