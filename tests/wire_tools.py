"""The shape corpus as calls of tools: the arguments, and the required outcome.

One tool for each contract of the corpus, in three kinds: a function, a model's fields, a JSON
Schema. Every tool returns the values it received, as text. `matrix/` serves them, and `frameworks/`
makes tools of agent frameworks from them.
"""

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import update_wrapper
from typing import Annotated, Any

import wire_contracts
import wire_depths
import wire_hostile
import wire_outcomes

from toolbooth import ToolRegistry, Unpack, compile_function, compile_json_schema, compile_model

# --- calls -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the bytes of `arguments` and its outcome in the words of the corpus."""

    id: str
    tool: str
    body: bytes
    expected: dict[str, Any]
    raw: bool
    """Written as text, because the bytes matter."""


PARSE_ERROR = {"error": -32700}
DEEP = (250, 500, 900)


def calls() -> list[Call]:
    """Return all calls. If even a forgiving reader cannot find a call in a frame, no server can
    answer for the tool.
    """
    every = [*_everywhere(), *_singles(), *_hostile()]
    return [call if _is_call(call.body) else replace(call, expected=PARSE_ERROR) for call in every]


def _is_call(body: bytes) -> bool:
    try:
        json.loads(
            b'{"arguments":%s}' % (body or b"{}").decode(errors="replace").encode(), parse_int=len
        )
    except (ValueError, RecursionError):
        return False
    return True


def _everywhere() -> Iterator[Call]:
    for case in wire_depths.everywhere():
        fragment = case["text"] if "text" in case else json.dumps(case["fragment"])
        for depth in case.get("at", wire_depths.DEPTHS):
            if depth in case.get("not_at", ()):
                continue
            body = (wire_depths.DEPTHS[depth][0] % fragment).encode()
            for source in wire_depths.SOURCES:
                expected = wire_depths.expected(case, source, depth)
                yield Call(
                    f"{case['id']}@{source}.{depth}",
                    f"{source}.{depth}",
                    body,
                    expected,
                    "text" in case,
                )


def _singles() -> Iterator[Call]:
    for case in wire_contracts.single_cases():
        if case["outcome"] == "refused":
            told = {"problems": sorted(case["problems"]), "corrected": case["corrected"]}
        else:
            told = {
                "received": case.get("received", case.get("arguments")),
                "repairs": case.get("repairs", []),
            }
        expected = {"outcome": case["outcome"], **told}
        name = f"{case['file']}/{case['contract']}/{case['id']}"
        yield Call(
            name, case["contract"], wire_contracts.body_of(case), expected, "arguments" not in case
        )


def _hostile() -> Iterator[Call]:
    for name, (text, problems) in wire_hostile.HOSTILE.items():
        expected = {"outcome": "refused", "problems": problems, "corrected": None}
        if (
            len(text) < 4_000_000
        ):  # longer ones depend on the transport: tests/adapters/test_original_request.py
            yield Call(f"hostile/{name}", "chained", text.encode(), expected, True)
    for depth in DEEP:
        expected = {"outcome": "refused", "problems": [["too-deep", "$"]], "corrected": None}
        body = b'{"value": %s1%s}' % (b"[" * depth, b"]" * depth)
        yield Call(f"hostile/{depth} arrays deep", "anything", body, expected, True)


def outcome(result: dict[str, Any]) -> dict[str, Any]:
    """Return a tool result in the words of the corpus."""
    meta = result.get("_meta", {}).get("toolbooth", {})
    text = result["content"][0]["text"]
    if "problems" in meta:
        problems = sorted([each["code"], each["path"]] for each in meta["problems"])
        return {"outcome": "refused", "problems": problems, "corrected": meta.get("corrected")}
    if result.get("isError"):
        return {"outcome": "failed", "text": text}
    repairs = [[each["code"], each["path"]] for each in meta.get("repairs", [])]
    return {
        "outcome": "repaired" if repairs else "passed",
        "received": json.loads(text),
        "repairs": repairs,
    }


# --- tools -----------------------------------------------------------------------------------------------------


def answer(received: Any) -> str:
    """Return a tool's description of the values it was called with; a date as the text that a JSON
    Schema's is.
    """
    return json.dumps(wire_depths.plain_dates(wire_outcomes.dump(received)))


async def answer_async(received: Any) -> str:
    return answer(received)


def functions() -> dict[str, Callable[..., Any]]:
    made = {each.__name__: each for each in (*wire_contracts.FUNCTIONS, wire_hostile.chained)}
    for depth, model in zip(wire_depths.DEPTHS, wire_depths.MODELS, strict=True):
        made[f"signature.{depth}"] = wire_depths.signature_of(model)
        made[f"unpack.{depth}"] = wire_depths.unpacking(model)
    return {name: _answering(function) for name, function in made.items()}


def _answering(function: Callable[..., Any]) -> Callable[..., Any]:
    async def tool(**received: Any) -> str:
        return answer(received)

    made: Any = update_wrapper(tool, function)
    made.__annotations__ = {**function.__annotations__, "return": str}
    made.__signature__ = inspect.signature(function).replace(return_annotation=str)
    return made


def models() -> dict[str, Any]:
    sources = {
        "model": wire_depths.MODELS,
        "dataclass": wire_depths.CLASSES,
        "typed-dict": wire_depths.DICTS,
    }
    made = {
        f"{source}.{depth}": each
        for source, types in sources.items()
        for depth, each in zip(wire_depths.DEPTHS, types, strict=True)
    }
    return {
        **made,
        **{
            name: getattr(wire_contracts, name)
            for name in wire_contracts.CONTRACTS
            if name[0].isupper()
        },
    }


def taking(model: Any) -> Callable[..., Any]:
    async def tool(request: Annotated[model, Unpack()]) -> str:
        return answer(request)

    return tool


def schemas() -> dict[str, Any]:
    made = {
        f"json-schema.{depth}": each
        for depth, each in zip(wire_depths.DEPTHS, wire_depths.SCHEMAS, strict=True)
    }
    named = {
        "foreign_key": "FOREIGN_KEY",
        "open_schema": "OPEN_SCHEMA",
        "open_integers": "OPEN_INTEGERS",
    }
    named |= {"combined": "COMBINED", "referred": "REFERRED"}
    made |= {name: getattr(wire_contracts, constant) for name, constant in named.items()}
    number = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    return {
        **made,
        "nullable_schema": wire_depths.holding("n", number),
        "bare_schema": {"type": "object"},
    }


def registry() -> ToolRegistry:
    made = ToolRegistry("corpus")
    for name, function in functions().items():
        made.add(compile_function(function, name=name))
    for name, model in models().items():
        made.add(compile_model(model, name=name), answer_async)
    for name, schema in schemas().items():
        made.add(compile_json_schema(schema, name=name), answer_async)
    return made
