"""Makes the variant of a tool that takes a continuation token. The variant returns the next page of
a result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from rest_framework.exceptions import APIException

from toolbooth.boundary.read import text_as_json
from toolbooth.contract import Contract
from toolbooth.django.call.caller import caller
from toolbooth.django.call.invocation import NOT_MOVED
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.results import messages
from toolbooth.django.results.paged_results import PagedResults, read_output
from toolbooth.django.results.tokens import (
    Position,
    RefusedToken,
    caller_hashes,
    check_owner,
    digest,
    kept_query,
    kept_result,
    unseal,
)
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import Json, is_object
from toolbooth.server.controls import Controls, split_controls
from toolbooth.server.results.pages import Written, plain, read
from toolbooth.server.tool import Tool

_BESIDE = frozenset(("mode", "page", "page_size", "filter_keys"))
"""The control arguments that may be sent beside a token, if the tool takes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """Continues the results of one tool."""

    results: PagedResults
    access_check: Callable[[], Exception | None]
    compile: Callable[[Arguments], Contract]
    _made: list[Tool] = field(default_factory=list[Tool])

    def variant(self, sent: Any) -> Tool | None:
        """Return the variant of the tool if the arguments contain a token. Otherwise return
        None.
        """
        # Some clients send all of the arguments as JSON text. The variant is chosen before the
        # boundary repairs that.
        arguments: Any = text_as_json(sent)
        token = self.results.token
        # As for every optional argument, null means that it was not sent.
        if token is None or not is_object(arguments) or arguments.get(token) is None:
            return None
        # Made when the first token arrives, because most tools never get one.
        if not self._made:
            self._made.append(self._tool(token))
        return self._made[0]

    def _tool(self, token: str) -> Tool:
        """Return the variant. It takes a token, and the control arguments that choose how the next
        page is shown.
        """
        own = self.results.arguments
        beside = {
            name: own.properties[name] for name, each in own.controls.items() if each in _BESIDE
        }
        # The tool's own fields stay declared, for values of any type. A call with a token and
        # fields is then refused by `validate`, with a corrected call, and not for unknown keys.
        anything: Json = {name: {} for name in own.properties}
        properties = {**anything, **beside, token: {"type": "string"}}
        controls = {name: own.controls[name] for name in beside}
        contract = self.compile(
            Arguments(properties=properties, wide=properties, required=[token], controls=controls)
        )

        def validate(sent: Json) -> Any:
            taken = {name: each for name, each in sent.items() if name == token or name in beside}
            message = messages.not_beside_token(token)
            problems = [
                Problem(code="conflicting-keys", path=(name,), message=message)
                for name in sent
                if name not in taken
            ]
            if problems:
                raise ToolInputError(problems, tool=self.results.tool, corrected=taken)
            return contract.validate(sent)

        return Tool(
            contract=replace(contract, validate=validate),
            function=self.next_page,
            access_check=self.access_check,
        )

    def next_page(self, arguments: Json) -> Any:
        """Return the page at the position of a token."""
        results = self.results
        token = str(results.token)
        _, asked = split_controls(arguments, results.arguments.controls)
        try:
            position = self._position(arguments[token])
            if results.is_numbered(position, asked):
                results.source.check(position.arguments or {}, asked.filter_keys, arguments)
                shown = results.numbered_page(position, asked)
                if shown is not None:
                    return shown
                # The next row is too large for any page, so the rest is shown as pieces of text.
                position = replace(position, at=0, unit="text", size=None)
            found, position, note = self._result(position, asked, arguments)
        except (RefusedToken, APIException) as error:
            problem = Problem(code="invalid", path=(token,), message=str(error))
            raise ToolInputError([problem], tool=results.tool) from None
        shown = results.page(found, position, asked, note=note)
        if shown is not None:
            return shown
        return results.whole_with_note(found.text.encode() if found.is_json else found.text)

    def _position(self, token: str) -> Position:
        """Return the position of a token.

        Raises:
            RefusedToken: the token cannot be used, or belongs to another caller.
            Exception: the caller may not call the tool any more. This is the refusal of the view.
        """
        results, who = self.results, caller()
        tool, is_query = results.tool, results.is_query
        try:
            position = unseal(token, tool, results.chosen.token_age, is_query=is_query)
            # A token of another tool is refused below, so its arguments are not needed.
            if position.tool == tool:
                position = self._restored(position)
        # A caller without access gets the refusal of access, not details about the token.
        except RefusedToken:
            self._check_access()
            raise
        # The view may authenticate its callers by the path of the call.
        who.sent = position.arguments
        self._check_access()
        check_owner(position, tool, caller_hashes(who, results.action), is_query=is_query)
        return position

    def _check_access(self) -> None:
        refusal = self.access_check()
        if refusal is not None:
            raise _revoked(refusal, str(self.results.token))

    def _restored(self, position: Position) -> Position:
        """Return the position with the arguments of its query. If they were too long for a token,
        read them from the cache. Raises RefusedToken.
        """
        if position.kept is None or not self.results.is_query:
            return position
        return kept_query(position, position.kept, self.results.chosen)

    def _result(
        self, position: Position, asked: Controls, called: Json
    ) -> tuple[Written, Position, str]:
        """Return the result, the position in the result, and a note. The result is read from the
        cache, or the query runs again.
        """
        results = self.results
        if position.kept is not None:
            # This is the result of a write, which must not run again. For a query, `_restored` has
            # already replaced `kept`.
            instead = messages.instead_of_token(results.tool, is_query=False)
            lost = messages.result_no_longer_kept(instead)
            text, is_json = kept_result(position.kept, results.chosen, lost)
            return read(text) if is_json else plain(text), position, ""
        sent = position.arguments or {}
        results.source.check(sent, asked.filter_keys, called)
        value = results.source.value(sent, position.moved or NOT_MOVED)
        # The digest was made with the fields of the first call, so it is compared with these. If
        # the caller now asks for other fields, they are applied below.
        found = read_output(results.source.output(value, position.filter_keys))
        has_changed = bool(position.digest) and digest(found.text) != position.digest
        note = messages.RESULT_HAS_CHANGED if has_changed else ""
        if asked.filter_keys is not None and asked.filter_keys != position.filter_keys:
            found = read_output(results.source.output(value, asked.filter_keys))
            position = replace(position, filter_keys=asked.filter_keys)
            if position.unit == "text":  # a position in the text is lost with other fields
                position, note = replace(position, at=0), messages.PAGED_ANEW
        return found, position, note


def _revoked(refusal: Exception, token: str) -> Exception:
    """Return the refusal for a caller who is no longer allowed to call the tool."""
    if not isinstance(refusal, ToolError):
        return refusal
    words = messages.token_once_allowed(refusal.message, token, refusal.tool)
    return ToolError(refusal.tool, words, refusal.details)
