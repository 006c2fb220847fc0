//! One NATS server with its streams in a directory of its own. It is killed when it is dropped.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::wait::wait_until;

/// The longest time a server may take until it answers.
const PATIENCE: Duration = Duration::from_mins(1);

/// Returns the path of the server that `cargo xtask test` fetched.
///
/// # Panics
///
/// If it is not there.
pub fn nats_program() -> PathBuf {
    let test = std::env::current_exe().expect("the path of the running test");
    let directories = test
        .ancestors()
        .map(|above| above.join("nats-server/nats-server"));
    let found = directories.take(6).find(|program| program.is_file());
    found.expect("nats-server is not in the build directory; `cargo xtask nats` fetches it")
}

/// A running server.
#[derive(Debug)]
pub struct NatsServer {
    process: Option<Child>,
    directory: tempfile::TempDir,
    /// Text of the configuration beside the port and the store.
    settings: String,
    /// The room for its streams, as its configuration writes it.
    room: String,
    port: u16,
}

impl NatsServer {
    /// Starts a server on a free port of this machine.
    pub fn start() -> Self {
        Self::with_settings("")
    }

    /// Starts a server with further settings, as text of its configuration file. The word
    /// `DIRECTORY` means its directory.
    pub fn with_settings(settings: &str) -> Self {
        Self::on_port(0, settings)
    }

    /// Starts a server on a port; 0 is for any that is free.
    pub(super) fn on_port(port: u16, settings: &str) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("nats-")
            .tempdir()
            .expect("a directory");
        let settings = settings.replace("DIRECTORY", &directory.path().display().to_string());
        let mut server = Self {
            process: None,
            directory,
            settings,
            room: "50G".to_owned(),
            port,
        };
        server.restart();
        server
    }

    /// Returns the address that clients use.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Returns the port that clients use.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the directory of its files; files that a test puts there are removed with it.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Kills it, as a power failure of its machine would. Only the writes that the system still
    /// holds are not lost.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may have ended by itself.
            let _ = process.kill();
            process.wait().expect("the end of the server");
        }
    }

    /// Stops it where it is, or lets it go on.
    pub fn signal(&self, signal: Signal) {
        let process = self.process.as_ref().expect("a running server");
        let pid = Pid::from_child(process);
        #[expect(
            clippy::disallowed_methods,
            reason = "it is our child and not waited for"
        )]
        rustix::process::kill_process(pid, signal).expect("a signal to the server");
    }

    /// Starts it again, on the same port and with its stored data.
    pub fn restart(&mut self) {
        self.start_process();
        self.wait_until_up();
    }

    /// Starts it again with other room for its streams, such as `1K`.
    pub fn restart_with_room(&mut self, room: &str) {
        room.clone_into(&mut self.room);
        self.restart();
    }

    /// Removes its stored data. It must not be running.
    pub fn lose_store(&self) {
        assert!(self.process.is_none(), "the server runs");
        fs::remove_dir_all(self.directory.path().join("store")).expect("a store to lose");
    }

    pub(super) fn is_started(&self) -> bool {
        self.process.is_some()
    }

    pub(super) fn start_process(&mut self) {
        self.kill();
        let directory = self.directory.path();
        let ports = directory.join("ports");
        // A file of the last start would name a port that is no longer listened to.
        let _ = fs::remove_dir_all(&ports);
        fs::create_dir_all(&ports).expect("a directory for the ports");
        let port = if self.port == 0 {
            -1
        } else {
            i32::from(self.port)
        };
        let store = directory.join("store").display().to_string();
        let text = format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{store}\", max_file: {} }}\n\
             ports_file_dir: \"{}\"\n{}\n",
            self.room,
            ports.display(),
            self.settings,
        );
        let file = directory.join("server.conf");
        fs::write(&file, text).expect("a configuration file");
        let log = fs::File::create(directory.join("log")).expect("a log");
        let process = Command::new(nats_program())
            .arg("-c")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("the log"))
            .stderr(log)
            .spawn()
            .expect("a nats-server");
        self.process = Some(process);
    }

    pub(super) fn wait_until_up(&mut self) {
        let up = wait_until(PATIENCE, || self.listening());
        let log = || fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
        self.port = up.unwrap_or_else(|| panic!("nats-server does not listen:\n{}", log()));
    }

    /// Returns the port, once the server takes connections.
    fn listening(&mut self) -> Option<u16> {
        let process = self.process.as_mut()?;
        let has_ended = process
            .try_wait()
            .expect("the state of the server")
            .is_some();
        let log = || fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
        assert!(!has_ended, "nats-server has ended:\n{}", log());
        let mut files = fs::read_dir(self.directory.path().join("ports")).ok()?;
        let text = fs::read_to_string(files.next()?.ok()?.path()).ok()?;
        let ports: Value = serde_json::from_str(&text).ok()?;
        let url = ports["nats"][0].as_str()?;
        let port = url.rsplit(':').next()?.parse().ok()?;
        TcpStream::connect(("127.0.0.1", port)).ok().map(|_| port)
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}
