//! An MCP server over stdio that misbehaves on demand: `mcp-server [--hang] [--flood] [--leak NAME]
//! [--tools N] [--mark FILE]`.
//!
//! | flag | it |
//! |---|---|
//! | `--hang` | reads and answers nothing |
//! | `--flood` | prints without an end before it answers |
//! | `--leak NAME` | prints the value of a variable on stderr and exits |
//! | `--tools N` | has so many tools more, with long descriptions |
//! | `--pages` | lists its tools in parts without an end |
//! | `--mark FILE` | writes its number and that of a child of it into a file |
//!
//! | tool | it |
//! |---|---|
//! | `echo` | answers with its text |
//! | `variables` | answers with the names of its variables, and the value of `SHOWN` |
//! | `long` | answers with so many bytes |
//! | `flood` | sends notices without an end |
//! | `hang` | does not answer |
//! | `fail` | answers with an error |
//! | `die` | exits |

#![expect(
    clippy::disallowed_methods,
    clippy::exit,
    clippy::print_stderr,
    reason = "it is a program of tests that starts a child, writes where it is told, and dies"
)]

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::process::{Command, exit};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

const HOUR: Duration = Duration::from_hours(1);

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let after = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1).cloned()
    };
    if let Some(file) = after("--mark") {
        mark(&file);
    }
    if let Some(name) = after("--leak") {
        eprintln!("my key is {}", env::var(name).unwrap_or_default());
        exit(3);
    }
    if has("--hang") {
        thread::sleep(HOUR);
    }
    if has("--flood") {
        flood();
    }
    let more = after("--tools").and_then(|number| number.parse().ok());
    let server = Server {
        more: more.unwrap_or(0),
        has_pages: has("--pages"),
    };
    for line in io::stdin().lines().map_while(Result::ok) {
        if let Ok(message) = serde_json::from_str(&line) {
            server.answer(&message);
        }
    }
    if has("--mark") {
        // The end of its input does not end it.
        thread::sleep(HOUR);
    }
}

/// Starts a child that leaves the group, and writes down both numbers.
fn mark(file: &str) {
    let child = Command::new("setsid").args(["sleep", "3600"]).spawn();
    let child = child.map(|child| child.id()).unwrap_or_default();
    let text = format!("{} {child}", std::process::id());
    let whole = format!("{file}.part");
    _ = fs::write(&whole, text);
    _ = fs::rename(whole, file);
}

struct Server {
    more: usize,
    has_pages: bool,
}

impl Server {
    fn answer(&self, message: &Value) {
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"},
            }),
            "tools/list" if self.has_pages => json!({"tools": [], "nextCursor": "more"}),
            "tools/list" => json!({"tools": self.tools()}),
            "tools/call" => match call(&message["params"]) {
                Some(result) => result,
                None => return,
            },
            "ping" => json!({}),
            _ => return,
        };
        say(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
    }

    fn tools(&self) -> Vec<Value> {
        let named = ["echo", "variables", "long", "flood", "hang", "fail", "die"];
        let named = named.map(|name| {
            let text = json!({"type": "string"});
            json!({"name": name, "description": format!("Does {name}."),
                "inputSchema": {"type": "object", "properties": {"text": text}}})
        });
        let more = (0..self.more).map(|number| {
            json!({"name": format!("more{number}"), "description": "word ".repeat(10_000),
                "inputSchema": {"type": "object"}})
        });
        named.into_iter().chain(more).collect()
    }
}

/// Returns the result of a call; `None` if there is no answer.
fn call(params: &Value) -> Option<Value> {
    let text = params["arguments"]["text"].as_str().unwrap_or_default();
    let answer = |text: String| Some(json!({"content": [{"type": "text", "text": text}]}));
    match params["name"].as_str().unwrap_or_default() {
        "echo" => answer(text.to_owned()),
        "variables" => {
            let mut names: Vec<String> = env::vars().map(|(name, _)| name).collect();
            names.sort();
            let shown = env::var("SHOWN").unwrap_or_default();
            answer(format!("{}\nSHOWN is {shown}", names.join(" ")))
        }
        "long" => answer("0123456789\n".repeat(text.parse::<usize>().unwrap_or(0) / 11)),
        "fail" => {
            Some(json!({"isError": true, "content": [{"type": "text", "text": "It fails."}]}))
        }
        "die" => {
            eprintln!("I die.");
            exit(4);
        }
        "flood" => flood(),
        _ => None,
    }
}

fn flood() -> ! {
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/message",
        "params": {"level": "info", "data": "x".repeat(1000)}});
    loop {
        say(&notice);
    }
}

fn say(message: &Value) {
    if writeln!(io::stdout(), "{message}").is_err() {
        exit(0);
    }
}
