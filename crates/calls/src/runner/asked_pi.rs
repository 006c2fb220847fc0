//! Asks a pi for its version, which shows that it starts, and remembers the answer.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, UNIX_EPOCH};

use pi_subagents_files::{read_own, write_whole};
use pi_subagents_pi_files::on_path;
use pi_subagents_vocabulary::text::clean;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};

use super::Asking;
use super::version::Version;
use pi_subagents_ground::places::Places;

/// The time that a program may take to print its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// The number of bytes of its output that are looked at.
const MOST_SAID: usize = 4096;

/// The number of bytes that are read at once.
const AT_ONCE: usize = 16 << 10;

/// The size of the largest file with a remembered version.
const LARGEST_FILE: u64 = 4096;

/// The number of characters of its last words that an error repeats.
const MOST_REPEATED: usize = 300;

/// The two files that decide whether pi starts and which version it is: its own and that of Node.
/// Asking pi takes most of a second, so it is asked again only when one of them has changed.
#[derive(Serialize, Deserialize, PartialEq)]
struct KnownPi {
    pi: KnownFile,
    node: Option<KnownFile>,
}

#[derive(Serialize, Deserialize, PartialEq)]
struct KnownFile {
    path: PathBuf,
    modified_ms: u128,
    size: u64,
}

/// The version that is remembered for the next time. A pi that did not start has none.
#[derive(Serialize, Deserialize)]
struct Remembered {
    known: KnownPi,
    version: String,
}

/// Returns the version of the pi at this path, or why it cannot be used.
pub(super) fn version_of(path: &Path, places: &Places, asking: Asking) -> Result<String, String> {
    let cache = places.agent_dir.join("subagents-pi-version.json");
    let known = KnownPi {
        pi: identify(path).map_err(|error| format!("{}: {error}", path.display()))?,
        node: on_path("node", places.variable("PATH").unwrap_or_default())
            .and_then(|node| identify(&node).ok()),
    };
    let remembered = read_own(&cache, LARGEST_FILE)
        .ok()
        .and_then(|content| serde_json::from_slice::<Remembered>(&content).ok())
        .filter(|remembered| asking == Asking::IfNeeded && remembered.known == known);
    if let Some(remembered) = remembered {
        return Ok(remembered.version);
    }
    let version = ask_version(path)?;
    let remembered = Remembered {
        known,
        version: version.clone(),
    };
    if let Ok(content) = serde_json::to_vec(&remembered) {
        // It is asked again next time if it cannot be remembered.
        _ = write_whole(&cache, &content);
    }
    Ok(version)
}

fn identify(path: &Path) -> io::Result<KnownFile> {
    let metadata = fs::metadata(path)?;
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    Ok(KnownFile {
        path: path.to_owned(),
        modified_ms: modified
            .duration_since(UNIX_EPOCH)
            .map_or(0, |age| age.as_millis()),
        size: metadata.len(),
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "pi is asked for its version, which starts no sub-agent"
)]
fn ask_version(path: &Path) -> Result<String, String> {
    let failed = |error: io::Error| format!("{} --version: {error}", path.display());
    let mut asked = Command::new(path)
        .arg("--version")
        .env("PI_OFFLINE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (status, said) = listen(&mut asked).map_err(failed)?;
    judge(path, status, &said)
}

/// Reads the output of the program until it ends, and returns its status; `None` if it took too
/// long and was ended.
fn listen(asked: &mut Child) -> io::Result<(Option<ExitStatus>, String)> {
    let deadline = Instant::now() + PATIENCE;
    let process = pidfd_open(Pid::from_child(asked), PidfdFlags::empty())?;
    // Versions before 0.80 print to stderr.
    let (mut stdout, mut stderr) = (
        Output::of(asked.stdout.take())?,
        Output::of(asked.stderr.take())?,
    );
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let has_ended = wait(&process, [&stdout, &stderr], left)?;
        stdout.read()?;
        stderr.read()?;
        let said = || {
            let said = [stdout.said.as_slice(), stderr.said.as_slice()].concat();
            String::from_utf8_lossy(&said).into_owned()
        };
        if has_ended {
            return Ok((Some(asked.wait()?), said()));
        }
        if left.is_zero() {
            // A process that is gone by now needs no signal.
            _ = asked.kill();
            asked.wait()?;
            return Ok((None, said()));
        }
    }
}

/// Waits until the program prints something or ends, or the time is over; returns whether it has
/// ended.
fn wait(process: &OwnedFd, outputs: [&Output; 2], longest: Duration) -> io::Result<bool> {
    let mut waited = vec![PollFd::new(process, PollFlags::IN)];
    let open = outputs.iter().filter_map(|output| output.pipe.as_ref());
    waited.extend(open.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    match poll(&mut waited, Timespec::try_from(longest).ok().as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(!waited[0].revents().is_empty()),
        Err(error) => Err(error.into()),
    }
}

/// The output of a program. It is read as it comes, because a program whose output nobody reads
/// does not end, and without waiting, because a process that outlives the program may hold it open.
struct Output {
    /// None when nothing more comes.
    pipe: Option<File>,
    /// The beginning of the output.
    said: Vec<u8>,
}

impl Output {
    fn of(pipe: Option<impl Into<OwnedFd>>) -> io::Result<Self> {
        let pipe = pipe.map(|pipe| File::from(pipe.into()));
        if let Some(pipe) = &pipe {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            pipe,
            said: Vec::new(),
        })
    }

    /// Reads the present output, and keeps its beginning.
    fn read(&mut self) -> io::Result<()> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(());
        };
        let mut piece = [0; AT_ONCE];
        match pipe.read(&mut piece) {
            Ok(0) => self.pipe = None,
            Ok(length) => {
                let kept = length.min(MOST_SAID.saturating_sub(self.said.len()));
                self.said.extend_from_slice(&piece[..kept]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Returns the version that a program printed. Only a program that ended well has printed its own: a
/// crash may print that of Node.
fn judge(path: &Path, status: Option<ExitStatus>, said: &str) -> Result<String, String> {
    let path = path.display();
    let Some(status) = status else {
        let seconds = PATIENCE.as_secs();
        return Err(format!("{path} --version did not end within {seconds} s"));
    };
    if !status.success() {
        return Err(format!(
            "{path} --version failed ({status}){}",
            last_words(said)
        ));
    }
    let version = said
        .split_whitespace()
        .find(|word| Version::parse(word).is_some());
    version
        .map(str::to_owned)
        .ok_or_else(|| format!("{path} --version printed no version"))
}

/// Returns the line that most likely explains the failure: the first with the word "error", or the
/// last one.
fn last_words(said: &str) -> String {
    let mut lines = said.lines().filter(|line| !line.trim().is_empty());
    let error = said.lines().find(|line| line.contains("Error"));
    let line = error.or_else(|| lines.next_back()).unwrap_or_default();
    let line: String = clean(line.trim()).chars().take(MOST_REPEATED).collect();
    match line.trim_end_matches('.') {
        "" => String::new(),
        line => format!(": {line}"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    fn judged(code: Option<i32>, said: &str) -> Result<String, String> {
        let status = code.map(|code| ExitStatus::from_raw(code << 8));
        judge(Path::new("/bin/pi"), status, said)
    }

    #[test]
    fn a_crash_that_prints_the_version_of_node_is_no_version() {
        let crash = "file:///cli.js:1\nimport x from \"y\";\n\nSyntaxError: no x in y.\n    at z\n\nNode.js v20.20.2\n";
        assert_eq!(
            judged(Some(1), crash),
            Err("/bin/pi --version failed (exit status: 1): SyntaxError: no x in y".to_owned())
        );
        assert_eq!(judged(Some(0), "1.5.0\n"), Ok("1.5.0".to_owned()));
        assert!(judged(Some(1), "1.5.0\n").is_err());
        assert!(judged(Some(0), "Node.js v20.20.2\n").is_err());
        assert!(judged(None, "1.5.0\n").is_err());
    }
}
