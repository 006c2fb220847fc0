//! The users who reach the web page, and the places where its token never is.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use pi_subagents_testkit::Signal;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::stage::Stage;
use crate::web_page::play;
use crate::web_stage::{PATIENCE, WebStage, until};

/// A user that no system gives anything to.
const STRANGER: u32 = 65533;

/// Sends a request to a socket, and returns what was answered.
fn ask_socket(socket: &Path, request: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_socket_serves_its_user_under_any_port_and_only_under_our_names() {
    let stage = Stage::new();
    let socket = stage.sandbox.root().join("page.sock");
    let path = socket.display().to_string();
    let mut running = stage.command(&["web", "--socket", &path]).spawn();
    running.wait_for_stdout("\n");
    let file = stage.sandbox.agent_dir().join("subagents-web-token");
    let token = fs::read_to_string(file).unwrap();
    let token = token.trim();
    let found = fs::metadata(&socket).unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    let get = |host: &str, further: &str| {
        let request = format!(
            "GET /v1/about HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{further}Connection: close\r\n\r\n"
        );
        ask_socket(&socket, &request)[9..12].to_owned()
    };
    assert_eq!(get("localhost:9999", ""), "200");
    assert_eq!(
        get("127.0.0.1:8080", "Origin: http://127.0.0.1:8080\r\n"),
        "200"
    );
    assert_eq!(
        get("127.0.0.1:8080", "Origin: http://127.0.0.1:8081\r\n"),
        "403"
    );
    assert_eq!(get("evil.example:8080", ""), "421");
    let second = stage.command(&["web", "--socket", &path]).run();
    assert_eq!(second.code, Some(1), "{}", second.stderr);
    assert!(
        second.stderr.contains("somebody listens there already"),
        "{}",
        second.stderr
    );
    running.kill(Signal::INT);
    until("the page ends", || !running.is_running());
    assert!(!socket.exists());
    // Nothing that is no socket is ever removed.
    fs::write(&socket, "precious").unwrap();
    let refused = stage.command(&["web", "--socket", &path]).run();
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&socket).unwrap(), "precious");
}

#[test]
fn another_user_reaches_nothing_behind_the_port_and_not_even_the_socket() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let web = WebStage::new();
    // The stranger may enter the directories; only the files keep it out.
    for directory in [
        web.stage.sandbox.root().to_owned(),
        web.stage.sandbox.home(),
        web.stage.sandbox.home().join(".pi"),
        web.stage.sandbox.agent_dir(),
    ] {
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let as_stranger = |script: &str| {
        let output = Command::new("python3")
            .args(["-c", script])
            .env("SECRET", web.token("subagents-web-token"))
            .uid(STRANGER)
            .gid(STRANGER)
            .output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert!(output.status.success(), "{output:?}");
        said
    };
    let agent_dir = web.stage.sandbox.agent_dir();
    for name in [
        "subagents-web-token",
        "subagents-web-view-token",
        "subagents-web-address.json",
    ] {
        let file = agent_dir.join(name).display().to_string();
        let script = format!(
            "try:\n  open({file:?}).read(); print('read')\nexcept PermissionError: print('refused')"
        );
        assert_eq!(as_stranger(&script), "refused", "{name}");
    }
    let port = web.port();
    for route in ["/v1/about", "/v1/runs", "/v1/stream", "/v1/usage"] {
        let script = format!(
            "import http.client as h\nc=h.HTTPConnection('127.0.0.1',{port});c.request('GET','{route}');print(c.getresponse().status)"
        );
        assert_eq!(as_stranger(&script), "401", "{route}");
    }
    // A process may end while we look at it.
    let script = "import glob,os\ndef has(f):\n  try: return os.environ['SECRET'].encode() in open(f,'rb').read()\n  except OSError: return False\nprint(sum(map(has, glob.glob('/proc/[0-9]*/cmdline'))))";
    assert_eq!(as_stranger(script), "0");
    let socket = web
        .stage
        .sandbox
        .root()
        .join("page.sock")
        .display()
        .to_string();
    let mut running = web.command(&["web", "--socket", &socket]).spawn();
    running.wait_for_stdout("\n");
    let script = format!(
        "import socket\ns=socket.socket(socket.AF_UNIX)\ntry:\n  s.connect({socket:?}); print('open')\nexcept PermissionError: print('refused')"
    );
    assert_eq!(as_stranger(&script), "refused");
    running.kill(Signal::INT);
    until("the page ends", || !running.is_running());
}

#[test]
fn the_token_stands_in_its_own_file_and_nowhere_else() {
    let stage = Stage::new();
    let web = WebStage::of(stage, &["--log-level", "trace"]);
    let rules = json!([{"turns": [{"toolCalls": [{"name": "bash", "arguments": {"command": "env; cat /proc/$PPID/cmdline"}}]}, {"text": "Seen."}]}]);
    let run = web.run("one", "Look around", &web.script(&rules));
    let profile = web.stage.sandbox.root().join("browser-profile");
    let asked = json!({"url": web.address, "run": run, "profile": profile, "secret": web.token("subagents-web-token")});
    let seen = play(&web.stage, "secret", &asked);
    assert_eq!(
        seen,
        json!({"address": false, "back": false, "cookies": "", "referrer": "", "stored": 1, "reloaded": true, "again": "This page is not open yet"})
    );
    let (token, viewing) = (
        web.token("subagents-web-token"),
        web.token("subagents-web-view-token"),
    );
    let mut places = Vec::new();
    look_through(web.stage.sandbox.root(), &mut |path, content| {
        // A browser keeps the storage of a tab for as long as the tab.
        if path.to_string_lossy().contains("/Session Storage/") {
            return;
        }
        for secret in [&token, &viewing] {
            if content
                .windows(secret.len())
                .any(|part| part == secret.as_bytes())
            {
                places.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    });
    places.sort();
    assert_eq!(places, ["subagents-web-token", "subagents-web-view-token"]);
}

/// Gives all files below a directory to `each`.
fn look_through(directory: &Path, each: &mut impl FnMut(&Path, &[u8])) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            look_through(&entry.path(), each);
        } else if kind.is_file() {
            // A file of the browser may go while we look.
            let content = fs::read(entry.path()).unwrap_or_default();
            each(&entry.path(), &content);
        }
    }
}

#[test]
fn new_tokens_close_every_page_that_is_open() {
    let web = WebStage::new();
    let old = web.token("subagents-web-token");
    let mut stream = TcpStream::connect(("127.0.0.1", web.port())).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!(
        "GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {old}\r\nConnection: close\r\n\r\n",
        web.port()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
    let renewed = web.command(&["web", "--new-token"]).run().expect_success();
    // The stream ends, and the old token opens nothing any more.
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    let bearer = format!("Bearer {old}");
    let refused = web.ask("GET", "/v1/about", &[("Authorization", &bearer)], "");
    assert_eq!(refused.status, 401, "{}", refused.body);
    assert_eq!(web.exchange(&web.address).status, 401);
    assert_ne!(web.token("subagents-web-token"), old);
    let entered = web.exchange(&renewed.stdout);
    assert!(entered.body.contains(&web.token("subagents-web-token")));
    assert_eq!(web.get("/v1/about").status, 200);
}

#[test]
fn strangers_cannot_shut_the_page() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let web = WebStage::new();
    let port = web.port();
    // More connections than the usual limit of open files, each with half a request.
    let script = format!(
        "import resource,socket,sys\nresource.setrlimit(resource.RLIMIT_NOFILE,(4096,4096))\nheld=[]\nfor n in range(1100):\n  s=socket.create_connection(('127.0.0.1',{port}));held.append(s)\n  try: s.send(b'GET / HT')\n  except OSError: pass\nprint('held',flush=True)\nsys.stdin.read()"
    );
    let mut stranger = Command::new("python3")
        .args(["-c", &script])
        .uid(STRANGER)
        .gid(STRANGER)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let stdout = stranger.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut said).unwrap();
    assert_eq!(said, "held\n");
    assert_eq!(web.get("/v1/about").status, 200);
    let open = fs::read_dir(format!("/proc/{}/fd", web.running.pid()));
    assert!(open.unwrap().count() < 250);
    drop(stranger.stdin.take());
    stranger.wait().unwrap();
    // What is too long is refused in the words of the page.
    let message = json!({"message": "x".repeat(300_000)});
    let refused = web.post("/v1/runs/r-1/steer", &message);
    assert_eq!(refused.status, 413, "{}", refused.body);
    assert!(
        refused.body.starts_with(r#"{"error":"A message has"#),
        "{}",
        refused.body
    );
}
