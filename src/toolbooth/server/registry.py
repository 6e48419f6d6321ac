"""ToolRegistry: registers the tools of one server and calls them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
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
from toolbooth.server.dispatch.build import action_table, actions_in, dispatcher, name_of
from toolbooth.server.dispatch.variants import with_help
from toolbooth.server.idempotency import KeyStore, MemoryStore
from toolbooth.server.keyed_tool import CallerOf, with_key
from toolbooth.server.listed_tools import ListedTools
from toolbooth.server.observe import Arguments, Observer
from toolbooth.server.running import MOST_RUNNING
from toolbooth.server.tool import AccessCheck, Tool, Variant

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
Watching = TypeVar("Watching", bound=Observer)
Errors = Literal["result", "protocol"]

_ARGUMENTS = get_args(Arguments)
TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""The names that MCP allows. `toolbooth lint` reports names that some clients refuse."""


class ToolRegistry(ListedTools):
    """The tools of one server. `errors` chooses how a refused call is answered: as a tool result,
    or as JSON-RPC error -32602.

    docs/reference/wire-contract.md describes the values that your functions get. In tests, call
    them with `toolbooth.testing.call_over_wire`, which delivers the arguments as a client does.

    With `help="help"`, every tool accepts `help: true`. The tool is then not called; the answer
    describes its arguments. `profile` chooses how `tools/list` writes input schemas: the name of a
    profile, or a `Profile` of your own. `keys` is the store of idempotency keys; by default, they
    are kept in memory. `caller` is a function that returns the name of the caller. You need it if
    the server has several users.
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
        keys: KeyStore | None = None,
        caller: CallerOf | None = None,
    ) -> None:
        if errors not in get_args(Errors):
            raise ValueError(messages.errors_must_be(errors, get_args(Errors)))
        super().__init__(page_size)
        self.name = name
        self.version = version
        self.instructions = instructions
        self.errors: Errors = errors
        self.timeout = timeout
        self.max_running = max_running
        self.help = help
        self.profile = choose_profile(profile)
        self.keys: KeyStore = keys or MemoryStore()
        self.caller = caller
        self.observers: list[tuple[Observer, Arguments]] = []

    def __repr__(self) -> str:
        return f"<ToolRegistry {self.name!r}: {len(self.tools)} tools>"

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
        idempotent: bool = False,
        idempotency_key: bool = False,
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
        idempotent: bool = False,
        idempotency_key: bool = False,
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
        idempotent: bool = False,
        idempotency_key: bool = False,
    ) -> Any:
        """Register a function: `@registry.tool`, `@registry.tool(name=...)` or
        `registry.tool(provider.method)`.

        The function gets values of the types that it declares, as docs/reference/wire-contract.md
        promises. If you call the function directly, this is not checked; use
        `toolbooth.testing.call_over_wire` to check it.

        Set `idempotent` if a second call with the same arguments changes nothing more; clients are
        then told so. With `idempotency_key`, callers may send a key, and the tool runs only once
        for each key.

        Raises:
            ContractError: with every mistake in the signature, each with its remedy.
        """

        def register(found: F) -> F:
            contract = compile_function(found, name=name, description=description)
            # A read has no side effects, so repeating it is harmless, and a key is not refused.
            reads = bool((annotations or {}).get("readOnlyHint"))
            self.add(
                contract,
                title=title,
                annotations=annotations,
                timeout=timeout,
                max_running=max_running,
                idempotent=idempotent,
                idempotency_key=idempotency_key,
                refuses_key=not (idempotency_key or reads),
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
        idempotent: bool = False,
        idempotency_key: bool = False,
        refuses_key: bool = False,
        access_check: AccessCheck | None = None,
        variant: Variant | None = None,
        extra_help: Callable[[], Mapping[str, Any]] | None = None,
        help_schema: Callable[[], Mapping[str, Any] | None] | None = None,
        placeholders: Callable[[Json], Json] | None = None,
    ) -> Tool:
        """Register a compiled contract with its function.

        With `refuses_key`, a call with an idempotency key in its `_meta` is refused. `access_check`
        returns the error for a caller who may not call the tool, and None for all others. `variant`
        returns another tool to run, if the arguments ask for one. `extra_help` returns additional
        entries for the tool's help. `placeholders` replaces keys of database rows in the example
        that help shows.
        """
        chosen = function or contract.function
        if chosen is None:
            raise ContractError(contract.name, [messages.NO_FUNCTION])
        hint = {"idempotentHint": True} if idempotent else {}
        made = Tool(
            contract=contract,
            function=chosen,
            title=title,
            annotations={**(annotations or {}), **hint} or None,
            timeout=self.timeout if timeout is ... else timeout,
            max_running=max_running or self.max_running,
            profile=self.profile,
            refuses_key=refuses_key,
            access_check=access_check,
            variant=variant,
            extra_help=extra_help,
            help_schema=help_schema,
            placeholders=placeholders,
        )
        if idempotency_key:
            made = with_key(made, self.keys, self.caller)
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
        """Register one tool that passes its calls on to other tools. The argument `action` chooses
        the tool. The other arguments, flat or in `params`, are passed on.

        `actions` maps each action to a registered tool. With several resources, it maps each
        resource to such a mapping. The tools are no longer listed unless `hide=False`, but can
        still be called by their own names.

        Without `actions`, this method decorates a class. Without parentheses, the dispatcher gets
        its name from the class. Each method marked `@mcp_action` becomes a tool, `name__method`,
        and an action of the dispatcher.

        `help` is the name of the argument that asks for help: `"help": true`, alone or together
        with a resource, an action or both.

        Raises:
            ContractError: with every mistake.
            UnknownTool: if an action is mapped to a tool that is not registered.
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
        # A dispatcher may have the name of a tool that it hides, because this tool leaves the list.
        if is_taken and contract.name not in hidden:
            mistakes.append(messages.name_is_taken(contract.name))
        if mistakes:
            raise ContractError(contract.name, mistakes)
        # Only dispatchers hide tools. Searching all tools for each one would be quadratic.
        if hidden:
            self._hide(hidden)
        # The name now belongs to the dispatcher itself.
        self.hidden.pop(contract.name, None)
        self.tools[contract.name] = made
        self.changes += 1
        return made

    def _hide(self, names: frozenset[str]) -> None:
        """Hide these tools behind their dispatcher. They keep their order."""
        for name in [name for name in self.tools if name in names]:
            self.hidden[name] = self.tools.pop(name)

    def call(
        self, name: str, arguments: Any = None, *, context: Context | None = None
    ) -> dict[str, Any]:
        """Call a tool as a client would, and return the MCP tool result.

        Raises:
            UnknownTool: if there is no such tool.
            ToolInputError: if the arguments are refused and `errors` is "protocol".
        """
        # The JSON is written from Python values here, so the original digits are not known.
        return self._call(name, json_bytes(arguments), context, from_floats=True)

    def call_bytes(
        self, name: str, body: bytes, *, context: Context | None = None
    ) -> dict[str, Any]:
        """Do the same as `call`, for arguments that are JSON text."""
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
        """Do the same as `call`, for async tools. Sync tools run in a thread."""
        return await self._call_async(name, json_bytes(arguments), context, from_floats=True)

    async def call_bytes_async(
        self, name: str, body: bytes, *, context: Context | None = None
    ) -> dict[str, Any]:
        """Do the same as `call_async`, for arguments that are JSON text."""
        return await self._call_async(name, body, context, from_floats=False)

    async def _call_async(
        self, name: str, body: bytes, context: Context | None, *, from_floats: bool
    ) -> dict[str, Any]:
        tool = self.find(name)
        try:
            reading = read_json(body, tool.contract.limits, from_floats=from_floats)
        except Unreadable as error:
            return refuse(self, tool, context or Context(), error.problem)
        return await call(self, tool, reading, context or Context(), plain=True)

    # The former names of these methods, which users still call.
    dispatch = call
    dispatch_bytes = call_bytes
    dispatch_async = call_async

    @overload
    def observe(self, observer: Watching, /, *, arguments: Arguments = "none") -> Watching: ...
    @overload
    def observe(
        self, observer: None = None, /, *, arguments: Arguments = "none"
    ) -> Callable[[Watching], Watching]: ...
    def observe(self, observer: Any = None, /, *, arguments: Arguments = "none") -> Any:
        """Call `observer` with a record of every call. You can use this method as a decorator, with
        or without parentheses.

        `arguments` decides which arguments the record has: "none", "redacted" (without secrets,
        which the contract or the name of a key marks) or "whole".
        """
        if arguments not in _ARGUMENTS:
            raise ValueError(messages.arguments_must_be(arguments, _ARGUMENTS))

        def register(found: Watching) -> Watching:
            self.observers.append((found, arguments))
            return found

        return register if observer is None else register(observer)


def _found(actions: Mapping[str, Any], find: Callable[[str], Tool]) -> dict[str, Any]:
    """Return the same mapping with tools in place of their names."""
    found: dict[str, Any] = {}
    for key, below in actions.items():
        found[key] = _found(below, find) if _is_mapping(below) else find(below)
    return found


def _is_mapping(value: Any) -> TypeIs[Mapping[str, Any]]:
    return isinstance(value, Mapping)
