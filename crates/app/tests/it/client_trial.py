"""Does with the Python client what the tests of all clients do, and prints what it has seen."""

import json
from dataclasses import dataclass

from pi_subagents_client import Agent, Client, ClientError, Task


@dataclass
class Count:
    files: int


def kind(act):
    try:
        act()
    except ClientError as error:
        return error.kind
    return "none"


client = Client(agents=[Agent("counter", "You count things.", tools=["read", "ls"])])
typed = client.run(Task("How many files are here?", agent="counter", returns=Count))

call = client.start(Task("Say hello"))
said = []
for event in call:
    message = event.record.get("message", {})
    if event.type == "message_end" and message.get("role") == "assistant":
        said += [block["text"] for block in message["content"] if block["type"] == "text"]
hello = call.answer()
resumed = client.resume(hello.run.session_id, "Say more").answer()
roles = [message["role"] for message in client.session(resumed.run.run_id)]

slow = client.start(Task("Take your time"))
for event in slow:
    if event.type == "run_started":
        break
slow.steer("Hurry.")
slow.stop()
stopped = slow.run()

spawned = client.wait(client.spawn(Task("Say hello")).run_id)
runs = len(client.runs())
errors = [
    kind(lambda: client.output("nothing-like-this")),
    kind(lambda: client.run(Task("x", agent="nobody"))),
    kind(lambda: Client(program="/no/such/program").runs()),
]
print(
    json.dumps(
        {
            "typed": typed.value.files,
            "said": said,
            "resumed": resumed.value,
            "roles": roles,
            "stopped": stopped.status,
            "spawned": spawned.status,
            "runs": runs,
            "errors": errors,
        }
    )
)
