//! The users who reach the web page, and the places where its token never is.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use pi_subagents_testkit::Signal;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::stage::Stage;
use crate::web_page::play;
use crate::web_stage::{WebStage, until};

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
    let url = running.wait_for_stdout("\n");
    let token = url.split("#t=").nth(1).unwrap().split('&').next().unwrap();
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
    let seen = play(&web.stage, "secret", &json!({"url": web.url, "run": run}));
    assert_eq!(
        seen,
        json!({"address": false, "back": false, "cookies": "", "referrer": "", "stored": 1})
    );
    let (token, viewing) = (
        web.token("subagents-web-token"),
        web.token("subagents-web-view-token"),
    );
    let mut places = Vec::new();
    look_through(web.stage.sandbox.root(), &mut |path, content| {
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
