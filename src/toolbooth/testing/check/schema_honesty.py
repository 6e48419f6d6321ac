"""A server goes in; whether its schemas say what its tools take comes out, with a call that shows
where they do not.

Three claims, tried with generated calls:

* What the schema admits is accepted, or refused by the author's own validation.
* What the *exact* schema excludes is refused, or repaired and recorded.
* The *portable* form, which clients see, never excludes a correct call.

No tool of our own server or of a protected one is run: their contracts answer. Tools of other
servers are called.
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
    """A call that shows where a schema does not say what its tool takes."""

    tool: str
    claim: Claim
    arguments: Any
    said: str

    def __str__(self) -> str:
        call = json.dumps(self.arguments)
        return f"{self.tool}: {CLAIMS[self.claim]}\n    call  {call}\n    but   {self.said}"


def schema_honesty(server: Any, *, max_examples: int = 60) -> int:
    """Assert that the schemas of a server say what its tools take. Returns how many calls were
    tried.

    `server` is a ToolRegistry, a FastMCP or an MCPServer. The same calls are tried on every run.

    Raises:
        AssertionError: with the simplest call found for each claim that does not hold.
        ContractError: the schema of a tool refers to a file or URL.
    """
    there = served(server)
    search = Search(max_examples)
    lies: list[Lie] = []
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
    """A counterexample: makes Hypothesis look for a simpler one."""


class Search:
    """Tries generated calls, and counts them."""

    def __init__(self, max_examples: int) -> None:
        self.tried = 0
        self.settings = settings(
            derandomize=True,
            database=None,
            deadline=None,
            max_examples=max_examples,
            phases=[Phase.generate, Phase.shrink],
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            suppress_health_check=[
                HealthCheck.filter_too_much,
                HealthCheck.too_slow,
                HealthCheck.data_too_large,
            ],
        )

    def contract(self, tool: ServedTool) -> Iterator[Lie]:
        """What is not honest about a tool that the boundary stands before."""
        judge = ContractJudge(tool.contract, tool.published)
        schema = tool.contract.schema
        admitted = arguments_for(schema) | arguments_for(tool.published)
        # With every field in them, so that there is something to go wrong.
        filled = arguments_for(schema, whole=True)
        yield from self.first(tool, admitted, judge.of_admitted)
        yield from self.first(tool, mutated_call(admitted | filled), judge.of_any)
        yield from self.first(tool, admitted, judge.of_portable)

    def host(self, tool: ServedTool, call: Callable[[Any], WireResult]) -> Iterator[Lie]:
        """What is not honest about a tool that only its host knows."""
        judge = HostJudge(tool.published, call)
        admitted = arguments_for(tool.published)
        filled = arguments_for(tool.published, whole=True)
        yield from self.first(tool, admitted, judge.of_admitted)
        yield from self.first(tool, mutated_call(admitted | filled), judge.of_any)

    def first(
        self, tool: ServedTool, calls: SearchStrategy[Any], judge: Callable[[Any], Verdict | None]
    ) -> Iterator[Lie]:
        """The simplest call that is a lie, if there is one."""
        lies: list[Lie] = []

        @self.settings
        @given(calls)
        def probe(arguments: Any) -> None:
            self.tried += 1
            try:
                found = judge(arguments)
            # A validator has answered by itself, or we failed: the schema has not judged the call.
            except Exception as error:
                found = ("broken", f"{type(error).__name__}: {error}")
            if found:
                claim, said = found
                lies.append(Lie(tool=tool.label, claim=claim, arguments=arguments, said=said))
                raise _Found

        try:
            probe()
        except _Found:
            yield lies[-1]
        except Unsatisfiable:  # nothing could be made: then there is nothing to say
            return
