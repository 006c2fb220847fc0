//! # The vocabulary
//!
//! Plain data and pure rules that every other crate uses: no I/O, no async, no clock.
//!
//! In reading order: a caller's [`Task`] is resolved to a [`Plan`]; the engine turns the plan into
//! [`RunEvent`]s; all other parts consume the events through an [`EventSink`]. A child uses
//! [`child_protocol`]; the end of a run is an [`Ending`]; its summary, its messages and its receipt
//! are folds over its events ([`RunSummary`], [`RunHistory`], [`Receipt`]). Programs get a run as a
//! [`RunReport`].

mod advice;
mod allowance;
mod budget;
pub mod child_protocol;
mod counts;
mod definition;
mod dialect;
mod edits;
mod ending;
mod event;
mod failed_call;
mod fallback;
mod field;
mod field_kind;
mod field_value;
mod finalize_report;
mod gate;
mod graph;
mod history;
mod ids;
mod isolation;
mod mcp_server;
mod message;
pub mod moment;
mod nearest_word;
mod other_agent;
mod pacer;
mod partial_message;
mod place;
mod plan;
mod policy;
mod provider_window;
mod question;
pub mod receipt;
mod report;
pub mod review;
mod room;
mod rung;
mod runner;
mod runner_choice;
mod sandbox;
mod seconds;
mod secret;
mod setup;
pub mod shell_commands;
mod sink;
mod summary;
mod system_prompt;
mod terms;
pub mod text;
mod translation;
mod usage;
mod work;

pub use advice::{Advice, Door, FleetStep};
pub use allowance::{Allowance, Dollars, Excess};
pub use budget::{
    Account, AccountState, BudgetDenial, BudgetLimits, BudgetReply, BudgetScope, BudgetStanding,
    GrantError, Ledger, LedgerEntry, LedgerOwner, LedgerProblem, Measure, MoreBudget, Offer,
    OpenedFrom, ScopeKind, Treasurer, UsedLimit,
};
pub use counts::Counts;
pub use definition::{Definition, Scope};
pub use dialect::{
    BodyUse, Dialect, DialectFiles, DialectRow, FolderDepth, FolderName, ForeignFiles, NameSource,
    OurFiles, ProjectFolder,
};
pub use edits::{SeenChange, SeenEdit, SeenEdits};
pub use ending::{Decision, DecisionKind, Ending, Interruption, Status};
pub use event::{Happening, RunEvent, Started};
pub use failed_call::CallFailure;
pub use fallback::{
    Cooldown, Cooldowns, FailureClass, FallbackModel, Fallbacks, FellBack, MOST_COOLDOWNS,
    MOST_FALLBACKS, ModelFailure, is_overflow, rest_words,
};
pub use field::{Field, FieldRow, FlagHelp};
pub use field_kind::{FieldChoice, FieldKind, FieldList, FieldSlot, UnknownWord};
pub use field_value::{FieldValue, Origin};
pub use finalize_report::{
    CheckedReport, FINALIZE_TOOL, Finalized, MOST_MISFITS, REPORT_FITS, REPORT_QUESTION, Rejected,
};
pub use gate::{Gate, GateStep, Gated};
pub use graph::{
    AfterFailure, AskedTask, AttemptChanges, BadPlaceholder, CheckedTask, CompletedAttempt,
    FedPrompt, ForEach, GraphFault, GraphNode, GraphProgress, GraphStep, JudgesWords,
    MOST_ATTEMPTS, MOST_ITEMS, NeedResult, PickNode, PickRule, PickedAttempt, Placeholder,
    ResultValue, TaskGraph, TaskResults, Template, TemplateNames, WeighedAttempts, check_graph,
    item_name, judge_prompt, judge_schema, judges_words, smallest,
};
pub use history::{Gap, HeldMessages, MAX_MESSAGES_PER_RUN, RunHistory};
pub use ids::{BadId, RunId, SessionId};
pub use isolation::{BadBase, BaseChoice, Isolation};
pub use mcp_server::{
    McpServer, McpServers, SERVER_PREFIX, ServerFault, ServerReach, ServerTool, read_servers,
    variables_in,
};
pub use message::{AssistantMessage, Message, Part, StopReason, ToolCall, ToolChange, ToolResult};
pub use nearest_word::{most_similar, nearest};
pub use other_agent::OtherAgent;
pub use pacer::Pacer;
pub use partial_message::{Activity, PartialMessage};
pub use place::{Place, Priority, WorkspaceChoice, fits_fleet_name};
pub use plan::{
    CallOfRun, CallPlace, MapOpener, Plan, PlannedGraph, PlannedTask, Program, Refusal,
    SharedCheckout, Task, TaskPlan, UsedDefinition,
};
pub use policy::{Completion, ModelChoice, READ_TOOLS, SessionPolicy, ThinkingLevel, ToolPolicy};
pub use provider_window::{Percent, ProviderWindow, WINDOW_HEADERS, WINDOWS_TITLE, WindowLength};
pub use question::{
    ASK_TOOL, AnswerForm, AnswerOutcome, AnsweredQuestion, Answerer, Answerers, AskedQuestion,
    MOST_ASKED, MOST_QUESTIONS, NOBODY_ANSWERED, PermissionChoice, Question, QuestionChoice,
    QuestionId, QuestionKind, QuestionLog, QuestionTerms, QuestionWords, Reply, ReplyProblem,
    Respondent, TakenReply,
};
pub use receipt::{Receipt, Witness};
pub use report::{RunReport, SCHEMA_VERSION};
pub use room::{ClaimedChild, MachineLoad, RoomShortage};
pub use rung::{Rung, RungStep};
pub use runner::Runner;
pub use runner_choice::RunnerChoice;
pub use sandbox::{
    BadHost, BadReach, Confinement, DecidedSandbox, HIDDEN_IN_AGENT_DIR, HIDDEN_IN_HOME,
    NetworkHost, NetworkNeedsSandbox, NetworkReach, REFUSAL_WORDS, Sandbox, SandboxLevel,
    SandboxWish, WishSource, decide_sandbox, hidden_paths, is_for_us_alone, refusal_hint,
};
pub use secret::Secret;
pub use sink::EventSink;
pub use summary::{LAST_TEXT_LIMIT, RunSummary};
pub use system_prompt::{PromptFiles, PromptTexts, SystemPrompt};
pub use terms::{Limits, RunTerms};
pub use translation::{NoteKind, Translation, TranslationNote};
pub use usage::{Cost, Usage};
pub use work::{Here, RunBudgets, Work};

/// The schemas that reports must meet.
pub use pi_subagents_schemas::{LARGEST_SCHEMA, Misfit, OutputSchema, SchemaError};

/// A moment of the wall clock, as it is written to disk.
pub use jiff::{Timestamp, tz::TimeZone};
pub use setup::Setup;
