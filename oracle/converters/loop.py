"""The main loop of every runner: read tools as JSON, convert each tool in each way, and print the
results.

A runner is a separate program, run in the environment of the SDK that it is named after
(../environments.py).
"""

import copy
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

Tool = dict[str, Any]
"""`name`, `description`, `inputSchema`, and `calls`: arguments that are right."""

Convert = Callable[[Tool], Any]
"""The schema that the provider would get, or for a way of calling, the arguments that the server
would get.
"""


def run(ways: Mapping[str, Convert], read: Callable[[Any], Any] = lambda made: made) -> None:
    """`read` turns the provider's schema language into JSON Schema."""
    tools = json.load(sys.stdin)
    out, sys.stdout = sys.stdout, sys.stderr  # the output of an SDK must not mix with ours
    came = {
        way: {key: attempt(convert, tool, read) for key, tool in tools.items()}
        for way, convert in ways.items()
    }
    json.dump(came, out)


def attempt(convert: Convert, tool: Tool, read: Callable[[Any], Any]) -> dict[str, Any]:
    """The result of a conversion: `made`, or `raises` with the error."""
    try:
        made = convert(copy.deepcopy(tool))
    except Exception as error:
        return {"raises": f"{type(error).__name__}: {error}"}
    return {"made": read(made)}
