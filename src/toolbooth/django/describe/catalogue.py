"""Everything in the URLconf that can be called, compiled once: the tools, and what was left out and
why.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from django.conf import settings
from django.urls import get_urlconf

from toolbooth.contract import Contract
from toolbooth.django import decorators
from toolbooth.django.call.authenticators import authenticating_actions, is_open
from toolbooth.django.call.bulk import Bulk, Compile, function_of, takes_many
from toolbooth.django.call.filters import query_of
from toolbooth.django.call.inner_middleware import inner_middleware
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.variants import variants_of
from toolbooth.django.conf import Configuration, configuration
from toolbooth.django.describe import messages
from toolbooth.django.describe.arguments import arguments_of
from toolbooth.django.describe.contracts import (
    access_check_of_function,
    access_check_of_view,
    contract_of,
    hints,
)
from toolbooth.django.describe.declared_bodies import (
    WHOLE_BODY,
    WrongBody,
    declared_body,
    entry_of_bodies,
    unknown_names,
    unused_patterns_of_bodies,
)
from toolbooth.django.describe.descriptions import description_of, nouns, summary
from toolbooth.django.describe.discovery import STANDARD_ACTIONS, Action, discover, full_updates
from toolbooth.django.describe.extra_context import ExtraContext, extra_context
from toolbooth.django.describe.extra_help import (
    extra_help_of_function,
    extra_help_of_view,
    help_schema_of_view,
    help_variant_of_view,
    with_placeholders,
)
from toolbooth.django.describe.gateway_arguments import offer
from toolbooth.django.describe.grouping import grouped, names_of_clients, unused_patterns
from toolbooth.django.describe.left_out import LeftOut, patterns_without_tools
from toolbooth.django.describe.names import Name, fitting, free, named, parted
from toolbooth.django.describe.openapi import Unknowable
from toolbooth.django.describe.operations import operations
from toolbooth.django.describe.published_models import NO_MODELS, PublishedModels, published_models
from toolbooth.django.describe.spectacular import describing
from toolbooth.django.describe.verbatim import verbatim_mistakes, with_verbatim
from toolbooth.django.own_tools import Broken, own_tools
from toolbooth.django.results.continuation import Continuation
from toolbooth.django.results.function_results import FunctionTool, function_tool
from toolbooth.django.results.paged_results import results_of
from toolbooth.server.controls import BOOLEAN, control_names, instructions, is_free, publishing
from toolbooth.server.dispatch.variants import first_variant, help_variant, without_help
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import AccessCheck, Tool, Variant

logger = logging.getLogger("toolbooth.django")


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The tools of a project. Nothing in it changes once it is built."""

    configuration: Configuration
    registry: ToolRegistry
    actions: Mapping[str, Action]
    """Of every tool, the hand-written ones included."""
    body_names: Mapping[str, tuple[str, ...]]
    """The fields that are sent in the body, of every view's tool."""
    open: bool
    """Whether every tool is open to everybody: then nobody's list needs to be looked through."""
    authenticating_actions: tuple[Action, ...]
    """Who to ask whether a caller is known: one action of all that authenticate alike."""
    models: PublishedModels = NO_MODELS
    left_out: tuple[LeftOut, ...] = ()
    faults: tuple[LeftOut, ...] = ()
    """What drf-spectacular could not make out."""
    clashes: tuple[LeftOut, ...] = ()
    """Tools that have an argument by the name of a control argument, which they therefore go
    without.
    """
    unused_patterns: tuple[LeftOut, ...] = ()
    """Patterns in the settings that fit no tool, or bring no resource into their group."""
    undeclared_bodies: tuple[str, ...] = ()
    """Tools whose actions do not declare a body: they are called without one."""
    wrong_entries: tuple[LeftOut, ...] = ()
    """Entries of `BODIES` and `VERBATIM` that name nothing, or cannot be used."""
    describe_mistakes: tuple[LeftOut, ...] = ()
    """What was wrong with the function in `DESCRIBE`: the tools were described without it."""
    broken: tuple[Broken, ...] = ()
    """Modules and functions of the project's own tools that have mistakes."""


_lock = threading.Lock()
_built: dict[Any, Catalogue] = {}
"""By URLconf: a host may serve several, each with its own views."""

_MOST_BUILT = 8


def catalogue() -> Catalogue:
    """The catalogue of the URLconf in use, built by the first request; others wait for it."""
    urlconf = get_urlconf() or settings.ROOT_URLCONF
    found = _built.get(urlconf)
    if found is not None:
        return found
    with _lock:
        if urlconf not in _built:
            if len(_built) >= _MOST_BUILT:
                del _built[next(iter(_built))]
            _built[urlconf] = build(configuration())
        return _built[urlconf]


def forget() -> None:
    """Have the catalogue built anew: for tests that change settings or URLs."""
    with _lock:
        _built.clear()


def build(chosen: Configuration) -> Catalogue:
    """Compile every action that the configuration includes."""
    made = _Building(chosen)
    own = own_tools()
    for tool in own.tools:
        if made.includes(tool.contract.name):
            made.add_hand_written(tool)
    found = discover(login_views=chosen.login_views)
    made.left_out += [LeftOut(what, why) for what, why in found.hidden]
    taken = [*made.actions, *(each.name for each in made.dispatchers)]
    of_views: list[str] = []
    names = list(named(found.actions, taken))
    included = [each for name, each in names if made.includes(name.tool)]
    made.published = published_models(included)
    made.repeating = full_updates(included)
    with describing():
        for name, action in names:
            of_views.append(name.tool)
            if not made.includes(name.tool):
                continue
            if chosen.updates == "partial" and action in made.repeating:
                made.left_out.append(LeftOut(name.tool, messages.ONLY_PARTIAL_UPDATES))
                continue
            made.names[name.tool] = name
            made.add(name.tool, action)
    for call in made.creates if chosen.bulk_tools else ():
        made.add_bulk(call)
    made.add_dispatchers()
    every = [*(tool.contract.name for tool in own.tools), *of_views, *made.actions]
    made.unused_patterns += patterns_without_tools(chosen, every)
    made.unused_patterns += [LeftOut(*each) for each in unused_patterns_of_bodies(chosen, of_views)]
    wrong = [*unknown_names(chosen, of_views), *verbatim_mistakes(chosen, every, made.contracts)]
    made.wrong_entries += [LeftOut(*each) for each in wrong]
    return Catalogue(
        configuration=chosen,
        registry=made.registry,
        actions=made.actions,
        models=made.published,
        body_names=made.body_names,
        open=all(map(is_open, made.actions.values())),
        authenticating_actions=authenticating_actions(made.actions.values()),
        left_out=tuple(made.left_out),
        faults=tuple(made.faults),
        clashes=tuple(made.clashes),
        unused_patterns=tuple(made.unused_patterns),
        undeclared_bodies=tuple(made.undeclared_bodies),
        wrong_entries=tuple(made.wrong_entries),
        describe_mistakes=tuple(LeftOut(*each) for each in made.context.complaints()),
        broken=own.broken,
    )


@dataclass(slots=True)
class _Building:
    """A catalogue until it is whole."""

    chosen: Configuration
    registry: ToolRegistry = field(init=False)
    context: ExtraContext = field(init=False)
    actions: dict[str, Action] = field(default_factory=dict[str, Action])
    body_names: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])
    faults: list[LeftOut] = field(default_factory=list[LeftOut])
    clashes: list[LeftOut] = field(default_factory=list[LeftOut])
    creates: list[SyncInvocation] = field(default_factory=list[SyncInvocation])
    published: PublishedModels = NO_MODELS
    repeating: set[Action] = field(default_factory=set[Action])
    names: dict[str, Name] = field(default_factory=dict[str, Name])
    """In its parts, of every tool that is a view's."""
    summaries: dict[str, str] = field(default_factory=dict[str, str])
    """What a view says of its rows, by the standard tools of the view."""
    dispatchers: dict[decorators.Dispatcher, dict[str, str]] = field(
        default_factory=dict[Any, dict[str, str]]
    )
    """The actions of each hand-written dispatcher, and their tools."""
    unused_patterns: list[LeftOut] = field(default_factory=list[LeftOut])
    undeclared_bodies: list[str] = field(default_factory=list[str])
    wrong_entries: list[LeftOut] = field(default_factory=list[LeftOut])

    def __post_init__(self) -> None:
        chosen = self.chosen
        self.context = extra_context(chosen.describe)
        about_arguments = instructions(chosen.arguments) if chosen.explain_arguments else ""
        words = "\n\n".join(filter(None, (chosen.instructions, about_arguments))) or None
        self.registry = ToolRegistry(
            chosen.name, instructions=words, errors=chosen.errors, profile=chosen.profile
        )

    def includes(self, name: str) -> bool:
        included = any(fnmatchcase(name, pattern) for pattern in self.chosen.include)
        return included and not any(fnmatchcase(name, pattern) for pattern in self.chosen.exclude)

    @property
    def contracts(self) -> dict[str, Contract]:
        tools = {**self.registry.hidden, **self.registry.tools}
        return {name: tool.contract for name, tool in tools.items()}

    def add_hand_written(self, tool: decorators.HandWritten) -> None:
        name = tool.contract.name
        tool = replace(tool, contract=with_verbatim(tool.contract, self.chosen.verbatim))
        if tool.dispatcher is not None:
            self.dispatchers.setdefault(tool.dispatcher, {})[tool.action.name] = name
        self.actions[name] = tool.action
        hidden = partial(access_check_of_function, name, tool.action)
        compiles = partial(contract_of, name, tool.contract.description)
        made = function_tool(tool, self.chosen, compiles, hidden, partial(self._output_check, name))
        clashes = list(made.clashes)
        names = control_names(self.chosen.arguments)
        word = names.get("help")
        if word is not None and not is_free(tool.contract, word):
            clashes.insert(0, word)
        self.clashes += [LeftOut(name, each) for each in clashes]
        contract, variant = made.contract, made.variant
        if word is not None and word not in clashes:
            contract = publishing(contract, {word: BOOLEAN})
            variant = self._helped(made, word, hidden)
        self.registry.add(
            contract,
            made.function,
            title=tool.title,
            annotations=tool.annotations,
            access_check=hidden,
            variant=variant,
            extra_help=partial(extra_help_of_function, made.contract, tool.contract, names),
        )

    def _output_check(self, name: str, text: str) -> str | None:
        """How a result breaks what a tool says that it returns."""
        check = self.registry.find(name).output_check
        return None if check is None else check(text)

    def _helped(self, made: FunctionTool, word: str, hidden: AccessCheck) -> Variant:
        """The variants of a hand-written tool that can be asked for help."""
        helping = help_variant(word, made.contract.name, self.registry.find, hidden)
        single = Tool(contract=made.contract, function=made.function, access_check=hidden)
        return first_variant(helping, made.variant, without_help(single, word))

    def add(self, name: str, action: Action) -> None:
        try:
            declared = declared_body(name, action, self.chosen)
            described, for_superuser = operations(action, declared, self.context)
            if described is None:
                self.left_out.append(LeftOut(name, messages.EXCLUDED))
                return
            arguments = arguments_of(described, for_superuser)
            arguments.repeats = action in self.repeating
            clashes = offer(arguments, described, self.chosen)
        except WrongBody as reason:
            self.wrong_entries.append(LeftOut(entry_of_bodies(name), str(reason)))
            self.left_out.append(LeftOut(name, messages.wrong_body(str(reason))))
            return
        except Unknowable as reason:
            self.left_out.append(LeftOut(name, str(reason)))
            return
        # One view that cannot be described must not take all others along.
        except Exception as error:
            logger.warning("%s cannot be described", action.path, exc_info=True)
            self.left_out.append(LeftOut(name, messages.not_described(error)))
            return
        if action.name in STANDARD_ACTIONS:
            self.summaries[name] = summary(described)
        self.faults += [LeftOut(name, each) for each in described.faults]
        if described.body_is_undeclared:
            self.undeclared_bodies.append(name)
        self.left_out += [LeftOut(name, each) for each in arguments.left_out]
        self.clashes += [LeftOut(name, each) for each in clashes]
        call = SyncInvocation(
            tool=name,
            action=action,
            arguments=arguments,
            body_serializer=described.body_serializer,
            media_type=described.media_type,
            middleware=inner_middleware(self.chosen.inner_middleware),
        )
        self._add_call(call, description_of(described, arguments, self.published))

    def _add_call(self, call: SyncInvocation, description: str) -> None:
        name, action, arguments = call.tool, call.action, call.arguments
        most_rows: int | None = None
        if takes_many(call):
            self.creates.append(call)
            most_rows = self.chosen.max_bulk
            if not self.chosen.bulk_tools:
                description = f"{description.rstrip('. ')}. {messages.TAKES_MANY}"
        takes_rows = action.name == "create" and arguments.plain is None
        compiles = partial(contract_of, name, description)
        bulk = self._bulk(call, compiles)
        self.actions[name] = action
        self.published.tools[action] = name
        self.body_names[name] = call.body_names
        self.registry.add(
            with_verbatim(compiles(arguments), self.chosen.verbatim),
            query_of(call, function_of(call, bulk.results)),
            annotations=hints(action),
            access_check=bulk.access_check,
            variant=self._variants(bulk, takes_rows=takes_rows),
            extra_help=partial(extra_help_of_view, arguments, most_rows),
            help_schema=help_schema_of_view(call),
            placeholders=partial(with_placeholders, arguments),
        )

    def add_bulk(self, call: SyncInvocation) -> None:
        """A tool of its own for many rows, unless the project has one of that name."""
        start, _, end = call.tool.rpartition("__create")
        name = fitting(f"{start}__bulk_create{end}")
        if name in self.registry.tools:
            return
        words = f"Create many {nouns(call.action)[1]}"
        call = replace(call, tool=name)
        bulk = self._bulk(call, partial(contract_of, name, messages.creates_many(words)))
        tool = bulk.tool(WHOLE_BODY)
        self.actions[name] = call.action
        self.registry.add(
            tool.contract,
            tool.function,
            title=words,
            annotations=hints(call.action),
            access_check=bulk.access_check,
            variant=self._variants(bulk, takes_rows=True),
            extra_help=partial(extra_help_of_view, call.arguments, self.chosen.max_bulk),
            placeholders=partial(with_placeholders, call.arguments),
        )

    def _bulk(self, call: SyncInvocation, compiles: Compile) -> Bulk:
        """The variants of a tool for many rows, with the results that all its variants share."""
        return Bulk(
            call=call,
            compile=compiles,
            most=self.chosen.max_bulk,
            results=results_of(call, self.chosen),
            access_check=partial(access_check_of_view, call),
        )

    def _variants(self, bulk: Bulk, *, takes_rows: bool) -> Variant:
        """Help, the next page of a result and, for a create, many rows."""
        continuation = Continuation(
            results=bulk.results, access_check=bulk.access_check, compile=bulk.compile
        )
        helping = help_variant_of_view(bulk.call, self.registry.find, bulk.access_check)
        return variants_of(helping, continuation, bulk if takes_rows else None)

    def add_dispatchers(self) -> None:
        """One tool for many, once all of them are there: those of each class, and those that the
        setting groups.
        """
        word = control_names(self.chosen.arguments).get("help") or "help"
        single = dict(self.actions)
        for each, below in self.dispatchers.items():
            self.registry.dispatcher(
                each.name, below, title=each.title, description=each.description, help=word
            )
            for tool in below.values():
                single.pop(tool, None)
        names = [(self.names.get(tool) or parted(tool), each) for tool, each in single.items()]
        for group in grouped(self.chosen.dispatch, names):
            name = free(group.name, {*self.registry.tools, *self.registry.hidden})
            summaries = (self.summaries.get(tool) for tool in group.alone)
            words = next(filter(None, summaries), "")
            self.registry.dispatcher(
                name, group.below, title=group.title, description=words, help=word
            )
            for tool, shown in names_of_clients(name, group.below):
                self.published.tools[self.actions[tool]] = shown
        resources = [name.resource for name, _ in names]
        for pattern, reason in unused_patterns(self.chosen.dispatch, resources):
            self.unused_patterns.append(LeftOut(pattern, reason))
