"""Calls of the tools in `delivered_server.py`: correct ones, and ones with small or large mistakes."""

import json
import random
from typing import Any

SAMPLES: dict[str, list[dict[str, Any]]] = {
    "anything": [{"value": 1.0}, {"value": {"b": 1, "1": [None]}}, {"value": "[1]"}, {}],
    "numbers": [
        {"count": 2},
        {"count": 2.0, "share": 0.5, "price": "1.10"},
        {"price": 12.5, "sure": True},
    ],
    "order": [
        {"customer": "Ann", "lines": [{"sku": "A1"}]},
        {
            "customer": "Ann",
            "lines": [{"sku": "A1", "quantity": 2}],
            "address": {"city": "Bern", "postcode": None},
        },
        {"customer": "Ann", "lines": [], "tags": {"a": 1, "2": 3}},
    ],
    "chosen": [
        {"colour": "red"},
        {"colour": "blue", "way": "b", "value": [1, 2]},
        {"colour": "red", "value": "1"},
    ],
    "planned": [
        {"day": "2026-11-15"},
        {"day": "2026-11-15", "at": "2026-11-15T01:02:03Z", "limit": 100},
    ],
    "log_in": [{"user": "ann", "password": "hunter2"}],
    "failing": [{}, {"how": "told"}, {"how": "told by the host"}, {"how": "unwritable"}],
}
NAMES = sorted(
    {name for samples in SAMPLES.values() for sample in samples for name in sample}
    | {"sku", "city"}
)
ODD_NAMES = [
    "data",
    "params",
    "request",
    "toolCallId",
    "_meta",
    "a.b",
    "first-name",
    "",
    "é",
    "__proto__",
    "2",
]


SCALARS = [
    *(
        None,
        True,
        False,
        0,
        1,
        -7,
        1.0,
        2.5,
        1e21,
        -0.0,
        2**53 + 1,
        2**70,
        1e-7,
        0.1 + 0.2,
        12345678901234567.5,
    ),
    *(
        "",
        "a",
        "red",
        "5",
        "1.5",
        "true",
        "null",
        "[1]",
        '{"city": "Bern"}',
        "2026-11-15",
        "é😀\x00",
        "{'a': 1}",
    ),
]


def random_value(rng: random.Random, depth: int = 3) -> Any:
    kind = rng.random()
    if depth and kind < 0.15:
        return {
            rng.choice(NAMES + ODD_NAMES): random_value(rng, depth - 1)
            for _ in range(rng.randint(0, 3))
        }
    if depth and kind < 0.25:
        return [random_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return rng.choice(SCALARS)


def mutated(rng: random.Random, value: Any) -> Any:
    """Return the value, or one that differs a little from it."""
    kind = rng.random()
    if kind < 0.08:
        return random_value(rng)
    if kind < 0.14 and isinstance(value, dict | list):
        return json.dumps(value)
    if kind < 0.18:
        return {rng.choice(ODD_NAMES): value}
    if isinstance(value, list):
        return [mutated(rng, each) for each in value]
    if isinstance(value, dict):
        made = {
            recased(rng, key): mutated(rng, each)
            for key, each in value.items()
            if rng.random() > 0.04
        }
        more = rng.random() < 0.12
        return {**made, rng.choice(NAMES + ODD_NAMES): random_value(rng)} if more else made
    return value


def recased(rng: random.Random, key: str) -> str:
    return rng.choice((key.upper(), key.title(), key + "s")) if rng.random() < 0.03 else key


def random_calls(seed: int, count: int) -> list[tuple[str, Any, str]]:
    rng = random.Random(seed)
    tools = [rng.choice(list(SAMPLES)) for _ in range(count)]
    return [
        (tool, mutated(rng, rng.choice(SAMPLES[tool])), rng.choice(("json", "js")))
        for tool in tools
    ]
