"""Compiles parameters to a contract for calls from Python. This contract is never published.

Such a call may do more than a call by an agent: it may pass a dict for a model, or values that are
not JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolbooth.compile.flatten import mark_flattened_below
from toolbooth.compile.params import ReadParam
from toolbooth.compile.pydantic.core_schema import (
    AS_JSON,
    DEFAULTS,
    LENIENT,
    CoreNode,
    without_unpack,
)
from toolbooth.compile.pydantic.failures import Failures, Passing
from toolbooth.compile.pydantic.shape import ShapeBuilder
from toolbooth.compile.pydantic.validator import (
    for_python,
    for_values,
    for_wire,
    json_run,
    validator,
)
from toolbooth.compile.shape_builder import object_shape
from toolbooth.compile.signature import arguments_core, objections, with_own_defaults
from toolbooth.contract import Contract


def compile_direct(
    params: list[ReadParam],
    *,
    name: str,
    whole: bool = False,
    python: bool = False,
    passing: Passing = (),
) -> Contract:
    """Compile these parameters, in which no mistakes may be left. With `whole`, unpacked models are
    passed as objects. With `python`, some values may not be JSON.
    """
    builder = ShapeBuilder()
    table = arguments_core(name, params)
    root = builder.open(without_unpack(table) if whole else table)
    for param in params:
        root["fields"][param.name] = with_own_defaults(root["fields"][param.name], param, builder)
    shape = object_shape(builder.fields(root, DEFAULTS, noun="parameter"))
    builder.shapes.finish(shape)
    mark_flattened_below(shape)
    core: CoreNode = {
        "type": "definitions",
        "schema": root,
        "definitions": list(builder.definitions.values()),
    }
    failures = Failures(name, core, passing)
    run = _run_of(failures.guarded(), python=python, as_json=builder.shapes.ambiguous)
    validate = failures.refusing(run, objections)
    # `describe` is never called, because a contract of this kind is not published.
    return Contract(name=name, description="", shape=shape, describe=dict, validate=validate)


def _run_of(core: CoreNode, *, python: bool, as_json: bool) -> Callable[[Any], Any]:
    # A Python caller may send instances of any class, so the author's own lax schema validates
    # them.
    if python:
        return validator(for_python(core)).validate_python
    # Only such unions behave differently for JSON and for Python values.
    if as_json:
        return json_run(for_wire(core, AS_JSON))
    return validator(for_values(for_wire(core, LENIENT))).validate_python
