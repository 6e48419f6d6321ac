"""Everything in the URLconf that can be called, compiled once: the tools, and what was left out and why."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from toolbooth.contract import Contract, InvalidValues, Objection
from toolbooth.django.arguments import Arguments, Unknowable, arguments_of
from toolbooth.django.conf import Configuration, configuration
from toolbooth.django.discovery import Action, actions
from toolbooth.django.invocation import SyncInvocation
from toolbooth.django.operations import Operation, describing, operation
from toolbooth.server.registry import ToolRegistry
from toolbooth.sources.json_schema import compile_json_schema

LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An action, or one field of it, that is not published."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The tools of a project."""

    registry: ToolRegistry
    actions: Mapping[str, Action]
    left_out: tuple[LeftOut, ...]
    faults: tuple[LeftOut, ...] = field(default=())
    """What drf-spectacular could not make out."""


_lock = threading.Lock()
_built: list[Catalogue] = []


def catalogue() -> Catalogue:
    """The catalogue of this process: built whole by whoever asks first, while all others wait for it."""
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
    registry = ToolRegistry(chosen.name, instructions=chosen.instructions or None, errors=chosen.errors)
    left_out: list[LeftOut] = []
    faults: list[LeftOut] = []
    published: dict[str, Action] = {}
    with describing():
        for name, action in named(list(actions())):
            if not _is_included(name, chosen):
                continue
            described = operation(action)
            if described is None:
                continue
            faults += [LeftOut(name, each) for each in described.faults]
            try:
                arguments = arguments_of(described)
            except Unknowable as reason:
                left_out.append(LeftOut(name, str(reason)))
                continue
            left_out += [LeftOut(name, each) for each in arguments.left_out]
            contract = contract_of(name, described, arguments)
            call = SyncInvocation(tool=name, action=action, arguments=arguments, media_type=described.media_type)
            registry.add(contract, call, title=_title(action), annotations=_hints(action))
            published[name] = action
    return Catalogue(registry, published, tuple(left_out), tuple(faults))


def contract_of(name: str, described: Operation, arguments: Arguments) -> Contract:
    """A contract whose shape the boundary guards, and whose values REST framework validates: once, in the view."""
    wide = arguments.schema(arguments.wide)
    narrow = arguments.schema(arguments.properties)
    compiled = compile_json_schema(wide, name=name, description=described.description)
    return replace(compiled, describe=lambda: narrow, validate=_validate(arguments))


def _validate(arguments: Arguments) -> Callable[[Any], Any]:
    """What the address needs must be there; everything else is the view's to judge."""
    needed = [name for name, slot in arguments.slots.items() if slot.place == "path"]

    def validate(sent: dict[str, Any]) -> dict[str, Any]:
        missing = [name for name in needed if name not in sent]
        if missing:
            raise InvalidValues(lambda: [Objection(place=(name,), kind="missing", message="") for name in missing])
        return sent

    return validate


# --- names --------------------------------------------------------------------------------------------------------


def named(found: list[Action]) -> Iterator[tuple[str, Action]]:
    """Every action with its name: `contacts__create`. Where two would share one, their apps tell them apart."""
    taken = Counter(_name(action) for action in found)
    seen: Counter[str] = Counter()
    for action in found:
        name = _name(action)
        if taken[name] > 1:
            name = f"{_app(action)}__{name}"
        seen[name] += 1
        yield _fitting(name if seen[name] == 1 else f"{name}_{seen[name]}"), action


def _name(action: Action) -> str:
    base = re.sub(r"[^a-zA-Z0-9]+", "_", action.base).strip("_").lower()
    return f"{base}__{action.name}"


def _app(action: Action) -> str:
    return re.sub(r"[^a-zA-Z0-9]+", "_", action.view.__module__.partition(".views")[0].rpartition(".")[2]).lower()


def _fitting(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{name[: LONGEST_NAME - 7]}_{mark}"


def _is_included(name: str, chosen: Configuration) -> bool:
    included = any(fnmatchcase(name, pattern) for pattern in chosen.include)
    return included and not any(fnmatchcase(name, pattern) for pattern in chosen.exclude)


def _title(action: Action) -> str:
    words = f"{action.name} {action.base}".replace("_", " ").replace("-", " ")
    return words[0].upper() + words[1:]


def _hints(action: Action) -> dict[str, bool]:
    reads = action.method in ("GET", "HEAD", "OPTIONS")
    hints = {"readOnlyHint": reads}
    if not reads:
        hints["destructiveHint"] = action.method in ("PUT", "PATCH", "DELETE")
        hints["idempotentHint"] = action.method in ("PUT", "DELETE")
    return hints
