"""Sub-agents for Python programs: starts the program ``pi-subagents`` and reads its JSON."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import tempfile
import types
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

__all__ = ["Agent", "Answer", "Call", "Client", "ClientError", "Event", "Run", "Task"]

T = TypeVar("T")
Json = Any

# The name of a folder decides the format of its files: a profile answers with its last text.
_FOLDER = "agent-profiles"


class ClientError(Exception):
    """The reason why a call has no answer.

    ``kind`` is ``program``, ``usage``, ``notFound``, ``noAnswer``, ``run``, ``result``,
    ``protocol`` or ``failed``. A newer version may have more.
    """

    def __init__(self, kind: str, message: str, hint: str | None = None, run: Run | None = None):
        super().__init__(message)
        self.kind = kind
        self.hint = hint
        self.run = run

    @classmethod
    def _of_json(cls, error: dict[str, Json]) -> ClientError:
        kind = error.get("kind")
        known = kind if kind in ("usage", "notFound", "noAnswer") else "failed"
        return cls(known, error.get("message") or "", error.get("hint"))


@dataclass
class Agent:
    """An agent that is defined in code. ``fields`` are further keys of an agent file."""

    name: str
    system_prompt: str
    model: str | None = None
    tools: Sequence[str] | None = None
    mcp_servers: dict[str, Json] | None = None
    fields: dict[str, Json] = field(default_factory=dict)

    def _file(self) -> str:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", self.name):
            raise ClientError("usage", f'the name of an agent has letters, digits, "-" and "_", not "{self.name}"')
        values = {
            "name": self.name,
            "model": self.model,
            "tools": None if self.tools is None else list(self.tools),
            "mcpServers": self.mcp_servers,
            **self.fields,
        }
        # JSON is YAML, so no value needs an escape of its own.
        lines = [f"{key}: {json.dumps(value)}" for key, value in values.items() if value is not None]
        return "\n".join(["---", *lines, "---", self.system_prompt, ""])


@dataclass
class Task(Generic[T]):
    """A task for one sub-agent. It returns text, unless ``returns`` says otherwise.

    ``returns`` is a dataclass, a model of pydantic, or a JSON schema. The sub-agent then answers
    with data that meet the schema.
    """

    prompt: str
    name: str = "task"
    agent: str | None = None
    model: str | None = None
    runner: str | None = None
    tools: Sequence[str] | None = None
    directory: str | os.PathLike[str] | None = None
    files: Sequence[str | os.PathLike[str]] | None = None
    timeout: float | None = None
    max_cost: float | None = None
    max_turns: int | None = None
    isolation: Literal["none", "worktree"] | None = None
    sandbox: Literal["off", "workspace-write", "read-only"] | None = None
    resume: str | None = None
    returns: type[T] | dict[str, Json] | None = None

    def _flags(self) -> list[str]:
        tools = None if self.tools is None else ",".join(self.tools)
        flags = {"--model": self.model, "--runner": self.runner, "--max-cost": self.max_cost, "--tools": tools}
        return [word for flag, value in flags.items() if value is not None for word in (flag, str(value))]

    def _fields(self) -> dict[str, Json]:
        fields = {
            "name": self.name,
            "prompt": self.prompt,
            "profile": self.agent,
            "cwd": None if self.directory is None else os.fspath(self.directory),
            "files": None if self.files is None else [os.fspath(file) for file in self.files],
            "timeout": self.timeout,
            "maxTurns": self.max_turns,
            "isolation": self.isolation,
            "sandbox": self.sandbox,
            "resume": self.resume,
            "outputSchema": None if self.returns is None else _schema(self.returns),
        }
        return {key: value for key, value in fields.items() if value is not None}


@dataclass
class Run:
    """A run, as the program reports it. ``json`` has every field."""

    run_id: str
    session_id: str
    name: str
    status: str
    output: str | None
    structured: Json
    error_message: str | None
    ending: dict[str, Json] | None
    json: dict[str, Json] = field(repr=False)

    @classmethod
    def _read(cls, run: dict[str, Json]) -> Run:
        return cls(
            run_id=run["runId"],
            session_id=run["sessionId"],
            name=run["name"],
            status=run["status"],
            output=run.get("output"),
            structured=run.get("structured"),
            error_message=run.get("errorMessage"),
            ending=run.get("ending"),
            json=run,
        )


@dataclass
class Event:
    """Something that happened in a run: a line of ``--json-stream``."""

    run_id: str
    session_id: str
    name: str
    at: str
    type: str
    record: dict[str, Json] = field(repr=False)


@dataclass
class Answer(Generic[T]):
    """The answer of a run."""

    value: T
    run: Run


class Call(Generic[T]):
    """A call under way: an iterator of its events. ``close`` ends its run."""

    def __init__(self, client: Client, process: _Process, returns: Any = None):
        self._client = client
        self._process = process
        self._returns = returns
        self._result: dict[str, Json] | None = None
        self.run_id: str | None = None

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        for line in self._process.lines():
            try:
                read = json.loads(line)
            except ValueError:
                raise ClientError("protocol", "the program printed a line that is no JSON") from None
            if read.get("type") != "event":
                # The last line: a result, or an error.
                self._result = read
                continue
            self.run_id = self.run_id or read["runId"]
            event = read["event"]
            return Event(read["runId"], read["sessionId"], read["name"], read["at"], event["type"], event)
        raise StopIteration

    def run(self) -> Run:
        """Waits for the end and returns the run, whatever became of it."""
        for _ in self:
            pass
        self._process.close()
        if self._result is None:
            raise ClientError("program", "the program printed no result")
        return _only(_checked(self._result))

    def answer(self) -> Answer[T]:
        """Waits for the end and returns what the task returns."""
        run = self.run()
        if run.status != "completed":
            raise ClientError("run", run.error_message or f"the run is {run.status}", run=run)
        if self._returns is None:
            return Answer(typing.cast(T, run.output or ""), run)
        try:
            return Answer(_value(self._returns, run.structured), run)
        except (KeyError, TypeError, ValueError) as error:
            raise ClientError("result", str(error), run=run) from error

    def steer(self, message: str) -> None:
        """Sends the sub-agent a message, which it reads before its next turn."""
        self._client.steer(self._begun(), message)

    def stop(self) -> Run:
        """Stops the run, and returns when all its processes are gone."""
        return self._client.stop(self._begun())

    def close(self) -> None:
        """Ends the program, and with it the run, at once."""
        self._process.end()

    def __enter__(self) -> Call[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begun(self) -> str:
        while self.run_id is None:
            if next(self, None) is None:
                raise ClientError("notFound", "no run has begun")
        return self.run_id


@dataclass
class Client:
    """Starts sub-agents with the settings, the keys and the agents of the user."""

    program: str | os.PathLike[str] | None = None
    directory: str | os.PathLike[str] | None = None
    variables: dict[str, str] = field(default_factory=dict)
    agents: Sequence[Agent] = ()
    trust_project: bool = False

    def start(self, task: Task[T]) -> Call[T]:
        """Starts a task and returns at once."""
        call = json.dumps({"tasks": [task._fields()]})
        return Call(self, self._stream(["delegate", "-", *task._flags()], call), task.returns)

    def run(self, task: Task[T]) -> Answer[T]:
        """Does a task to its end."""
        return self.start(task).answer()

    def resume(self, id: str, prompt: str) -> Call[str]:
        """Goes on with an earlier run or session."""
        return Call(self, self._stream(["resume", id, "-"], prompt))

    def spawn(self, task: Task[Any]) -> Run:
        """Starts a task in the background; its run goes on when this program ends."""
        names = {"prompt": "task", "profile": "preset", "resume": "sessionId"}
        fields = {names.get(key, key): value for key, value in task._fields().items() if key != "name"}
        return _only(self._ask(["spawn", "--file", "-", *task._flags()], json.dumps(fields)))

    def wait(self, id: str) -> Run:
        """Waits until a run is over."""
        return _only(self._ask(["wait", id]))

    def stop(self, id: str) -> Run:
        """Stops a run, and returns when all its processes are gone."""
        return _only(self._ask(["stop", id]))

    def output(self, id: str) -> Run:
        """Returns a run with its whole answer."""
        return _only(self._ask(["output", id]))

    def steer(self, id: str, message: str) -> None:
        """Sends the sub-agent of a run a message."""
        self._ask(["steer", id, "-"], message)

    def runs(self) -> list[Run]:
        """Lists the runs of the project, the finished ones too, newest first."""
        return [Run._read(run) for run in self._ask(["status", "--all"])["runs"]]

    def session(self, id: str) -> list[dict[str, Json]]:
        """Returns the conversation of a run or session."""
        runs = self._ask(["session", id])["runs"]
        return [message for run in runs for message in run.get("messages", [])]

    def _stream(self, words: list[str], text: str) -> _Process:
        trust = ["--trust"] if self.trust_project else []
        return _Process(self, [*words, "--json-stream", *trust], text)

    def _ask(self, words: list[str], text: str = "") -> dict[str, Json]:
        process = _Process(self, [*words, "--json"], text)
        printed = "".join(process.lines())
        process.close()
        try:
            return _checked(json.loads(printed))
        except ValueError:
            raise ClientError("program", "the program printed no JSON") from None


class _Process:
    """The program at work, with the files of its agents."""

    def __init__(self, client: Client, words: list[str], text: str):
        self._files: tempfile.TemporaryDirectory[str] | None = None
        variables = {**os.environ, **client.variables}
        if client.agents:
            texts = {agent.name: agent._file() for agent in client.agents}
            self._files = tempfile.TemporaryDirectory(prefix="pi-subagents-client-")
            folder = Path(self._files.name, _FOLDER)
            folder.mkdir()
            for name, content in texts.items():
                Path(folder, f"{name}.md").write_text(content, encoding="utf-8")
            variables["PI_SUBAGENTS_AGENT_DIRS"] = str(folder)
        program = client.program or os.environ.get("PI_SUBAGENTS_BIN") or "pi-subagents"
        try:
            self._process = subprocess.Popen(
                [os.fspath(program), *words],
                cwd=client.directory,
                env=variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
            )
        except OSError as error:
            raise ClientError("program", f"the program could not be started: {error}") from error
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text)
            self._process.stdin.close()
        except BrokenPipeError:
            # It ended before it had read all of its input, and says why in its result.
            pass

    def lines(self) -> Iterator[str]:
        assert self._process.stdout is not None
        return iter(self._process.stdout)

    def close(self) -> None:
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        if self._files is not None:
            self._files.cleanup()

    def end(self) -> None:
        self._process.terminate()
        self.close()


def _checked(result: dict[str, Json]) -> dict[str, Json]:
    if result.get("type") == "error":
        raise ClientError._of_json(result.get("error") or {})
    return result


def _only(result: dict[str, Json]) -> Run:
    if not result.get("runs"):
        raise ClientError("protocol", "the result has no run")
    return Run._read(result["runs"][-1])


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _schema(returned: Any) -> dict[str, Json]:
    """Returns the JSON schema of a type: a dataclass, a model of pydantic, or what they are made of."""
    if isinstance(returned, dict):
        return returned
    if hasattr(returned, "model_json_schema"):
        return returned.model_json_schema()
    if returned in _PLAIN:
        return {"type": _PLAIN[returned]}
    if returned is Any:
        return {}
    if dataclasses.is_dataclass(returned):
        hints = typing.get_type_hints(returned)
        fields = dataclasses.fields(returned)
        required = [
            one.name
            for one in fields
            if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
        ]
        properties = {one.name: _schema(hints[one.name]) for one in fields}
        return {"type": "object", "required": required, "properties": properties}
    origin, arguments = typing.get_origin(returned), typing.get_args(returned)
    if origin in (list, Sequence):
        return {"type": "array", "items": _schema(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [{"type": "null"} if one is type(None) else _schema(one) for one in arguments]}
    raise ClientError("usage", f"a task cannot return {returned!r}; give it a JSON schema")


def _value(returned: Any, value: Any) -> Any:
    """Gives a result the type that its task returns. It has met the schema already."""
    if isinstance(returned, dict) or returned in _PLAIN or returned is Any:
        return value
    if hasattr(returned, "model_validate"):
        return returned.model_validate(value)
    if dataclasses.is_dataclass(returned):
        hints = typing.get_type_hints(returned)
        known = {one.name for one in dataclasses.fields(returned)}
        return returned(**{key: _value(hints[key], item) for key, item in value.items() if key in known})
    origin, arguments = typing.get_origin(returned), typing.get_args(returned)
    if origin in (list, Sequence):
        return [_value(arguments[0], item) for item in value]
    if origin is dict:
        return {key: _value(arguments[1], item) for key, item in value.items()}
    if origin in (typing.Union, types.UnionType) and value is not None:
        others = [one for one in arguments if one is not type(None)]
        return _value(others[0], value) if len(others) == 1 else value
    return value
