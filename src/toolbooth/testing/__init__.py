"""What a tool author tests with: calls in the shape that clients deliver, and what became of them.

The names here are loaded on first use, so that none of them brings pytest or Hypothesis to those who need neither.
"""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from toolbooth.testing.call import WireResult as WireResult
    from toolbooth.testing.call import call_over_wire as call_over_wire
    from toolbooth.testing.call import call_over_wire_async as call_over_wire_async
    from toolbooth.testing.delivery import NotJson as NotJson
    from toolbooth.testing.delivery import wire as wire
    from toolbooth.testing.javascript import UNDEFINED as UNDEFINED
    from toolbooth.testing.record import record_calls as record_calls
    from toolbooth.testing.replay import replay_calls as replay_calls

_HOMES = {
    "UNDEFINED": "javascript",
    "NotJson": "delivery",
    "WireResult": "call",
    "call_over_wire": "call",
    "call_over_wire_async": "call",
    "record_calls": "record",
    "replay_calls": "replay",
    "wire": "delivery",
}

__all__ = [
    "UNDEFINED",
    "NotJson",
    "WireResult",
    "call_over_wire",
    "call_over_wire_async",
    "record_calls",
    "replay_calls",
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
