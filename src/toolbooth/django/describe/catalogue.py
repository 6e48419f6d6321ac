"""Everything in the URLconf that can be called, compiled once: the tools, and what was left out and
why.
"""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, cast

from django.utils.module_loading import autodiscover_modules
from rest_framework.views import APIView

from toolbooth.compile.json_schema import shape_of_schema
from toolbooth.contract import Contract
from toolbooth.django import decorators
from toolbooth.django.call.bulk import SENTENCE, Bulk, function_of, takes_many
from toolbooth.django.call.caller import caller, is_open, reads_headers_only
from toolbooth.django.call.filters import query_of
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import refusal
from toolbooth.django.call.validation import Validation
from toolbooth.django.call.variants import variants_of
from toolbooth.django.conf import Configuration, configuration
from toolbooth.django.describe.arguments import WHOLE_BODY, Arguments, arguments_of
from toolbooth.django.describe.discovery import Action, discover
from toolbooth.django.describe.extra_help import (
    extra_help_of_function,
    extra_help_of_view,
    help_variant_of_view,
)
from toolbooth.django.describe.gateway_arguments import brief, offer
from toolbooth.django.describe.grouping import grouped, idle
from toolbooth.django.describe.names import Name, fitting, free, named, parted, title
from toolbooth.django.describe.operations import Operation, Unknowable, describing, operation
from toolbooth.django.results.continuation import Continuation
from toolbooth.django.results.function_results import FunctionTool, function_tool
from toolbooth.django.results.paged_results import results_of
from toolbooth.server.controls import BOOLEAN, control_names, instructions, is_free, publishing
from toolbooth.server.dispatch.variants import first_variant, help_variant, without_help
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import AccessCheck, Tool, Variant

logger = logging.getLogger("toolbooth.django")

STANDARD = frozenset(("list", "retrieve", "create", "update", "partial_update", "destroy"))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An action, or one field of it, that is not published."""

    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The tools of a project. Nothing in it changes once it is built."""

    configuration: Configuration
    registry: ToolRegistry
    actions: Mapping[str, Action]
    """Of every tool, the hand-written ones included."""
    open: bool
    """Whether every tool is open to everybody: then nobody's list needs to be looked through."""
    ways: tuple[Action, ...]
    """The actions to ask whether a caller is known: one for all that authenticate alike, and each
    of the others.
    """
    left_out: tuple[LeftOut, ...] = ()
    faults: tuple[LeftOut, ...] = ()
    """What drf-spectacular could not make out."""
    clashes: tuple[LeftOut, ...] = ()
    """Tools that have an argument by the name of a control argument, which they therefore go
    without.
    """
    idle: tuple[LeftOut, ...] = ()
    """Patterns in `TOOLBOOTH["DISPATCH"]` that bring no resource into their group."""


_lock = threading.Lock()
_built: list[Catalogue] = []


def catalogue() -> Catalogue:
    """The catalogue of this process: built whole by whoever asks first, while all others wait for
    it.
    """
    if not _built:
        with _lock:
            if not _built:
                _built.append(build(configuration()))
    return _built[0]


def forget() -> None:
    """Have the catalogue built anew: for tests that change settings or URLs."""
    with _lock:
        _built.clear()


def build(chosen: Configuration) -> Catalogue:
    """Compile every action that the configuration includes."""
    made = _Building(chosen)
    autodiscover_modules("mcp_tools")
    every = [tool.contract.name for tool in decorators.declared.values()]
    for tool in decorators.declared.values():
        if made.includes(tool.contract.name):
            made.add_hand_written(tool)
    found = discover()
    made.left_out += [LeftOut(what, why) for what, why in found.hidden]
    with describing():
        for name, action in named(
            found.actions, [*made.actions, *(each.name for each in made.written)]
        ):
            every.append(name.tool)
            if made.includes(name.tool):
                made.names[name.tool] = name
                made.add(name.tool, action)
    for call in made.creates if chosen.bulk_tools else ():
        made.add_bulk(call)
    made.add_dispatchers()
    made.idle += unfitting(chosen, [*every, *made.actions])
    return Catalogue(
        configuration=chosen,
        registry=made.registry,
        actions=made.actions,
        open=all(map(is_open, made.actions.values())),
        ways=_ways(made.actions.values()),
        left_out=tuple(made.left_out),
        faults=tuple(made.faults),
        clashes=tuple(made.clashes),
        idle=tuple(made.idle),
    )


@dataclass(slots=True)
class _Building:
    """A catalogue until it is whole."""

    chosen: Configuration
    registry: ToolRegistry = field(init=False)
    actions: dict[str, Action] = field(default_factory=dict[str, Action])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])
    faults: list[LeftOut] = field(default_factory=list[LeftOut])
    clashes: list[LeftOut] = field(default_factory=list[LeftOut])
    creates: list[SyncInvocation] = field(default_factory=list[SyncInvocation])
    names: dict[str, Name] = field(default_factory=dict[str, Name])
    """In its parts, of every tool that is a view's."""
    words: dict[str, str] = field(default_factory=dict[str, str])
    """What a view says of its rows, by the tools that stand for them."""
    written: dict[decorators.Dispatcher, dict[str, str]] = field(
        default_factory=dict[Any, dict[str, str]]
    )
    """The actions of each hand-written dispatcher, and their tools."""
    idle: list[LeftOut] = field(default_factory=list[LeftOut])

    def __post_init__(self) -> None:
        chosen = self.chosen
        said = chosen.instructions or instructions(chosen.arguments) or None
        self.registry = ToolRegistry(
            chosen.name, instructions=said, errors=chosen.errors, profile=chosen.profile
        )

    def includes(self, name: str) -> bool:
        included = any(fnmatchcase(name, pattern) for pattern in self.chosen.include)
        return included and not any(fnmatchcase(name, pattern) for pattern in self.chosen.exclude)

    def add_hand_written(self, tool: decorators.HandWritten) -> None:
        if tool.dispatcher is not None:
            self.written.setdefault(tool.dispatcher, {})[tool.action.name] = tool.contract.name
        name = tool.contract.name
        self.actions[name] = tool.action
        hidden = partial(access_check, name, tool.action, Arguments())
        compiles = partial(contract_of, name, tool.contract.description)
        made = function_tool(tool, self.chosen, compiles, hidden, partial(self._output_check, name))
        names = control_names(self.chosen.arguments)
        word = names.get("help")
        clashes = (
            made.clashes if word is None or is_free(tool.contract, word) else [word, *made.clashes]
        )
        self.clashes += [LeftOut(name, each) for each in clashes]
        helped = None if word is None or word in clashes else word
        self.registry.add(
            made.contract if helped is None else publishing(made.contract, {helped: BOOLEAN}),
            made.function,
            title=tool.title,
            annotations=tool.annotations,
            access_check=hidden,
            variant=made.variant if helped is None else self._helped(made, helped, hidden),
            extra_help=partial(extra_help_of_function, made.contract, tool.contract, names),
        )

    def _output_check(self, name: str, text: str) -> str | None:
        """How a result breaks what a tool says that it returns."""
        check = self.registry.find(name).output_check
        return None if check is None else check(text)

    def _helped(self, made: FunctionTool, word: str, hidden: AccessCheck) -> Variant:
        """The variants of a hand-written tool that can be asked for help."""
        told = help_variant(word, made.contract.name, self.registry.find, hidden)
        plain = Tool(contract=made.contract, function=made.function, access_check=hidden)
        return first_variant(told, made.variant, without_help(plain, word))

    def add(self, name: str, action: Action) -> None:
        try:
            described = operation(action)
            if described is None:
                self.left_out.append(LeftOut(name, "@extend_schema(exclude=True)"))
                return
            arguments = arguments_of(described)
            clashes = offer(arguments, described, self.chosen)
        except Unknowable as reason:
            self.left_out.append(LeftOut(name, str(reason)))
            return
        except (
            Exception
        ) as error:  # one view that cannot be described must not take all others along
            logger.warning("%s cannot be described", action.path, exc_info=True)
            self.left_out.append(
                LeftOut(name, f"describing it failed: {type(error).__name__}: {error}")
            )
            return
        if action.name in STANDARD:
            self.words[name] = _cut(described.description.strip().partition("\n\n")[0])
        self.faults += [LeftOut(name, each) for each in described.faults]
        self.left_out += [LeftOut(name, each) for each in arguments.left_out]
        self.clashes += [LeftOut(name, each) for each in clashes]
        call = SyncInvocation(
            tool=name,
            action=action,
            arguments=arguments,
            reader=described.reader,
            media_type=described.media_type,
        )
        self._add_call(call, description(described))

    def _add_call(self, call: SyncInvocation, said: str) -> None:
        name, action, arguments = call.tool, call.action, call.arguments
        hidden = partial(access_check, name, action, arguments)
        if takes_many(call):
            self.creates.append(call)
            said = said if self.chosen.bulk_tools else f"{said.rstrip('. ')}. {SENTENCE}"
        compiles = partial(contract_of, name, said)
        results = results_of(call, self.chosen)
        continuation = Continuation(results=results, access_check=hidden, compile=compiles)
        many = Bulk(
            call=call,
            compile=compiles,
            most=self.chosen.max_bulk,
            results=results,
            access_check=hidden,
        )
        helped = help_variant_of_view(call, self.registry.find, hidden)
        self.actions[name] = action
        self.registry.add(
            contract_of(name, said, arguments),
            query_of(call, function_of(call, results)),
            annotations=hints(action),
            access_check=hidden,
            variant=variants_of(helped, continuation, many if action.name == "create" else None),
            extra_help=partial(
                extra_help_of_view, arguments, self.chosen.max_bulk if takes_many(call) else None
            ),
        )

    def add_bulk(self, call: SyncInvocation) -> None:
        """A tool of its own for many rows; what the host has under that name stays what it is."""
        start, _, end = call.tool.rpartition("__create")
        name = fitting(f"{start}__bulk_create{end}")
        if name in self.registry.tools:
            return
        words = f"Create many {title(call.action).removeprefix('Create ')}"
        hidden = partial(access_check, name, call.action, call.arguments)
        compiles = partial(contract_of, name, f"{words}: all are made, or none.")
        call = replace(call, tool=name)
        results = results_of(call, self.chosen)
        continuation = Continuation(results=results, access_check=hidden, compile=compiles)
        many = Bulk(
            call=call,
            compile=compiles,
            most=self.chosen.max_bulk,
            results=results,
            access_check=hidden,
        )
        tool = many.tool(WHOLE_BODY)
        helped = help_variant_of_view(call, self.registry.find, hidden)
        self.actions[name] = call.action
        self.registry.add(
            tool.contract,
            tool.function,
            title=words,
            annotations=hints(call.action),
            access_check=hidden,
            variant=variants_of(helped, continuation, many),
            extra_help=partial(extra_help_of_view, call.arguments, self.chosen.max_bulk),
        )

    def add_dispatchers(self) -> None:
        """One tool for many, once all of them are there: those of each class, and those that the
        setting groups.
        """
        word = control_names(self.chosen.arguments).get("help") or "help"
        for each, below in self.written.items():
            self.registry.dispatcher(
                each.name, below, title=each.title, description=each.description, help=word
            )
        taken = {tool for below in self.written.values() for tool in below.values()}
        single = [
            (self.names.get(tool) or parted(tool), each)
            for tool, each in self.actions.items()
            if tool not in taken
        ]
        for group in grouped(self.chosen.dispatch, single):
            name = free(group.name, {*self.registry.tools, *self.registry.hidden})
            said = next((self.words[tool] for tool in group.alone if self.words.get(tool)), "")
            self.registry.dispatcher(
                name, group.below, title=group.title, description=said, help=word
            )
        resources = [name.resource for name, _ in single]
        self.idle += [LeftOut(what, why) for what, why in idle(self.chosen.dispatch, resources)]


def unfitting(chosen: Configuration, names: Iterable[str]) -> list[LeftOut]:
    """The patterns that fit none of the tools there could be: most likely misspelt."""
    every = list(names)
    patterns = [("INCLUDE", each) for each in chosen.include] + [
        ("EXCLUDE", each) for each in chosen.exclude
    ]
    return [
        LeftOut(f"TOOLBOOTH[{key!r}]: {pattern!r}", "it fits no tool")
        for key, pattern in patterns
        if every and not any(fnmatchcase(name, pattern) for name in every)
    ]


def access_check(tool: str, action: Action, arguments: Arguments) -> Exception | None:
    """What a caller that the view does not let in is told instead of a refusal."""
    answer = caller().objection(action)
    return None if answer is None else refusal(answer, tool, arguments, action)


def contract_of(name: str, said: str, arguments: Arguments) -> Contract:
    """A contract whose shape the boundary guards, and whose values REST framework validates: once,
    in the view.
    """
    narrow = arguments.schema(arguments.properties)
    shape = shape_of_schema(arguments.schema(arguments.wide), root=True)
    return Contract(
        name=name,
        description=said,
        shape=shape,
        describe=lambda: narrow,
        listing_schema=brief(arguments),
        validate=Validation(arguments),
    )


def description(described: Operation) -> str:
    """What a tool does. The words of a view set are about its rows; the standard actions say what
    they do to them.
    """
    said = _cut(described.description.strip())
    verb = title(described.action)
    if described.action.name not in STANDARD:
        return said or verb
    return f"{verb}. {said}" if said and not _is_told_already(described) else verb


def _is_told_already(described: Operation) -> bool:
    """Whether the words are those of the view, and stand with the tool that lists its rows."""
    view = described.action.view
    if described.action.name in ("list", "create") or not hasattr(view, "list"):
        return False
    return described.description.strip() == (inspect.getdoc(view) or "").strip()


LONGEST_WORDS = 900
"""Characters of what a view says of itself: with what is said beside it, clients take 1,024 (lint
knows which).
"""


def _cut(said: str) -> str:
    return said if len(said) <= LONGEST_WORDS else f"{said[:LONGEST_WORDS].rsplit(maxsplit=1)[0]} …"


def hints(action: Action) -> dict[str, bool]:
    """What a client may show before it lets a call through, as far as it is not what a client
    assumes anyway.
    """
    match action.method:
        case "GET":
            return {"readOnlyHint": True}
        case "POST":
            return {"destructiveHint": False}
        case _:
            return {}


def _ways(actions: Iterable[Action]) -> tuple[Action, ...]:
    alike: dict[tuple[type, ...], Action] = {}
    alone: list[Action] = []
    for action in actions:
        callback: Callable[..., Any] = action.callback
        view = cast("Any", callback).cls(**cast("Any", callback).initkwargs)
        try:
            authenticators = view.get_authenticators()
        except Exception:  # chosen by the request
            alone.append(action)
            continue
        if (
            reads_headers_only(authenticators)
            and action.view.get_authenticators is APIView.get_authenticators
        ):
            alike.setdefault(tuple(map(type, authenticators)), action)
        else:
            alone.append(action)
    return (*alike.values(), *alone)
