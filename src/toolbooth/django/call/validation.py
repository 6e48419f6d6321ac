"""What no view judges: an address must be whole, a choice must be one, a page must be one that
there can be.

A view, or what it filters and pages with, would read such a value as if nothing had been sent.
Everything else is the view's to judge. What is not of its type is refused already, and only passes
through here so that all is told at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from toolbooth.contract import InvalidValues, Objection
from toolbooth.django.call.bodies import text
from toolbooth.django.describe.arguments import Arguments, Slot
from toolbooth.django.describe.paging import Bound
from toolbooth.jsonvalue import Json

Place = tuple[str | int, ...]

_EMPTY = "is empty, and would be ignored: leave it out"


@dataclass(frozen=True, slots=True)
class Validation:
    """Validates the arguments of one tool."""

    arguments: Arguments

    def __call__(self, sent: Json) -> Json:
        """The arguments as they are. Raises InvalidValues."""
        told = list(self._flat(sent, ()))
        for name, own in self.arguments.protocol.items():
            if name in sent:
                told += (
                    self._filters(name, sent)
                    if own == "filters"
                    else self._protocol(name, sent[name])
                )
        if told or any(name not in sent for name in self.arguments.named("path").values()):
            told = [*self._missing(sent), *told]
            raise InvalidValues(lambda: told)
        return sent

    def _missing(self, sent: Json) -> Iterator[Objection]:
        """All that is: the view, which would say it of what it reads, is not called any more."""
        for name in self.arguments.required:
            if name not in sent:
                yield Objection(place=(name,), kind="missing", message="")

    def _flat(self, sent: Json, above: Place) -> Iterator[Objection]:
        for name, value in sent.items():
            slot = self.arguments.slots.get(name)
            if slot is None:
                continue
            if slot.is_filter and _is_empty(value, slot.ignored_characters):
                yield Objection(place=(*above, name), kind="invalid", message=_EMPTY)
            elif slot.choices and (wrong := _no_choice(slot, value)):
                alone = not isinstance(value, list) and wrong == [
                    text(value)
                ]  # then what was sent is told anyway
                message = f"must be one of {', '.join(slot.choices)}"
                message += "" if alone else f", not {', '.join(map(repr, wrong))}"
                yield Objection(place=(*above, name), kind="invalid", message=message)
            if slot.bound is not None:
                yield from self._bound(name, slot, sent)

    def _bound(self, name: str, slot: Slot, sent: Json) -> Iterator[Objection]:
        bound = cast("Bound", slot.bound)
        if wanted := _within(bound.least, bound.most, sent[name]):
            yield Objection(place=(name,), kind="invalid", message=f"must be {wanted}")
        needed = None if bound.needs is None else self.arguments.named("query").get(bound.needs)
        if needed is not None and needed not in sent:
            yield Objection(
                place=(name,),
                kind="invalid",
                message=f"counts for nothing without {needed}: send both",
            )

    def _filters(self, name: str, sent: Json) -> Iterator[Objection]:
        inner: Any = sent[name]
        if not isinstance(inner, dict):
            return
        filters = cast("Json", inner)
        for key in filters.keys() & sent.keys():
            message = f"stands beside {name} too; send it once"
            yield Objection(place=(name, key), kind="conflicting_keys", message=message)
        yield from self._flat(filters, (name,))

    def _protocol(self, name: str, value: Any) -> Iterator[Objection]:
        schema = self.arguments.wide[name]
        wanted = _within(schema.get("minimum"), schema.get("maximum"), value)
        if "enum" in schema and value not in schema["enum"]:
            wanted = f"one of {', '.join(schema['enum'])}"
        if wanted:
            yield Objection(place=(name,), kind="invalid", message=f"must be {wanted}")


def _is_empty(value: Any, idle: str) -> bool:
    """Whether a value is nothing once it is read: filters trim what they get."""
    if isinstance(value, list):
        return all(_is_empty(each, idle) for each in cast("list[Any]", value))
    return isinstance(value, str) and all(each.isspace() or each in idle for each in value)


def _no_choice(slot: Slot, value: Any) -> list[str]:
    """What was sent and is none of the choices."""
    several: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [value]
    if slot.comma_separated:
        several = [each for one in several for each in text(one).split(",")]
    return [text(each) for each in several if text(each).strip() not in slot.choices]


def _within(least: int | None, most: int | None, value: Any) -> str:
    """What a number should have been; nothing where it is right, or is none."""
    if not isinstance(value, int):
        return ""
    if (least is None or value >= least) and (most is None or value <= most):
        return ""
    if most is None:
        return f"{least} or more"
    return f"{least} to {most}" if least is not None else f"{most} or less"
