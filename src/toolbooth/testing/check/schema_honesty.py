"""Checks with generated calls that the schemas of a server describe the arguments that its tools
accept.

Three claims are checked for each tool:

* If the schema allows a call, the call is accepted, or the author's own validation refuses it.
* If the *exact* schema forbids a call, the call is refused, or repaired with a record of the
  repair.
* The *portable* schema, which clients see, never forbids a correct call.

Tools of our own server and of protected servers are not run, because their contracts are enough to
decide. Tools of other servers are called.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy

from toolbooth.adapters.connect import Served, served
from toolbooth.testing.check.schema_judges import Claim, ContractJudge, HostJudge, Verdict
from toolbooth.testing.client.call import WireResult, call_over_wire_async
from toolbooth.testing.client.tools import ServedTool, tools_of
from toolbooth.testing.shapes.generate import arguments_for
from toolbooth.testing.shapes.mutated_calls import mutated_call

CLAIMS: dict[Claim, str] = {
    "admitted": "the schema admits a call that is refused or repaired, "
    "not by the author's validation",
    "excluded": "the schema excludes a call that passes, unrecorded",
    "portable": "the published schema excludes a correct call",
    "broken": "a call is neither accepted nor refused: validation breaks on it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lie:
    """A call for which the schema and the tool disagree."""

    tool: str
    claim: Claim
    arguments: Any
    said: str

    def __str__(self) -> str:
        call = json.dumps(self.arguments)
        return f"{self.tool}: {CLAIMS[self.claim]}\n    call  {call}\n    but   {self.said}"


def schema_honesty(server: Any, *, max_examples: int = 60) -> int:
    """Assert that the schemas of a server describe the arguments that its tools accept. Return the
    number of calls that were tried.

    `server` is a ToolRegistry, a FastMCP or an MCPServer. Every run tries the same calls.

    Raises:
        AssertionError: with the simplest call that disproves each claim.
        ContractError: if the schema of a tool refers to a file or URL.
    """
    there = served(server)
    search = Search(max_examples)
    lies: list[Lie] = []
    # Hypothesis calls `probe` synchronously, and each probe of an unprotected server needs an event
    # loop. One runner is used for all probes, because `asyncio.run` would make a new loop for each
    # call.
    with asyncio.Runner() as runner:
        for tool in runner.run(tools_of(there)):
            if tool.guarded:
                lies += search.contract(tool)
            else:
                lies += search.host(tool, _caller(runner, there, tool))
    if lies:
        head = f"{there.name}: schemas that do not say what is taken: {len(lies)}"
        raise AssertionError("\n\n".join([head, *map(str, lies)]))
    return search.tried


def _caller(runner: asyncio.Runner, there: Served, tool: ServedTool) -> Callable[[Any], WireResult]:
    return lambda arguments: runner.run(
        call_over_wire_async(there, tool.name, json.dumps(arguments).encode())
    )


class _Found(Exception):
    """Raised for a call that disproves a claim. Hypothesis then looks for a simpler one."""


class Search:
    """Tries generated calls and counts them."""

    def __init__(self, max_examples: int) -> None:
        self.tried = 0
        self.settings = settings(
            # There is no random seed and no database of earlier failures. A server that has not
            # changed must not pass today and fail in CI tomorrow.
            derandomize=True,
            database=None,
            deadline=None,
            max_examples=max_examples,
            phases=[Phase.generate, Phase.shrink],
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            # `arguments_for` checks every value against the whole schema and drops those that do
            # not fit. For a narrow schema, most values are dropped, and that is no fault of the
            # test.
            suppress_health_check=[
                HealthCheck.filter_too_much,
                HealthCheck.too_slow,
                HealthCheck.data_too_large,
            ],
        )

    def contract(self, tool: ServedTool) -> Iterator[Lie]:
        """Yield the calls for which the schema and a protected tool disagree."""
        judge = ContractJudge(tool.contract, tool.published)
        schema = tool.contract.schema
        # The two schemas admit different calls. For example, only the exact one has branches for
        # null.
        admitted = arguments_for(schema) | arguments_for(tool.published)
        # These calls have every field, so that a mutation can change each field.
        filled = arguments_for(schema, whole=True)
        yield from self.first(tool, admitted, judge.of_admitted)
        yield from self.first(tool, mutated_call(admitted | filled), judge.of_any)
        yield from self.first(tool, admitted, judge.of_portable)

    def host(self, tool: ServedTool, call: Callable[[Any], WireResult]) -> Iterator[Lie]:
        """Yield the calls for which the schema and an unprotected tool disagree. Calls of such a
        tool are validated only by its host.
        """
        # A host publishes only one schema, so the third claim, which compares two, does not apply.
        judge = HostJudge(tool.published, call)
        admitted = arguments_for(tool.published)
        filled = arguments_for(tool.published, whole=True)
        yield from self.first(tool, admitted, judge.of_admitted)
        yield from self.first(tool, mutated_call(admitted | filled), judge.of_any)

    def first(
        self, tool: ServedTool, calls: SearchStrategy[Any], judge: Callable[[Any], Verdict | None]
    ) -> Iterator[Lie]:
        """Yield the simplest call for which the schema and the tool disagree. Yield nothing if
        there is none.
        """
        lies: list[Lie] = []

        @self.settings
        @given(calls)
        def probe(arguments: Any) -> None:
            self.tried += 1
            try:
                found = judge(arguments)
            # A validator of the author raised an error, or our own code failed. Neither error shows
            # anything about the schema.
            except Exception as error:
                found = ("broken", f"{type(error).__name__}: {error}")
            if found:
                claim, said = found
                lies.append(Lie(tool=tool.label, claim=claim, arguments=arguments, said=said))
                raise _Found

        try:
            probe()
        except _Found:
            # After shrinking, Hypothesis runs the simplest counterexample once more. So the last
            # one is the simplest.
            yield lies[-1]
        except Unsatisfiable:  # no call could be generated
            return
