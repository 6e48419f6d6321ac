"""Creates many rows in one call: `{"objects": [...]}` on any create. The boundary examines each
row; all rows are created, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from django.db import connections
from rest_framework.serializers import ListSerializer
from typing_extensions import TypeIs

from toolbooth.boundary.read import text_as_json
from toolbooth.contract import Contract, InvalidValues, Objection
from toolbooth.django.call.api_errors import problems_of, problems_of_rows
from toolbooth.django.call.bodies import is_json
from toolbooth.django.call.caller import Caller, caller
from toolbooth.django.call.deletes import ReceiptedDelete
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.keyed_write import with_key
from toolbooth.django.call.previews import previewable
from toolbooth.django.call.receipts import (
    ReceiptedWrite,
    RecentCreates,
    is_receipted,
    key_of,
    serializer_of,
)
from toolbooth.django.call.replies import explained, json_bytes, json_fragment
from toolbooth.django.call.running_serializer import noting_unread
from toolbooth.django.call.transactions import Transaction
from toolbooth.django.describe import messages
from toolbooth.django.describe.argument_shape import declared_arguments
from toolbooth.django.describe.arguments import Arguments, Slot
from toolbooth.django.describe.declared_bodies import WHOLE_BODY
from toolbooth.django.describe.discovery import is_bulk
from toolbooth.django.results.paged_results import PagedResults
from toolbooth.errors import Declared, Problem, ToolInputError
from toolbooth.jsonvalue import Json, JsonPath, is_array, is_object
from toolbooth.server.controls import ROW_KEYS, check_plain, split_controls
from toolbooth.server.tool import Tool

Compile = Callable[[Arguments], Contract]
"""A function that makes the contract of a tool with these arguments."""


MOST_IDS = 100
"""The most keys in one receipt."""

_FAULTS_OF_ROWS = (400, 409, 422)
"""The statuses with which a view refuses one row. Other statuses, such as that of a missing
permission, are about the call.
"""


def takes_many(call: SyncInvocation) -> bool:
    """Return True if a call creates one row. Such a call can be repeated for many rows."""
    is_create = call.action.name == "create" and call.action.method == "POST"
    is_one = bool(call.arguments.named("body")) and not call.arguments.whole
    return is_create and is_one and call.arguments.plain is None


def function_of(call: SyncInvocation, results: PagedResults) -> Callable[[Json], Any]:
    """Return the function of a call. Calls that write rows return a receipt."""
    if call.action.method == "DELETE":
        return ReceiptedDelete(call=call)
    if call.action.name == "create" and call.arguments.whole:
        return BulkCreate(call=call, key=WHOLE_BODY, results=results)
    recent = RecentCreates(tool=call.tool, cache=results.chosen.cache)
    return ReceiptedWrite(call=call, recent=recent) if is_receipted(call.action) else results


# --- the variant of the tool that takes a list ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """Makes the variants of a tool that create many rows. The tool itself creates one row."""

    call: SyncInvocation
    compile: Compile
    most: int
    results: PagedResults
    access_check: Callable[[], Exception | None]
    _tools: dict[str, Tool] = field(default_factory=dict[str, Tool])

    def variant(self, sent: Any) -> Tool | None:
        """Return the variant for a call that has a list of rows under one key, such as `objects`.
        Return None for any other call.
        """
        found = text_as_json(sent)
        if not is_object(found):
            return None
        slots = self.call.arguments.slots
        keys = [key for key in ROW_KEYS if key not in slots and _is_list(found.get(key))]
        # The published name always means rows: the variant refuses all other keys.
        if WHOLE_BODY in keys:
            return self.tool(WHOLE_BODY)
        # Another name means rows only if no field of a row was sent beside it.
        has_own_fields = any(slots[name].part == "body" for name in found if name in slots)
        if len(keys) != 1 or has_own_fields:
            return None
        return self.tool(keys[0])

    def tool(self, key: str) -> Tool:
        """Return the tool that takes its rows under `key`. The tool is compiled when it is first
        needed.
        """
        if key not in self._tools:
            contract = self.compile(_arguments(self.call.arguments, key, self.most))
            # A view that takes only lists has its own limit of rows.
            if not self.call.arguments.whole:
                contract = replace(contract, validate=self._counted(contract.validate, key))
            create = BulkCreate(call=self.call, key=key, results=self.results)
            write = previewable(self.call, create)
            self._tools[key] = Tool(
                contract=contract,
                # The idempotency key is handled outside the preview. `KeyedWrite` runs a preview
                # without using up the key.
                function=with_key(self.call, write, self.results.chosen),
                access_check=self.access_check,
            )
        return self._tools[key]

    def _counted(self, validate: Callable[[Any], Any], key: str) -> Callable[[Any], Any]:
        """Return a validation that checks the number of rows first."""

        def validated(sent: Json) -> Any:
            if key not in sent:
                raise _invalid(key, "missing", "")
            count = len(sent[key])
            if not 0 < count <= self.most:
                raise _invalid(key, "invalid", messages.wrong_count(self.most, count))
            return validate(sent)

        return validated


def _invalid(key: str, kind: Literal["missing", "invalid"], message: str) -> InvalidValues:
    return InvalidValues(lambda: [Objection(model_path=(key,), kind=kind, message=message)])


def _is_list(value: Any) -> bool:
    # Some clients send the list as JSON text: `"[{...}]"`.
    return is_array(text_as_json(value) if isinstance(value, str) else value)


def _arguments(single: Arguments, key: str, most: int) -> Arguments:
    """Return the arguments of the variant: the list of rows under `key`, and all arguments of the
    tool that are not fields of a row.
    """
    rows = single.named("body")
    slots = {name: slot for name, slot in single.slots.items() if name not in rows}
    required = [name for name in single.required if name not in rows]

    def with_rows(properties: Mapping[str, Any]) -> Json:
        beside = {name: each for name, each in properties.items() if name not in rows}
        return {key: _list_of_rows(single, properties, most), **beside}

    return replace(
        single,
        repeats=True,
        properties=with_rows(single.properties),
        wide=with_rows(single.wide),
        required=[*required, key],
        slots={**slots, key: Slot(part="body", name=key)},
        relations=_relations_of_rows(single, key),
    )


def _relations_of_rows(single: Arguments, key: str) -> dict[str, Any]:
    """Return the relations of the rows. In the arguments of the variant, the rows are in a list
    under `key`.
    """
    found = single.relations
    if not found:
        return {}
    return {key: found[WHOLE_BODY] if single.whole else [found]}


def _list_of_rows(single: Arguments, properties: Mapping[str, Any], most: int) -> Json:
    if single.whole:
        return properties[WHOLE_BODY]
    names = single.named("body")
    required = [name for name in single.required if name in names]
    row = {
        "type": "object",
        # Some fields are accepted but not published, because not all callers have them.
        "properties": {name: properties[name] for name in names if name in properties},
        "required": required,
        "additionalProperties": False,
    }
    return {"type": "array", "items": row, "minItems": 1, "maxItems": most}


# --- one call ---


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkCreate:
    """Creates many rows through a view that creates one row."""

    call: SyncInvocation
    key: str
    results: PagedResults

    def __call__(self, arguments: Json) -> Any:
        """Create all rows, or none."""
        sent, asked = split_controls(arguments, self.call.arguments.controls)
        rows: list[Json] = sent[self.key]
        beside = {name: each for name, each in sent.items() if name != self.key}
        who = caller()
        # Previews and idempotency keys are handled before this function. If a bug lets one through,
        # it must not become a plain write.
        check_plain(asked, has_key=who.has_key)
        # Set before the write, because the audit log also has a line for calls that fail.
        who.bulk = (rows, None)
        with noting_unread() as unread:
            made = self.call.within(who, beside, lambda: self._made(who, beside, rows))
        value, in_order = made
        who.bulk = (rows, value)
        if asked.verify:
            return json_fragment(value, self.call.tool)
        receipt = _receipt(value, in_order=in_order)
        # A response in the view's own form is passed on unchanged, so nothing is added to it.
        if unread and receipt is not value:
            receipt["not_read"] = sorted(unread)
        is_long = receipt is not value and len(receipt.get("ids", ())) > MOST_IDS
        page = MOST_IDS if is_long else None
        return self.results.first(json_bytes(receipt, self.call.tool), beside, rows=page)

    def _made(self, who: Caller, beside: Json, rows: list[Json]) -> tuple[Json, bool]:
        """Return the result, and True if its rows are certainly in the order in which they were
        sent.
        """
        # The view authenticates the caller for each row. A slow password hash is computed here,
        # once.
        self.call.recognise(who, beside)
        with Transaction(connections) as everywhere:
            value = self._by_the_view(who, beside, rows)
            if value is not None:
                return value, False
            return self._one_by_one(who, beside, rows, everywhere), True

    def _by_the_view(self, who: Caller, beside: Json, rows: list[Json]) -> Json | None:
        """Send the whole list to the view and return its result. Return None if the view takes one
        row at a time.
        """
        if self.call.arguments.whole:
            return self._accepted(self.call.respond(who, {**beside, WHOLE_BODY: rows}), rows)
        if not (is_bulk(self.call.action) and is_json(self.call.media_type)):
            return None
        # Rows may name other rows by objects, `{"author": {"name": "Ann"}}`, which the view cannot
        # read. They are replaced by keys before the list is sent.
        settled = self._each(rows, lambda row: self.call.body_for_view(who, {**beside, **row}))
        try:
            response = self.call.respond(who, beside, settled)
        except ToolInputError as error:  # rows have fields that the view would ignore
            raise error.under((self.key,)) from None
        return self._accepted(response, rows)

    def _accepted(self, response: Any, rows: list[Json]) -> Json:
        if response.status_code in _FAULTS_OF_ROWS:
            found = problems_of_rows(response, (self.key,))
            problems = [self._explained(each, response, rows) for each in found]
            if problems:
                raise self._refusal(problems)
        return self.call.value(response)

    def _explained(self, problem: Problem, response: Any, rows: list[Json]) -> Problem:
        """Return a problem of a row with a message that also names the values that the field
        accepts.
        """
        arguments = self.call.arguments
        # A view that takes only lists has its relations under the key of the list.
        if arguments.whole or len(problem.path) < 2 or not isinstance(problem.path[1], int):
            return explained([problem], response, arguments)[0]
        place, index = problem.path[:2], problem.path[1]
        of_row = replace(problem, path=problem.path[2:])
        told = explained([of_row], response, arguments, rows[index])[0]
        return replace(told, path=(*place, *told.path))

    def _one_by_one(
        self, who: Caller, beside: Json, rows: list[Json], everywhere: Transaction
    ) -> Json:
        def make(row: Json) -> Json:
            # A savepoint for each row: after a failed statement, PostgreSQL refuses all further
            # statements of the transaction.
            with Transaction(everywhere.aliases) as part:
                response = self.call.respond(who, {**beside, **row})
                problems = self._problems_of_row(response, row)
                if problems:
                    # The next rows are still tried, so that the agent gets all problems at once.
                    part.undo()
                    raise ToolInputError(problems)
            # Raises for any other refusal, such as 403, which ends the call at that row.
            return self.call.value(response)

        return {"results": self._each(rows, make)}

    def _problems_of_row(self, response: Any, row: Json) -> list[Problem]:
        """Return the problems of one row in a response. The list is empty if the status is not
        about a row.
        """
        if response.status_code not in _FAULTS_OF_ROWS:
            return []
        arguments = self.call.arguments
        found = problems_of(response, arguments, self.call.action)
        return explained(found, response, arguments, row)

    def _each(self, rows: list[Json], step: Callable[[Json], Json]) -> list[Json]:
        """Run `step` for each row, and return the results.

        Raises:
            ToolInputError: a row was refused. The error has the problems of all rows, by index.
        """
        made: list[Json] = []
        problems: list[Problem] = []
        for index, row in enumerate(rows):
            try:
                made.append(step(row))
            except ToolInputError as error:
                problems += error.under((self.key, index)).problems
        if problems:
            raise self._refusal(problems)
        return made

    def _refusal(self, problems: list[Problem]) -> ToolInputError:
        arguments = self.call.arguments
        missing = [each for each in problems if each.code == "missing"]
        declared: dict[JsonPath, Declared] = {}
        if missing and not arguments.whole:
            # The rows all have the same fields, so these are listed only once: at the first row
            # that lacks one.
            row = missing[0].path[1]
            body = arguments.named("body").values()
            names = [name for name in arguments.published if name in body]
            declared[self.key, row] = declared_arguments(arguments, names)
        return ToolInputError(problems, tool=self.call.tool, declared=declared)


# --- what was made ---


def _receipt(value: Json, *, in_order: bool) -> Json:
    """Return the number of rows that were created, and their keys.

    If a key is unknown, return the number and the rows themselves. With `in_order`, the receipt
    also states that the keys are in the order in which the rows were sent.
    """
    keys = keys_in(value)
    if keys is None:
        return value  # the view's own answer
    if None in keys:
        return {"created": len(keys), **value}
    order = {"order": messages.AS_SENT} if in_order and len(keys) > 1 else {}
    return {"created": len(keys), **order, "ids": keys}


def keys_in(value: Json) -> list[Any] | None:
    """Return the keys of the created rows; the key of a row is None if it is unknown. Return None
    if the response has no list `results`.
    """
    rows: Any = value.get("results")
    return _keys(rows) if is_array(rows) else None


def _keys(rows: list[Any]) -> list[Any]:
    serializer: Any = getattr(rows, "serializer", None)
    saved = _rows_saved_by(serializer)
    if saved is None:
        return [_key(row) for row in rows]
    return [key_of(row, serializer.child, each)[1] for row, each in zip(rows, saved, strict=True)]


def _rows_saved_by(serializer: Any) -> list[Any] | None:
    """Return the rows that the serializer of a list has saved. Return None for any other
    serializer.
    """
    rows: Any = getattr(serializer, "instance", None)
    return rows if isinstance(serializer, ListSerializer) and is_array(rows) else None


def _key(row: Any) -> Any:
    saved = serializer_of(row)
    if saved is not None:
        return key_of(row, saved, saved.instance)[1]
    # If the response has no row of a model, `id` is the usual name of the key.
    return row.get("id") if _is_mapping(row) else None


def _is_mapping(value: Any) -> TypeIs[Mapping[str, Any]]:
    """Return True if a value is a mapping, such as the data of a serializer."""
    return isinstance(value, Mapping)
