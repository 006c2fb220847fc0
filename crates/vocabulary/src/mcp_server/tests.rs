use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

#[test]
fn servers_are_read_and_written_in_one_form() {
    let written = json!({
        "files": {"command": "npx", "args": ["-y", "files", "."], "env": {"TOKEN": "${FILES_TOKEN}", "PORT": "80"}, "cwd": "sub", "required": true, "startTimeout": 30},
        "docs": {"url": "https://docs.example/mcp", "headers": {"Authorization": "Bearer ${DOCS}"}, "timeout": 5, "tools": ["find"], "excludeTools": ["drop"]},
        "github": {},
    });
    let servers = read_servers(&written).unwrap();
    assert_eq!(McpServer::write_all(&servers), written);
    let shown: Vec<String> = servers.iter().map(McpServer::consequence).collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    It will run: files: npx -y files . in sub (env PORT=80 TOKEN=${FILES_TOKEN}) [required]
    It will send the calls of its tools to: docs: https://docs.example/mcp (headers Authorization=Bearer ${DOCS}) [only find] [without drop]
    It will use the server of your mcp.json: github: of mcp.json
    ");
    let listed = read_servers(&json!(["github", {"here": {"command": "here"}}])).unwrap();
    let names: Vec<&str> = listed.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["github", "here"]);
    assert_eq!(read_servers(&json!("a, b")).unwrap().len(), 2);
    assert_eq!(servers[0].variables(), ["FILES_TOKEN"]);
}

#[test]
fn what_cannot_be_kept_or_would_be_a_key_in_a_file_is_refused() {
    let refused = [
        json!(7),
        json!([7]),
        json!({"a__b": {"command": "x"}}),
        json!({"a": {}, "b": {"command": "x", "url": "https://x"}}),
        json!({"a": {"args": ["x"]}}),
        json!({"a": {"command": "x", "headers": {}}}),
        json!({"a": {"url": "https://x", "env": {}}}),
        json!({"a": {"command": "x", "tool": ["y"]}}),
        json!({"a": {"command": "x", "args": ["--key=${KEY}"]}}),
        json!({"a": {"command": "x", "env": {"API_KEY": "sk-1"}}}),
        json!({"a": {"command": "x", "env": {"1": "y"}}}),
        json!({"a": {"url": "https://x", "headers": {"x-api-key": "sk-1"}}}),
        json!({"a": {"url": "http://far.example", "headers": {"X": "y"}}}),
        json!({"a": {"url": "https://me:secret@far.example"}}),
        json!({"a": {"url": "ftp://far.example"}}),
        json!({"a": {"command": "x", "timeout": 0}}),
        json!(["a", "a"]),
    ];
    let reasons: Vec<String> = refused
        .iter()
        .map(|value| read_servers(value).unwrap_err().to_string())
        .collect();
    insta::assert_snapshot!(reasons.join("\n"), @r#"
    must be servers by their names, or a list of names of your mcp.json
    must be a list of names, or of servers by their names
    has the server "a__b", whose name must have at most 32 letters, digits, "-" and single "_"
    has the server "b", which has both a command and a url; keep one
    has the server "a", which needs a command or a url
    has the server "a", which has headers, which only a url has
    has the server "a", which has a url, and with it no args, env or cwd
    has the server "a", which has no field tool; known are command, args, env, cwd, url, headers, required, startTimeout, timeout, tools, excludeTools
    has the server "a": "--key=${KEY}" names a variable, and arguments can be read by everybody on this machine; name it in "env"
    has the server "a": the value of API_KEY would be a key in a file; name a variable that holds it, as in "${API_KEY}", or a key of auth.json, as in "${auth.json:NAME}"
    has the server "a": "1" is not a name of a variable
    has the server "a": the value of x-api-key would be a key in a file; name a variable that holds it, as in "${X_API_KEY}", or a key of auth.json, as in "${auth.json:NAME}"
    has the server "a": its headers would be sent without encryption; use https
    has the server "a": its address may hold no key; send it in "headers"
    has the server "a": "ftp://far.example" must begin with https:// or http://
    has the server "a", which needs whole seconds from 1 to 3600 for "timeout"
    has the server "a" twice
    "#);
    assert!(
        read_servers(&json!({"a": {"url": "http://localhost:8080/mcp", "headers": {"X": "y"}}}))
            .is_ok()
    );
}

#[test]
fn a_name_means_one_tool_or_all_of_a_server() {
    let read = |name| ServerTool::read(name).map(|found| (found.server, found.tool));
    assert_eq!(
        read("mcp__docs__find_all"),
        Some(("docs", Some("find_all")))
    );
    assert_eq!(read("mcp__docs"), Some(("docs", None)));
    assert_eq!(read("mcp__docs__*"), Some(("docs", None)));
    assert_eq!(read("mcp__"), None);
    assert_eq!(read("read"), None);
    assert!(ServerTool::read("mcp__docs").unwrap().means("docs", "find"));
    assert_eq!(
        ServerTool::read("mcp__docs__*").unwrap().name(),
        "mcp__docs"
    );
    assert_eq!(variables_in("a ${B} ${C:-d} $E ${"), ["B", "C"]);
}
