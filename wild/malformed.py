"""The malformed calls of `malformed_calls.jsonl`, and a Python tool for each of them.

A line of the file is a `Case`. Its tool is a function with the parameters that the schema declares,
as an author would write it, so that every host compiles it in its own way. It returns the values
that it received, as JSON.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

FILE = Path(__file__).with_name("malformed_calls.jsonl")

Schema = Mapping[str, Any]
Values = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One malformed call, where it was reported, and the call that was meant."""

    id: str
    source: str
    date: str | None
    client: str
    mistake: str
    bytes_are: Literal["verbatim", "reconstructed"]
    written_as: Literal["json", "escaped json", "python", "javascript"]
    shown_as: Literal["log", "example"]
    schema_is: Literal["published", "reconstructed"]
    intent_from: Literal["report", "inferred"]
    reader_can_tell: bool
    derivable: bool
    because: str
    tool: dict[str, Any]
    sent: str
    right: Values | None
    replaced: list[str]
    excerpt: str
    excerpt_sha256: str

    @property
    def schema(self) -> Schema:
        return self.tool["inputSchema"]

    @property
    def is_json(self) -> bool:
        """Whether a server can read the message that contains it."""
        try:
            json.loads(self.sent)
        except ValueError:
            return False
        return True


def cases() -> list[Case]:
    with FILE.open(encoding="utf-8") as lines:
        return [Case(**json.loads(line)) for line in lines]


# --- values -------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """JSON without the differences that equal calls may have: `2.0` for `2`, null for a field that
    was not sent.
    """
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def is_same(one: Any, other: Any) -> bool:
    """As text, because Python's `==` takes `true` for `1`."""
    texts = [json.dumps(plain(each), sort_keys=True) for each in (one, other)]
    return texts[0] == texts[1]


# --- tools --------------------------------------------------------------------------------------

SCALARS = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None}


def function_of(case: Case) -> Callable[..., Any]:
    """A function with the declared parameters that returns the values it received."""

    def tool(**received: Any) -> str:
        return json.dumps({name: _dump(each) for name, each in received.items()})

    parameters = list(_parameters(case.schema))
    tool.__signature__ = inspect.Signature(parameters, return_annotation=str)
    tool.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": str}
    tool.__name__ = tool.__qualname__ = case.tool["name"]
    return tool


def _parameters(schema: Schema) -> Iterator[inspect.Parameter]:
    required = schema.get("required", ())
    for name, each in schema["properties"].items():
        default = inspect.Parameter.empty if name in required else None
        yield inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation(each)
        )


def annotation(schema: Schema) -> Any:
    """The type that an author would write for this schema."""
    if "anyOf" in schema:
        return reduce(or_, map(annotation, schema["anyOf"]))
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    match schema.get("type"):
        case None:
            return Any
        case "array":
            return list[annotation(schema["items"])]
        case "object":
            return _model(schema) if "properties" in schema else dict[str, Any]
        case "string" if "pattern" in schema:
            return Annotated[str, Field(pattern=schema["pattern"])]
        case kind:
            return SCALARS[kind]


def _model(schema: Schema) -> type[BaseModel]:
    required = schema.get("required", ())
    fields: dict[str, Any] = {}
    for name, each in schema["properties"].items():
        default = ... if name in required else None
        fields[name.replace("-", "_")] = (annotation(each), Field(default, alias=name))
    return create_model("Model", __config__=ConfigDict(title="Model"), **fields)


def _dump(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, list):
        return [_dump(each) for each in value]
    return value
