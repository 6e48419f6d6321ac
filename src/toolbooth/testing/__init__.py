"""What a tool author tests with: calls in the shape that clients deliver, and what became of them.

The names here are loaded on first use, so that none of them brings pytest or Hypothesis to those who need neither.
"""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from toolbooth.testing.boundary import assert_boundary as assert_boundary
    from toolbooth.testing.boundary import check_boundary as check_boundary
    from toolbooth.testing.call import WireResult as WireResult
    from toolbooth.testing.call import call_over_wire as call_over_wire
    from toolbooth.testing.call import call_over_wire_async as call_over_wire_async
    from toolbooth.testing.delivery import NotJson as NotJson
    from toolbooth.testing.delivery import wire as wire
    from toolbooth.testing.examples import NoExample as NoExample
    from toolbooth.testing.examples import example_arguments as example_arguments
    from toolbooth.testing.generate import arguments_for as arguments_for
    from toolbooth.testing.honesty import schema_honesty as schema_honesty
    from toolbooth.testing.javascript import UNDEFINED as UNDEFINED
    from toolbooth.testing.prescribed import AgentShape as AgentShape
    from toolbooth.testing.record import record_calls as record_calls
    from toolbooth.testing.replay import replay_calls as replay_calls
    from toolbooth.testing.shapes import agent_shapes as agent_shapes

_HOMES = {
    "UNDEFINED": "javascript",
    "AgentShape": "prescribed",
    "NoExample": "examples",
    "NotJson": "delivery",
    "WireResult": "call",
    "agent_shapes": "shapes",
    "arguments_for": "generate",
    "assert_boundary": "boundary",
    "call_over_wire": "call",
    "call_over_wire_async": "call",
    "check_boundary": "boundary",
    "example_arguments": "examples",
    "record_calls": "record",
    "replay_calls": "replay",
    "schema_honesty": "honesty",
    "wire": "delivery",
}

__all__ = [
    "UNDEFINED",
    "AgentShape",
    "NoExample",
    "NotJson",
    "WireResult",
    "agent_shapes",
    "arguments_for",
    "assert_boundary",
    "call_over_wire",
    "call_over_wire_async",
    "check_boundary",
    "example_arguments",
    "record_calls",
    "replay_calls",
    "schema_honesty",
    "wire",
]


def __getattr__(name: str) -> _typing.Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'toolbooth.testing' has no attribute {name!r}")
    found = getattr(_importlib.import_module(f"toolbooth.testing.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
