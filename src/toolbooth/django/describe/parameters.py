"""Finds the parameters of one operation in its URL, its query and its headers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rest_framework.filters import OrderingFilter, SearchFilter

from toolbooth.django.describe import messages
from toolbooth.django.describe.paging import Bound
from toolbooth.jsonvalue import Json, is_array, is_object

_BETWEEN_WORDS = ",'\""
"""Characters that separate the words of a search, besides spaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a path or a query, or one header."""

    schema: Json
    required: bool = False
    comma_separated: bool = False
    """True if several values are sent in the query as one value, separated by commas."""
    choices: tuple[str, ...] = ()
    """All values that the parameter accepts; empty if it accepts any. Other values are refused,
    because views often ignore them.
    """
    bound: Bound | None = None
    """The limits of a parameter of the paginator; None for other parameters."""
    ignored_characters: str = ""
    """Characters that are ignored in the value, as spaces are."""
    documented_as: str | None = None
    """The name of a path parameter in its author's documentation, if it is not the name in the
    path.
    """


_UNDOCUMENTED = Parameter(schema={"type": "string"}, required=True)


def path_parameters(path: str, raw: list[Json], key: str) -> dict[str, Parameter]:
    """Return all parameters of a path. Authors may document a parameter under another name, such as
    `id` for `{pk}`. A documented name that matches no parameter of the path is dropped.
    """
    documented = parameters_in("path", raw)
    names: list[str] = re.findall(r"{(\w+)}", path)
    found = {name: documented[name] for name in names if name in documented}
    for other in documented.keys() - found.keys():
        name = _name_in_path(other, names, key)
        if name is not None:
            found[name] = replace(documented[other], documented_as=other)
    return {name: found.get(name, _UNDOCUMENTED) for name in names}


def _name_in_path(documented: str, names: list[str], key: str) -> str | None:
    """Return the parameter of the path that a documented name means. Return None if there is
    none.
    """
    # With one value in the path, a documented name can mean no other.
    if len(names) == 1:
        return names[0]
    if documented in ("id", key) and "pk" in names:
        return "pk"
    # Nested routers call the key of the row above `contact_pk`.
    parent = f"{documented.removesuffix('_id')}_pk"
    return parent if parent in names else None


def parameters_in(part: str, raw: list[Json]) -> dict[str, Parameter]:
    """Return the parameters of one part of a request: "path", "query" or "header"."""
    return {each["name"]: _parameter(each) for each in raw if each["in"] == part}


def query_parameters(
    view: Any, raw: list[Json], paging: Mapping[str, Bound]
) -> dict[str, Parameter]:
    """Return the parameters of the query, with details from the filters and the paginator."""
    found = parameters_in("query", raw)
    found |= dict(_search_and_ordering(view, raw))
    for name, bound in paging.items():
        if name in found:
            schema = {**found[name].schema, **bound.schema}
            found[name] = replace(found[name], schema=schema, bound=bound)
    return found


def _parameter(raw: Json) -> Parameter:
    schema = _without_null(raw.get("schema") or {"type": "string"})
    description = str(raw.get("description") or "").strip()
    if description and not messages.is_general_description(description):
        schema["description"] = description
    # A list has its choices in the schema of its items.
    items: Json = schema.get("items", schema)
    return Parameter(
        schema=schema,
        required=bool(raw.get("required")),
        # OpenAPI's `explode: false` means `?id=1,2` instead of `?id=1&id=2`.
        comma_separated=raw.get("explode") is False and schema.get("type") == "array",
        # As text, because they are compared with the text in the URL.
        choices=tuple(map(str, items.get("enum", ()))),
    )


def _without_null(schema: Json) -> Json:
    """Return a schema without null, because a URL cannot contain null."""
    made = dict(schema)
    if is_array(made.get("type")):
        kinds = [kind for kind in made["type"] if kind != "null"]
        made["type"] = kinds[0] if len(kinds) == 1 else kinds
    if "enum" in made:
        made["enum"] = [each for each in made["enum"] if each is not None]
    if is_object(made.get("items")):
        made["items"] = _without_null(made["items"])
    return made


# --- search and ordering ---


def _search_and_ordering(view: Any, raw: list[Json]) -> Iterator[tuple[str, Parameter]]:
    """Yield the parameters for search and ordering with details. drf-spectacular describes both as
    text without any limits.
    """
    # A parameter that its author documents in more detail is left alone.
    texts = [each for each in raw if each.get("schema") == {"type": "string"}]
    names = {each["name"] for each in texts if each["in"] == "query"}
    for backend in getattr(view, "filter_backends", None) or ():
        filters: Any = backend()
        if isinstance(filters, OrderingFilter) and filters.ordering_param in names:
            if fields := _orderings(filters, view):
                yield filters.ordering_param, _ordering_parameter(fields)
        elif isinstance(filters, SearchFilter) and filters.search_param in names:
            yield filters.search_param, _search_parameter(filters, view)


def _ordering_parameter(names: list[str]) -> Parameter:
    # REST framework ignores names that it does not know, so the valid ones are listed.
    choices = tuple(each for name in names for each in (name, f"-{name}"))
    schema = {"type": "string", "enum": list(choices)}
    return Parameter(schema=schema, comma_separated=True, choices=choices)


def _search_parameter(filters: Any, view: Any) -> Parameter:
    fields: list[str] = filters.get_search_fields(view, view.request) or []
    schema = {"type": "string"}
    if fields:
        # REST framework's prefixes choose the kind of search: `^name` finds beginnings.
        schema["description"] = f"in {', '.join(name.lstrip('^=@$') for name in fields)}"
    return Parameter(schema=schema, ignored_characters=_BETWEEN_WORDS)


def _orderings(filters: Any, view: Any) -> list[str]:
    """Return the fields by which rows can be ordered. If only a call can find the model, return an
    empty list; the parameter then accepts any text.
    """
    try:
        valid = filters.get_valid_fields(view.queryset, view, {"request": view.request})
    except Exception:
        return []
    return [str(name) for name, _ in valid]
