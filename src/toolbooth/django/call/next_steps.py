"""Finds the next step for the agent after the API has refused a call: rows that exist, if the call
names a missing row; the tool to call next; or the time to try again.

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
"""The most existing rows that are named if a row does not exist."""

_GONE = (404, 410)
_CHANGED = (409, 412, 423, 428)
"""Statuses for a row that someone else has changed or locked, or that must be read first."""

_MOST_KEYS = 100
"""The most keys of a list that are searched for those without a row."""


# --- rows that do not exist -----------------------------------------------------------------------


def with_existing_rows(
    problem: Problem,
    arguments: Arguments,
    who: Caller,
    serializer: Callable[[], Any],
    sent: Any = None,
) -> Problem:
    """Return the problem. If it is about a row that does not exist, add the existing rows to its
    message. `serializer` is a function that makes the serializer of the body for this caller.
    `sent` has the arguments to which the problem belongs; the default is the arguments of the whole
    call.
    """
    relation = _relation_at(arguments.relations, problem.path)
    if problem.kind != NO_SUCH_ROW or relation is None:
        return problem
    path = arguments.path_in_body(relation.path)
    taken = partial(_rows_taken, serializer, path)
    arguments_sent = who.sent if sent is None else sent
    what = _what_is_missing(problem, relation, arguments_sent, taken)
    existing = _existing(relation, who, taken)
    ways = [what, existing, _tool_to_create(relation.model, who)]
    return replace(problem, message="; ".join(filter(None, ways)))


def _rows_taken(serializer: Callable[[], Any], path: tuple[str, ...]) -> Any:
    """Return the rows that the relational field at `path` accepts."""
    return field_at(serializer(), path).get_queryset()


def _relation_at(relations: Any, path: JsonPath) -> Relation | None:
    found = relations
    for step in path:
        # In `relations`, a list has one entry, which is valid for all rows.
        if is_array(found):
            found = found[0]
            if isinstance(step, int):
                continue
        found = found.get(str(step)) if is_object(found) else None
    if is_array(found):
        found = found[0]
    return found if isinstance(found, Relation) else None


def _what_is_missing(
    problem: Problem, relation: Relation, arguments: Any, taken: Callable[[], Any]
) -> str:
    """Return the message for rows that do not exist. The message names the missing rows as they
    were sent. If the missing rows cannot be found, return REST framework's message.
    """
    try:
        sent = look_up(arguments, problem.path)
    except (LookupError, TypeError):
        sent = None
    items: list[Any] = sent if is_array(sent) else [sent]
    keys = [each for each in items if isinstance(each, str | int)]
    missing = _without_row(keys[:_MOST_KEYS], relation, taken)
    if not missing:
        return problem.message.rstrip(".")
    return messages.no_such_row(relation.kind, missing)


def _without_row(keys: list[Any], relation: Relation, taken: Callable[[], Any]) -> list[str]:
    """Return the keys for which the field accepts no row. A row that the caller may not see counts
    as missing, because the message must not show that it exists.
    """
    try:
        rows = taken()
        found = _keys_in(rows, relation.key, keys)
        if found is None:  # one of them is not a possible key
            each_alone = (_keys_in(rows, relation.key, [each]) for each in keys)
            found = set[str]().union(*filter(None, each_alone))
    except Exception:
        return []
    return [quoted(str(each)) for each in keys if str(each) not in found]


def _keys_in(rows: Any, key: str, wanted: list[Any]) -> set[str] | None:
    """Return those keys of `wanted` that belong to one of `rows`. Return None if a value of
    `wanted` cannot be a key.
    """
    try:
        known = rows.filter(**{f"{key}__in": wanted}).values_list(key, flat=True)
        return set(map(str, known))
    except (ValueError, TypeError):
        return None


def _existing(relation: Relation, who: Caller, taken: Callable[[], Any]) -> str:
    """Return a sentence with the rows that the field accepts and the caller can list. If there are
    more rows, it also names the tool that lists them.
    """
    model = relation.model
    for view in VisibleRows(who=who, published=who.models, path_values={}).views(model):
        try:
            # The field may accept fewer rows than the list shows, such as only those that are
            # active. One row more than can be named shows whether there are others.
            rows = list(rows_of(view).filter(pk__in=taken().values("pk"))[: MOST_ROWS + 1])
            named = [in_words(view, row, relation.key) for row in rows[:MOST_ROWS]]
        except Exception:  # the view may list its rows by its own code
            continue
        tool = who.models.tool(who.models.lists[model][0]) if len(rows) > MOST_ROWS else ""
        return messages.existing_rows(named, tool)
    return ""


def _tool_to_create(model: Any, who: Caller) -> str:
    tool = _tool(who.models.creates.get(model, ()), who)
    return messages.create_with(tool) if tool else ""


# --- statuses -------------------------------------------------------------------------------------


def next_step(response: Any, action: Action | None, who: Caller) -> str:
    """Return a sentence with the next step after a refusal. Return an empty text if no step is
    known.
    """
    status: int = response.status_code
    pause = response.get("Retry-After")
    # A pause may come with other statuses too, such as 503.
    if status == 429 or pause:
        return messages.wait(pause)
    # REST framework also returns 403 for missing credentials, if its first authenticator has no
    # challenge.
    if status == 403:
        return "" if _lacks_credentials(response) else messages.NEEDS_OTHER_CREDENTIALS
    model = None if action is None else model_of(action)
    if status in _GONE and model is not None:
        tool = _tool(who.models.lists.get(model, ()), who)
        return messages.list_with(tool) if tool else ""
    if status in _CHANGED:
        return messages.LOOK_AT_IT_FIRST
    return ""


def _lacks_credentials(response: Any) -> bool:
    """Return True if REST framework refused the call because no credentials were sent."""
    data: Any = getattr(response, "data", None)
    detail: Any = data.get("detail") if is_mapping(data) else None
    return getattr(detail, "code", None) == NotAuthenticated.default_code


def _tool(actions: Iterable[Action], who: Caller) -> str:
    allowed = next((each for each in actions if who.may_call(each)), None)
    return "" if allowed is None else who.models.tool(allowed)
