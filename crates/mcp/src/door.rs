//! The handler of the protocol's library: its requests become calls of [`Tools`].

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;

use crate::calls::Calls;
use crate::progress::Teller;
use crate::tools::{CallAnswer, CallWatch, Introduction, ToolDescription, Tools};

/// Serves tools to one client.
pub(crate) struct Door {
    pub(crate) tools: Arc<dyn Tools>,
    pub(crate) introduction: Introduction,
    pub(crate) calls: Calls,
    /// Is cancelled when the client has stopped sending.
    pub(crate) input_ended: CancellationToken,
}

impl ServerHandler for Door {
    fn get_info(&self) -> ServerConfig {
        let Introduction {
            name,
            version,
            instructions,
        } = &self.introduction;
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(name, version))
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.list().into_iter().map(listed).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.check_name(&request.name)?;
        let (teller, on_progress) = context
            .meta
            .get_progress_token()
            .map(|token| Teller::new(context.peer.clone(), token))
            .unzip();
        let call = async {
            let _under_way = self.calls.begin();
            let watch = CallWatch {
                on_progress,
                cancelled: Box::pin(either(context.ct.clone(), self.input_ended.clone())),
            };
            let arguments = request.arguments.unwrap_or_default();
            self.tools.call(&request.name, arguments, watch).await
        };
        let told = async {
            if let Some(teller) = teller {
                // Nothing is told of a call that was cancelled.
                tokio::select! {
                    () = either(context.ct.clone(), self.input_ended.clone()) => {}
                    () = teller.tell() => {}
                }
            }
        };
        let (answer, ()) = tokio::join!(call, told);
        Ok(answered(answer).into())
    }
}

impl Door {
    /// The protocol has an error of its own for a tool that is not listed.
    fn check_name(&self, name: &str) -> Result<(), ErrorData> {
        if self.tools.list().iter().any(|tool| tool.name == name) {
            return Ok(());
        }
        let message = format!("There is no tool {name}.");
        Err(ErrorData::invalid_params(message, None))
    }
}

fn listed(tool: ToolDescription) -> Tool {
    Tool::new(tool.name, tool.description, Arc::new(tool.input_schema)).with_title(tool.title)
}

fn answered(answer: CallAnswer) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text)];
    let mut result = if answer.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = answer.details.map(Into::into);
    result
}

async fn either(one: CancellationToken, other: CancellationToken) {
    tokio::select! {
        () = one.cancelled() => {}
        () = other.cancelled() => {}
    }
}
