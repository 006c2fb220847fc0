//! An HTTP server that plays a scripted LLM.
//!
//! It speaks OpenAI chat completions (`…/chat/completions`), OpenAI responses (`…/responses`),
//! Anthropic messages (`…/messages`) and Google (`…/models/{model}:streamGenerateContent`), told
//! apart by the end of the path, so any prefix will do.
//!
//! ```no_run
//! use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
//!
//! let server = LlmServer::start(
//!     Script::new()
//!         .on("list the files", [
//!             Turn::tool_call("bash", serde_json::json!({"command": "ls"})),
//!             Turn::text("There are none.").gate("answer"),
//!         ])
//!         .otherwise([Turn::text("I do not understand.")]),
//! );
//! println!("{}", server.base_url());
//! server.release("answer");
//! ```

mod answer;
mod script;
mod server;
mod state;
mod tls;
mod turn;
mod wire;

pub use script::{Rule, Script};
pub use server::LlmServer;
pub use state::Request;
pub use tls::TlsFront;
pub use turn::{Fault, StopReason, ToolCall, Turn, Usage};
