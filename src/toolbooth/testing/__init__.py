"""The test kit for tool authors. It calls tools as clients do, and checks the outcomes."""

from toolbooth.extras import require as _require

# Before the imports below, whose own error would not name the extra to install.
_require("toolbooth.testing", extra="testing", modules={"hypothesis": "Hypothesis"})

from toolbooth.recording import record_calls
from toolbooth.testing.check.boundary import assert_boundary, check_boundary
from toolbooth.testing.check.schema_honesty import schema_honesty
from toolbooth.testing.client.call import WireResult, call_over_wire, call_over_wire_async
from toolbooth.testing.client.delivery import NotJson, wire
from toolbooth.testing.client.javascript import UNDEFINED
from toolbooth.testing.replay.replay import replay_calls
from toolbooth.testing.shapes.agent_shapes import agent_shapes
from toolbooth.testing.shapes.examples import NoExample, example_arguments
from toolbooth.testing.shapes.expected import AgentShape
from toolbooth.testing.shapes.generate import arguments_for

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
