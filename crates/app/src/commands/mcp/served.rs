//! Our tools as the protocol wants them.

use std::collections::HashSet;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_mcp::{Call, CallAnswer, Question, ToolDescription, ToolEffect, Tools};
use serde_json::{Map, Value};

use super::progress::watching;
use crate::caller::Caller;
use crate::dialects::{Effect, Tool, background, delegation, tools};
use crate::error::CommandError;
use crate::toolbox::Toolbox;
use crate::trust_question::{TrustQuestion, remember};

/// The details that only pi can draw.
const DRAWN: [&str; 4] = ["windows", "maxLinesPerWindow", "header", "footer"];

/// The tools of this process, for one client.
pub(super) struct ServedTools {
    toolbox: Arc<Toolbox>,
    caller: Caller,
    /// The projects about which somebody was asked.
    asked: Mutex<HashSet<PathBuf>>,
    /// Answers that could not be kept, and that nobody was told of yet.
    unkept: Mutex<Vec<String>>,
}

impl ServedTools {
    pub(super) fn new(toolbox: Arc<Toolbox>, caller: Caller) -> Self {
        Self {
            toolbox,
            caller,
            asked: Mutex::default(),
            unkept: Mutex::default(),
        }
    }

    /// The caller, in the directory their client works in. Many clients start us in one that
    /// means nothing; where we are inside what they work in, we know better than they say.
    fn caller_in(&self, roots: &[PathBuf]) -> Caller {
        let places = &self.caller.places;
        let is_inside = roots.iter().any(|root| places.cwd.starts_with(root));
        match roots.iter().find(|root| root.is_dir()) {
            Some(root) if !is_inside => Caller {
                places: places.seen_from(root.clone()),
                ..self.caller.clone()
            },
            Some(_) | None => self.caller.clone(),
        }
    }

    /// The question about the project that has not been put yet.
    async fn trust_question(&self, roots: &[PathBuf]) -> Option<Question> {
        let caller = self.caller_in(roots);
        let project = caller.places.project.clone();
        if self.asked().contains(&project) {
            return None;
        }
        let look = move |toolbox: &Toolbox, caller: &Caller| {
            let configuration = toolbox.configuration(caller);
            let question = TrustQuestion::about(&project, &configuration);
            Ok(question.filter(|question| question.may_be_asked(&caller.places)))
        };
        let question = self.toolbox.beside(&caller, look).await.ok()??;
        Some(Question {
            message: question.message(),
            options: TrustQuestion::options(),
            about: question.project,
        })
    }

    /// An answer that says what became of the person's decision, where nothing did.
    fn with_unkept(&self, mut text: String) -> String {
        for problem in self.unkept().drain(..) {
            text = format!("{text}\n\n! {problem}");
        }
        text
    }

    fn unkept(&self) -> MutexGuard<'_, Vec<String>> {
        self.unkept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tools for ServedTools {
    fn list(&self) -> Vec<ToolDescription> {
        tools().into_iter().map(description).collect()
    }

    fn question<'a>(
        &'a self,
        tool: &'a str,
        roots: &'a [PathBuf],
    ) -> Pin<Box<dyn Future<Output = Option<Question>> + Send + 'a>> {
        let uses_no_definitions =
            [delegation::OUTPUT, delegation::SESSION, background::STATUS].contains(&tool);
        Box::pin(async move {
            if uses_no_definitions {
                return None;
            }
            self.trust_question(roots).await
        })
    }

    fn decided(&self, question: &Question, option: Option<&str>) {
        self.asked().insert(question.about.clone());
        // What cannot be kept is not decided, and the next server asks again.
        if let Err(error) = remember(&question.about, option, &self.caller.places) {
            let error =
                CommandError::failed("what the project carries stays ignored").because(&error);
            self.unkept().push(error.to_answer());
        }
    }

    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = CallAnswer> + Send + '_>> {
        Box::pin(async move {
            let watch = watching(call.on_progress, call.cancelled);
            let arguments = Value::Object(call.arguments);
            let caller = self.caller_in(&call.roots);
            let answered = self.toolbox.call(&call.tool, &arguments, &caller, watch);
            match answered.await {
                Ok(answer) => CallAnswer {
                    text: self.with_unkept(answer.text),
                    details: object(answer.details).map(undrawn),
                    is_error: false,
                },
                Err(error) => CallAnswer {
                    text: self.with_unkept(error.to_answer()),
                    details: None,
                    is_error: true,
                },
            }
        })
    }
}

fn description(tool: Tool) -> ToolDescription {
    ToolDescription {
        name: tool.name.to_owned(),
        title: tool.label.to_owned(),
        description: tool.description.to_owned(),
        input_schema: object(tool.parameters).unwrap_or_default(),
        effect: match tool.effect {
            Effect::Reads => ToolEffect::Reads,
            Effect::Starts => ToolEffect::Changes,
            Effect::Runs => ToolEffect::ChangesForLong,
        },
    }
}

/// What pi draws its windows with is of no use to others, and most of what there is.
fn undrawn(mut details: Map<String, Value>) -> Map<String, Value> {
    details.retain(|field, _| !DRAWN.contains(&field.as_str()));
    details
}

fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}
