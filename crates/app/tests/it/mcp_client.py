"""The official MCP client on strings.

Starts the server given by its arguments, does what the JSON lines on stdin say, and prints what
it sees as JSON lines. When stdin ends it leaves as every client does.
"""

import json
import os
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters


def tell(**fields):
    print(json.dumps(fields), flush=True)


async def list_tools(client, id):
    listed = await client.list_tools()
    tell(
        id=id,
        protocol=client.protocol_version,
        server=client.server_info.model_dump(exclude_none=True),
        instructions=client.instructions,
        tools=[tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools],
    )


async def call_tool(client, id, tool, arguments, scope, progress=False):
    async def heard(progress, total, message):
        tell(progress=progress, total=total, message=message, of=id)

    with scope:
        try:
            result = await client.call_tool(tool, arguments, progress_callback=heard if progress else None)
            tell(
                id=id,
                text=[block.text for block in result.content],
                details=result.structured_content,
                isError=result.is_error,
            )
        except MCPError as error:
            tell(id=id, code=error.error.code, message=error.error.message)
    if scope.cancelled_caught:
        tell(id=id, cancelled=True)


async def main(mode, command, *args):
    server = StdioServerParameters(command=command, args=list(args), env=dict(os.environ))
    async with Client(server, mode=mode) as client, anyio.create_task_group() as calls:
        scopes = {}
        async for line in anyio.wrap_file(sys.stdin):
            wish = json.loads(line)
            match wish.pop("do"):
                case "list":
                    await list_tools(client, **wish)
                case "call":
                    scopes[wish["id"]] = scope = anyio.CancelScope()
                    calls.start_soon(lambda wish=wish, scope=scope: call_tool(client, scope=scope, **wish))
                case "cancel":
                    scopes[wish["id"]].cancel()
        calls.cancel_scope.cancel()


anyio.run(main, *sys.argv[1:])
