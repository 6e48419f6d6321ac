"""Builds the tools of a catalogue one by one: an action becomes a tool of the registry."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.utils import translation
from django.utils.translation import get_language

from toolbooth.contract import Contract
from toolbooth.django import decorators
from toolbooth.django.call.bulk import Bulk, Compile, function_of, takes_many
from toolbooth.django.call.filters import query_of
from toolbooth.django.call.inner_middleware import inner_middleware
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.receipts import Advised
from toolbooth.django.call.variants import variants_of
from toolbooth.django.conf import Configuration
from toolbooth.django.describe import messages
from toolbooth.django.describe.arguments import arguments_of
from toolbooth.django.describe.contracts import (
    access_check_of_function,
    access_check_of_view,
    contract_of,
    hints,
    listed_contract,
)
from toolbooth.django.describe.declared_bodies import (
    WHOLE_BODY,
    WrongBody,
    declared_body,
    entry_of_bodies,
)
from toolbooth.django.describe.describing import describing
from toolbooth.django.describe.descriptions import description_of, nouns, summary
from toolbooth.django.describe.discovery import STANDARD_ACTIONS, Action
from toolbooth.django.describe.extra_context import ExtraContext, extra_context
from toolbooth.django.describe.extra_help import (
    extra_help_of_function,
    extra_help_of_view,
    help_schema_of_view,
    help_variant_of_view,
    with_placeholders,
)
from toolbooth.django.describe.gateway_arguments import offer
from toolbooth.django.describe.grouping import Group, grouped, names_of_clients, unused_patterns
from toolbooth.django.describe.left_out import LeftOut
from toolbooth.django.describe.names import Name, free, parted
from toolbooth.django.describe.openapi import Unknowable
from toolbooth.django.describe.operations import operations
from toolbooth.django.describe.published_models import NO_MODELS, PublishedModels
from toolbooth.django.describe.verbatim import with_verbatim
from toolbooth.django.results.continuation import Continuation
from toolbooth.django.results.function_results import FunctionTool, function_tool
from toolbooth.django.results.paged_results import results_of
from toolbooth.publish import PROFILES
from toolbooth.server.controls import BOOLEAN, control_names, instructions, is_free, publishing
from toolbooth.server.dispatch.variants import first_variant, help_variant, without_help
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.stored_list import StoredTool, stored_tool
from toolbooth.server.tool import AccessCheck, Tool, Variant

logger = logging.getLogger("toolbooth.django")


@dataclass(slots=True)
class Building:
    """The tools of a catalogue while they are being described, and the mistakes that were found."""

    chosen: Configuration
    registry: ToolRegistry = field(init=False)
    context: ExtraContext = field(init=False)
    actions: dict[str, Action] = field(default_factory=dict[str, Action])
    body_names: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])
    faults: list[LeftOut] = field(default_factory=list[LeftOut])
    clashes: list[LeftOut] = field(default_factory=list[LeftOut])
    creates: dict[str, SyncInvocation] = field(default_factory=dict[str, SyncInvocation])
    """The tools that can create many rows in one call, by name."""
    described: dict[str, tuple[SyncInvocation, str]] = field(
        default_factory=dict[str, tuple[SyncInvocation, str]]
    )
    """The calls and descriptions of view tools that are listed, but not made yet."""
    language: str | None = field(default_factory=get_language)
    """The language of every description, fixed when the catalogue is started."""
    published: PublishedModels = NO_MODELS
    repeating: set[Action] = field(default_factory=set[Action])
    names: dict[str, Name] = field(default_factory=dict[str, Name])
    """The name of each view's tool, split into its parts."""
    summaries: dict[str, str] = field(default_factory=dict[str, str])
    """Maps each standard tool of a view to the first paragraph of its description."""
    dispatchers: dict[decorators.Dispatcher, dict[str, str]] = field(
        default_factory=dict[Any, dict[str, str]]
    )
    """For each hand-written dispatcher, the tool of each of its actions."""
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
        """Return a sentence about how a result violates the tool's output schema. Return None if
        the result is valid.
        """
        # The tool is looked up by name, because it is registered only after its function is made.
        check = self.registry.find(name).output_check
        return None if check is None else check(text)

    def _helped(self, made: FunctionTool, word: str, hidden: AccessCheck) -> Variant:
        """Return the variants of a hand-written tool that has help."""
        helping = help_variant(word, made.contract.name, self.registry.find, hidden)
        single = Tool(contract=made.contract, function=made.function, access_check=hidden)
        return first_variant(helping, made.variant, without_help(single, word))

    def promise(self, name: Name, action: Action) -> None:
        """Register the name of a view's tool. The tool is described when it is first needed."""
        tool = name.tool
        self.names[tool] = name
        self.actions[tool] = action
        self.published.tools[action] = tool
        make, lister = partial(self._make, tool, action), partial(self._entry, tool, action)
        self.registry.promised.add(tool, make, lister=lister)

    def needs(self, tool: str) -> None:
        """Describe a tool, so that the name by which clients call it is known."""
        self.registry.promised.enter(tool)

    def _make(self, name: str, action: Action) -> None:
        with self._speaking():
            found = self._described_call(name, action)
            if found is not None:
                self._add_call(*found)
                del self.described[name]

    def _entry(self, name: str, action: Action) -> StoredTool | None:
        """Return the entry of a tool for the list."""
        with self._speaking():
            found = self._described_call(name, action)
            return None if found is None else self._stored(*found)

    @contextmanager
    def _speaking(self) -> Generator[None]:
        # All callers share a description, so the language of this caller does not matter.
        with describing(), translation.override(self.language):
            yield

    def _described_call(self, name: str, action: Action) -> tuple[SyncInvocation, str] | None:
        """Return the call of an action and its description. Each is described once."""
        if name not in self.described:
            found = self._describe(name, action)
            if found is None:
                # The action is left out, so no list and no other description may name its tool.
                del self.actions[name], self.published.tools[action]
                return None
            self.described[name] = found
        return self.described[name]

    def _describe(self, name: str, action: Action) -> tuple[SyncInvocation, str] | None:
        """Describe an action. Return None if its tool must be left out."""
        try:
            declared = declared_body(name, action, self.chosen)
            described, for_superuser = operations(action, declared, self.context)
            if described is None:
                self.left_out.append(LeftOut(name, messages.EXCLUDED))
                return None
            arguments = arguments_of(described, for_superuser)
            arguments.repeats = action in self.repeating
            clashes = offer(arguments, described, self.chosen)
        except WrongBody as reason:
            self.wrong_entries.append(LeftOut(entry_of_bodies(name), str(reason)))
            self.left_out.append(LeftOut(name, messages.wrong_body(str(reason))))
            return None
        except Unknowable as reason:
            self.left_out.append(LeftOut(name, str(reason)))
            return None
        # A view that cannot be described must not prevent the description of all others.
        except Exception as error:
            logger.warning("%s cannot be described", action.path, exc_info=True)
            self.left_out.append(LeftOut(name, messages.not_described(error)))
            return None
        # The description of another action is about that action, not about the resource.
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
        description = description_of(described, arguments, self.published)
        if takes_many(call):
            self.creates[name] = call
            # With `bulk_tools`, a separate tool takes many rows, so this description need not
            # mention them.
            if not self.chosen.bulk_tools:
                description = f"{description.rstrip('. ')}. {messages.TAKES_MANY}"
        self.body_names[name] = call.body_names
        return call, description

    def _stored(self, call: SyncInvocation, description: str) -> StoredTool:
        """Return the entry of a view's tool for the list."""
        profile = self.registry.profile
        # A profile of the project may read more of the contract than its schemas.
        made_by = listed_contract if profile in PROFILES.values() else contract_of
        contract = made_by(call.tool, description, call.arguments)
        annotations = hints(call.action, call.body_serializer) or None
        tool = Tool(contract=contract, function=dict, annotations=annotations, profile=profile)
        return stored_tool(tool)

    def _add_call(self, call: SyncInvocation, description: str) -> None:
        name, action, arguments = call.tool, call.action, call.arguments
        most_rows = self.chosen.max_bulk if takes_many(call) else None
        # This includes views that take only lists: an agent may send the rows under another common
        # name, such as `items`.
        takes_rows = action.name == "create" and arguments.plain is None
        compiles = partial(contract_of, name, description)
        bulk = self._bulk(call, compiles)
        contract = with_verbatim(compiles(arguments), self.chosen.verbatim)
        self.registry.add(
            contract,
            Advised(contract, query_of(call, function_of(call, bulk.results))),
            annotations=hints(action, call.body_serializer),
            access_check=bulk.access_check,
            variant=self._variants(bulk, takes_rows=takes_rows),
            extra_help=partial(extra_help_of_view, arguments, most_rows),
            help_schema=help_schema_of_view(call),
            placeholders=partial(with_placeholders, arguments),
        )

    def promise_bulk(self, name: str, tool: str) -> None:
        """Register the name of a separate tool that creates many rows. If another tool has this
        name, do nothing. The tool is described when it is first needed.
        """
        if name not in self.actions:
            self.actions[name] = self.actions[tool]
            self.registry.promised.add(name, partial(self._add_bulk, name, tool))

    def _add_bulk(self, name: str, tool: str) -> None:
        self.registry.promised.make(tool)
        # Describing the create tool has shown that it takes only one row at a time.
        if tool not in self.creates:
            del self.actions[name]
            return
        call = self.creates[tool]
        words = f"Create many {nouns(call.action)[1]}"
        call = replace(call, tool=name)
        bulk = self._bulk(call, partial(contract_of, name, messages.creates_many(words)))
        many = bulk.tool(WHOLE_BODY)
        self.registry.add(
            many.contract,
            many.function,
            title=words,
            annotations=hints(call.action, call.body_serializer),
            access_check=bulk.access_check,
            variant=self._variants(bulk, takes_rows=True),
            extra_help=partial(extra_help_of_view, call.arguments, self.chosen.max_bulk),
            placeholders=partial(with_placeholders, call.arguments),
        )

    def _bulk(self, call: SyncInvocation, compiles: Compile) -> Bulk:
        """Return an object that makes the variants of a tool for many rows."""
        return Bulk(
            call=call,
            compile=compiles,
            most=self.chosen.max_bulk,
            results=results_of(call, self.chosen),
            access_check=partial(access_check_of_view, call),
        )

    def _variants(self, bulk: Bulk, *, takes_rows: bool) -> Variant:
        """Return the variants of a view's tool: help, the next page of a result and, for a create,
        many rows.
        """
        continuation = Continuation(
            results=bulk.results, access_check=bulk.access_check, compile=bulk.compile
        )
        helping = help_variant_of_view(bulk.call, self.registry.find, bulk.access_check)
        return variants_of(helping, continuation, bulk, self.registry.find, takes_rows=takes_rows)

    def add_dispatchers(self) -> None:
        """Add the dispatchers that the project has written, and those that the setting asks for."""
        single = dict(self.actions)
        for each, below in self.dispatchers.items():
            self.registry.dispatcher(
                each.name,
                below,
                title=each.title,
                description=each.description,
                help=self._help_word,
            )
            # A tool of a hand-written dispatcher belongs to no other group.
            for tool in below.values():
                single.pop(tool, None)
        # The names of hand-written tools are not in `names`, so they are split here.
        names = [(self.names.get(tool) or parted(tool), each) for tool, each in single.items()]
        taken = {*self.registry.tools, *self.registry.hidden, *self.actions}
        for group in grouped(self.chosen.dispatch, names):
            name = free(group.name, taken)
            taken.add(name)
            self.registry.promised.add(name, partial(self._add_group, name, group), group.tools)
        unused = unused_patterns(self.chosen.dispatch, [name for name, _ in names])
        self.unused_patterns += [LeftOut(*each) for each in unused]

    def _add_group(self, name: str, group: Group) -> None:
        for tool in group.tools:
            self.registry.promised.make(tool)
        # Describing the tools may have left some of them out.
        group = group.only(self.actions)
        # All its tools were left out, so a dispatcher would have no action.
        if not group.resources:
            return
        summaries = (self.summaries.get(tool) for tool in group.alone)
        words = next(filter(None, summaries), "")
        self.registry.dispatcher(
            name, group.below, title=group.title, description=words, help=self._help_word
        )
        # Other descriptions refer to a tool in the form in which clients call it.
        for tool, shown in names_of_clients(name, group.below):
            self.published.tools[self.actions[tool]] = shown

    @property
    def _help_word(self) -> str:
        return control_names(self.chosen.arguments).get("help") or "help"
