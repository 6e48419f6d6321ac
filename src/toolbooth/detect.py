"""`detect_nested_wrapper`, for any JSON Schema: whether some key is a wrapper around fields that
should be flat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbooth.boundary.examine import examine
from toolbooth.compile.json_schema import shape_of_schema
from toolbooth.contract import Limits
from toolbooth.jsonvalue import listed, path_text


def detect_nested_wrapper(
    arguments: Mapping[str, Any], input_schema: Mapping[str, Any]
) -> str | None:
    """Return a message for the agent if its arguments contain a nested wrapper at any depth, else
    None.
    """
    shape = shape_of_schema(input_schema, root=True)
    if shape.opaque or not shape.objects:
        return None
    _, exam = examine(shape, dict(arguments), Limits(), thorough=False)
    wrappers = [problem for problem in exam.problems if problem.code == "nested-wrapper"]
    if not wrappers:
        return None
    lines = [f"{problem.where}: {problem.message}." for problem in wrappers]
    lines += [
        f"Declared fields of {path_text(path)}: {listed(names)}."
        for path, names in exam.declared.items()
    ]
    return "\n".join(lines)
