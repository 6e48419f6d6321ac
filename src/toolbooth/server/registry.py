"""ToolRegistry: the tools of one server, and how to call them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import EllipsisType
from typing import Any, Literal, TypeVar, get_args, overload

from typing_extensions import TypeIs

from toolbooth.boundary.read import Unreadable, read_json
from toolbooth.compile.signature import compile_function
from toolbooth.context import Context
from toolbooth.contract import Contract
from toolbooth.errors import ContractError
from toolbooth.jsonvalue import Json, json_bytes
from toolbooth.publish import ProfileChoice, choose_profile
from toolbooth.server import messages
from toolbooth.server.call import call, call_sync, refuse
from toolbooth.server.dispatch.build import action_table, actions_in, dispatcher, name_of, narrowed
from toolbooth.server.dispatch.names import is_near, nearest
from toolbooth.server.dispatch.variants import with_help
from toolbooth.server.encoded_tools import EncodedTools, Page
from toolbooth.server.observe import Arguments, Observer
from toolbooth.server.promised import PromisedTools
from toolbooth.server.running import MOST_RUNNING
from toolbooth.server.tool import AccessCheck, Shows, Tool, Variant

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
Watching = TypeVar("Watching", bound=Observer)
Errors = Literal["result", "protocol"]

_ARGUMENTS = get_args(Arguments)
TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""What the specification allows; `toolbooth lint` knows which clients allow less."""


class UnknownTool(LookupError):
    """No tool of this name; says which one may be meant."""


class ToolRegistry:
    """The tools of one server. `errors` chooses how a refusal is answered: as a tool result, or as
    JSON-RPC -32602.

    docs/wire-contract.md lists the values that your functions get. In tests, call them with
    `toolbooth.testing.call_over_wire`, which delivers the arguments as a client does.

    With `help="help"`, every tool takes `help: true`, which tells all that it takes instead of
    calling it. `profile` chooses how `tools/list` writes input schemas: by name, or a `Profile` of
    your own.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "0.1.0",
        instructions: str | None = None,
        errors: Errors = "result",
        timeout: float | None = None,
        max_running: int = MOST_RUNNING,
        page_size: int = 500,
        help: str | None = None,
        profile: ProfileChoice = "portable",
    ) -> None:
        if errors not in get_args(Errors):
            raise ValueError(messages.errors_must_be(errors, get_args(Errors)))
        self.name = name
        self.version = version
        self.instructions = instructions
        self.errors: Errors = errors
        self.timeout = timeout
        self.max_running = max_running
        self.help = help
        self.profile = choose_profile(profile)
        self.tools: dict[str, Tool] = {}
        self.hidden: dict[str, Tool] = {}
        """Behind dispatchers: not in the list, but called by name as ever."""
        self.observers: list[tuple[Observer, Arguments]] = []
        self.promised = PromisedTools()
        """Tools that `find` and `complete` make, each when it is first needed."""
        self._encoded = EncodedTools(page_size)
        self.changes = 0  # counts registrations: what was made from an older list is made anew

    @overload
    def tool(
        self,
        function: F,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: Mapping[str, Any] | None = None,
        timeout: float | EllipsisType | None = ...,
        max_running: int | None = None,
    ) -> F: ...
    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: Mapping[str, Any] | None = None,
        timeout: float | EllipsisType | None = ...,
        max_running: int | None = None,
    ) -> Callable[[F], F]: ...
    def tool(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: Mapping[str, Any] | None = None,
        timeout: float | EllipsisType | None = ...,
        max_running: int | None = None,
    ) -> Any:
        """Register a function: `@registry.tool`, `@registry.tool(name=...)` or
        `registry.tool(provider.method)`.

        The function gets values of the types that it declares, as docs/wire-contract.md promises. A
        direct call does not check that; `toolbooth.testing.call_over_wire` does.

        Raises:
            ContractError: with every mistake in the signature, each with its remedy.
        """

        def register(found: F) -> F:
            contract = compile_function(found, name=name, description=description)
            self.add(
                contract,
                title=title,
                annotations=annotations,
                timeout=timeout,
                max_running=max_running,
            )
            return found

        return register if function is None else register(function)

    def add(
        self,
        contract: Contract,
        function: Callable[..., Any] | None = None,
        *,
        title: str | None = None,
        annotations: Mapping[str, Any] | None = None,
        timeout: float | EllipsisType | None = ...,
        max_running: int | None = None,
        access_check: AccessCheck | None = None,
        variant: Variant | None = None,
        extra_help: Callable[[], Mapping[str, Any]] | None = None,
        help_schema: Callable[[], Mapping[str, Any] | None] | None = None,
        placeholders: Callable[[Json], Json] | None = None,
    ) -> Tool:
        """Register a compiled contract with the function that it is for.

        `access_check` returns the error for a caller who may not call the tool, None for one who
        may. `variant` finds another tool to run, if the arguments ask for it. `extra_help` adds to
        its help, and `placeholders` replaces keys of rows in its example.
        """
        chosen = function or contract.function
        if chosen is None:
            raise ContractError(contract.name, [messages.NO_FUNCTION])
        made = Tool(
            contract=contract,
            function=chosen,
            title=title,
            annotations=annotations,
            timeout=self.timeout if timeout is ... else timeout,
            max_running=max_running or self.max_running,
            profile=self.profile,
            access_check=access_check,
            variant=variant,
            extra_help=extra_help,
            help_schema=help_schema,
            placeholders=placeholders,
        )
        return self._register(made if self.help is None else with_help(made, self.help, self.find))

    @overload
    def dispatcher(
        self,
        name: str,
        actions: Mapping[str, str] | Mapping[str, Mapping[str, str]],
        *,
        description: str = "",
        title: str | None = None,
        hide: bool = True,
        help: str = "help",
    ) -> Tool: ...
    @overload
    def dispatcher(self, name: C) -> C: ...
    @overload
    def dispatcher(
        self,
        name: str,
        *,
        description: str = "",
        title: str | None = None,
        hide: bool = True,
        help: str = "help",
    ) -> Callable[[C], C]: ...
    def dispatcher(
        self,
        name: Any,
        actions: Any = None,
        *,
        description: str = "",
        title: str | None = None,
        hide: bool = True,
        help: str = "help",
    ) -> Any:
        """Register one tool that routes to others by `action`; what comes beside it, flat or in
        `params`, goes along.

        `actions` maps each action to a registered tool, or each resource to such a map; the call
        says which. These tools leave the list unless `hide=False`, and can still be called by their
        own names. Without `actions` this decorates a class, bare under its own name: its methods
        that are marked `@mcp_action` become tools, `name__method`, and its actions. `help` is the
        word that asks what there is: `"help": true`, alone or beside a resource, an action or both.

        Raises:
            ContractError: with every mistake.
            UnknownTool: an action leads to a tool that is not registered.
        """

        def gather(cls: C) -> C:
            found: dict[str, str] = {}
            for action, method, options in actions_in(cls):
                found[action] = f"{name}__{action}"
                self.tool(method, name=found[action], **options)
            said = description or inspect.getdoc(cls) or ""
            self.dispatcher(name, found, description=said, title=title, hide=hide, help=help)
            return cls

        if isinstance(name, type):
            return self.dispatcher(name_of(name))(name)
        if actions is None:
            return gather
        if not _is_mapping(actions):
            raise ContractError(name, [messages.ACTIONS_NOT_A_MAP])
        table = action_table(name, _found(actions, self.find), help)
        hidden = {sub.name for _, sub in table.subs()}
        made = replace(dispatcher(name, table, description, title), profile=self.profile)
        return self._register(made, frozenset(hidden if hide else ()))

    def _register(self, made: Tool, hidden: frozenset[str] = frozenset()) -> Tool:
        contract = made.contract
        mistakes: list[str] = []
        if not TOOL_NAME.fullmatch(contract.name):
            mistakes.append(messages.not_a_tool_name(contract.name))
        is_taken = contract.name in self.tools or contract.name in self.hidden
        if is_taken and contract.name not in hidden:
            mistakes.append(messages.name_is_taken(contract.name))
        if mistakes:
            raise ContractError(contract.name, mistakes)
        for name in [name for name in self.tools if name in hidden]:
            self.hidden[name] = self.tools.pop(name)
        self.hidden.pop(contract.name, None)
        self.tools[contract.name] = made
        self.changes += 1
        return made

    def call(
        self, name: str, arguments: Any = None, *, context: Context | None = None
    ) -> dict[str, Any]:
        """Call a tool as the wire would, and return the MCP tool result.

        Raises:
            UnknownTool: there is no such tool.
            ToolInputError: the arguments were refused, and `errors` is "protocol".
        """
        return self._call(name, json_bytes(arguments), context, from_floats=True)

    def call_bytes(
        self, name: str, body: bytes, *, context: Context | None = None
    ) -> dict[str, Any]:
        """`call` for arguments that are still JSON text."""
        return self._call(name, body, context, from_floats=False)

    def _call(
        self, name: str, body: bytes, context: Context | None, *, from_floats: bool
    ) -> dict[str, Any]:
        tool = self.find(name)
        try:
            reading = read_json(body, tool.contract.limits, from_floats=from_floats)
        except Unreadable as error:
            return refuse(self, tool, context or Context(), error.problem)
        return call_sync(self, tool, reading, context or Context(), plain=True)

    async def call_async(
        self, name: str, arguments: Any = None, *, context: Context | None = None
    ) -> dict[str, Any]:
        """`call` for async tools; sync ones run off the event loop."""
        tool = self.find(name)
        try:
            body = json_bytes(arguments)
            reading = read_json(body, tool.contract.limits, from_floats=True)
        except Unreadable as error:
            return refuse(self, tool, context or Context(), error.problem)
        return await call(self, tool, reading, context or Context(), plain=True)

    # The former names of these methods. They stay: users call them.
    dispatch = call
    dispatch_bytes = call_bytes
    dispatch_async = call_async

    def find(self, name: str, shows: Shows | None = None) -> Tool:
        """The tool of this name. Raises UnknownTool, which names only tools that the caller is
        shown.
        """
        found = self.tools.get(name) or self.hidden.get(name)
        if found is None and self.promised:
            self.promised.make(name)
            found = self.tools.get(name) or self.hidden.get(name)
        if found is None:
            if is_near(name, self.promised):
                self.complete()  # the near one may be called through a dispatcher
            near = nearest(name, self.tools, self.hidden, shows)
            raise UnknownTool(messages.unknown_tool(name, near))
        return found

    def complete(self) -> None:
        """Make the tools that are still promised. The list does not depend on which were made
        first.
        """
        if self.promised.is_complete:
            return
        for name in self.promised:
            self.promised.make(name)
        ranked = sorted(self.tools.items(), key=lambda each: self.promised.rank(each[0]))
        self.tools = dict(ranked)
        self.promised.is_complete = True

    def page(self, start: int, shows: Shows | None) -> Page | None:
        """The page of `tools/list` that begins at this tool, as JSON, and where the next one
        begins; None if no page begins there.
        """
        self.complete()
        narrows = None if shows is None else partial(narrowed, shows=shows)
        return self._encoded.page(start, self.tools, narrows, self.changes)

    @overload
    def observe(self, observer: Watching, /, *, arguments: Arguments = "none") -> Watching: ...
    @overload
    def observe(
        self, observer: None = None, /, *, arguments: Arguments = "none"
    ) -> Callable[[Watching], Watching]: ...
    def observe(self, observer: Any = None, /, *, arguments: Arguments = "none") -> Any:
        """Have `observer` called with a record of every call; usable as a decorator, with and
        without parentheses.

        `arguments`: "none", "redacted" (what the contract or a key's name calls a secret is left
        out) or "whole".
        """
        if arguments not in _ARGUMENTS:
            raise ValueError(messages.observer_is_shown(arguments, _ARGUMENTS))

        def register(found: Watching) -> Watching:
            self.observers.append((found, arguments))
            return found

        return register if observer is None else register(observer)


def _found(actions: Mapping[str, Any], find: Callable[[str], Tool]) -> dict[str, Any]:
    """The same map with the tool of every name, at either level."""
    found: dict[str, Any] = {}
    for key, below in actions.items():
        found[key] = _found(below, find) if _is_mapping(below) else find(below)
    return found


def _is_mapping(value: Any) -> TypeIs[Mapping[str, Any]]:
    return isinstance(value, Mapping)
