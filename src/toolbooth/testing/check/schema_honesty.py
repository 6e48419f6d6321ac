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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy

from toolbooth.adapters.connect import Served, served
from toolbooth.boundary.accept import accept_bytes
from toolbooth.boundary.repairs import Repair
from toolbooth.contract import Contract
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import JsonPath, Schema, path_text
from toolbooth.shape import ObjectShape, Shape
from toolbooth.testing.check.verdict import is_refused
from toolbooth.testing.client.call import WireResult, call_over_wire_async
from toolbooth.testing.client.tools import ServedTool, tools_of
from toolbooth.testing.offline_schema import offline_validator
from toolbooth.testing.shapes.call_places import changed, form_of, look, without
from toolbooth.testing.shapes.generate import arguments_for

Claim = Literal["admitted", "excluded", "portable", "broken"]

Verdict = tuple[Claim, str]

CLAIMS: dict[Claim, str] = {
    "admitted": "the schema admits a call that is refused or repaired, not by the author's validation",
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
    """
    there = served(server)
    with asyncio.Runner() as runner:
        search = Search(max_examples)
        lies = [
            lie
            for tool in runner.run(tools_of(there))
            for lie in (
                search.contract(tool)
                if tool.guarded
                else search.host(tool, _caller(runner, there, tool))
            )
        ]
    if lies:
        raise AssertionError(
            "\n\n".join(
                [
                    f"{there.name}: schemas that do not say what is taken: {len(lies)}",
                    *map(str, lies),
                ]
            )
        )
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
        judge = _Judge(tool.contract, tool.published)
        admitted = arguments_for(tool.contract.schema) | arguments_for(tool.published)
        yield from self.first(tool, admitted, judge.of_admitted)
        yield from self.first(tool, mutated(admitted | _whole(tool.contract.schema)), judge.of_any)
        yield from self.first(tool, admitted, judge.of_portable)

    def host(self, tool: ServedTool, call: Callable[[Any], WireResult]) -> Iterator[Lie]:
        """What is not honest about a tool that only its host knows."""
        judge = _HostJudge(tool.published, call)
        admitted = arguments_for(tool.published)
        yield from self.first(tool, admitted, judge.of_admitted)
        yield from self.first(tool, mutated(admitted | _whole(tool.published)), judge.of_any)

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
            except (
                Exception
            ) as error:  # the author's validator, or we: either way the agent is told nothing
                found = ("broken", f"{type(error).__name__}: {error}")
            if found:
                lies.append(
                    Lie(tool=tool.label, claim=found[0], arguments=arguments, said=found[1])
                )
                raise _Found

        try:
            probe()
        except _Found:
            yield lies[-1]
        except Unsatisfiable:  # nothing could be made: then there is nothing to say
            return


# --- a contract's own answer --------------------------------------------------------------------


def _is_below(path: JsonPath, places: list[JsonPath]) -> bool:
    return any(path[: len(place)] == place for place in places)


class _Judge:
    """Holds one contract to its two schemas."""

    def __init__(self, contract: Contract, published: Schema) -> None:
        self.contract = contract
        self.exact = offline_validator(closed(contract.schema), contract.name)
        self.published = offline_validator(_with_null(published), contract.name)

    def of_admitted(self, arguments: Any) -> Verdict | None:
        """Accepted as it is, or refused by the author. What the portable form alone admits is for
        its words to say.
        """
        if not self.exact.is_valid(arguments):
            return None
        try:
            found: Sequence[Problem | Repair] = accept_bytes(
                self.contract, json.dumps(arguments).encode()
            )[1]
        except ToolInputError as error:
            found = [each for each in error.problems if each.code != "invalid"]
        authors = list(self._authors(arguments)) if found else []
        strange = [
            f"{each.code} at {each.where}" for each in found if not _is_below(each.path, authors)
        ]
        return ("admitted", ", ".join(strange)) if strange else None

    def _authors(self, arguments: Any) -> Iterator[JsonPath]:
        """Where the author's code stands, or JSON text is asked for: which, the schema can only say
        in words.
        """
        for path in _paths(arguments, ()):
            shape: Shape | None = self.contract.shape
            for step in path:
                shape = None if shape is None else _below(shape, step)
            if shape is not None and (shape.json_text or shape.opaque):
                yield path

    def of_any(self, arguments: Any) -> Verdict | None:
        """What passes without a word must be what the exact schema admits."""
        if self._repairs(arguments) != 0:
            return None
        meant = _in_published_names(self.contract.shape, arguments)
        errors = [error for error in self.exact.iter_errors(meant) if not self._is_authors(error)]
        return (
            ("excluded", f"{path_text(errors[0].instance_path)}: {errors[0].message}")
            if errors
            else None
        )

    def of_portable(self, arguments: Any) -> Verdict | None:
        """What is accepted as it is must be what clients are told."""
        if self._repairs(arguments) != 0:
            return None
        errors = list(
            self.published.iter_errors(_in_published_names(self.contract.shape, arguments))
        )
        return (
            ("portable", f"{path_text(errors[0].instance_path)}: {errors[0].message}")
            if errors
            else None
        )

    def _repairs(self, arguments: Any) -> int | None:
        """How many repairs an accepted call needed; None: refused."""
        try:
            return len(accept_bytes(self.contract, json.dumps(arguments).encode())[1])
        except ToolInputError:
            return None

    def _is_authors(self, error: Any) -> bool:
        """Whether the author's code stands where the schema objects: then it decides."""
        shape: Shape | None = self.contract.shape
        for step in error.instance_path:
            if shape is None or shape.opaque or shape.json_text:
                return True
            shape = _below(shape, step)
        return (
            shape is None
            or shape.opaque
            or shape.json_text
            or (error.kind.name in ("anyOf", "oneOf") and _holds_free(shape))
        )


def _with_null(schema: Any) -> Any:
    """A published schema that takes null anywhere: where the exact one has it, it is taken, and
    said in words.
    """
    written = dict(cast("Schema", schema))
    for key in ("items", "additionalProperties"):
        if isinstance(written.get(key), Mapping):
            written[key] = {"anyOf": [_with_null(written[key]), {"type": "null"}]}
    if "anyOf" in written:
        written["anyOf"] = [_with_null(each) for each in written["anyOf"]]
    if "properties" in written:
        fields = cast("Schema", written["properties"]).items()
        written["properties"] = {
            name: {"anyOf": [_with_null(each), {"type": "null"}]} for name, each in fields
        }
    return written


def _below(shape: Shape, step: str | int) -> Shape | None:
    if isinstance(step, int) and not shape.arrays:
        step = str(step)  # a key that is written in digits
    if isinstance(step, int):
        form = shape.arrays[0] if shape.arrays else None
        return None if form is None else (*form.prefix, *[form.items] * (step + 1))[step]
    found = [
        form.fields[step].shape if step in form.fields else form.additional
        for form in shape.objects
    ]
    return next((each for each in found if each is not None), None)


def _holds_free(shape: Shape, depth: int = 6) -> bool:
    parts = [field.shape for form in shape.objects for field in form.fields.values()]
    parts += [form.additional for form in shape.objects if form.additional] + [
        form.items for form in shape.arrays if form.items
    ]
    return (
        shape.opaque
        or shape.json_text
        or (depth > 0 and any(_holds_free(each, depth - 1) for each in parts))
    )


def _in_published_names(shape: Shape | None, value: Any) -> Any:
    """A call with every field under the name that is published: a model may take others too."""
    if shape is None or shape.opaque:
        return value
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        form = form_of(shape.objects, table) or ObjectShape()
        return {
            form.fields[key].name if key in form.fields else key: _in_published_names(
                form.fields[key].shape if key in form.fields else form.additional, each
            )
            for key, each in table.items()
        }
    if isinstance(value, list) and len(shape.arrays) == 1:
        return [
            _in_published_names(_below(shape, index), each)
            for index, each in enumerate(cast("list[Any]", value))
        ]
    return cast("Any", value)


# --- a host's answer ----------------------------------------------------------------------------


class _HostJudge:
    """Holds an unprotected tool to the schema that its host publishes."""

    def __init__(self, published: Schema, call: Callable[[Any], WireResult]) -> None:
        self.schema = offline_validator(closed(published))
        self.call = call

    def of_admitted(self, arguments: Any) -> Verdict | None:
        result = self.call(arguments)
        return (
            ("admitted", f"it failed: {result.text}")
            if result.is_error and not is_refused(result)
            else None
        )

    def of_any(self, arguments: Any) -> Verdict | None:
        errors = list(self.schema.iter_errors(arguments))
        if not errors or self.call(arguments).is_error:
            return None
        return (
            "excluded",
            f"the tool ran; {path_text(errors[0].instance_path)}: {errors[0].message}",
        )


def closed(schema: Schema) -> dict[str, Any]:
    """The schema, with every object that declares properties and is silent on others closed, as at
    the boundary.

    Where `allOf` puts objects together, none of its parts can be closed alone: such a schema stays
    as it is.
    """
    return dict(schema) if '"allOf"' in json.dumps(schema) else _closed(schema)


def _closed(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return (
            [_closed(each) for each in cast("list[Any]", schema)]
            if isinstance(schema, list)
            else schema
        )
    written = dict(cast("Schema", schema))
    apart = (
        written
        if "properties" not in written
        else {key: written[key] for key in written.keys() - _IN_PLACE}
    )
    made = {**written, **{key: _closed(each) for key, each in apart.items()}}
    silent = "properties" in made and not made.keys() & {*_IN_PLACE, "$ref", "patternProperties"}
    return {"additionalProperties": False, **made} if silent else made


_IN_PLACE = {"anyOf", "oneOf", "if", "then", "else"}


# --- calls that went wrong at random ------------------------------------------------------------

_replacements = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        1,
        -1,
        7.5,
        10**6,
        "",
        "x",
        "5",
        "true",
        "null",
        "[]",
        "{}",
        '"a"',
        [],
        [1],
        ["x"],
        {},
        {"x": 1},
    ]
)


def _whole(schema: Schema) -> SearchStrategy[Any]:
    """Calls with every field in them, so that there is something to go wrong."""
    return arguments_for(schema, whole=True)


@st.composite
def mutated(draw: st.DrawFn, calls: SearchStrategy[Any]) -> Any:
    """A call of these, with up to two things changed anywhere in it."""
    call = draw(calls)
    for _ in range(draw(st.sampled_from([1, 1, 2, 0]))):
        root, *below = _paths(call, ())
        call = _changed(draw, call, draw(st.sampled_from([*below, *below, root])))
    return call


def _changed(draw: st.DrawFn, call: Any, path: JsonPath) -> Any:
    value = look(call, path)
    ways = ["near", "replace", "list", "text"] if path else []
    ways += ["remove"] if path and isinstance(path[-1], str) else []
    ways += ["add"] if isinstance(value, dict) else []
    way = draw(st.sampled_from(ways))
    if way == "remove":
        return without(call, path)
    if way == "add":
        return changed(
            call,
            path,
            {
                **value,
                draw(st.sampled_from(["zq", "data", "Name", "toolCallId"])): draw(_replacements),
            },
        )
    made: dict[str, Callable[[], Any]] = {
        "near": lambda: _near(value),
        "replace": lambda: draw(_replacements),
        "list": lambda: [value],
        "text": lambda: json.dumps(value),
    }
    return changed(call, path, made[way]())


def _near(value: Any) -> Any:
    """Another value of the same type, just past what may have been a bound."""
    if isinstance(value, bool | None):
        return not value
    if isinstance(value, int | float):
        return value + 1 if value < 0 else -value - 1
    if isinstance(value, str):
        return value[:-1] if len(value) > 1 else value + "xx"
    return cast("list[Any]", value) * 2 if isinstance(value, list) else {}


def _paths(value: Any, path: JsonPath) -> Iterator[JsonPath]:
    yield path
    if isinstance(value, dict):
        for key, each in cast("dict[str, Any]", value).items():
            yield from _paths(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(cast("list[Any]", value)):
            yield from _paths(each, (*path, index))
