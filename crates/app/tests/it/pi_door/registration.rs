//! The tools of ours that pi knows, as its models come and change.

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Parent, PiDoor};
use crate::real_pi::{RealPi, for_each_pi};

for_each_pi! {
    a_tool_of_another_extension_is_replaced_with_a_word_or_left_alone,
    without_models_the_subagent_family_is_not_there_until_one_is_selected,
    another_order_of_the_models_is_no_news_and_another_set_is,
    models_that_nobody_selected_are_known_at_the_next_prompt,
    inside_a_sub_agent_nothing_is_registered,
}

/// The tools that are there with any models of pi.
const ALWAYS: [&str; 5] = [
    "delegate_to_subagents",
    "get_subagent_output",
    "get_subagent_session",
    "list_subagent_profiles",
    "subagent_runs",
];

/// An extension beside ours: `/offer a,b` gives pi these models, `/tools` prints the tools that pi
/// knows, `/off NAME` switches a tool off.
const OBSERVER: &str = r#"
export default function (pi) {
  const model = (id) => ({ id, name: id, reasoning: false, input: ["text"], contextWindow: 100000, maxTokens: 1000,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } });
  pi.registerCommand("offer", { async handler(ids, ctx) {
    const models = ids.split(",").map(model);
    pi.registerProvider("late", { baseUrl: "BASE_URL", api: "openai-completions", apiKey: "test-key", models });
    // Pi looks in the background which models it can use, and an older look may end later.
    await ctx.modelRegistry.refresh({ allowNetwork: false });
  } });
  pi.registerCommand("off", { async handler(name) {
    pi.setActiveTools(pi.getActiveTools().filter((active) => active !== name));
  } });
  pi.registerCommand("tools", { async handler(number, ctx) {
    const ours = pi.getAllTools().filter((tool) => tool.sourceInfo.source !== "builtin");
    const models = ({ properties }) => properties.model?.enum ?? null;
    const tools = ours.map(({ name, parameters }) => {
      const { tasks } = parameters.properties;
      return [name, models(parameters), tasks ? models(tasks.items) : null];
    });
    ctx.ui.notify(JSON.stringify({ number, tools, active: pi.getActiveTools() }), "info");
  } });
}
"#;

/// A pi that has no model until it is offered one.
struct Modelless {
    door: PiDoor,
    observer: String,
}

impl Modelless {
    fn new(pi: RealPi) -> Self {
        let door = PiDoor::new(
            pi,
            "embedded",
            Script::new().otherwise([Turn::text("Hello.")]),
        );
        let nothing = json!({"providers": {}});
        door.sandbox
            .write("home/.pi/agent/models.json", &nothing.to_string());
        let text = OBSERVER.replace("BASE_URL", &door.server.base_url());
        let observer = door.sandbox.write("observer.js", &text);
        Self {
            observer: observer.display().to_string(),
            door,
        }
    }

    fn start(&self) -> Watched<'_> {
        Watched {
            pi: self.door.parent(&["-e", &self.observer]),
            asked: 0,
            prompts: 0,
        }
    }
}

/// A pi whose tools are looked at.
struct Watched<'a> {
    pi: Parent<'a>,
    asked: usize,
    prompts: usize,
}

impl Watched<'_> {
    /// Returns the tools that pi knows now.
    #[track_caller]
    fn look(&mut self) -> Value {
        self.asked += 1;
        let number = self.asked.to_string();
        self.pi.rpc.prompt(&format!("/tools {number}"));
        let read = |event: &Value| -> Option<Value> {
            let told: Value = serde_json::from_str(event["message"].as_str()?).ok()?;
            (told["number"] == number.as_str()).then_some(told)
        };
        let event = self.pi.rpc.wait_for(|event| read(event).is_some());
        read(&event).unwrap()
    }

    /// The tools that are not pi's, each with the models that it takes, also in each of its tasks.
    #[track_caller]
    fn tools(&mut self) -> Value {
        self.look()["tools"].take()
    }

    #[track_caller]
    fn command(&mut self, command: &str) {
        let done = self
            .pi
            .rpc
            .ask(&json!({"type": "prompt", "message": command}));
        assert_eq!(done["success"], true, "{done}");
    }

    #[track_caller]
    fn select(&mut self, model: &str) {
        let select = json!({"type": "set_model", "provider": "late", "modelId": model});
        let done = self.pi.rpc.ask(&select);
        assert_eq!(done["success"], true, "{done}");
    }

    #[track_caller]
    fn ask(&mut self, words: &str) {
        self.prompts += 1;
        self.pi.rpc.prompt(words);
        self.pi.rpc.wait_for_settled(self.prompts);
    }
}

fn always() -> Vec<Value> {
    ALWAYS
        .iter()
        .map(|name| json!([name, null, null]))
        .collect()
}

/// All our tools, where pi has these models, which stand in one place.
fn all(models: &[&str]) -> Value {
    let mut tools = always();
    tools.push(json!(["subagent", models, null]));
    tools.push(json!(["background_agent", null, null]));
    tools.push(json!(["background_agent_status", null, null]));
    tools.into()
}

fn without_models_the_subagent_family_is_not_there_until_one_is_selected(pi: RealPi) {
    let modelless = Modelless::new(pi);
    let mut pi = modelless.start();
    assert_eq!(pi.tools(), json!(always()));

    pi.command("/offer zeta,alpha");
    pi.select("alpha");
    assert_eq!(pi.tools(), all(&["late/zeta", "late/alpha"]));
    pi.pi.rpc.finish();
}

fn another_order_of_the_models_is_no_news_and_another_set_is(pi: RealPi) {
    let modelless = Modelless::new(pi);
    let mut pi = modelless.start();
    pi.command("/offer zeta,alpha");
    pi.select("alpha");

    pi.command("/offer alpha,zeta");
    pi.select("zeta");
    assert_eq!(pi.tools(), all(&["late/zeta", "late/alpha"]));

    pi.command("/offer alpha,zeta,beta");
    pi.select("alpha");
    assert_eq!(pi.tools(), all(&["late/alpha", "late/zeta", "late/beta"]));

    // Every request of the model would carry the names.
    let many: Vec<String> = (0..31).map(|number| format!("model-{number}")).collect();
    pi.command(&format!("/offer {}", many.join(",")));
    pi.select("model-7");
    assert_eq!(pi.tools()[5], json!(["subagent", null, null]));
    pi.pi.rpc.finish();
}

fn models_that_nobody_selected_are_known_at_the_next_prompt(pi: RealPi) {
    let modelless = Modelless::new(pi);
    let mut pi = modelless.start();
    pi.command("/offer zeta");
    pi.select("zeta");
    pi.command("/off background_agent");
    pi.command("/offer zeta,alpha");
    pi.ask("Hello.");

    let known = pi.look();
    assert_eq!(known["tools"], all(&["late/zeta", "late/alpha"]));
    // A tool that was switched off stays off, and no tool is there twice.
    let mut expected = vec!["read", "bash", "edit", "write"];
    expected.extend(ALWAYS);
    expected.extend(["subagent", "background_agent_status"]);
    assert_eq!(known["active"], json!(expected));
    let asked = modelless.door.server.requests();
    let told: Vec<&str> = asked[0].body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(told, expected);
    pi.pi.rpc.finish();
}

fn inside_a_sub_agent_nothing_is_registered(pi: RealPi) {
    let modelless = Modelless::new(pi);
    let command = modelless
        .door
        .pi(&["--mode", "rpc", "-e", &modelless.observer])
        .env("PI_SUBAGENTS_CHILD", "1");
    let mut pi = Watched {
        pi: modelless.door.parent_of(command),
        asked: 0,
        prompts: 0,
    };
    pi.command("/offer zeta");
    pi.select("zeta");
    assert_eq!(pi.tools(), json!([]));
    pi.pi.rpc.finish();
}

/// An extension that has a tool of the same name as one of ours.
const RIVAL: &str = r#"
export default function (pi) {
  pi.registerTool({ name: "subagent", label: "Rival", description: "The tool of the rival.",
    parameters: { type: "object", properties: {} },
    async execute() { return { content: [{ type: "text", text: "rival" }], details: {} }; } });
}
"#;

fn a_tool_of_another_extension_is_replaced_with_a_word_or_left_alone(pi: RealPi) {
    let door = PiDoor::new(
        pi,
        "embedded",
        Script::new().otherwise([Turn::text("Hello.")]),
    );
    let manifest = json!({"name": "rival", "pi": {"extensions": ["./index.js"]}});
    door.sandbox
        .write("rival/package.json", &manifest.to_string());
    let rival = door.sandbox.write("rival/index.js", RIVAL);
    // If two packages register the tools, the first one counts.
    let settings = door.sandbox.agent_dir().join("settings.json");
    door.change_settings(|settings| {
        let packages = settings["packages"].as_array_mut().unwrap();
        packages.push(json!(rival.parent().unwrap()));
    });
    let described = || -> String {
        let asked = door.server.requests().pop().unwrap();
        let tools = asked.body["tools"].as_array().unwrap().clone();
        let mut ours = tools
            .iter()
            .filter(|tool| tool["function"]["name"] == "subagent");
        let text = ours.next().unwrap()["function"]["description"].clone();
        text.as_str().unwrap().to_owned()
    };
    let ask = |told: &str| {
        let mut parent = door.parent(&[]);
        parent.rpc.prompt("Hello.");
        parent.rpc.wait_for_settled(1);
        let events = parent.rpc.events();
        let notices = events.iter().filter(|event| event["method"] == "notify");
        let notices: Vec<&str> = notices
            .filter_map(|notice| notice["message"].as_str())
            .collect();
        assert_eq!(notices.join("\n"), told);
        parent.rpc.finish();
    };
    ask(&format!(
        "Another extension ({}) has a tool subagent too; that of pi-subagents takes its place. To leave it to the other, put \"leaveTools\": [\"subagent\"] under \"subagents\" in {}.",
        rival.display(),
        settings.display()
    ));
    assert_ne!(described(), "The tool of the rival.");

    door.change_settings(|settings| settings["subagents"]["leaveTools"] = json!(["subagent"]));
    ask("");
    assert_eq!(described(), "The tool of the rival.");
}
