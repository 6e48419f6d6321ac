"""`detect_nested_wrapper`: finds an object that is wrapped around fields, such as `{"data":
{...}}`, although the schema has these fields at the top. Works with any JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbooth.boundary.examine import examine
from toolbooth.boundary.keys import messages
from toolbooth.compile.json_schema import shape_of_schema
from toolbooth.contract import Limits
from toolbooth.errors import Declared
from toolbooth.jsonvalue import path_text


def detect_nested_wrapper(
    arguments: Mapping[str, Any], input_schema: Mapping[str, Any]
) -> str | None:
    """Return a message for the agent if its arguments contain a nested wrapper at any depth, else
    None. The message lists all declared fields.
    """
    shape = shape_of_schema(input_schema, root=True)
    if shape.opaque or not shape.objects:
        return None
    _, exam = examine(shape, dict(arguments), Limits(), thorough=False)
    wrappers = [problem for problem in exam.problems if problem.code == "nested-wrapper"]
    if not wrappers:
        return None
    lines = [f"{each.where}: {messages.sentence(each.message)}" for each in wrappers]
    # The rows of a list share one declaration, so each wrapper in them would list the same fields
    # again.
    listed: list[Declared] = []
    for path, declared in exam.declared.items():
        if declared not in listed:
            lines.append(messages.declared_fields(path_text(path), declared))
            listed.append(declared)
    return "\n".join(lines)
