"""The official MCP client on strings.

Starts the server given by its arguments, does what the JSON lines on stdin say, and prints what
it sees as JSON lines. When stdin ends it leaves as every client does. The first argument says what
kind of client it is: `mode`, and as far as it knows them `tasks`, `roots` and the `answer` its
person gives to every question.
"""

import json
import os
import sys
from contextvars import ContextVar
from typing import Any, Literal

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client import ClientExtension, ResultClaim
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ElicitResult, ListRootsResult, Request, Result, Root

CALL = ContextVar("call")


def tell(**fields):
    print(json.dumps(fields), flush=True)


class Task(Result):
    result_type: Literal["task"] = "task"
    task_id: str
    status: str


class TaskState(Result):
    result_type: str = "complete"
    status: str
    status_message: str | None = None
    ttl_ms: int | None
    poll_interval_ms: int | None = None
    result: dict[str, Any] | None = None


class GetTask(Request[dict[str, Any], Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    name_param = "taskId"


class CancelTask(Request[dict[str, Any], Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    name_param = "taskId"


async def follow_task(task, context):
    """Polls as the extension wants it, and tells the server when nobody waits any more."""
    params = {"taskId": task.task_id}
    tell(of=CALL.get(), task=task.task_id, status=task.status)
    try:
        while True:
            state = await context.session.send_request(GetTask(params=params), TaskState)
            if state.status != "working":
                break
            tell(of=CALL.get(), status=state.status, message=state.status_message)
            await anyio.sleep(state.poll_interval_ms / 1000)
        return CallToolResult.model_validate(state.result)
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await context.session.send_request(CancelTask(params=params), Result)
            while state.status == "working":
                state = await context.session.send_request(GetTask(params=params), TaskState)
            tell(of=CALL.get(), status=state.status, message=state.status_message)
        raise


class Tasks(ClientExtension):
    identifier = "io.modelcontextprotocol/tasks"

    def claims(self):
        return [ResultClaim(result_type="task", model=Task, resolve=follow_task)]


async def list_tools(client, id):
    listed = await client.list_tools()
    tell(
        id=id,
        protocol=client.protocol_version,
        server=client.server_info.model_dump(exclude_none=True),
        instructions=client.instructions,
        tools=[tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools],
    )


async def list_resources(client, id):
    listed = await client.list_resources()
    templates = await client.list_resource_templates()
    uris = [str(resource.uri) for resource in listed.resources]
    read = [(await client.read_resource(uri)).contents[0].text for uri in uris]
    tell(
        id=id,
        uris=uris,
        names=[resource.name for resource in listed.resources],
        templates=[template.uri_template for template in templates.resource_templates],
        read=read,
    )


async def call_tool(client, id, tool, arguments, scope, progress=False):
    async def heard(progress, total, message):
        tell(progress=progress, total=total, message=message, of=id)

    CALL.set(id)
    with scope:
        try:
            result = await client.call_tool(tool, arguments, progress_callback=heard if progress else None)
            tell(
                id=id,
                text=[block.text for block in result.content],
                details=(result.meta or {}).get("pi-subagents/details"),
                isError=result.is_error,
            )
        except MCPError as error:
            tell(id=id, code=error.error.code, message=error.error.message)
    if scope.cancelled_caught:
        tell(id=id, cancelled=True)


async def notified(message):
    method = getattr(message, "method", None)
    if method == "notifications/tools/list_changed":
        tell(notified=method)


async def listen(client, task_status=anyio.TASK_STATUS_IGNORED):
    """Subscribes to changes of the list of tools, as the newest version of the protocol has it."""
    async with client.listen(tools_list_changed=True) as events:
        task_status.started()
        async for event in events:
            tell(notified=type(event).__name__)


def client_of(server, mode, tasks=False, roots=None, answer=None, listens=False):
    async def list_roots(context):
        tell(asked="roots")
        return ListRootsResult(roots=[Root(uri=root) for root in roots])

    async def elicit(context, params):
        tell(asked=params.message, schema=params.requested_schema)
        return ElicitResult(action="accept", content={"answer": answer}) if answer else ElicitResult(action="decline")

    return Client(
        server,
        mode=mode,
        message_handler=notified,
        extensions=[Tasks()] if tasks else None,
        list_roots_callback=list_roots if roots is not None else None,
        elicitation_callback=elicit if answer is not None else None,
    )


def server_at(command, *args):
    """The server behind a URL, which wants a token, or one that is started here."""
    if command.startswith("http://"):
        headers = {"Authorization": f"Bearer {os.environ['MCP_TOKEN']}"}
        return streamable_http_client(command, http_client=httpx2.AsyncClient(headers=headers, timeout=None))
    return StdioServerParameters(command=command, args=list(args), env=dict(os.environ))


async def main(kind, command, *args):
    server = server_at(command, *args)
    async with client_of(server, **json.loads(kind)) as client, anyio.create_task_group() as calls:
        scopes = {}
        if json.loads(kind).get("listens"):
            await calls.start(listen, client)
        async for line in anyio.wrap_file(sys.stdin):
            wish = json.loads(line)
            match wish.pop("do"):
                case "list":
                    await list_tools(client, **wish)
                case "call":
                    scopes[wish["id"]] = scope = anyio.CancelScope()
                    calls.start_soon(lambda wish=wish, scope=scope: call_tool(client, scope=scope, **wish))
                case "resources":
                    await list_resources(client, **wish)
                case "cancel":
                    scopes[wish["id"]].cancel()
        calls.cancel_scope.cancel()


anyio.run(main, *sys.argv[1:])
