"""The author's mistakes, each with its remedy; and warnings about tools that work, but leave agents
guessing.
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
"""The names that every client takes (Vertex is the strictest: docs/project/evidence/clients.md)."""

RESERVED_NAMES = frozenset(("config", "run_manager", "callbacks", "runtime", "self"))
"""Swallowed by LangChain before they reach a server (langchain#40535, 2026-09-16; the last two:
run, 2026-11-15).
"""

_EXAMPLE = re.compile(r",?\s*e\.\s?g\.")


def check_function(function: object) -> None:
    """Raises TypeError for a tool that cannot be called. Other libraries take the name of a tool in
    this place.
    """
    if not callable(function):
        raise TypeError(f"{function!r} is not a function; to name a tool, write name={function!r}")


def not_a_model(owner: str) -> str:
    """The mistake of a marker on a type that has no fields."""
    return f"{owner} is marked Unpack() but is not a model with fields; remove the marker"


def unpacks_itself(owner: str) -> str:
    """The mistake of a marker on a model inside itself."""
    return f"{owner} unpacks a model inside itself, without an end; remove the marker"


def name_mistakes(form: ObjectShape) -> Iterable[str]:
    """Published names that some client would refuse or swallow."""
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
    """Types that no JSON can bring, and JsonText where text is taken as it is."""
    for owner, each in json_texts:
        if each.opaque or "string" in each.types:
            yield (
                f"{owner}: JsonText() needs a type without text in it, an object or an array; "
                "text is taken as it is"
            )
    # A type that only `isinstance` can check has no JSON type at all.
    for name, field in shape.objects[0].fields.items():
        if not field.shape.types:
            yield (
                f"{name!r} has a type that JSON cannot carry; "
                "annotate it otherwise, or have the host inject it"
            )


def warn_of_missing_examples(owner: str, schema: Schema) -> None:
    """Warn of every object and array that agents cannot write, because nothing shows its contents
    (docs/project/evidence/parameter-transformation.md).
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
    """Python that gives a parameter an example of its type."""
    # An example that does not show the contents is replaced: its author sees a line to copy.
    said = _EXAMPLE.split(found.description)[0].rstrip(". ")
    # `JsonText` publishes a string, but the example is for the value inside it.
    schema = found.schema.get("contentSchema", found.schema)
    sample = write_json(sample_value(schema, root, by_type=True))
    text = f"{said}, e.g. {sample}" if said else f"e.g. {sample}"
    return f"Field(description={text!r})"


_NOT_THE_AUTHORS = ("toolbooth.", "fastmcp.", "mcp.", "functools")
"""Modules between the author's line and ours. Hosts register a tool for its author."""


def _frames_of_ours() -> int:
    """How far up the author's own line is, for a warning that points at it."""
    frame, depth = sys._getframe(1), 1  # pyright: ignore[reportPrivateUsage]
    # A decorator of a host calls us, so the author's line is further up than our caller.
    while frame.f_back is not None and _module(frame).startswith(_NOT_THE_AUTHORS):
        frame, depth = frame.f_back, depth + 1
    return depth


def _module(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "")
