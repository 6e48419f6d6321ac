"""Validates values that views do not check. The URL must be complete, a choice must exist, and a
page must be valid. A view, its filters or its paginator would act as if a wrong value had not been
sent.

The view checks all other values. Values of a wrong type are refused already; they pass through here
only so that all problems are reported at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rest_framework.settings import api_settings

from toolbooth.boundary.validate import values_of
from toolbooth.contract import InvalidValues, Objection
from toolbooth.django import messages
from toolbooth.django.call.bodies import text
from toolbooth.django.describe.arguments import Arguments, Slot
from toolbooth.django.describe.messages import placeholder
from toolbooth.django.describe.paging import LARGEST, Bound, Role
from toolbooth.jsonvalue import Json, JsonPath, is_array, is_object
from toolbooth.server.controls import wrong_length

_SAME: Mapping[str, tuple[Role, ...]] = {
    "page": ("page", "offset", "cursor"),
    "page_size": ("size",),
}
"""The parameters of a paginator with the same meaning as a control argument."""


_BLANK = ("isnull", "isempty", "empty", "isblank")
"""Lookups that find rows without a value."""


@dataclass(frozen=True, slots=True)
class Validation:
    """Validates the arguments of one tool."""

    arguments: Arguments
    path_names: tuple[str, ...] = field(init=False)
    """The arguments that are part of the path: without them the view cannot be found."""

    placeholders: Mapping[str, str] = field(init=False)
    """The values that examples show for the arguments of the path."""

    body_names: tuple[str, ...] = field(init=False)
    """The arguments that are fields of the body."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path_names", tuple(self.arguments.named("path").values()))
        placeholders = {name: placeholder(name) for name in self.path_names}
        object.__setattr__(self, "placeholders", placeholders)
        object.__setattr__(self, "body_names", tuple(self.arguments.named("body").values()))

    def __call__(self, sent: Json) -> Json:
        """Return the keyword arguments of the tool's function. Raises InvalidValues."""
        objections = list(self._view_arguments(sent, ()))
        for name, own in self.arguments.controls.items():
            if name not in sent:
                continue
            # Filters are validated like arguments of the view, but inside their object.
            if own == "filters":
                objections += self._filters(name, sent)
            else:
                objections += self._control_argument(name, sent[name])
        objections += self._said_twice(sent)
        objections += self._plain_body(sent)
        # A missing field of the body alone does not end the call here: the view decides whether
        # this caller must send it.
        if objections or any(name not in sent for name in self.path_names):
            objections = [*self.missing(sent), *objections]
            raise InvalidValues(lambda: objections)
        return {"arguments": sent}

    def _plain_body(self, sent: Json) -> Iterator[Objection]:
        """Yield an objection for each invalid value of a body that a Pydantic model or a JSON
        Schema declares. No serializer checks such a body.
        """
        if self.arguments.plain is None:
            return
        body = {name: sent[name] for name in self.body_names if name in sent}
        try:
            values_of(self.arguments.plain, body)
        except InvalidValues as error:
            yield from error.objections

    def missing(self, sent: Json) -> Iterator[Objection]:
        """Yield an objection for each missing argument. A refused call does not reach the view, so
        the view cannot report missing fields.
        """
        for name in self.arguments.required:
            if name not in sent:
                yield Objection(model_path=(name,), kind="missing", message="")

    def _view_arguments(self, sent: Json, above: JsonPath) -> Iterator[Objection]:
        """Yield an objection for each value that the view would ignore or misunderstand."""
        for name, value in sent.items():
            slot = self.arguments.slots.get(name)
            if slot is None:
                continue
            # An agent may copy `<id>` out of an example.
            if slot.part == "path" and value == self.placeholders[name]:
                message = messages.PLACEHOLDER
                yield Objection(model_path=(*above, name), kind="invalid", message=message)
            # With `?status=`, a filter returns all rows, and the agent would take them for the rows
            # that match.
            elif slot.is_filter and _is_empty(value, slot.ignored_characters):
                message = self._about_empty(name)
                yield Objection(model_path=(*above, name), kind="invalid", message=message)
            elif slot.choices and (wrong := _no_choice(slot, value)):
                # The refusal shows a single wrong value anyway.
                is_alone = not isinstance(value, list) and wrong == [text(value)]
                message = messages.one_of(slot.choices, () if is_alone else wrong)
                yield Objection(model_path=(*above, name), kind="invalid", message=message)
            if slot.bound is not None:
                yield from self._bound(name, slot.bound, sent)

    def _about_empty(self, name: str) -> str:
        """Return the advice for a filter with an empty value. It explains how to find rows in which
        the field is empty.
        """
        # A search or an order is not a field of rows, so there is no other way to advise.
        if name in (api_settings.SEARCH_PARAM, api_settings.ORDERING_PARAM):
            return messages.EMPTY_FILTER
        return messages.empty_filter(self._without_value(name.partition("__")[0]))

    def about_unknown(self, path: JsonPath) -> str | None:
        """Return the reason why the control argument at `path` is not accepted. If `path` is an
        unknown lookup such as `due__isnull`, return another way to find rows in which the field is
        empty. Return None for any other argument.
        """
        *above, name = path
        if not above and name in self.arguments.withheld:
            return self.arguments.withheld[str(name)]
        field, _, lookup = str(name).rpartition("__")
        is_filter = all(self.arguments.controls.get(str(each)) == "filters" for each in above)
        # Advice is only for a lookup such as `due__isnull`, of a field that rows can be filtered
        # by.
        if lookup not in _BLANK or not is_filter or field not in self._filtered():
            return None
        return self._without_value(field)

    def _filtered(self) -> set[str]:
        """Return the fields by which rows can be filtered."""
        slots = self.arguments.slots.items()
        return {name.partition("__")[0] for name, slot in slots if slot.is_filter}

    def _without_value(self, field: str) -> str | None:
        """Return advice on finding rows in which a field is empty. Return None if the API cannot
        find such rows.
        """
        for each in _BLANK:
            if f"{field}__{each}" in self.arguments.slots:
                return messages.send_lookup(f"{field}__{each}")
        argument = self.arguments.called("filter_keys")
        if argument is None:
            return None
        # The only example of `filter_keys` is a list with one field, which `_controls_of_view`
        # adds.
        [[key]] = self.arguments.wide[argument]["examples"]
        return messages.list_columns(argument, dict.fromkeys((key, field)))

    def _bound(self, name: str, bound: Bound, sent: Json) -> Iterator[Objection]:
        """Yield an objection for a value that the paginator would clamp or ignore."""
        if wanted := _within(bound.least, bound.most, sent[name]):
            yield Objection(model_path=(name,), kind="invalid", message=f"must be {wanted}")
        # A paginator without a default size ignores the number of a page if no size is sent.
        needed = None if bound.needs is None else self.arguments.named("query").get(bound.needs)
        size = self.arguments.called("page_size")
        if needed is not None and needed not in sent and size not in sent:
            message = messages.has_no_effect_without(needed)
            yield Objection(model_path=(name,), kind="invalid", message=message)

    def _filters(self, name: str, sent: Json) -> Iterator[Objection]:
        filters: Any = sent[name]
        if not is_object(filters):
            return
        for key in filters.keys() & sent.keys():
            message = messages.sent_beside(name)
            yield Objection(model_path=(name, key), kind="conflicting_keys", message=message)
        yield from self._view_arguments(filters, (name,))

    def _said_twice(self, sent: Json) -> Iterator[Objection]:
        """Yield an objection if a call asks for a page both by a control argument and by the
        paginator's own parameter.
        """
        for name, own in self.arguments.controls.items():
            if own not in _SAME or name not in sent:
                continue
            for other, slot in self.arguments.slots.items():
                role = None if slot.bound is None else slot.bound.role
                if role in _SAME[own] and other in sent:
                    message = messages.said_by_another(other)
                    yield Objection(model_path=(name,), kind="conflicting_keys", message=message)

    def _control_argument(self, name: str, value: Any) -> Iterator[Objection]:
        schema = self.arguments.wide[name]
        wanted = _within(schema.get("minimum"), schema.get("maximum"), value)
        if "enum" in schema and value not in schema["enum"]:
            wanted = f"one of {', '.join(schema['enum'])}"
        if wanted:
            yield Objection(model_path=(name,), kind="invalid", message=f"must be {wanted}")
        yield from wrong_length(name, schema, value)


def _is_empty(value: Any, ignored: str) -> bool:
    """Return True if a value is empty after the filter has trimmed it."""
    if is_array(value):
        return all(_is_empty(each, ignored) for each in value)
    return isinstance(value, str) and all(each.isspace() or each in ignored for each in value)


def _no_choice(slot: Slot, value: Any) -> list[str]:
    """Return the sent values that are not valid choices."""
    values = value if is_array(value) else [value]
    texts = [text(each) for each in values]
    if slot.comma_separated:
        # Such a filter has several choices in one text.
        texts = [part for each in texts for part in each.split(",")]
    return [each for each in texts if each.strip() not in slot.choices]


def _within(least: int | None, most: int | None, value: Any) -> str:
    """Return the allowed range if a number is outside of the range, otherwise an empty text."""
    if not isinstance(value, int):
        return ""
    if (least is None or value >= least) and (most is None or value <= most):
        return ""
    if most is None or (most == LARGEST and value <= LARGEST):
        return f"{least} or more"
    return f"{least} to {most}" if least is not None else f"{most} or less"
