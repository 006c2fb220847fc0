//! Both kinds of child try to leave their sandbox, through owner, keeper and a real shell.

use std::fs;
use std::os::unix::net::{UnixDatagram, UnixListener};

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::fleet::git_project;
use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{completed, outcomes};

for_each_pi! {
    neither_kind_of_child_leaves_its_sandbox,
    a_confined_child_commits_and_finds_its_project_settings,
    a_child_with_read_tools_is_read_only,
    a_confined_pi_asks_with_the_login_that_is_kept_outside,
    a_refused_command_says_that_it_runs_in_a_sandbox,
}

/// Each line tries something that must fail. A line that succeeds prints its name.
const ATTEMPTS: &str = r#"
attempt() { if (eval "$2") >/dev/null 2>&1; then echo "ESCAPED: $1"; fi; }
attempt 'write to the home' 'echo x > $HOME/made'
attempt 'write to /etc' 'echo x > /etc/pi-subagents-made'
attempt 'mode outside' 'chmod 777 $HOME/notes'
attempt 'time outside' 'touch $HOME/notes'
attempt 'append outside' 'echo x >> $HOME/notes'
attempt 'link outside' 'ln -s $HOME/notes link && echo x >> link'
attempt 'a hook' 'echo x > .git/hooks/post-commit'
attempt 'remove hooks' 'rm -rf .git/hooks && test ! -d .git/hooks'
attempt 'git config' 'git config core.fsmonitor /bin/true'
attempt 'move .git' 'mv .git .git2'
attempt 'a key of ssh' 'grep -q secret $HOME/.ssh/id'
attempt 'keys of the agent directory' 'grep -q secret $HOME/.pi/agent/auth.json $HOME/.pi/agent/models.json'
attempt 'any key below the agent directory' 'grep -rq secret $HOME/.pi/agent'
attempt 'any key in the own agent directory' 'grep -rq secret $PI_CODING_AGENT_DIR/'
attempt 'tokens and keys of this program' 'cat $HOME/.pi/agent/subagents-* $HOME/.pi/agent/*.nk $PI_CODING_AGENT_DIR/*.nk $PI_CODING_AGENT_DIR/subagents-* 2>/dev/null | grep -q secret'
attempt 'the environment of the agent' 'tr "\0" "\n" < /proc/$PPID/environ | grep -q HOME'
attempt 'the memory of the agent' 'head -c 1 /proc/$PPID/mem'
attempt 'the record' 'for file in .pi/subagents/runs/*/events.jsonl; do echo x >> "$file" || exit 1; done'
attempt 'the result' 'for run in .pi/subagents/runs/*/; do echo x > "$run/result.json" || exit 1; done'
attempt 'namespaces' 'unshare -Urm true'
attempt 'mount' 'mount -t tmpfs none /mnt'
attempt 'unmount' 'umount $HOME/.ssh'
attempt 'a process outside' 'kill -0 1'
above() { awk '/^PPid/ { print $2 }' /proc/$1/status; }
# The agent itself, its supervisor, and the command that somebody typed. It does them no harm.
supervisors() { pid=$PPID; while [ "$pid" -gt 1 ]; do kill -URG $pid && return 0; pid=$(above $pid); done; return 1; }
attempt 'a signal to those above' supervisors
attempt 'a unix socket by its path' 'perl -MSocket -e "socket(S,1,1,0) or exit 1; connect(S,pack_sockaddr_un(q(listener))) or exit 1"'
attempt 'a datagram by its path' 'perl -MSocket -e "socketpair(A,B,1,2,0) or exit 1; defined send(A,q(x),0,pack_sockaddr_un(q(datagrams))) or exit 1"'
attempt 'fast open' 'perl -MSocket -e "socket(S,2,1,0) or exit 1; defined send(S,q(x),0x20000000,sockaddr_in(shift,inet_aton(q(127.0.0.1)))) or exit 1" $(cat port)'
attempt 'several paths' 'perl -MSocket -e "socket(S,2,1,262) or exit 1; connect(S,sockaddr_in(shift,inet_aton(q(127.0.0.1)))) or exit 1" $(cat port)'
attempt 'the network' 'echo > /dev/tcp/127.0.0.1/$(cat port)'
attempt 'the word of the gateway' 'env | grep -qi proxy'
gateway() {
  port=$((16#$(awk '$4 == "0A" { split($2, a, ":"); print a[2]; exit }' /proc/net/tcp)))
  exec 3<>/dev/tcp/127.0.0.1/$port
  printf 'CONNECT 127.0.0.1:%s HTTP/1.1\r\n\r\n' "$(cat port)" >&3
  head -1 <&3 | grep -q ' 200 '
}
attempt 'the gateway without its word' gateway
"#;

fn neither_kind_of_child_leaves_its_sandbox(pi: RealPi) {
    for level in ["workspace-write", "read-only"] {
        for runner in ["embedded", "pi"] {
            attempt(pi, runner, level);
        }
    }
}

fn attempt(pi: RealPi, runner: &str, level: &str) {
    let stage = git_project();
    let sandbox = &stage.sandbox;
    let end = match level {
        "workspace-write" => "echo x > inside && mktemp > /dev/null && echo \"all kept\"",
        _ => "attempt inside 'echo x > inside'; mktemp > /dev/null && echo \"all kept\"",
    };
    sandbox.write("project/attempts.sh", &format!("{ATTEMPTS}{end}\n"));
    sandbox.write("home/notes", "mine");
    sandbox.write("home/.ssh/id", "secret");
    sandbox.write(
        "home/.pi/agent/auth.json",
        r#"{"other": {"type": "api_key", "key": "secret"}}"#,
    );
    let servers = json!({"mcpServers": {"keyed": {"command": "true", "env": {"KEY": "secret"}}}});
    sandbox.write("home/.pi/agent/mcp.json", &servers.to_string());
    sandbox.write("home/.pi/agent/mcp-auth.json", "secret");
    sandbox.write("home/.pi/agent/subagents-web-token", "secret");
    sandbox.write("home/.pi/agent/fleet-ada.nk", "secret");
    sandbox.write("project/.pi/settings.json", "{}");
    let _listener = UnixListener::bind(sandbox.project().join("listener")).unwrap();
    let _datagrams = UnixDatagram::bind(sandbox.project().join("datagrams")).unwrap();
    let server = LlmServer::start(Script::new().otherwise([
        Turn::tool_call("bash", json!({"command": "bash attempts.sh"})),
        Turn::text("Done."),
    ]));
    sandbox.models_json(&server.base_url());
    let models = sandbox.home().join(".pi/agent/models.json");
    let with_secret = fs::read_to_string(&models).unwrap();
    let mut with_secret: serde_json::Value = serde_json::from_str(&with_secret).unwrap();
    for provider in with_secret["providers"]
        .as_object_mut()
        .unwrap()
        .values_mut()
    {
        provider["apiKey"] = json!("secret");
    }
    fs::write(&models, with_secret.to_string()).unwrap();
    let port = server.base_url();
    let port = port.rsplit(':').next().unwrap();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    sandbox.write("project/port", &port);
    let task = json!({"tasks": [{"name": "a", "prompt": "Go."}]});
    let output = delegate(pi, &stage, runner, &task)
        .args(["--sandbox", level])
        .run();
    assert_eq!(
        outcomes(&output),
        [completed("a", "Done.")],
        "{runner} {level} {output}"
    );
    let told = server.requests().last().unwrap().body["messages"].to_string();
    assert!(
        told.contains("all kept") && !told.contains("ESCAPED"),
        "{runner} {level}: {told}"
    );
    let requests = server.requests();
    let bearer = requests.last().unwrap().headers.get("authorization");
    let bearer = bearer.map(String::as_str);
    assert_eq!(bearer, Some("Bearer secret"), "{runner} {level}");
    assert_eq!(
        fs::read_to_string(sandbox.home().join("notes")).unwrap(),
        "mine"
    );
    assert!(!sandbox.home().join("made").exists());
}

fn a_confined_child_commits_and_finds_its_project_settings(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let stage = git_project();
        stage.sandbox.write("project/.pi/settings.json", "{}");
        stage.sandbox.write("project/file", "x");
        let commit = "git add file && git -c user.name=a -c user.email=a@b commit -qm one && \
            git worktree list && touch .pi/settings.json.lock; git log --oneline | wc -l";
        let server = LlmServer::start(Script::new().otherwise([
            Turn::tool_call("bash", json!({"command": commit})),
            Turn::text("Done."),
        ]));
        stage.sandbox.models_json(&server.base_url());
        let task = json!({"tasks": [{"name": "a", "prompt": "Go."}]});
        let output = delegate(pi, &stage, runner, &task)
            .args(["--sandbox", "workspace-write", "--trust"])
            .run();
        assert_eq!(
            outcomes(&output),
            [completed("a", "Done.")],
            "{runner} {output}"
        );
        let log = stage.sandbox.project().join(".git/logs/HEAD");
        let log = fs::read_to_string(log).unwrap();
        assert_eq!(log.lines().count(), 2, "{runner} {log}");
        let lock = stage.sandbox.project().join(".pi/settings.json.lock");
        assert!(!lock.exists(), "{runner}");
        assert!(!output.stderr.contains("ettings"), "{runner} {output}");
    }
}

fn a_refused_command_says_that_it_runs_in_a_sandbox(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let stage = git_project();
        let server = LlmServer::start(Script::new().otherwise([
            Turn::tool_call("bash", json!({"command": "echo x > $HOME/made"})),
            Turn::tool_call("bash", json!({"command": "echo no; exit 1"})),
            Turn::text("Done."),
        ]));
        stage.sandbox.models_json(&server.base_url());
        let task = json!({"tasks": [{"name": "a", "prompt": "Go."}]});
        let output = delegate(pi, &stage, runner, &task)
            .args(["--sandbox", "read-only"])
            .run();
        assert_eq!(
            outcomes(&output),
            [completed("a", "Done.")],
            "{runner} {output}"
        );
        let told = server.requests().last().unwrap().body["messages"].to_string();
        let hint = "[sandbox: read-only, network none] The path or host may be outside what this run may use.";
        assert_eq!(told.matches(hint).count(), 1, "{runner} {told}");
    }
}

fn a_child_with_read_tools_is_read_only(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let stage = git_project();
        stage.sandbox.write("home/.netrc", "hunter2");
        stage.sandbox.write("project/code", "of the project");
        let home = stage.sandbox.home().join(".netrc");
        let server = LlmServer::start(Script::new().otherwise([
            Turn::tool_call("read", json!({"path": home})),
            Turn::tool_call("read", json!({"path": "code"})),
            Turn::text("Done."),
        ]));
        stage.sandbox.models_json(&server.base_url());
        stage.profile("scout", "tools: read, grep", "");
        let task = json!({"tasks": [{"name": "a", "prompt": "Go.", "profile": "scout"}]});
        let output = delegate(pi, &stage, runner, &task).run();
        assert_eq!(
            outcomes(&output),
            [completed("a", "Done.")],
            "{runner} {output}"
        );
        assert_eq!(
            output.json()["runs"][0]["sandbox"],
            "read-only",
            "{runner} {output}"
        );
        let told = server.requests().last().unwrap().body["messages"].to_string();
        assert!(
            told.contains("of the project") && !told.contains("hunter2"),
            "{runner} {told}"
        );
    }
}

/// The names of headers in which a provider may get a key.
const KEY_HEADERS: [&str; 2] = ["authorization", "x-api-key"];

fn a_confined_pi_asks_with_the_login_that_is_kept_outside(pi: RealPi) {
    let stage = git_project();
    let server = LlmServer::start(Script::new().otherwise([
        Turn::tool_call(
            "bash",
            json!({"command": "grep -rq ACCESS $PI_CODING_AGENT_DIR; echo found: $?"}),
        ),
        Turn::text("Done."),
    ]));
    let address = server.base_url();
    let models = json!({"providers": {"anthropic": {"baseUrl": address.trim_end_matches("/v1")}}});
    stage
        .sandbox
        .write("home/.pi/agent/models.json", &models.to_string());
    // It is valid until the year 2100.
    let login = json!({"anthropic": {
        "type": "oauth", "access": "sk-ant-oat01-ACCESS", "refresh": "sk-ant-ort01-REFRESH",
        "expires": 4_102_444_800_000_u64
    }});
    stage
        .sandbox
        .write("home/.pi/agent/auth.json", &login.to_string());
    let task = json!({"tasks": [{"name": "a", "prompt": "Go."}]});
    let flags = [
        "--sandbox",
        "read-only",
        "--model",
        "anthropic/claude-sonnet-4-5",
    ];
    let output = delegate(pi, &stage, "pi", &task).args(flags).run();
    assert_eq!(outcomes(&output), [completed("a", "Done.")], "{output}");
    let requests = server.requests();
    let told = requests.last().unwrap().body["messages"].to_string();
    assert!(told.contains("found: 1"), "{told}");
    for request in requests {
        let keys = KEY_HEADERS.map(|name| request.headers.get(name).map(String::as_str));
        assert_eq!(keys, [Some("Bearer sk-ant-oat01-ACCESS"), None]);
    }
}
