//! A home with secrets, a project with a repository, other runs, and a process outside.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pi_subagents_confine::{ConfineAnswer, ConfineFailure, ConfineOrder, FAULT_VARIABLE, Seal};
use pi_subagents_os::{Descriptors as _, System, is_superuser};
use pi_subagents_vocabulary::{Confinement, NetworkReach, Sandbox, SandboxLevel};
use tempfile::TempDir;

/// A user who is nobody on this machine.
const MADE_UP: u32 = 54_321;

/// Who runs the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// The user who runs the tests.
    Tester,
    /// A user without any rights; only the superuser can become that one.
    MadeUp,
}

impl User {
    /// Returns the users that can be tried here, and says who is left out.
    pub(crate) fn all() -> Vec<Self> {
        if is_superuser() {
            return vec![Self::Tester, Self::MadeUp];
        }
        eprintln!("NOT TRIED: the sandbox as another user and as root, which needs root");
        vec![Self::Tester]
    }
}

/// The end of a confined command.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) seal: Seal,
}

pub(crate) struct Stage {
    directory: TempDir,
    user: User,
    outsider: Child,
    server: TcpListener,
    _sockets: [UnixListener; 3],
    _datagrams: UnixDatagram,
}

impl Stage {
    /// Makes a stage among the files of the build, or below `/tmp`.
    pub(crate) fn new(user: User, place: &Path) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("sandbox-")
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir_in(place)
            .unwrap();
        let root = directory.path().canonicalize().unwrap();
        let files = [
            ("home/.ssh/id", "secret"),
            ("home/.netrc", "secret"),
            ("home/notes", "mine"),
            ("home/.pi/agent/auth.json", "secret"),
            ("home/.pi/agent/subagents/runs/own/events.jsonl", "own"),
            ("home/.pi/agent/subagents/runs/own/child/keep", ""),
            ("home/.pi/agent/subagents/runs/other/events.jsonl", "other"),
            ("outside/file", "outside"),
            ("project/code", "1"),
            ("project/.pi/settings.json", "{}"),
            ("project/sub/deep/x", ""),
        ];
        for (name, text) in files {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let sockets = ["outside/socket", "project/socket"];
        let [outside, inside] = sockets.map(|name| UnixListener::bind(root.join(name)).unwrap());
        let name = format!("pi-subagents-test-{}", root.display());
        let address = SocketAddr::from_abstract_name(name).unwrap();
        let stage = Self {
            user,
            _sockets: [outside, inside, UnixListener::bind_addr(&address).unwrap()],
            _datagrams: UnixDatagram::bind(root.join("outside/datagrams")).unwrap(),
            outsider: Command::new("sleep").arg("600").spawn().unwrap(),
            server: TcpListener::bind("127.0.0.1:0").unwrap(),
            directory,
        };
        if user == User::MadeUp {
            give(&root);
        }
        stage.outside("git init -q -b main . && git config user.email a@b && git config user.name a && git add code && git commit -qm first");
        stage
    }

    /// Makes a stage among the files of the build.
    pub(crate) fn of(user: User) -> Self {
        Self::new(user, Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// Runs a command as the user of the stage, without a sandbox.
    pub(crate) fn outside(&self, script: &str) {
        let mut command = self.program(OsString::from("/bin/sh"));
        let output = command
            .args(["-c", script])
            .current_dir(self.project())
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
    }

    fn program(&self, name: OsString) -> Command {
        let mut command = match self.user {
            User::Tester => Command::new(name),
            User::MadeUp => {
                let id = MADE_UP.to_string();
                let mut command = Command::new("setpriv");
                command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]);
                command.arg(name);
                command
            }
        };
        let home = self.root().join("home");
        command
            .env("HOME", &home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("ROOT", self.root())
            .env("CONFINE", program())
            .env("TMPDIR", "/tmp")
            .env("OUTSIDER", self.outsider.id().to_string())
            .env("PORT", self.server.local_addr().unwrap().port().to_string());
        command
    }

    pub(crate) fn confinement(&self) -> Confinement {
        let home = self.root().join("home");
        let agent_directory = home.join(".pi/agent");
        let runs = agent_directory.join("subagents/runs");
        Confinement {
            writable: vec![runs.join("own/child")],
            widened: Vec::new(),
            hidden: [
                ".ssh",
                ".netrc",
                ".pi/agent/auth.json",
                ".pi/agent/subagents/runs",
            ]
            .map(|name| home.join(name))
            .into(),
            visible: vec![runs.join("own")],
            overlays: Vec::new(),
            private_agent_directory: None,
            model_hosts: Vec::new(),
            home,
            agent_directory,
        }
    }

    /// Runs a script in a sandbox, in the project.
    pub(crate) fn run(&self, level: SandboxLevel, network: NetworkReach, script: &str) -> Ended {
        let order = self.order(level, network, script);
        match self.confine(&order, None) {
            Ok(ended) => ended,
            Err(failure) => panic!("THIS MACHINE CANNOT MAKE SANDBOXES: {failure:?}"),
        }
    }

    pub(crate) fn order(
        &self,
        level: SandboxLevel,
        network: NetworkReach,
        script: &str,
    ) -> ConfineOrder {
        let sandbox = Sandbox {
            level,
            network,
            ..Sandbox::default()
        };
        let words = ["/bin/sh", "-c", script].map(OsString::from);
        ConfineOrder::new(sandbox, self.confinement(), self.project(), &words)
    }

    /// Carries out an order, with a step that is made to fail.
    pub(crate) fn confine(
        &self,
        order: &ConfineOrder,
        fault: Option<&str>,
    ) -> Result<Ended, Option<ConfineFailure>> {
        let mut command = self.program(program());
        if let Some(fault) = fault {
            command.env(FAULT_VARIABLE, fault);
        }
        start(command, order)
    }

    /// Carries out an order in a process that has inherited a descriptor by accident.
    pub(crate) fn confine_with_descriptor(
        &self,
        order: &ConfineOrder,
    ) -> Result<Ended, Option<ConfineFailure>> {
        let mut command = self.program(OsString::from("/bin/sh"));
        command.args(["-c", "exec \"$CONFINE\" \"$@\" 7</etc/passwd", "sh"]);
        start(command, order)
    }
}

/// Starts the process that confines itself, and waits for its end.
fn start(mut command: Command, order: &ConfineOrder) -> Result<Ended, Option<ConfineFailure>> {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (output, child_output) = System::pipe().unwrap();
    let (child_stdin, _) = System::pipe().unwrap();
    command
        .arg("confine")
        .current_dir(&order.cwd)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(child_output.try_clone().unwrap())
        .stderr(child_output);
    let mut child = command.spawn().unwrap();
    drop(command);
    // A process that ends before it has read all is seen by its answer.
    _ = System::send(&ours, b'@', &[child_stdin.as_fd()]);
    _ = (&mut &ours).write_all(&order.to_bytes().unwrap());
    drop(child_stdin);
    let answers = answers(&ours);
    let mut said = String::new();
    fs::File::from(output).read_to_string(&mut said).unwrap();
    let status = child.wait().unwrap();
    match answers {
        Ok(seal) => Ok(Ended {
            code: status.code(),
            output: said,
            seal,
        }),
        Err(failure) => {
            assert!(!status.success());
            Err(failure)
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        _ = self.outsider.kill();
        _ = self.outsider.wait();
    }
}

/// Reads the answers until the stream ends.
fn answers(socket: &UnixStream) -> Result<Seal, Option<ConfineFailure>> {
    // A process that dies before it has read everything resets the stream.
    let Ok((byte, _)) = System::receive(socket) else {
        return Err(None);
    };
    let first = if byte == b'{' { vec![byte] } else { Vec::new() };
    let mut seal = None;
    for line in BufReader::new(first.chain(socket)).lines() {
        let Ok(line) = line else {
            break;
        };
        match serde_json::from_str(&line).unwrap() {
            ConfineAnswer::Sealed(said) => seal = Some(said),
            ConfineAnswer::Failed(failure) => return Err(Some(failure)),
        }
    }
    seal.ok_or(None)
}

fn program() -> OsString {
    let test = std::env::current_exe().unwrap();
    let build = test.parent().unwrap().parent().unwrap();
    let program = build.join("examples/confine");
    assert!(program.exists(), "cargo test builds {}", program.display());
    program.into()
}

/// Gives everything below a directory to the made-up user.
fn give(path: &Path) {
    chown(path, Some(MADE_UP), Some(MADE_UP)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path());
        }
    }
}
