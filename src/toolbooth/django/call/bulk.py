"""Many rows in one call: `{"objects": [...]}` on any create. Each row passes the boundary; all are
made, or none.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, cast

from django.db import connections, transaction
from rest_framework.generics import GenericAPIView
from rest_framework.mixins import CreateModelMixin
from rest_framework.serializers import ListSerializer, Serializer
from rest_framework.settings import api_settings

from toolbooth.boundary.read import text_as_json
from toolbooth.contract import Contract, InvalidValues, Objection
from toolbooth.django.call.bodies import is_json
from toolbooth.django.call.caller import Caller, caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.receipts import ReceiptedWrite, is_receipted, key_of, serializer_of
from toolbooth.django.call.replies import json_bytes, json_fragment, problems_in
from toolbooth.django.describe.arguments import WHOLE_BODY, Arguments, Slot
from toolbooth.django.results.paged_results import PagedResults
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import Json, JsonPath
from toolbooth.server.controls import ROW_KEYS, split_controls
from toolbooth.server.tool import Tool

logger = logging.getLogger("toolbooth.django")

Compile = Callable[[Arguments], Contract]
"""Makes the contract of a tool that takes these arguments."""


SENTENCE = 'Many: {"objects": [{…}]}, all or none.'

MOST_IDS = 100
"""Keys in one receipt."""

_FAULTS_OF_ROWS = (400, 409, 422)
"""What a view answers to one bad row. Anything else, such as a missing permission, is no fault of a
row.
"""


def takes_many(call: SyncInvocation) -> bool:
    """Whether a call makes one row, so that many can be made of it."""
    action = call.action
    return (
        action.name == "create"
        and action.method == "POST"
        and bool(call.arguments.named("body"))
        and not call.arguments.whole
    )


def function_of(call: SyncInvocation, results: PagedResults) -> Callable[[Json], Any]:
    """What runs a call: with a receipt where it writes rows."""
    if call.action.name == "create" and call.arguments.whole:
        return BulkCreate(call=call, key=WHOLE_BODY, results=results)
    return ReceiptedWrite(call=call) if is_receipted(call.action) else results


# --- the tool, in the variant that takes a list ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """The forms of one create that take many rows."""

    call: SyncInvocation
    compile: Compile
    most: int
    results: PagedResults
    access_check: Callable[[], Exception | None]
    _made: dict[str, Tool] = field(default_factory=dict[str, Tool])

    def variant(self, sent: Any) -> Tool | None:
        """The variant for arguments that are a list of rows under one key."""
        found = text_as_json(sent)
        if not isinstance(found, dict):
            return None
        declared = self.call.arguments.slots
        names = cast("Json", found)
        keys = [
            key for key in ROW_KEYS if key in names and key not in declared and _is_list(names[key])
        ]
        # Under the name that is told, rows are meant: whatever else stands there is the variant's to
        # refuse.
        if WHOLE_BODY in keys:
            return self.tool(WHOLE_BODY)
        # Under any other, they are not where a row's own fields stand beside them.
        if len(keys) != 1 or any(
            declared[name].place == "body" for name in names if name in declared
        ):
            return None
        return self.tool(keys[0])

    def tool(self, key: str) -> Tool:
        """The tool that takes its rows under `key`, compiled when it is first called for."""
        if key not in self._made:
            contract = self.compile(_arguments(self.call.arguments, key, self.most))
            if (
                not self.call.arguments.whole
            ):  # where the host takes lists alone, how long they may be is its affair
                contract = replace(contract, validate=self._counted(contract.validate, key))
            self._made[key] = Tool(
                contract=contract,
                function=BulkCreate(call=self.call, key=key, results=self.results),
                access_check=self.access_check,
            )
        return self._made[key]

    def _counted(self, validate: Callable[[Any], Any], key: str) -> Callable[[Any], Any]:
        def validated(sent: Json) -> Any:
            if key not in sent:
                raise InvalidValues(lambda: [Objection(place=(key,), kind="missing", message="")])
            count = len(sent[key])
            if not 0 < count <= self.most:
                message = f"takes 1 to {self.most:,} rows in one call, not {count:,}"
                raise InvalidValues(
                    lambda: [Objection(place=(key,), kind="invalid", message=message)]
                )
            return validate(sent)

        return validated


def _is_list(value: Any) -> bool:
    return isinstance(value, list) or (
        isinstance(value, str) and isinstance(text_as_json(value), list)
    )


def _arguments(single: Arguments, key: str, most: int) -> Arguments:
    """The arguments of the variant: what is no field of a row as it is, and the rows under `key`."""
    rows = single.named("body")
    slots = {name: slot for name, slot in single.slots.items() if name not in rows}

    def beside(properties: Mapping[str, Any]) -> Json:
        return {name: each for name, each in properties.items() if name not in rows}

    def listed(properties: Mapping[str, Any]) -> Json:
        if single.whole:
            return properties[WHOLE_BODY]
        row = {
            "type": "object",
            "properties": {name: properties[name] for name in rows},
            "required": [name for name in single.required if name in rows],
            "additionalProperties": False,
        }
        return {"type": "array", "items": row, "minItems": 1, "maxItems": most}

    return replace(
        single,
        properties={key: listed(single.properties), **beside(single.properties)},
        wide={key: listed(single.wide), **beside(single.wide)},
        required=[*(name for name in single.required if name not in rows), key],
        slots={**slots, key: Slot(place="body", name=key)},
    )


# --- one call ---


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkCreate:
    """Makes many rows through the view that makes one."""

    call: SyncInvocation
    key: str
    results: PagedResults

    def __call__(self, arguments: Json) -> Any:
        """Make all rows, or none."""
        sent, asked = split_controls(arguments, self.call.arguments.controls)
        rows: list[Json] = sent[self.key]
        beside = {name: each for name, each in sent.items() if name != self.key}
        who = caller()
        who.may_call(self.call.action)  # finds out who calls: once, not row by row
        with _Transaction(connections) as everywhere:
            value = self._by_the_host(who, beside, rows, everywhere)
            if value is None:
                value = self._one_by_one(who, beside, rows, everywhere)
        if asked.verify:
            return json_fragment(value, self.call.tool)
        receipt = _receipt(value)
        many = receipt is not value and len(receipt.get("ids", ())) > MOST_IDS
        return self.results.first(
            json_bytes(receipt, self.call.tool), {}, rows=MOST_IDS if many else None
        )

    def _by_the_host(
        self, who: Caller, beside: Json, rows: list[Json], everywhere: _Transaction
    ) -> Json | None:
        """What the view makes of the list; None where it takes none, or refuses it for being one."""
        if self.call.arguments.whole:
            return self._accepted(self.call.respond(who, {**beside, WHOLE_BODY: rows}))
        if not (is_json(self.call.media_type) and _takes_lists(self.call.action.view)):
            return None
        settled = self._each(rows, lambda row: self.call.body_for_view(who, {**beside, **row}))
        with _Transaction(everywhere.aliases) as attempt:
            try:
                response = self.call.respond(who, beside, settled)
            except (AttributeError, TypeError):  # code that was never meant for a list
                logger.debug(
                    "%s fails on a list: its rows are sent one by one",
                    self.call.tool,
                    exc_info=True,
                )
                response = None
            if response is None or _refuses_lists(response):
                attempt.undo()
                return None
        return self._accepted(response)

    def _accepted(self, response: Any) -> Json:
        if response.status_code in _FAULTS_OF_ROWS and (
            problems := _problems(response, (self.key,))
        ):
            raise self._refusal(problems)
        return self.call.value(response)

    def _one_by_one(
        self, who: Caller, beside: Json, rows: list[Json], everywhere: _Transaction
    ) -> Json:
        def make(row: Json) -> Json:
            with _Transaction(everywhere.aliases) as part:
                response = self.call.respond(who, {**beside, **row})
                if response.status_code in _FAULTS_OF_ROWS and (
                    problems := _problems(response, ())
                ):
                    part.undo()
                    raise ToolInputError(problems)
            return self.call.value(response)

        return {"results": self._each(rows, make)}

    def _each(self, rows: list[Json], step: Callable[[Json], Json]) -> list[Json]:
        """What each row comes to. Raises ToolInputError with the problems of all of them, by index."""
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
        names = tuple(self.call.arguments.named("body").values())
        missing = any(each.code == "missing" for each in problems) and not self.call.arguments.whole
        return ToolInputError(
            problems,
            tool=self.call.tool,
            declared={(self.key, _row(problems)): names} if missing else {},
        )


def _row(problems: list[Problem]) -> str | int:
    """The row of the first problem that a field is missing."""
    return next(each.path[1] for each in problems if each.code == "missing")


def _problems(response: Any, place: JsonPath) -> list[Problem]:
    return list(problems_in(getattr(response, "data", None), place))


@lru_cache(4096)
def _takes_lists(view: type) -> bool:
    """Whether the host made its view take a list; REST framework's own do not."""
    own = [
        *_overrides(view, "create", CreateModelMixin),
        *_overrides(view, "get_serializer", GenericAPIView),
    ]
    return any(map(_speaks_of_lists, own))


def _overrides(view: type, name: str, stock: type) -> Iterator[Any]:
    """The methods of a name that are not REST framework's own."""
    for cls in view.__mro__:
        if cls is stock:
            return
        if name in vars(cls):
            yield inspect.unwrap(vars(cls)[name])


def _speaks_of_lists(method: Any) -> bool:
    """Whether code asks if something is a list, or names `many`: how hosts take lists."""
    code = getattr(method, "__code__", None)
    if code is None:
        return False
    constants: list[Any] = list(code.co_consts)
    keywords = [
        word
        for each in constants
        if isinstance(each, tuple)
        for word in cast("tuple[Any, ...]", each)
    ]
    words = {
        *code.co_names,
        *code.co_varnames,
        *(each for each in constants if isinstance(each, str)),
        *keywords,
    }
    return "many" in words or {"isinstance", "list"} <= words


def _refuses_lists(response: Any) -> bool:
    """Whether a serializer for one row was given the list."""
    data: Any = getattr(response, "data", None)
    if response.status_code != 400 or not isinstance(data, Mapping):
        return False
    told = cast("Mapping[str, Any]", data).get(api_settings.NON_FIELD_ERRORS_KEY)
    return told == [str(Serializer.default_error_messages["invalid"]).format(datatype="list")]


# --- what was made ---


def _receipt(value: Json) -> Json:
    """How many rows there are now, and their keys; where a key is not known, the rows themselves."""
    rows: Any = value.get("results")
    if not isinstance(rows, list):
        return value  # the host's own answer
    keys = _keys(cast("list[Any]", rows))
    return (
        {"created": len(keys), "ids": keys} if None not in keys else {"created": len(keys), **value}
    )


def _keys(rows: list[Any]) -> list[Any]:
    whole: Any = getattr(rows, "serializer", None)
    if isinstance(whole, ListSerializer) and isinstance(cast("Any", whole).instance, list):
        listed = cast("Any", whole)
        return [
            key_of(row, listed.child, each)[1]
            for row, each in zip(rows, listed.instance, strict=True)
        ]
    return [_key(row) for row in rows]


def _key(row: Any) -> Any:
    saved = serializer_of(row)
    if saved is not None:
        return key_of(row, saved, saved.instance)[1]
    return cast("Json", row).get("id") if isinstance(row, Mapping) else None


class _Transaction:
    """One transaction over these databases, or a part of one: what is made anywhere is made whole,
    or not at all.
    """

    def __init__(self, aliases: Iterable[str]) -> None:
        self.aliases: list[str] = []
        self._asked = aliases
        self._open = ExitStack()

    def __enter__(self) -> _Transaction:
        for alias in self._asked:
            try:
                self._open.enter_context(transaction.atomic(using=alias))
            except Exception:  # what cannot be reached cannot be written to
                logger.debug("the database %r cannot be reached", alias, exc_info=True)
            else:
                self.aliases.append(alias)
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def undo(self) -> None:
        """Have nothing of this part kept."""
        for alias in self.aliases:
            transaction.set_rollback(True, using=alias)
