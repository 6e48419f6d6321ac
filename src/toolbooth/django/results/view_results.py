"""What a view answers, as a source of results: with only the fields that `filter_keys` names, where
it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolbooth.django import messages
from toolbooth.django.call.caller import caller
from toolbooth.django.call.filters import check_keys
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import is_mapping, json_bytes
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import Json, is_array


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewResults:
    """The answers of a view, as a source of results."""

    call: SyncInvocation

    def check(self, sent: Json, filter_keys: tuple[str, ...] | None, called: Json) -> None:
        name = self.call.arguments.called("filter_keys")
        if name is not None and filter_keys is not None:
            check_keys(self.call, caller(), {**sent, name: filter_keys}, called)

    def value(self, sent: Json) -> Any:
        return self.call.result(caller(), sent)

    def output(self, value: Any, filter_keys: tuple[str, ...] | None) -> bytes:
        shown = value if filter_keys is None else self._trimmed(value, filter_keys)
        return json_bytes(shown, self.call.tool)

    def _trimmed(self, value: Json, keys: tuple[str, ...]) -> Json:
        if self.call.action.name != "list":
            return self._row(value, keys)
        lists = {name: each for name, each in value.items() if is_array(each)}
        if not lists:
            raise self._refusal(messages.ANSWER_HAS_NO_ROWS)
        # Those that a serializer wrote, rather than any other list that stands beside them.
        name = max(lists, key=lambda each: (hasattr(lists[each], "serializer"), len(lists[each])))
        return {**value, name: [self._row(row, keys) for row in lists[name]]}

    def _row(self, row: Any, keys: tuple[str, ...]) -> Json:
        fields: Mapping[str, Any] = row if is_mapping(row) else {}
        kept = {name: each for name, each in fields.items() if name in keys}
        if keys and not kept and row:
            raise self._refusal(messages.no_field_in_answer(fields))
        return kept

    def _refusal(self, why: str) -> ToolInputError:
        name = str(self.call.arguments.called("filter_keys"))
        message = messages.call_without(why, name)
        problem = Problem(code="invalid", path=(name,), message=message)
        return ToolInputError([problem], tool=self.call.tool)
