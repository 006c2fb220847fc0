//! The messages of the Model Context Protocol that a client sends to call tools.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::host_tools::{HostTool, HostTools};

/// The versions of the protocol that begin with `initialize`, the newest last.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

const NOT_A_MESSAGE: i64 = -32600;
const NO_SUCH_METHOD: i64 = -32601;
const NO_SUCH_TOOL: i64 = -32602;
const NOT_JSON: i64 = -32700;

/// The answer to a message.
#[derive(Debug, PartialEq)]
pub(crate) enum Reply {
    Message(Value),
    /// It was a notification.
    Nothing,
}

/// Answers one message. If this is dropped, the function that it calls is dropped too.
pub(crate) async fn answer(tools: &HostTools, body: &[u8]) -> Reply {
    let Ok(message) = serde_json::from_slice::<Value>(body) else {
        return refusal(&Value::Null, NOT_JSON, "this is not JSON");
    };
    let Some(method) = message["method"].as_str() else {
        return refusal(&message["id"], NOT_A_MESSAGE, "this is not a request");
    };
    let Some(id) = message.get("id") else {
        return Reply::Nothing;
    };
    let result = match method {
        "initialize" => beginning(&message["params"]),
        "ping" => json!({}),
        "tools/list" => {
            json!({"tools": tools.tools.iter().map(|one| described(one)).collect::<Vec<_>>()})
        }
        "tools/call" => {
            let (name, arguments) = (&message["params"]["name"], &message["params"]["arguments"]);
            let found = tools.tools.iter().find(|tool| *name == tool.name);
            let Some(tool) = found else {
                return refusal(id, NO_SUCH_TOOL, &format!("there is no tool {name}"));
            };
            called(tool, arguments.clone()).await
        }
        _ => return refusal(id, NO_SUCH_METHOD, &format!("there is no method {method}")),
    };
    Reply::Message(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn refusal(id: &Value, code: i64, message: &str) -> Reply {
    Reply::Message(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
}

fn beginning(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str();
    let known = asked.filter(|asked| VERSIONS.contains(asked));
    json!({
        "protocolVersion": known.unwrap_or(VERSIONS[VERSIONS.len() - 1]),
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "pi-subagents-host-tools", "version": env!("CARGO_PKG_VERSION")},
    })
}

fn described(tool: &HostTool) -> Value {
    json!({"name": tool.name, "description": tool.description, "inputSchema": tool.schema})
}

/// Calls a function in a task of its own, so that one that panics costs only its call.
async fn called(tool: &Arc<HostTool>, arguments: Value) -> Value {
    let call = Arc::clone(tool);
    let arguments = if arguments.is_null() {
        json!({})
    } else {
        arguments
    };
    let mut calling = tokio::task::JoinSet::new();
    calling.spawn(async move { (call.call)(arguments).await });
    let (text, is_error) = match calling.join_next().await {
        Some(Ok(Ok(text))) => (text, false),
        Some(Ok(Err(why))) => (why, true),
        Some(Err(_)) | None => ("the function ended without an answer".to_owned(), true),
    };
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[derive(schemars::JsonSchema, serde::Deserialize)]
    struct Order {
        number: u32,
    }

    fn shop() -> HostTools {
        let tools = HostTools::new("shop").tool("find", "Finds.", |order: Order| async move {
            match order.number {
                0 => Err("There is no such order."),
                number => Ok(format!("Found {number}.")),
            }
        });
        tools.tool("fail", "Fails.", |order: Order| async move {
            assert_eq!(order.number, 0, "a function of a program may panic");
            Ok::<_, String>(String::new())
        })
    }

    async fn asked(method: &str, params: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        match answer(&shop(), message.to_string().as_bytes()).await {
            Reply::Message(message) => message,
            Reply::Nothing => Value::Null,
        }
    }

    #[tokio::test]
    async fn functions_are_listed_and_called() {
        let listed = asked("tools/list", json!({})).await;
        let first = &listed["result"]["tools"][0];
        assert_eq!(
            [&first["name"], &first["inputSchema"]["required"]],
            [&json!("find"), &json!(["number"])]
        );
        let call = |name: &str, arguments: Value| {
            let params = json!({"name": name, "arguments": arguments});
            async move {
                let answer = asked("tools/call", params).await;
                let result = &answer["result"];
                json!([
                    result["content"][0]["text"],
                    result["isError"],
                    answer["error"]["code"]
                ])
            }
        };
        assert_eq!(
            call("find", json!({"number": 7})).await,
            json!(["Found 7.", false, null])
        );
        assert_eq!(
            call("find", json!({"number": 0})).await,
            json!(["There is no such order.", true, null])
        );
        let unfit = call("find", json!({"number": "x"})).await;
        assert!(
            unfit[0]
                .as_str()
                .unwrap()
                .starts_with("the arguments do not fit: "),
            "{unfit}"
        );
        assert_eq!(
            call("nothing", json!({})).await,
            json!([null, null, NO_SUCH_TOOL])
        );
        assert_eq!(
            call("fail", json!({"number": 7})).await,
            json!(["the function ended without an answer", true, null])
        );
    }

    #[tokio::test]
    async fn other_messages_have_an_answer_or_need_none() {
        let begun = asked("initialize", json!({"protocolVersion": "2025-03-26"})).await;
        assert_eq!(begun["result"]["protocolVersion"], "2025-03-26");
        let newer = asked("initialize", json!({"protocolVersion": "2030-01-01"})).await;
        assert_eq!(newer["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(
            asked("server/discover", json!({})).await["error"]["code"],
            NO_SUCH_METHOD
        );
        let told = answer(&shop(), br#"{"method": "notifications/initialized"}"#).await;
        assert_eq!(told, Reply::Nothing);
        for (body, code) in [
            ("{", NOT_JSON),
            ("[]", NOT_A_MESSAGE),
            ("{\"id\": 1}", NOT_A_MESSAGE),
        ] {
            let Reply::Message(message) = answer(&shop(), body.as_bytes()).await else {
                unreachable!("it has an answer");
            };
            assert_eq!(message["error"]["code"], code, "{body}");
        }
    }
}
