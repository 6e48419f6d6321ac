"""What an agent can do after the API has refused a call: which rows there are instead of one that
does not exist, which tool to call next, and when to try again.

Only rows and tools that this caller may list and call are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from rest_framework.exceptions import NotAuthenticated

from toolbooth.django import messages
from toolbooth.django.call.caller import Caller
from toolbooth.django.call.visible_rows import VisibleRows, in_words, rows_of
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.published_models import model_of
from toolbooth.django.describe.relations import NO_SUCH_ROW, Relation, field_at
from toolbooth.errors import Problem
from toolbooth.jsonvalue import JsonPath, is_array, is_mapping, is_object, look_up, quoted

MOST_ROWS = 10
"""Rows that are named instead of one that does not exist."""

_MOST_KEYS = 100
"""Keys of a list among which those without a row are looked for."""


# --- rows that do not exist -----------------------------------------------------------------------


def with_existing_rows(
    problem: Problem, arguments: Arguments, who: Caller, serializer: Callable[[], Any]
) -> Problem:
    """A problem with a row that does not exist, with those that do. `serializer` makes the one that
    reads the body for this caller.
    """
    relation = _relation_at(arguments.relations, problem.path)
    if problem.kind != NO_SUCH_ROW or relation is None:
        return problem
    what = _what_is_missing(problem, relation, who)
    path = arguments.path_in_body(relation.path)
    existing = _existing(relation, who, partial(_rows_taken, serializer, path))
    ways = [what, existing, _tool_to_create(relation.model, who)]
    return replace(problem, message="; ".join(filter(None, ways)))


def _rows_taken(serializer: Callable[[], Any], path: tuple[str, ...]) -> Any:
    """The rows that the field of a relation takes."""
    return field_at(serializer(), path).get_queryset()


def _relation_at(relations: Any, path: JsonPath) -> Relation | None:
    found = relations
    for step in path:
        if is_array(found):
            found = found[0]
            if isinstance(step, int):
                continue
        found = found.get(str(step)) if is_object(found) else None
    if is_array(found):
        found = found[0]
    return found if isinstance(found, Relation) else None


def _what_is_missing(problem: Problem, relation: Relation, who: Caller) -> str:
    """REST framework speaks of keys of objects. What was sent is clearer, if it can be found."""
    try:
        sent = look_up(who.sent, problem.path)
    except (LookupError, TypeError):
        sent = None
    items: list[Any] = sent if is_array(sent) else [sent]
    keys = [each for each in items if isinstance(each, str | int)]
    missing = _without_row(keys[:_MOST_KEYS], relation)
    if not missing:
        return problem.message.rstrip(".")
    return messages.no_such_row(relation.kind, missing)


def _without_row(keys: list[Any], relation: Relation) -> list[str]:
    rows: Any = relation.model._base_manager
    try:
        known = rows.filter(**{f"{relation.key}__in": keys}).values_list(relation.key, flat=True)
        found = set(map(str, known))
    except (ValueError, TypeError):  # no row could have such a key
        found = set[str]()
    except Exception:
        return []
    return [quoted(str(each)) for each in keys if str(each) not in found]


def _existing(relation: Relation, who: Caller, taken: Callable[[], Any]) -> str:
    """The rows that the field takes and the caller can list; the tool that lists them if there are
    more.
    """
    model = relation.model
    for view in VisibleRows(who=who, published=who.models, path_values={}).views(model):
        try:
            rows = list(rows_of(view).filter(pk__in=taken().values("pk"))[: MOST_ROWS + 1])
            named = [in_words(view, row, relation.key) for row in rows[:MOST_ROWS]]
        except Exception:  # a view that lists its rows in a way of its own
            continue
        tool = who.models.tool(who.models.lists[model][0]) if len(rows) > MOST_ROWS else ""
        return messages.existing_rows(named, tool)
    return ""


def _tool_to_create(model: Any, who: Caller) -> str:
    tool = _tool(who.models.creates.get(model, ()), who)
    return messages.create_with(tool) if tool else ""


# --- statuses -------------------------------------------------------------------------------------


def next_step(response: Any, action: Action | None, who: Caller) -> str:
    """What to do after a refusal with this status; empty if that is not known."""
    status: int = response.status_code
    if status == 429:
        return messages.wait(response.get("Retry-After"))
    if status == 403:
        return "" if _lacks_credentials(response) else messages.NEEDS_OTHER_CREDENTIALS
    model = None if action is None else model_of(action)
    if status == 404 and model is not None:
        tool = _tool(who.models.lists.get(model, ()), who)
        return messages.list_with(tool) if tool else ""
    if status == 409:
        return messages.LOOK_AT_IT_FIRST
    return ""


def _lacks_credentials(response: Any) -> bool:
    """Whether no credentials were sent, as REST framework says itself."""
    data: Any = getattr(response, "data", None)
    detail: Any = data.get("detail") if is_mapping(data) else None
    return getattr(detail, "code", None) == NotAuthenticated.default_code


def _tool(actions: Iterable[Action], who: Caller) -> str:
    allowed = next((each for each in actions if who.may_call(each)), None)
    return "" if allowed is None else who.models.tool(allowed)
