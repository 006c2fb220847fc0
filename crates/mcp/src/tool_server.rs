//! The handler of the protocol's library: its requests become calls of [`Tools`].

use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_calls::Effect;
use pi_subagents_calls::detached_process::CallRecord;
use pi_subagents_vocabulary::Timestamp;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CancelTaskParams,
    CompleteRequestMethod, CompleteRequestParams, CompleteResult, ConstString, CreateTaskResult,
    CustomRequest, CustomResult, ErrorCode, ErrorData, GetPromptRequestMethod,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
    InputRequiredResult, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::calls::Calls;
use crate::client_questions::Asker;
use crate::elicitation::ClientPerson;
use crate::progress::Teller;
use crate::tasks;
use crate::tool_offer::{Offering, notified_client, notify_changed};
use crate::tools::{Call, Client, Introduction, LongCall, Tools};

/// The methods that are served. If the library cannot read a request of such a method, its params
/// are wrong.
const SERVED: [&str; 12] = [
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "subscriptions/listen",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

/// The header by which requests over HTTP name their session.
const SESSION_HEADER: &str = "mcp-session-id";

/// Serves tools to one client.
pub(crate) struct ToolServer {
    tools: Arc<dyn Tools>,
    /// The tools as they are listed, each with its effect: schemas are not made for every call.
    listed: Vec<(Tool, Effect)>,
    offering: Arc<Offering>,
    names: Arc<[String]>,
    introduction: Introduction,
    calls: Calls,
    /// The directories the client works in, once they are known. A call that asks for them holds up
    /// the others.
    roots: Mutex<Option<Vec<PathBuf>>>,
    /// Held while the client's person is asked, so that simultaneous calls wait for the one answer.
    question: Mutex<()>,
    /// Is cancelled when the client has stopped sending.
    input_ended: CancellationToken,
}

impl ToolServer {
    pub(crate) fn new(
        tools: Arc<dyn Tools>,
        introduction: Introduction,
        calls: Calls,
        input_ended: CancellationToken,
    ) -> Self {
        let listed = tools.list();
        let names: Arc<[String]> = listed
            .iter()
            .map(|(tool, _)| tool.name.to_string())
            .collect();
        let offering = Offering::new(0);
        offering.look(&names, &*tools, &Client::default());
        Self {
            listed,
            offering: Arc::new(offering),
            names,
            tools,
            introduction,
            calls,
            roots: Mutex::default(),
            question: Mutex::default(),
            input_ended,
        }
    }

    /// Returns the effect of a tool, or the error that the protocol has for a tool that is not
    /// listed.
    fn effect_of(&self, name: &str, client: &Client) -> Result<Effect, ErrorData> {
        let mut offered = self
            .listed
            .iter()
            .filter(|(tool, _)| self.tools.is_offered(&tool.name, client));
        let found = offered.find(|(tool, _)| tool.name == name);
        found.map(|(_, effect)| *effect).ok_or_else(|| {
            let reason = self.tools.why_not_listed();
            let message = reason.unwrap_or_else(|| format!("There is no tool {name}."));
            ErrorData::invalid_params(message, None)
        })
    }

    /// Asks the client for the facts that a call needs; fails if the client has to call again.
    async fn prepare(
        &self,
        tool: &str,
        mut asker: Asker<'_>,
    ) -> Result<Vec<PathBuf>, InputRequiredResult> {
        let mut known = self.roots.lock().await;
        let roots = match &*known {
            Some(roots) => roots.clone(),
            None => known.insert(asker.roots().await?).clone(),
        };
        drop(known);
        if asker.has_somebody() && self.tools.question(tool, &roots).await.is_some() {
            let _alone = self.question.lock().await;
            // Another call may have had the answer meanwhile.
            if let Some(question) = self.tools.question(tool, &roots).await {
                let option = asker.choice(&question).await?;
                self.tools.decided(&question, option.as_deref());
            }
        }
        Ok(roots)
    }

    /// Returns the directories the client works in, as far as they are known: only calls ask for
    /// them.
    async fn known_roots(&self) -> Vec<PathBuf> {
        self.roots.lock().await.clone().unwrap_or_default()
    }

    /// Answers a call when it is over.
    async fn answer(
        &self,
        asked: AskedCall,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let AskedCall {
            request,
            roots,
            person,
        } = asked;
        let client = client_of(&context);
        let (teller, on_progress) = context
            .meta
            .get_progress_token()
            .map(|token| Teller::new(context.peer.clone(), token))
            .unzip();
        let call = async {
            let _under_way = self.calls.begin();
            let call = Call {
                tool: request.name.into_owned(),
                arguments: request.arguments.unwrap_or_default(),
                roots,
                client: client.clone(),
                person,
                on_progress,
                cancelled: Box::pin(either(context.ct.clone(), self.input_ended.clone())),
            };
            self.tools.call(call).await
        };
        let told = async {
            if let Some(teller) = teller {
                // A cancelled call gets no more progress.
                tokio::select! {
                    () = either(context.ct.clone(), self.input_ended.clone()) => {}
                    () = teller.send_all() => {}
                }
            }
        };
        let (answer, ()) = tokio::join!(call, told);
        if self.offering.look(&self.names, &*self.tools, &client) {
            notify_changed(notified_client(&context)).await;
        }
        answer.into()
    }

    /// Lets a call go on while its client does something else, also when this server ends.
    fn go_on(&self, call: LongCall, record: CallRecord) -> CallToolResponse {
        let (offering, names) = (Arc::clone(&self.offering), Arc::clone(&self.names));
        let seed = CreateTaskResult::new(tasks::begun(&record));
        let tools = Arc::clone(&self.tools);
        let (under_way, ended) = (self.calls.begin(), self.input_ended.clone());
        tokio::spawn(async move {
            let client = call.client.clone();
            tokio::select! {
                () = tools.do_task(call, record) => {}
                () = ended.cancelled() => {}
            }
            // A client that knows tasks has subscribed to changes, if it wants to know.
            offering.look(&names, &*tools, &client);
            drop(tools);
            drop(under_way);
        });
        seed.into()
    }
}

/// A call whose client has said what the call needs.
struct AskedCall {
    request: CallToolRequestParams,
    roots: Vec<PathBuf>,
    person: Option<ClientPerson>,
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        let Introduction {
            name,
            title,
            version,
            instructions,
        } = &self.introduction;
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(name, version).with_title(title))
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let client = client_of(&context);
        self.tools.look(&client).await;
        self.offering.look(&self.names, &*self.tools, &client);
        let tools = self.listed.iter().map(|(tool, _)| tool);
        let offered = tools.filter(|tool| self.tools.is_offered(&tool.name, &client));
        Ok(ListToolsResult::with_all_items(offered.cloned().collect()))
    }

    /// Accepts subscriptions to the list of tools; nothing else of ours changes by itself.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.offering
            .notify_changes(subscription, self.input_ended.clone())
            .await;
        Ok(())
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = client_of(&context);
        let effect = self.effect_of(&request.name, &client)?;
        let asker = Asker::new(&mut request, &context);
        let (person, has_person) = (asker.person(), asker.has_somebody());
        let prepared = tokio::select! {
            prepared = self.prepare(&request.name, asker) => prepared,
            () = either(context.ct.clone(), self.input_ended.clone()) => {
                let message = "The call was cancelled before it began.";
                return Err(ErrorData::internal_error(message, None));
            }
        };
        let roots = match prepared {
            Ok(roots) => roots,
            Err(ask_first) => return Ok(ask_first.into()),
        };
        if effect == Effect::Runs && knows_tasks(&context) {
            let call = LongCall {
                tool: request.name.clone().into_owned(),
                arguments: request.arguments.clone().unwrap_or_default(),
                roots: roots.clone(),
                client,
                has_person,
            };
            if let Some(record) = self.tools.begin_task(&call).await {
                return Ok(self.go_on(call, record));
            }
        }
        let with_roots = AskedCall {
            request,
            roots,
            person,
        };
        Ok(self.answer(with_roots, context).await)
    }

    /// Refuses a request that the library does not know or cannot read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let message = match method.as_str() {
            CallToolRequestMethod::VALUE => {
                format!("{method} takes the name of a tool and its arguments as an object.")
            }
            known if SERVED.contains(&known) => {
                format!("The params of {method} do not fit.")
            }
            _ => return Err(no_method(&method)),
        };
        Err(ErrorData::invalid_params(message, None))
    }

    /// Refuses, because we have no prompts; the library would answer with an empty list.
    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(no_method(ListPromptsRequestMethod::VALUE))
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Err(no_method(GetPromptRequestMethod::VALUE))
    }

    /// Refuses, because we complete nothing; the library would answer with an empty completion.
    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(no_method(CompleteRequestMethod::VALUE))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let roots = self.known_roots().await;
        let client = client_of(&context);
        let resources = self.tools.resources(&client, &roots).await;
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self.tools.resource_templates();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let roots = self.known_roots().await;
        let text = self.tools.read_resource(&request.uri, &roots).await;
        let text = text.map_err(|message| ErrorData::resource_not_found(message, None))?;
        let contents = vec![ResourceContents::text(text, request.uri)];
        Ok(ReadResourceResult::new(contents).into())
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        *self.roots.lock().await = None;
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let record = self.tools.task(&request.task_id).await;
        let task = record.map_or_else(
            || tasks::unknown(&request.task_id),
            |record| tasks::described(&record, Timestamp::now()),
        );
        Ok(GetTaskResult::new(task))
    }

    /// Takes answers to the questions of a task. An answer to no open question is ignored.
    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let answers = request.input_responses.into_iter().collect();
        self.tools.answer_task(&request.task_id, answers).await;
        Ok(())
    }

    /// Ends a task early. A task that has ended, or of which nothing is known, stays as it is.
    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tools.cancel_task(&request.task_id).await;
        Ok(())
    }
}

/// Returns the client of a request. Over HTTP a session is known by the header of its requests.
fn client_of(context: &RequestContext<RoleServer>) -> Client {
    let parts = context.extensions.get::<axum::http::request::Parts>();
    let session = parts.and_then(|parts| parts.headers.get(SESSION_HEADER));
    Client {
        name: context.client_info().map(|client| client.name),
        session: session.and_then(|id| Some(id.to_str().ok()?.to_owned())),
    }
}

fn no_method(method: &str) -> ErrorData {
    let message = format!("There is no method {method}.");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// Returns whether a client understands a task as an answer. The extension belongs to the newest
/// version of the protocol: a client of an older one may declare it and still take the task for
/// an empty answer.
fn knows_tasks(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    let capabilities = context.client_capabilities();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
        && capabilities.is_some_and(|capabilities| capabilities.supports_tasks())
}

async fn either(one: CancellationToken, other: CancellationToken) {
    tokio::select! {
        () = one.cancelled() => {}
        () = other.cancelled() => {}
    }
}
