"""Calls that are made to do harm, and the refusals that they must get."""

import json

from pydantic import BaseModel


class Chain(BaseModel):
    value: int = 0
    items: "list[Chain] | dict[str, int] | None" = None
    below: "Chain | None" = None


def chained(chain: Chain): ...


def below(depth: int, inner: str) -> str:
    return '{"below": ' * depth + inner + "}" * depth


def in_chain(text: str) -> bytes:
    return b'{"chain": ' + text.encode() + b"}"


def text_in_text(times: int) -> str:
    """JSON text, 60 levels down, of JSON text, 60 levels down …"""
    made = '{"value": "5"}'
    for _ in range(times):
        made = below(60, json.dumps(made))
    return made


HOSTILE: dict[str, tuple[str, list[list[str]]]] = {
    "100,000 arrays deep": ("[" * 100_000, [["too-deep", "$"]]),
    "100,000 objects deep": (below(100_000, "1"), [["too-deep", "$"]]),
    "100,000 deep in a value": ('{"chain": {"value": ' + "[" * 100_000, [["too-deep", "$"]]),
    "100,000 deep in JSON text": (json.dumps({"chain": "[" * 100_000}), [["too-deep", "$.chain"]]),
    "a string of 10 MB": (json.dumps({"chain": "x" * 10_000_000}), [["too-large", "$"]]),
    "an integer of 5,000 digits": (
        '{"chain": {"value": ' + "9" * 5000 + "}}",
        [["lossy-number", "$"]],
    ),
    "an integer of 5,000 digits as text": (
        '{"chain": {"value": "' + "9" * 5000 + '"}}',
        [["lossy-number", "$.chain.value"]],
    ),
    "an integer of 5,000 digits by exponent": (
        '{"chain": {"value": 1e5000}}',
        [["lossy-number", "$.chain.value"]],
    ),
    "an exponent of ten digits": (
        '{"chain": {"value": 1e9999999999}}',
        [["lossy-number", "$.chain.value"]],
    ),
    "wrappers 190 deep": (
        '{"w": ' * 190 + '{"zzz": 1}' + "}" * 190,
        [["missing", "$.chain"], ["nested-wrapper", "$.w"]],
    ),
}
