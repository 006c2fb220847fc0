//! The real pi as a child: its model, its key, its extensions, and how it leaves.

use std::fs;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::CommandOutput;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::agent_stage::FORMATS;
use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, call, completed, failed, outcomes};

for_each_pi! {
    copilot_is_told_that_an_agent_asks_and_nobody_else_is,
    a_key_reaches_the_server_and_the_childs_own_shell_does_not_find_it,
    a_key_is_put_where_its_wire_format_has_it,
    a_key_goes_to_its_own_provider_and_to_no_other,
    a_pi_that_would_ask_another_provider_is_not_asked_anything,
    an_unknown_model_of_a_known_provider_is_a_warning,
    dialogs_of_a_childs_extensions_are_cancelled_and_noted_once_each,
    a_pi_that_answered_and_does_not_exit_is_ended_and_its_answer_kept,
}

const RUNNERS: [&str; 2] = ["embedded", "pi"];

fn profile(stage: &Stage, name: &str, fields: &str) {
    stage.sandbox.write(
        &format!("home/.pi/agent/agent-profiles/{name}.md"),
        &format!("---\nname: {name}\n{fields}\n---\n"),
    );
}

fn task(profile: Option<&str>) -> Value {
    json!({"tasks": [{"name": "a", "prompt": "hello", "profile": profile}]})
}

fn stage_with_model(turns: impl IntoIterator<Item = Turn>) -> (Stage, LlmServer) {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(turns));
    stage.sandbox.models_json(&server.base_url());
    (stage, server)
}

fn warnings(output: &CommandOutput) -> Vec<String> {
    let answer = output.json();
    let directory = answer["runs"][0]["directory"].as_str().unwrap();
    let result = fs::read_to_string(format!("{directory}/result.json")).unwrap();
    let result: Value = serde_json::from_str(&result).unwrap();
    let warnings = result["warnings"].as_array().cloned().unwrap_or_default();
    warnings
        .iter()
        .map(|warning| warning.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_child_is_told_what_it_is_and_the_network_is_the_users_choice() {
    let stage = Stage::new();
    let file = stage.path("env");
    let dump = json!([{"dumpEnv": file}, {"reply": "ok"}]);
    for offline in [None, Some("0")] {
        let command = stage.delegate(&call(&[("a", dump.clone())]));
        let command = match offline {
            Some(value) => command.env("PI_OFFLINE", value),
            None => command,
        };
        assert_eq!(outcomes(&command.run()), [completed("a", "ok")]);
        let env: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        for marker in [
            "PI_SKIP_VERSION_CHECK",
            "PI_SUBAGENTS_CHILD",
            "PI_SUBAGENT_CHILD",
        ] {
            assert_eq!(env[marker], "1", "{marker}");
        }
        assert_eq!(env["PI_OFFLINE"].as_str(), offline);
    }
}

fn copilot_is_told_that_an_agent_asks_and_nobody_else_is(pi: RealPi) {
    for runner in RUNNERS {
        for (provider, is_named, expected) in [
            ("github-copilot", true, Some("agent")),
            ("github-copilot", false, Some("agent")),
            ("fake", true, None),
        ] {
            let (stage, server) = stage_with_model([Turn::text("ok")]);
            let models = json!({"providers": {provider: {
                "baseUrl": server.base_url(), "api": "openai-completions", "apiKey": "k",
                "models": [{"id": "m"}],
            }}});
            let models_file = "home/.pi/agent/models.json";
            stage.sandbox.write(models_file, &models.to_string());
            profile(&stage, "asker", &format!("model: {provider}/m"));
            let defaults = json!({"defaultProvider": provider, "defaultModel": "m"});
            let settings_file = "home/.pi/agent/settings.json";
            stage.sandbox.write(settings_file, &defaults.to_string());
            let output = delegate(pi, &stage, runner, &task(is_named.then_some("asker"))).run();
            assert_eq!(outcomes(&output), [completed("a", "ok")], "{runner}");
            let headers = &server.requests()[0].headers;
            let told = headers.get("x-initiator").map(String::as_str);
            assert_eq!(told, expected, "{runner} {provider}");
        }
    }
}

fn a_key_reaches_the_server_and_the_childs_own_shell_does_not_find_it(pi: RealPi) {
    let secret = "sk-very-secret-key-1234";
    // The first three belong to the protocol between child and owner; reading them would only
    // disturb it. Node has a pipe whose one byte is a lock, so a single byte is put back.
    let look = "echo environment; env; \
        for pid in $PPID $$; do \
        echo arguments; tr '\\0' '\\n' < /proc/$pid/cmdline; \
        echo inherited; tr '\\0' '\\n' < /proc/$pid/environ; \
        done; \
        echo descriptors; for fd in /proc/$PPID/fd/*; do \
        echo $fd $(readlink $fd); \
        case ${fd##*/} in 0|1|2) ;; *) timeout 2 dd if=$fd of=taken iflag=nonblock bs=4000 count=1 2>/dev/null; cat taken; if [ $(wc -c < taken) = 1 ]; then cat taken > $fd; fi;; esac; \
        done; true";
    let [apart, together, alone] = [
        "provider: fake\nmodel: fake-model",
        "model: fake/fake-model",
        "model: fake-model",
    ];
    for (runner, ways) in [
        ("embedded", &[apart, together, alone][..]),
        ("pi", &[together, alone]),
    ] {
        for fields in ways {
            let (stage, server) = stage_with_model([
                Turn::tool_call("bash", json!({"command": look})),
                Turn::text("ok"),
            ]);
            let auth = json!({"fake": {"type": "api_key", "key": "sk-of-auth-json"}});
            let auth_file = "home/.pi/agent/auth.json";
            stage.sandbox.write(auth_file, &auth.to_string());
            profile(&stage, "keyed", &format!("{fields}\napiKey: {secret}"));
            let output = delegate(pi, &stage, runner, &task(Some("keyed"))).run();
            assert_eq!(outcomes(&output), [completed("a", "ok")], "{runner}");
            for request in server.requests() {
                let sent = &request.headers["authorization"];
                assert_eq!(sent, &format!("Bearer {secret}"), "{runner} {fields}");
            }
            let seen = server.requests()[1].body.to_string();
            for part in ["environment", "arguments", "inherited", "descriptors"] {
                assert!(seen.contains(part), "{runner}: {part} is not in {seen}");
            }
            assert!(!seen.contains("sk-very-secret"), "{runner}: {seen}");
            let answer = output.json();
            let directory = answer["runs"][0]["directory"].as_str().unwrap();
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let content = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                assert!(!content.contains("sk-very-secret"), "{}", path.display());
            }
        }
    }
}

fn a_key_is_put_where_its_wire_format_has_it(pi: RealPi) {
    // Each pi takes its time, and all its formats get the key from the same place; the format of
    // OpenAI's completions is that of the other tests.
    for (runner, formats) in [
        ("embedded", &FORMATS[..]),
        ("pi", &["anthropic-messages", "google-generative-ai"]),
    ] {
        for api in formats {
            let (stage, server) = stage_with_model([Turn::text("ok")]);
            stage.sandbox.models_json_for(api, &server.base_url());
            let auth = json!({"fake": {"type": "api_key", "key": "sk-of-auth-json"}});
            let auth_file = "home/.pi/agent/auth.json";
            stage.sandbox.write(auth_file, &auth.to_string());
            profile(
                &stage,
                "keyed",
                "model: fake/fake-model\napiKey: sk-very-secret-key-1234",
            );
            let output = delegate(pi, &stage, runner, &task(Some("keyed"))).run();
            assert_eq!(outcomes(&output), [completed("a", "ok")], "{runner} {api}");
            let headers = server.requests()[0].headers.clone();
            let is_sent = headers
                .values()
                .any(|value| value.trim_start_matches("Bearer ") == "sk-very-secret-key-1234");
            assert!(is_sent, "{runner} {api}: {headers:?}");
            let sent = format!("{headers:?}");
            assert!(!sent.contains("sk-of-auth-json"), "{runner} {api}: {sent}");
        }
    }
}

fn a_key_goes_to_its_own_provider_and_to_no_other(pi: RealPi) {
    let (stage, server) = stage_with_model(vec![Turn::text("ok"); 2]);
    let other = json!({"baseUrl": server.base_url(), "api": "openai-completions",
        "apiKey": "key-of-other", "models": [{"id": "m"}]});
    let models = json!({"providers": {"fake": other.clone(), "other": other}});
    let models_file = "home/.pi/agent/models.json";
    stage.sandbox.write(models_file, &models.to_string());
    profile(
        &stage,
        "keyed",
        "model: fake/m\napiKey: sk-very-secret-key-1234",
    );
    for runner in RUNNERS {
        let output = delegate(pi, &stage, runner, &task(Some("keyed")))
            .args(["--model", "other/m"])
            .run();
        assert_eq!(outcomes(&output), [completed("a", "ok")], "{runner}");
    }
    for request in server.requests() {
        assert_eq!(request.headers["authorization"], "Bearer key-of-other");
    }
}

fn a_pi_that_would_ask_another_provider_is_not_asked_anything(pi: RealPi) {
    let (stage, server) = stage_with_model([Turn::text("ok")]);
    profile(&stage, "lost", "provider: nope");
    let output = delegate(pi, &stage, "pi", &task(Some("lost"))).run();
    let file = stage
        .sandbox
        .home()
        .join(".pi/agent/agent-profiles/lost.md");
    let message = format!(
        "Profile \"lost\" names the provider \"nope\" and no model, and the default model is not of that provider. Add \"model: ID\" to {}.",
        file.display()
    );
    assert_eq!(outcomes(&output), [failed("a", 1, &message, None)]);
    profile(&stage, "lost", "model: nope/x");
    let output = delegate(pi, &stage, "pi", &task(Some("lost"))).run();
    assert_eq!(
        outcomes(&output),
        [failed(
            "a",
            1,
            "The sub-agent exited with code 1: Error: Model \"nope/x\" not found. Use --list-models to see available models.",
            None
        )]
    );
    assert_eq!(server.requests().len(), 0);
}

fn an_unknown_model_of_a_known_provider_is_a_warning(pi: RealPi) {
    let (stage, server) = stage_with_model(vec![Turn::text("ok"); 2]);
    for (model, expected) in [
        ("fake-model", None),
        (
            "fake/new-model",
            Some(
                "pi knows no model \"new-model\" of the provider \"fake\"; the id is sent as it is",
            ),
        ),
    ] {
        profile(&stage, "modern", &format!("model: {model}"));
        let output = delegate(pi, &stage, "pi", &task(Some("modern"))).run();
        assert_eq!(outcomes(&output), [completed("a", "ok")], "{model}");
        let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(warnings(&output), expected, "{model}");
    }
    assert_eq!(server.requests()[1].body["model"], "new-model");
}

/// A profile whose child loads this extension.
fn extended(stage: &Stage, source: &str) {
    let file = stage.sandbox.write("extension.js", source);
    profile(
        stage,
        "extended",
        &format!("extensions:\n- {}", file.display()),
    );
}

fn dialogs_of_a_childs_extensions_are_cancelled_and_noted_once_each(pi: RealPi) {
    let (stage, _server) = stage_with_model([Turn::text("ok")]);
    let answers = stage.path("answers");
    extended(
        &stage,
        &format!(
            r#"import {{ writeFileSync }} from "node:fs";
export default function (pi) {{
  pi.on("before_agent_start", async (_event, ctx) => {{
    ctx.ui.notify("hello", "info");
    ctx.ui.setStatus("s", "busy");
    ctx.ui.setWidget("w", ["a line"]);
    const answers = [
      await ctx.ui.confirm("Delete it?", "Really?"),
      (await ctx.ui.select("Which one?", ["a", "b"])) ?? null,
      (await ctx.ui.input("Your name?", "")) ?? null,
      (await ctx.ui.editor("Edit this", "")) ?? null,
    ];
    writeFileSync({answers:?}, JSON.stringify(answers));
  }});
}}
"#
        ),
    );
    let output = delegate(pi, &stage, "pi", &task(Some("extended"))).run();
    assert_eq!(outcomes(&output), [completed("a", "ok")]);
    let answers = fs::read_to_string(answers).unwrap();
    assert_eq!(answers, "[false,null,null,null]");
    let asked =
        |title: &str| format!("an extension asked \"{title}\": cancelled, nobody can answer here");
    assert_eq!(
        warnings(&output),
        ["Delete it?", "Which one?", "Your name?", "Edit this"].map(asked)
    );
}

fn a_pi_that_answered_and_does_not_exit_is_ended_and_its_answer_kept(pi: RealPi) {
    let (stage, _server) = stage_with_model([Turn::text("the answer")]);
    let pid = stage.path("pid");
    extended(
        &stage,
        &format!(
            r#"import {{ writeFileSync }} from "node:fs";
export default function (pi) {{
  writeFileSync({pid:?}, String(process.pid));
  setInterval(() => {{}}, 1000);
  process.on("SIGTERM", () => {{}});
  pi.on("session_shutdown", () => new Promise(() => {{}}));
}}
"#
        ),
    );
    let output = delegate(pi, &stage, "pi", &task(Some("extended"))).run();
    assert_eq!(outcomes(&output), [completed("a", "the answer")]);
    let pid: u32 = fs::read_to_string(pid).unwrap().parse().unwrap();
    assert!(!pi_subagents_testkit::process::exists(pid));
}
