"""A client without a model, which does jobs over MCP by one loop.

It picks a tool by the verb and the resource of a goal, and fills its fields from the goal's facts.
After a refusal it takes the next step from the reply alone. It has no knowledge of the jobs, and
learns the tools, fields and rows of the server only from replies.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from django.test import Client

from toolbooth.server.wire_result import WireResult, read_result

Json = dict[str, Any]

MOST_TRIES = 3
SYNONYMS = ({"name", "title"}, {"text", "body"})
"""Synonyms that every language model knows."""


@dataclass(frozen=True, slots=True)
class Known:
    """A value from a row that an earlier reply named: the row of this resource which contains this
    text.
    """

    resource: str
    text: str
    name: str = "id"


@dataclass(frozen=True, slots=True)
class Encoded:
    """A value that is sent as JSON text."""

    value: Any
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One step of a job, in the words of the user."""

    verb: str
    resource: str
    facts: Json = field(default_factory=dict)
    rows: tuple[Json, ...] = ()
    """The facts of several rows, for one call."""
    columns: tuple[str, ...] = ()
    """The only values that are requested, if not all are."""
    first: Json | None = None
    """The first call of a real agent, if it was not right."""
    missing: Mapping[str, Json] = field(default_factory=dict)
    """The facts of rows to create if they do not exist, by the field that refers to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """The callable actions for a goal, as far as the client has read them."""

    tool: str
    beside: Json
    """Arguments that select the action of a dispatcher."""
    fields: frozenset[str]
    packed: bool = False
    """Whether fields are sent in `params`."""

    def arguments(self, fields: Json) -> Json:
        return {**self.beside, **({"params": json.dumps(fields)} if self.packed else fields)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One call and its reply, for counting."""

    tool: str
    arguments: Json
    is_help: bool
    is_refused: bool
    text: str


class Connection:
    """One session over HTTP, as bytes."""

    def __init__(self, credentials: str) -> None:
        self._http = Client(headers={"Authorization": credentials})
        hello = {"capabilities": {}, "clientInfo": {"name": "scripted", "version": "1"}}
        self.instructions: str = self._ask(
            "initialize", {"protocolVersion": "2025-11-25", **hello}
        )["instructions"]
        self.calls: list[Sent] = []

    def tools(self) -> dict[str, Json]:
        return {tool["name"]: tool for tool in self._ask("tools/list", {})["tools"]}

    def call(self, tool: str, arguments: Json, *, is_help: bool = False) -> WireResult:
        reply = read_result(self._ask("tools/call", {"name": tool, "arguments": arguments}))
        self.calls.append(
            Sent(
                tool=tool,
                arguments=arguments,
                is_help=is_help,
                is_refused=reply.is_error,
                text=reply.text,
            )
        )
        return reply

    def _ask(self, method: str, params: Json) -> Json:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        response = self._http.post("/mcp", json.dumps(message), content_type="application/json")
        return response.json()["result"]


# --- choice of an action --------------------------------------------------------------------------


class Menu(Protocol):
    def action(self, goal: Goal) -> Action: ...

    def named(self, words: str) -> tuple[str, str]:
        """Return the verb and the resource of an action that a reply names."""
        ...


class FlatMenu:
    """One tool per action, from the list."""

    def __init__(self, connection: Connection) -> None:
        self._tools = connection.tools()

    def action(self, goal: Goal) -> Action:
        (tool,) = (
            each
            for name, each in self._tools.items()
            if name.startswith(f"{goal.resource}__")
            and each["description"].startswith(f"{goal.verb} ")
        )
        fields = frozenset(tool["inputSchema"]["properties"])
        return Action(tool=tool["name"], beside={}, fields=fields)

    def named(self, words: str) -> tuple[str, str]:
        resource = words.partition("__")[0]
        return self._tools[words]["description"].split()[0], resource


class DispatchedMenu:
    """One tool for all actions. A page of help per resource describes them and their arguments."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        ((self._tool, listed),) = connection.tools().items()
        self._actions = listed["inputSchema"]["properties"]["action"]["enum"]
        self._pages: dict[str, Json] = {}

    def action(self, goal: Goal) -> Action:
        name = goal.verb.lower()
        if goal.first is not None and name in self._actions:
            return self._named(goal.resource, name, frozenset())
        for name, page in self._page(goal.resource).items():
            if page["description"].startswith(f"{goal.verb} "):
                fields = re.findall(r"\w+", page["signature"].partition("(")[2])
                return self._named(goal.resource, name, frozenset(fields))
        raise LookupError(goal)

    def named(self, words: str) -> tuple[str, str]:
        resource, name = re.findall(r"\w+", words)[-2:]
        return self._page(resource)[name]["description"].split()[0], resource

    def _named(self, resource: str, name: str, fields: frozenset[str]) -> Action:
        beside = {"resource": resource, "action": name}
        return Action(tool=self._tool, beside=beside, fields=fields, packed=True)

    def _page(self, resource: str) -> Json:
        if resource not in self._pages:
            asked = {"resource": resource, "help": True}
            reply = self._connection.call(self._tool, asked, is_help=True)
            self._pages[resource] = json.loads(reply.text)["actions"]
        return self._pages[resource]


# --- choice of a field ----------------------------------------------------------------------------


def fill(fields: Iterable[str], facts: Json) -> Json:
    """Return the facts by the names of the fields. Raises LookupError if a fact has no field."""
    filled: Json = {}
    for word, value in facts.items():
        if isinstance(value, str) and value in fields:
            filled[value] = True  # "stage: won", and there is a field "won"
        else:
            filled[_field(word, [name for name in fields if name not in filled])] = value
    return filled


def _field(word: str, fields: list[str]) -> str:
    spelled = word.replace(" ", "_")
    if spelled in fields:
        return spelled
    same = [name for name in fields if any({word, name} <= words for words in SYNONYMS)]
    near = [name for name in fields if _stems(name) & _stems(word)]
    for found in (same, near):
        if len(found) == 1:
            return found[0]
    raise LookupError(f"no field for {word!r} in {fields}")


def _stems(name: str) -> set[str]:
    return {word[:5] for word in re.findall(r"[a-z]{4,}", name)}


# --- the loop -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """A call to make, and the values to compare in the rows of its reply."""

    arguments: Json
    compared: Json = field(default_factory=dict)


class ScriptedAgent:
    def __init__(self, connection: Connection, menu: Menu) -> None:
        self._connection = connection
        self._menu = menu
        self._rows: list[tuple[str, Json]] = []
        self.steps: Counter[str] = Counter()
        """How often each kind of step followed a refusal."""

    def do(self, goal: Goal) -> Json:
        """Reach a goal. Returns the last reply."""
        action = self._menu.action(goal)
        trying = Try(arguments=self._first(goal, action))
        for _ in range(MOST_TRIES):
            reply = self._connection.call(action.tool, trying.arguments)
            if not reply.is_error:
                return self._read(goal, trying, json.loads(reply.text))
            trying = self._next(goal, action, trying, reply)
        raise AssertionError(reply.text)

    def _first(self, goal: Goal, action: Action) -> Json:
        if goal.first is not None:
            return {**action.beside, **self._resolved(goal.first)}
        if goal.rows:
            many = self._own_argument("Many rows")
            rows = [fill(action.fields, self._resolved(row)) for row in goal.rows]
            return action.arguments({many: rows})
        fields = fill(action.fields, self._resolved(goal.facts))
        if goal.columns:
            fields[self._own_argument("columns to return")] = list(goal.columns)
        return action.arguments(fields)

    def _own_argument(self, purpose: str) -> str:
        """Return the argument that the server's instructions explain in these words."""
        found = re.search(rf"(\w+): [^.:]*{purpose}", self._connection.instructions)
        assert found, self._connection.instructions
        return found[1]

    def _next(self, goal: Goal, action: Action, tried: Try, reply: WireResult) -> Try:
        columns = re.search(r'list them with "(\w+)": (\[[^\]]+\]) and compare', reply.text)
        declared = reply.raw["_meta"]["toolbooth"].get("declared", {}).get("$")
        if reply.corrected is not None:
            self.steps["send the corrected call"] += 1
            return replace(tried, arguments=reply.corrected)
        if "create one with" in reply.text:
            self.steps["create missing rows"] += 1
            return replace(tried, arguments=self._with_created(goal, tried, reply))
        if columns:
            self.steps["compare columns"] += 1
            arguments = action.arguments({columns[1]: json.loads(columns[2])})
            return replace(tried, arguments=arguments, compared=goal.facts)
        if declared:
            self.steps["use the declared fields"] += 1
            fields = fill(declared, self._resolved(goal.facts))
            return replace(tried, arguments=action.arguments(fields))
        self.steps["correct the values"] += 1
        return replace(tried, arguments=self._with_right_values(goal, tried, reply))

    def _with_right_values(self, goal: Goal, tried: Try, reply: WireResult) -> Json:
        """Return the same call, with the facts in place of the values that the reply names."""
        arguments = dict(tried.arguments)
        for problem in reply.problems:
            (name,) = problem.path
            arguments[str(name)] = self._resolved(goal.facts)[name]
        return arguments

    def _with_created(self, goal: Goal, tried: Try, reply: WireResult) -> Json:
        """Return the same call, after creating the rows that it refers to."""
        arguments = dict(tried.arguments)
        for problem in reply.problems:
            (name, *_) = problem.path
            _, _, words = problem.message.partition("create one with ")
            verb, resource = self._menu.named(words)
            made = self.do(Goal(verb=verb, resource=resource, facts=goal.missing[name]))
            key = next(iter(made.values()))
            arguments[name] = [key] if isinstance(arguments[name], list) else key
        return arguments

    def _read(self, goal: Goal, tried: Try, reply: Json) -> Json:
        """Store the rows of a reply."""
        rows: list[Json] = reply.get("results", [reply])
        if reply.get("order") == "as sent":
            sent = (self._resolved(row) for row in goal.rows)
            rows = [{**row, "id": key} for row, key in zip(sent, reply["ids"], strict=True)]
        self._rows += ((goal.resource, row) for row in rows)
        if tried.compared:
            found = [row for row in rows if tried.compared.items() <= row.items()]
            return {**reply, "results": found}
        return reply

    def _resolved(self, value: Any) -> Any:
        match value:
            case Known():
                return self._value(value)
            case Encoded():
                encoded = self._resolved(value.value)
                for _ in range(value.times):
                    encoded = json.dumps(encoded)
                return encoded
            case dict():
                return {name: self._resolved(each) for name, each in value.items()}
            case list():
                return [self._resolved(each) for each in value]
            case _:
                return value

    def _value(self, known: Known) -> Any:
        for resource, row in reversed(self._rows):
            if resource == known.resource and known.text in row.values():
                return row[known.name]
        raise LookupError(f"no reply has named {known}")
