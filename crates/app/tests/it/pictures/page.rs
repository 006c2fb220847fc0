//! The picture of the web page: the runs of the tour, and a fleet on a scripted model that works until
//! it is stopped. Browsers draw letters differently on every machine, so the picture is made
//! by Chromium and compared by what stands on the page.

use std::env;
use std::fs;
use std::path::PathBuf;

use pi_subagents_testkit::Signal;
use pi_subagents_testkit::llm::{LlmServer, Script};
use pi_subagents_testkit::sandbox::RunningCommand;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::UPDATE;
use crate::stage::Stage;
use crate::web_page::play;
use crate::web_stage::{WebStage, until};

const FILES: [(&str, &str); 5] = [
    (
        "src/main.rs",
        "mod fog;\nmod lens;\n\nuse lens::Lens;\n\nfn main() {\n    let tower = Tower::open();\n    tower.light();\n    tower.mount(Lens::default());\n    fog::watch(&tower);\n}\n",
    ),
    (
        "src/fog.rs",
        "//! The fog horn has a timer.\n\npub fn watch(tower: &Tower) {\n    if tower.sees_fog() {\n        tower.horn(2);\n    }\n}\n",
    ),
    ("src/lens.rs", "pub struct Lens;\n"),
    (
        "src/api.rs",
        "pub fn routes() -> Vec<Route> {\n    vec![]\n}\n",
    ),
    ("docs/lamp.md", "# The lamp\n\nIt lights.\n"),
];

/// The definitions of the fleet: a name, a model and what it does.
const DEFINITIONS: [(&str, &str, &str); 4] = [
    ("reviewer", "harbour/beacon-large", "Reviews a change"),
    ("builder", "harbour/beacon-large", "Changes code"),
    ("writer", "harbour/beacon-small", "Writes texts"),
    ("local", "cellar/coder-30b", "Works on this machine"),
];

#[test]
fn page() {
    let server =
        LlmServer::start(serde_json::from_str::<Script>(include_str!("page_fleet.json")).unwrap());
    let stage = fleet_stage(&server);
    stage.command(&["tour", "--here"]).run().expect_success();
    let web = WebStage::of(stage, &[]);
    let calls_of = |name: &str| {
        let runs = web.json("/v1/runs");
        let run = runs["runs"]
            .as_array()
            .unwrap()
            .iter()
            .find(|run| run["name"] == name)
            .cloned();
        run.unwrap_or_default()
    };
    let scout = delegate(&web, &[("scout", "local", "Find every timer.")]);
    // It is the oldest of them.
    until("the scout is listed", || {
        calls_of("scout")["runId"].is_string()
    });
    let fleet = delegate(
        &web,
        &[
            (
                "review",
                "reviewer",
                "Review the last commit and mend what is wrong.",
            ),
            ("tests", "writer", "Run the tests again until they pass."),
            ("docs", "writer", "Write the page about the lamp."),
            ("api", "builder", "Add three endpoints to the API."),
            ("bench", "local", "Bench the horn."),
            ("audit", "builder", "Audit the crate for timers."),
        ],
    );
    until("the review runs its tests", || {
        calls_of("review")["toolCalls"].as_u64() >= Some(6)
    });
    let review = calls_of("review")["runId"].as_str().unwrap().to_owned();
    let words = "Stop at the first failure, and keep the public API as it is.";
    web.command(&["steer", &review, words])
        .run()
        .expect_success();
    web.stage.sandbox.write("project/steered", "");
    until("the others are where they stay", || {
        let is = |name: &str, status: &str| calls_of(name)["status"] == status;
        is("docs", "completed")
            && is("api", "completed")
            && is("bench", "failed")
            && is("scout", "running")
    });
    let picture = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/pictures")
        .join(format!("{}.png", "page"));
    let is_made = env::var_os(UPDATE).is_some();
    let drawn = if is_made {
        picture.clone()
    } else {
        web.stage.sandbox.root().join("page.png")
    };
    let seen = play(
        &web.stage,
        "picture",
        &json!({"url": web.url, "run": review, "file": drawn}),
    );
    for run in [scout, fleet] {
        run.kill(Signal::INT);
        _ = run.wait();
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&seen).unwrap());
    let bytes = fs::read(&picture).unwrap();
    // The width and the height stand behind the name of the first chunk.
    assert_eq!(bytes[16..24], [0, 0, 5, 0x78, 0, 0, 3, 0x5C]);
    assert!(
        bytes.len() < 300_000,
        "the picture has {} bytes",
        bytes.len()
    );
}

/// A repository, models with and without a price, definitions, and a `cargo` that takes its time.
fn fleet_stage(server: &LlmServer) -> Stage {
    let stage = Stage::new();
    let sandbox = &stage.sandbox;
    for (path, text) in FILES {
        sandbox.write(&format!("project/{path}"), text);
    }
    sandbox.program("tools/cargo", include_str!("page_cargo.sh"));
    let provider = |models: Value| json!({"baseUrl": server.base_url(), "api": "openai-completions", "apiKey": "test-key", "models": models});
    let model = |id: &str, cost: Option<Value>| {
        let mut model = json!({"id": id, "name": id, "input": ["text"], "contextWindow": 200_000, "maxTokens": 16_384});
        if let Some(cost) = cost {
            model["cost"] = cost;
        }
        model
    };
    let large = json!({"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75});
    let small = json!({"input": 0.8, "output": 4, "cacheRead": 0.08, "cacheWrite": 1});
    let models = json!({"providers": {
        "harbour": provider(json!([model("beacon-large", Some(large)), model("beacon-small", Some(small))])),
        "cellar": provider(json!([model("coder-30b", None)])),
    }});
    sandbox.write("home/.pi/agent/models.json", &models.to_string());
    let settings = json!({"defaultProvider": "harbour", "defaultModel": "beacon-large"});
    sandbox.write("home/.pi/agent/settings.json", &settings.to_string());
    for (name, model, does) in DEFINITIONS {
        let text = format!(
            "---\nname: {name}\ndescription: {does}\nmodel: {model}\nfinalize: false\n---\nWork carefully.\n"
        );
        sandbox.write(&format!("home/.pi/agent/agents/{name}.md"), &text);
    }
    stage
}

/// Starts a call of these tasks: name, definition and prompt.
fn delegate(web: &WebStage, tasks: &[(&str, &str, &str)]) -> RunningCommand {
    let task = |(name, profile, prompt): &(&str, &str, &str)| json!({"name": name, "profile": profile, "prompt": prompt});
    let call = json!({"tasks": tasks.iter().map(task).collect::<Vec<_>>()});
    let tools = web.stage.sandbox.root().join("tools");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", tools.display());
    web.command(&[
        "delegate",
        "-",
        "--runner",
        "embedded",
        "--concurrency",
        "5",
        "--json",
    ])
    .env("PATH", path)
    .stdin(call.to_string())
    .spawn()
}
