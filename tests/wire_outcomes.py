"""One call in the words of the shape corpus, and the values of it that were lost in silence."""

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import date, time
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from toolbooth import (
    Contract,
    handle_bytes,
)

WIRE = Path(__file__).parent / "wire"


def outcome(contract: Contract, body: bytes) -> dict[str, Any]:
    """Return the whole outcome of one call, in the words of the corpus."""
    calls: list[Any] = []

    def tool(*args: Any, **keywords: Any) -> None:
        calls.append(dump(args[0] if args else keywords))

    result = handle_bytes(contract, body, tool)
    meta = result.get("_meta", {}).get("toolbooth", {})
    if result["isError"]:
        assert calls == [], "refused, and called all the same"
        problems = sorted([each["code"], each["path"]] for each in meta["problems"])
        return {"outcome": "refused", "problems": problems, "corrected": meta.get("corrected")}
    assert len(calls) == 1
    repairs = [[each["code"], each["path"]] for each in meta.get("repairs", [])]
    return {
        "outcome": "repaired" if repairs else "passed",
        "received": calls[0],
        "repairs": repairs,
    }


def dump(value: Any) -> Any:
    """Return the values that a tool received, as JSON; a value that JSON does not have gets the
    name of its type.
    """
    if isinstance(value, BaseModel):
        given = {
            name: getattr(value, name)
            for name in type(value).model_fields
            if name in value.model_fields_set
        }
        return dump({**given, **(value.model_extra or {})})
    if is_dataclass(value):
        return {each.name: dump(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {
            key if isinstance(key, str) else str(key): dump(each) for key, each in value.items()
        }
    if isinstance(value, Enum):
        return {type(value).__name__: value.value}
    if type(value) in (list, str, int, float, bool, type(None)):
        return list(map(dump, value)) if isinstance(value, list) else value
    if isinstance(value, tuple | set | frozenset | deque):
        return {
            type(value).__name__: list(
                map(dump, sorted(value) if isinstance(value, set | frozenset) else value)
            )
        }
    if isinstance(value, SecretStr):
        return {"SecretStr": value.get_secret_value()}
    return {
        type(value).__name__: value.isoformat() if isinstance(value, date | time) else str(value)
    }


def exactly(found: Any) -> str:
    """Encode as JSON text, in which 1, 1.0 and true differ; Python's == finds them equal."""
    return json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True)


def paths(problems: list[list[str]], prefix: str) -> list[list[str]]:
    return [[code, prefix + path[1:]] for code, path in problems]


def replayed(sent: Any, repairs: list[list[str]]) -> Any:
    """Return the intended call, if the recorded repairs are complete: each is repeated, from its
    record alone.
    """
    root = {"$": sent}
    for code, path in repairs:
        holder, key = root, "$"
        for step in re.findall(
            r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]|\[(\"(?:[^\"\\]|\\.)*\")\]", path
        ):
            holder = holder[key]
            key = step[0] or (int(step[1]) if step[1] else json.loads(step[2]))
        if code in ("json-text", "scalar-text"):
            while isinstance(holder[key], str):
                holder[key] = json.loads(holder[key], parse_float=Decimal)
        else:
            del holder[key]
    return root["$"]


def leaves(value: Any) -> Iterator[Any]:
    """Yield every value that is not a container; an empty container counts as one."""
    below = (
        list(value.values())
        if isinstance(value, dict)
        else value
        if isinstance(value, list)
        else None
    )
    if not below:
        yield value
    else:
        for each in below:
            yield from leaves(each)


def lost(sent: Any, received: Any) -> list[Any]:
    """Return the values sent that the tool did not receive, each counted once."""
    left = list(leaves(received))
    missing: list[Any] = []
    for each in leaves(sent):
        found = next((index for index, one in enumerate(left) if same(each, one)), None)
        if found is None:
            missing.append(each)
        else:
            del left[found]
    return missing


def same(sent: Any, received: Any) -> bool:
    """Whether both are the same JSON value, or the text of the same Python one (a date, a Decimal)."""
    if isinstance(sent, bool) or isinstance(received, bool):
        return sent is received
    if isinstance(sent, Decimal | int) and isinstance(received, int | float):
        return sent == received or float(sent) == received
    if isinstance(sent, Decimal | int):
        return str(sent) == received or (is_number(received) and sent == Decimal(received))
    return sent == received


def is_number(text: Any) -> bool:
    return (
        isinstance(text, str)
        and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(E[-+]?[0-9]+)?", text) is not None
    )


def assert_nothing_is_lost(body: bytes, found: dict[str, Any]) -> None:
    if found["outcome"] == "refused":
        return  # and the tool was not called: see `outcome`
    sent = json.loads(body or b"{}", parse_float=Decimal) or {}
    assert lost(replayed(sent, found["repairs"]), found["received"]) == []
