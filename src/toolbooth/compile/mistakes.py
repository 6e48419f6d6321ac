"""Finds the author's mistakes, each with its remedy. Also warns about tools that work, but that
agents can only call by guessing.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable
from types import FrameType

from toolbooth.errors import ContractWarning
from toolbooth.examples import Examples, Unshown
from toolbooth.jsonvalue import Schema, write_json
from toolbooth.sample import sample_value
from toolbooth.shape import ObjectShape, Shape

PUBLISHED_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
"""The names that every client accepts. Vertex is the strictest client
(docs/project/evidence/clients.md).
"""

RESERVED_NAMES = frozenset(("config", "run_manager", "callbacks", "runtime", "self"))
"""LangChain drops arguments with these names before they reach a server (langchain#40535,
2026-09-16). The last two were found by a test on 2026-11-15.
"""

_EXAMPLE = re.compile(r",?\s*e\.\s?g\.")


def check_function(function: object) -> None:
    """Raise TypeError if the first argument is not callable. Authors may pass the name of the tool,
    because other libraries expect it there.
    """
    if not callable(function):
        raise TypeError(f"{function!r} is not a function; to name a tool, write name={function!r}")


def not_a_model(owner: str) -> str:
    """Return the message for a marker on a type without fields."""
    return f"{owner} is marked Unpack() but is not a model with fields; remove the marker"


def unpacks_itself(owner: str) -> str:
    """Return the message for a model that unpacks itself."""
    return f"{owner} unpacks a model inside itself, without an end; remove the marker"


def name_mistakes(form: ObjectShape) -> Iterable[str]:
    """Yield a message for each name that some client would refuse or drop."""
    for name in form.names:
        if not PUBLISHED_NAME.fullmatch(name):
            yield (
                f"{name!r} is not a name every client takes (letters, digits, _; 64 at most); "
                "give it an alias"
            )
        if name in RESERVED_NAMES:
            yield (
                f"{name!r} is reserved: LangChain swallows it on the way; "
                "rename it or give it an alias"
            )


def type_mistakes(shape: Shape, json_texts: list[tuple[str, Shape]]) -> Iterable[str]:
    """Yield messages for types that JSON cannot express, and for JsonText on a type that accepts
    any text.
    """
    for owner, each in json_texts:
        if each.opaque or "string" in each.types:
            yield (
                f"{owner}: JsonText() needs a type without text in it, an object or an array; "
                "text is taken as it is"
            )
    # A type that only `isinstance` can check has no JSON type.
    for name, field in shape.objects[0].fields.items():
        if not field.shape.types:
            yield (
                f"{name!r} has a type that JSON cannot carry; "
                "annotate it otherwise, or have the host inject it"
            )


def warn_of_missing_examples(owner: str, schema: Schema) -> None:
    """Warn about every object and array that agents cannot write, because neither its type nor an
    example shows its contents (docs/project/evidence/parameter-transformation.md).
    """
    for found in Examples(schema).missing():
        warnings.warn(
            f"{owner}: nothing shows what to write in {found.path.removeprefix('$.')!r}; "
            f"{_remedy(found, schema)}",
            ContractWarning,
            stacklevel=_frames_of_ours(),
        )


def _remedy(found: Unshown, root: Schema) -> str:
    if found.schema.get("additionalProperties") is False:
        return "its type has no fields, so only {} can be sent: declare them, or take a dict"
    return f"give it an example with real values: {_line_to_write(found, root)}"


def _line_to_write(found: Unshown, root: Schema) -> str:
    """Return a line of Python that gives a parameter an example of its type."""
    # An example that does not show the contents is replaced, so the author gets a line to copy.
    said = _EXAMPLE.split(found.description)[0].rstrip(". ")
    # `JsonText` publishes a string, but the example is for the value inside it.
    schema = found.schema.get("contentSchema", found.schema)
    sample = write_json(sample_value(schema, root, by_type=True))
    text = f"{said}, e.g. {sample}" if said else f"e.g. {sample}"
    return f"Field(description={text!r})"


_NOT_THE_AUTHORS = ("toolbooth.", "fastmcp.", "mcp.", "functools")
"""Modules that may call Toolbooth on behalf of the author. For example, hosts register the tools of
their authors.
"""


def _frames_of_ours() -> int:
    """Return the stack level of the author's own line. The warning is reported for this line."""
    frame, depth = sys._getframe(1), 1  # pyright: ignore[reportPrivateUsage]
    # A host's decorator may call us. Then the author's line is above our caller.
    while frame.f_back is not None and _module(frame).startswith(_NOT_THE_AUTHORS):
        frame, depth = frame.f_back, depth + 1
    return depth


def _module(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "")
