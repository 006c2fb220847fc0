//! Sticky sessions that go on on other machines too: the note beside the file, and how a file from
//! elsewhere is put in its place.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use pi_subagents_files as files;
use serde_json::{Value, json};

use crate::format::Travelled;

/// More is not read of a note.
const LONGEST_NOTE: u64 = 4096;

/// A longer first line is none that begins a session.
const LONGEST_HEADER: u64 = 1 << 20;

impl Travelled {
    /// Reads the note beside a session file; none if the conversation was never elsewhere.
    pub fn read(session: &Path) -> Option<Self> {
        let text = files::read_own_text(&note_of(session), LONGEST_NOTE).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Writes the note beside a session file.
    pub fn write(&self, session: &Path) -> io::Result<()> {
        files::write_whole(&note_of(session), &serde_json::to_vec(self)?)
    }
}

/// Returns the note beside a session file.
pub(crate) fn note_of(session: &Path) -> PathBuf {
    session.with_extension("jsonl.fleet")
}

/// Puts a conversation that came from another machine into a session file. It goes on in a directory
/// of this machine: pi refuses a session whose directory is not there.
pub fn install_session(from: &Path, session: &Path, cwd: &Path) -> io::Result<()> {
    let mut content = BufReader::new(files::open_plain(from)?);
    let mut header = Vec::new();
    (&mut content)
        .take(LONGEST_HEADER)
        .read_until(b'\n', &mut header)?;
    let mut header: Value = serde_json::from_slice(&header)?;
    if header["type"] != "session" {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it does not begin as a session does",
        ));
    }
    header["cwd"] = json!(cwd);
    let new = session.with_extension("jsonl.new");
    if let Some(directory) = session.parent() {
        files::create_directories(directory)?;
    }
    // A crash may have left one.
    _ = fs::remove_file(&new);
    let mut file = files::create_new(&new)?;
    writeln!(file, "{header}")?;
    io::copy(&mut content, &mut file)?;
    file.sync_all()?;
    fs::rename(&new, session)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_conversation_from_elsewhere_goes_on_in_a_directory_of_this_machine() {
        let place = tempfile::tempdir().unwrap();
        let (from, session) = (place.path().join("from"), place.path().join("a/s.jsonl"));
        let lines = "{\"type\":\"session\",\"id\":\"x\",\"cwd\":\"/elsewhere\"}\n{\"a\":1}\n";
        fs::write(&from, lines).unwrap();
        install_session(&from, &session, Path::new("/here")).unwrap();
        let expected = "{\"cwd\":\"/here\",\"id\":\"x\",\"type\":\"session\"}\n{\"a\":1}\n";
        let mut written = fs::read_to_string(&session).unwrap();
        let header: Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
        assert_eq!(
            header,
            json!({"type": "session", "id": "x", "cwd": "/here"})
        );
        written.replace_range(
            ..written.find('\n').unwrap(),
            expected.lines().next().unwrap(),
        );
        assert_eq!(written, expected);
        fs::write(&from, "{\"type\":\"message\"}\n").unwrap();
        install_session(&from, &session, Path::new("/here")).unwrap_err();
        assert_eq!(fs::read_to_string(&session).unwrap().lines().count(), 2);
    }

    #[test]
    fn the_note_says_which_state_is_here() {
        let place = tempfile::tempdir().unwrap();
        let session = place.path().join("scout_s.jsonl");
        assert_eq!(Travelled::read(&session), None);
        let note = Travelled {
            key: "0a.scout.s".to_owned(),
            object: Some("session/0a.scout.s/r-1".to_owned()),
        };
        note.write(&session).unwrap();
        assert_eq!(Travelled::read(&session), Some(note));
    }
}
