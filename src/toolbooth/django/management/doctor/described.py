"""Makes findings from the descriptions of views: tools and fields that are left out, complaints of
drf-spectacular, and bodies that are not declared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.former_guesses import (
    Difference,
    differences,
    handler_of,
    reads_body,
    uses_request_data,
)
from toolbooth.django.describe.function_views import import_path_of, is_function
from toolbooth.django.describe.messages import wrong_body
from toolbooth.django.management.doctor import messages
from toolbooth.django.management.doctor.causes import cause_of_complaint, cause_of_left_out
from toolbooth.django.management.doctor.findings import Cause, Finding
from toolbooth.lint.check import lint

READS_UNDECLARED = Cause(
    "undeclared-body", messages.READ_UNDECLARED_BODIES, messages.DECLARE_BODIES
)
NO_BODY = Cause("no-body", messages.DECLARE_NO_BODY, "")
DELETES = Cause(
    "undeclared-body-of-delete", messages.DELETES_READ_BODIES, messages.DECLARE_BODIES_OF_DELETES
)
NEW_BODIES = Cause("new-body-of-delete", messages.DELETES_WITH_NEW_BODIES, "")
LISTS = Cause("unmarked-list", messages.UNMARKED_LISTS, messages.MARK_LISTS)


def left_out() -> Iterator[Finding]:
    """Yield tools and fields that are not published. Those that are left out because of a wrong
    entry in the settings are skipped: the entry itself is reported as an error.
    """
    told = {wrong_body(each.why) for each in catalogue().wrong_entries}
    for each in catalogue().left_out:
        if each.why in told:
            continue
        level, cause = cause_of_left_out(each.why)
        # In all of these messages, the remedy follows the semicolon.
        what, _, remedy = each.why.partition("; ")
        yield Finding(level, f"{each.what}: {what}", remedy, cause, each.what)
    if not catalogue().left_out:
        yield Finding("ok", messages.NOTHING_LEFT_OUT)


def schemas() -> Iterator[Finding]:
    """Yield the complaints of drf-spectacular, and one finding about broken lint rules that matter
    to some clients.
    """
    is_whole = True
    for each in catalogue().faults:
        known = cause_of_complaint(each.why)
        if known is None:
            continue
        is_whole = False
        level, cause = known
        what = f"{each.what}: drf-spectacular: {each.why}"
        yield Finding(level, what, messages.DESCRIBE_WITH_EXTEND_SCHEMA, cause, each.what)
    if is_whole:
        yield Finding("ok", messages.ALL_DESCRIBED)
    report = lint([tool.listing() for tool in catalogue().registry.tools.values()])
    # Warnings and errors are about tools that a client refuses or misreads. Notes are left out:
    # they are about style, and about constraints that clients drop.
    rules = Counter(each.rule for each in report.at_least("warning"))
    if rules:
        counts = ", ".join(f"{rule} ({count})" for rule, count in rules.most_common())
        yield Finding("note", messages.trouble_for_clients(counts), messages.RUN_LINT)


def bodies() -> Iterator[Finding]:
    """Yield actions that declare no body. Also yield views for which earlier versions of Toolbooth
    sent another body than the declared one.
    """
    found = [_finding_of_undeclared_body(tool) for tool in catalogue().undeclared_bodies]
    changed = differences(catalogue().actions, catalogue().configuration)
    found += map(_finding_of_difference, changed)
    yield from found
    if not found:
        yield Finding("ok", messages.BODIES_ARE_DECLARED)


def _finding_of_undeclared_body(tool: str) -> Finding:
    action = catalogue().actions[tool]
    place = import_path_of(action.view)
    # A function view has no methods of its own.
    if not is_function(action.view):
        place = f"{place}.{handler_of(action)}"
    handler = place.rpartition(".")[2]
    what = messages.action_without_body(tool, place)
    if not uses_request_data(action):
        remedy = messages.declare_that_there_is_none(handler)
        return Finding("note", what, remedy, NO_BODY, tool)
    serializer: Any = getattr(action.view, "serializer_class", None)
    # If the code seems to use the view's serializer, the remedy can name it.
    reader = serializer.__name__ if reads_body(action) and serializer is not None else None
    remedy = messages.declare_body_of_action(tool, handler, reader)
    return Finding("warning", what, remedy, READS_UNDECLARED, tool)


def _finding_of_difference(found: Difference) -> Finding:
    tool = found.tool
    path = import_path_of(found.view)
    name = path.removeprefix(f"{found.view.__module__}.")
    match found.kind:
        case "undeclared body":
            serializer: Any = getattr(found.view, "serializer_class", None)
            reader: str = getattr(serializer, "__name__", "…")
            remedy = messages.declare_body(name, found.handler, reader)
            what = messages.undeclared_body(tool, path)
            return Finding("warning", what, remedy, DELETES, tool)
        case "newly sent body":
            remedy = messages.declare_no_body(name, found.handler)
            what = messages.newly_sent_body(tool, path)
            return Finding("note", what, remedy, NEW_BODIES, tool)
        case "unmarked list":
            remedy = messages.mark_as_bulk(name)
            what = messages.unmarked_list(tool, path)
            return Finding("note", what, remedy, LISTS, tool)
