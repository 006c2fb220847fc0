//! The agent: a conversation, a model and tools.
//!
//! All of it lives on one thread. A run borrows the agent while commands look at it and change it,
//! so the changing parts are in cells, and no cell is borrowed across an await.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use pi_subagents_vocabulary::shell_commands::CommandForms;
use pi_subagents_vocabulary::{OutputSchema, ThinkingLevel};

use crate::abort::{AbortSwitch, Aborted};
use crate::conversation::Conversation;
use crate::dialogs::Dialogs;
use crate::event::Event;
use crate::message::{Message, ToolDeclaration};
use crate::models::Model;
use crate::output::Output;
use crate::providers::Provider;
use crate::queue::Queue;
use crate::sections::Sections;
use crate::servers::Servers;
use crate::settings::{CompactionSettings, RetrySettings};
use crate::tool_stop::ToolStop;
use crate::tools::{Guarded, ModelInUse, Tool, ToolSurroundings};

/// The parts of an agent that do not change while it lives.
pub(crate) struct Setup {
    pub(crate) cwd: PathBuf,
    pub(crate) home: PathBuf,
    /// The directories that are not written to.
    pub(crate) guarded: Guarded,
    /// The forms of the only commands that the shell runs.
    pub(crate) commands: Option<CommandForms>,
    /// The environment of shell commands.
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) tools: Vec<&'static Tool>,
    /// The MCP servers, whose tools come beside those.
    pub(crate) servers: Servers,
    /// The schema that the reported result must meet.
    pub(crate) output_schema: Option<OutputSchema>,
    /// The dialogs by which the client is asked, if it may be.
    pub(crate) dialogs: Option<Dialogs>,
    /// The directory of the run, if an owner has started the agent.
    pub(crate) run_directory: Option<PathBuf>,
    pub(crate) sections: Sections,
    pub(crate) retry: RetrySettings,
    pub(crate) compaction: CompactionSettings,
}

impl Setup {
    /// Returns the tools as the model sees them.
    pub(crate) fn declared_tools(&self) -> Vec<ToolDeclaration> {
        let schema = self.output_schema.as_ref();
        let declare = |tool: &&Tool| tool.declaration(schema);
        let own = self.tools.iter().map(declare);
        own.chain(self.servers.declarations()).collect()
    }
}

/// A model and the provider that reaches it.
#[derive(Clone)]
pub(crate) struct ChosenModel {
    pub(crate) model: Model,
    /// Set as soon as the key and the address of the model were found.
    pub(crate) provider: Option<Rc<dyn Provider>>,
}

/// One agent.
pub(crate) struct Agent {
    pub(crate) output: Output,
    pub(crate) setup: Setup,
    pub(crate) conversation: RefCell<Conversation>,
    pub(crate) queue: RefCell<Queue>,
    pub(crate) chosen: RefCell<Option<ChosenModel>>,
    pub(crate) thinking: Cell<ThinkingLevel>,
    pub(crate) is_compacting: Cell<bool>,
    /// The last answer of the model, even if it was taken back since.
    pub(crate) last_answer: RefCell<Option<Rc<Message>>>,
    /// The moment from which tools are refused.
    pub(crate) tool_stop: ToolStop,
    /// Stops the run under way.
    abort: RefCell<Option<AbortSwitch>>,
}

impl Agent {
    pub(crate) fn new(output: Output, setup: Setup, conversation: Conversation) -> Self {
        Self {
            output,
            is_compacting: Cell::default(),
            last_answer: RefCell::default(),
            setup,
            conversation: RefCell::new(conversation),
            queue: RefCell::default(),
            chosen: RefCell::default(),
            thinking: Cell::default(),
            tool_stop: ToolStop::default(),
            abort: RefCell::default(),
        }
    }

    pub(crate) fn model(&self) -> Option<Model> {
        self.chosen
            .borrow()
            .as_ref()
            .map(|chosen| chosen.model.clone())
    }

    pub(crate) fn is_running(&self) -> bool {
        self.abort.borrow().is_some()
    }

    /// Stops the work under way, in whatever phase it is.
    pub(crate) fn abort(&self) {
        if let Some(switch) = &*self.abort.borrow() {
            switch.raise();
        }
    }

    pub(crate) fn begin_run(&self) -> Aborted {
        let switch = AbortSwitch::new();
        let aborted = switch.watch();
        self.abort.replace(Some(switch));
        aborted
    }

    pub(crate) fn end_run(&self) {
        self.abort.replace(None);
    }

    /// Queues a message for the next pause between turns.
    pub(crate) async fn steer(&self, message: String) {
        self.queue.borrow_mut().steering.push(message);
        self.announce_queue().await;
    }

    /// Queues a message for the moment the agent would stop.
    pub(crate) async fn follow_up(&self, message: String) {
        self.queue.borrow_mut().follow_up.push(message);
        self.announce_queue().await;
    }

    pub(crate) async fn announce_queue(&self) {
        let (steering, follow_up) = {
            let queue = self.queue.borrow();
            (queue.steering.clone(), queue.follow_up.clone())
        };
        self.output
            .emit(&Event::QueueUpdate {
                steering: &steering,
                follow_up: &follow_up,
            })
            .await;
    }

    /// Changes the model that answers from the next turn on.
    pub(crate) fn set_model(&self, chosen: ChosenModel) {
        let Model { provider, id, .. } = &chosen.model;
        self.conversation.borrow_mut().note_model(provider, id);
        self.chosen.replace(Some(chosen));
    }

    pub(crate) fn set_thinking(&self, level: ThinkingLevel) {
        self.conversation.borrow_mut().note_thinking(level.as_str());
        self.thinking.set(level);
    }

    /// Returns the surroundings for the tools of the next turn.
    pub(crate) fn tool_surroundings(&self) -> ToolSurroundings {
        let conversation = self.conversation.borrow();
        let model = self.model();
        ToolSurroundings {
            cwd: self.setup.cwd.clone(),
            home: self.setup.home.clone(),
            guarded: self.setup.guarded.clone(),
            commands: self.setup.commands.clone(),
            output_schema: self.setup.output_schema.clone(),
            dialogs: self.setup.dialogs.clone(),
            run_directory: self.setup.run_directory.clone(),
            variables: self.setup.variables.clone(),
            session_id: conversation.session_id().to_owned(),
            session_file: conversation.session_file().map(PathBuf::from),
            model: ModelInUse {
                sees_images: model.as_ref().is_some_and(Model::sees_images),
                provider: model
                    .as_ref()
                    .map(|model| model.provider.clone())
                    .unwrap_or_default(),
                id: model.map(|model| model.id).unwrap_or_default(),
                thinking: self.thinking.get().as_str().to_owned(),
            },
        }
    }
}
