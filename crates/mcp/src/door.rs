//! The handler of the protocol's library: its requests become calls of [`Tools`].

use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_calls::Effect;
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

use crate::asking::Asker;
use crate::calls::Calls;
use crate::offering::{Offering, tell_changed, told_unasked};
use crate::progress::Teller;
use crate::tasks::{BegunTask, Tasks};
use crate::tools::{Call, Introduction, Tools};

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

/// Serves tools to one client.
pub(crate) struct Door {
    tools: Arc<dyn Tools>,
    /// The tools as they are listed, each with its effect: schemas are not made for every call.
    listed: Vec<(Tool, Effect)>,
    offering: Arc<Offering>,
    names: Arc<[String]>,
    introduction: Introduction,
    calls: Calls,
    tasks: Tasks,
    /// The directories the client works in, once they are known. A call that asks for them holds up
    /// the others.
    roots: Mutex<Option<Vec<PathBuf>>>,
    /// Held while the client's person is asked, so that simultaneous calls wait for the one answer.
    question: Mutex<()>,
    /// Is cancelled when the client has stopped sending.
    input_ended: CancellationToken,
}

impl Door {
    pub(crate) fn new(
        tools: Arc<dyn Tools>,
        introduction: Introduction,
        calls: Calls,
        tasks: Tasks,
        input_ended: CancellationToken,
    ) -> Self {
        let listed = tools.list();
        let names: Arc<[String]> = listed
            .iter()
            .map(|(tool, _)| tool.name.to_string())
            .collect();
        let offering = Offering::new(0);
        offering.look(&names, &*tools);
        Self {
            listed,
            offering: Arc::new(offering),
            names,
            tools,
            introduction,
            calls,
            tasks,
            roots: Mutex::default(),
            question: Mutex::default(),
            input_ended,
        }
    }

    /// Returns the effect of a tool, or the error that the protocol has for a tool that is not
    /// listed.
    fn effect_of(&self, name: &str) -> Result<Effect, ErrorData> {
        let mut offered = self
            .listed
            .iter()
            .filter(|(tool, _)| self.tools.is_offered(&tool.name));
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
        request: CallToolRequestParams,
        roots: Vec<PathBuf>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
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
                client: context.client_info().map(|client| client.name),
                is_task: false,
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
                    () = teller.tell() => {}
                }
            }
        };
        let (answer, ()) = tokio::join!(call, told);
        if self.offering.look(&self.names, &*self.tools) {
            tell_changed(told_unasked(&context)).await;
        }
        answer.into()
    }

    /// Lets a call go on while its client does something else.
    fn go_on(
        &self,
        request: CallToolRequestParams,
        roots: Vec<PathBuf>,
        begun: BegunTask,
    ) -> CallToolResponse {
        let (offering, names) = (Arc::clone(&self.offering), Arc::clone(&self.names));
        let seed = CreateTaskResult::new(begun.task.clone());
        let tools = Arc::clone(&self.tools);
        let under_way = self.calls.begin();
        let call = Call {
            tool: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            roots,
            client: None,
            is_task: true,
            on_progress: Some(begun.on_progress()),
            cancelled: Box::pin(either(begun.cancelled.clone(), self.input_ended.clone())),
        };
        // Its `under_way` keeps the server here until it has ended.
        tokio::spawn(async move {
            let answer = tools.call(call).await;
            // A client that knows tasks has subscribed to changes, if it wants to know.
            offering.look(&names, &*tools);
            drop(tools);
            begun.end(&answer);
            drop(under_way);
        });
        seed.into()
    }
}

impl ServerHandler for Door {
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
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.listed.iter().map(|(tool, _)| tool);
        let offered = tools.filter(|tool| self.tools.is_offered(&tool.name));
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
            .tell(subscription, self.input_ended.clone())
            .await;
        Ok(())
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let effect = self.effect_of(&request.name)?;
        let asker = Asker::new(&mut request, &context);
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
        // If there are too many tasks already, the call is answered when it is over, which every
        // client understands.
        if effect == Effect::Runs
            && knows_tasks(&context)
            && let Some(begun) = self.tasks.begin()
        {
            return Ok(self.go_on(request, roots, begun));
        }
        Ok(self.answer(request, roots, context).await)
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
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let roots = self.known_roots().await;
        let resources = self.tools.resources(&roots).await;
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
        self.tasks.get(&request.task_id).map(GetTaskResult::new)
    }

    /// Ignores an answer for a task: no task asks anything, so there is nothing that it could be
    /// for.
    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.get(&request.task_id).map(drop)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel(&request.task_id)
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
