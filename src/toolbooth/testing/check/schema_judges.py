"""Decides if a schema describes one call correctly.

`ContractJudge` uses the contract of a tool and does not run the tool. `HostJudge` calls the tool of
an unprotected server.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from toolbooth.boundary.accept import accept_bytes
from toolbooth.boundary.repairs import Repair
from toolbooth.contract import Contract
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import Json, JsonPath, Schema, is_array, is_object, path_text
from toolbooth.key_patterns import undeclared_shape
from toolbooth.shape import ArrayShape, ObjectShape, Shape, parts_of
from toolbooth.testing.check.verdict import is_refused
from toolbooth.testing.client.call import WireResult
from toolbooth.testing.offline_schema import is_schema, offline_validator
from toolbooth.testing.shapes.call_places import form_of, is_within, paths_in

Claim = Literal["admitted", "excluded", "portable", "broken"]

Verdict = tuple[Claim, str]
"""The claim that is false, and what really happened."""


class ContractJudge:
    """Compares a contract with its exact and its published schema."""

    def __init__(self, contract: Contract, published: Schema) -> None:
        self.contract = contract
        # JSON Schema admits undeclared keys unless it forbids them, and the boundary refuses them.
        # If the schema were not closed, every such refusal would count as a lie.
        self.exact = offline_validator(close_schema(contract.schema), contract.name)
        self.published = offline_validator(_with_null(published), contract.name)

    def of_admitted(self, arguments: Any) -> Verdict | None:
        """Judge a call that a schema of the tool allows. If the exact schema allows it, the
        contract must accept it without a repair, or the author's code must refuse it.

        The portable schema may allow more calls than the exact one, because it states some rules
        only in descriptions.
        """
        if not self.exact.is_valid(arguments):
            return None
        found = self._objections(arguments)
        authors = list(self._author_paths(arguments)) if found else []
        strange = [each for each in found if not is_within(each.path, authors)]
        if not strange:
            return None
        return "admitted", ", ".join(f"{each.code} at {each.where}" for each in strange)

    def _objections(self, arguments: Any) -> Sequence[Problem | Repair]:
        """Return what the boundary objects to: the repairs of an accepted call, or the problems of
        a refused one. Problems that the author's code reported are left out.
        """
        try:
            return self._repairs(arguments)
        except ToolInputError as error:
            # `invalid` is the code of a problem that the author's validation reports, for example a
            # Pydantic `field_validator`. No schema can describe such rules.
            return [each for each in error.problems if each.code != "invalid"]

    def _author_paths(self, arguments: Any) -> Iterator[JsonPath]:
        """Yield the paths of values that the author's code reads, or that take JSON text. A schema
        can describe such values only in words.
        """
        for path in paths_in(arguments):
            shape: Shape | None = self.contract.shape
            for step in path:
                shape = None if shape is None else _below(shape, step)
            if shape is not None and _is_authors(shape):
                yield path

    def of_any(self, arguments: Any) -> Verdict | None:
        """Judge any call. If the contract accepts it without a repair, the exact schema must allow
        it.
        """
        if not self._passes(arguments):
            return None
        meant = _in_published_names(self.contract.shape, arguments)
        for error in self.exact.iter_errors(meant):
            if not self._may_decide(error):
                return "excluded", _error_text(error)
        return None

    def of_portable(self, arguments: Any) -> Verdict | None:
        """Judge any call. If the contract accepts it without a repair, the published schema must
        allow it.
        """
        if not self._passes(arguments):
            return None
        meant = _in_published_names(self.contract.shape, arguments)
        for error in self.published.iter_errors(meant):
            return "portable", _error_text(error)
        return None

    def _passes(self, arguments: Any) -> bool:
        """Return True if the contract accepts a call without a repair."""
        try:
            return not self._repairs(arguments)
        except ToolInputError:
            return False

    def _repairs(self, arguments: Any) -> list[Repair]:
        """Return the repairs that an accepted call needed.

        Raises:
            ToolInputError: if the call is refused.
        """
        remarks = accept_bytes(self.contract, json.dumps(arguments).encode())[1]
        return [each for each in remarks if isinstance(each, Repair)]

    def _may_decide(self, error: Any) -> bool:
        """Return True if the schema refuses a value about which the author's code decides."""
        shape: Shape | None = self.contract.shape
        for step in error.instance_path:
            if shape is None or _is_authors(shape):
                return True
            shape = _below(shape, step)
        if shape is None or _is_authors(shape):
            return True
        # If no branch of a union fits, the error is reported at the union itself. The value that
        # the author's code decides may be inside one of the branches.
        return error.kind.name in ("anyOf", "oneOf") and _holds_authors(shape)


class HostJudge:
    """Compares an unprotected tool with the schema that its host publishes."""

    def __init__(self, published: Schema, call: Callable[[Any], WireResult]) -> None:
        self.schema = offline_validator(close_schema(published))
        self.call = call

    def of_admitted(self, arguments: Any) -> Verdict | None:
        result = self.call(arguments)
        # A refusal in the words of Pydantic may come from the author's own validators, which no
        # schema can describe. So only a tool that ran and failed counts.
        if result.is_error and not is_refused(result):
            return "admitted", f"it failed: {result.text}"
        return None

    def of_any(self, arguments: Any) -> Verdict | None:
        errors = list(self.schema.iter_errors(arguments))
        if not errors or self.call(arguments).is_error:
            return None
        return "excluded", f"the tool ran; {_error_text(errors[0])}"


def _error_text(error: Any) -> str:
    return f"{path_text(error.instance_path)}: {error.message}"


# --- shapes -------------------------------------------------------------------------------------


def _is_authors(shape: Shape) -> bool:
    """Return True if the author's code reads values of this shape, or if they are JSON text."""
    return shape.opaque or shape.json_text


# A recursive model, such as a tree of comments, has an endless shape. So the search ends at a
# certain depth.
def _holds_authors(shape: Shape, depth: int = 6) -> bool:
    """Return True if `_is_authors` is true for a shape or for any shape inside it."""
    if _is_authors(shape):
        return True
    return depth > 0 and any(_holds_authors(each, depth - 1) for each in parts_of(shape))


def _below(shape: Shape, step: str | int) -> Shape | None:
    """Return the shape of a field or of an item. None if there is none."""
    if isinstance(step, int) and shape.arrays:
        return _item_shape(shape.arrays[0], step)
    key = str(step)  # a key may consist of digits
    found = (_field_shape(form, key) for form in shape.objects)
    return next((each for each in found if each is not None), None)


def _item_shape(form: ArrayShape, index: int) -> Shape | None:
    return form.prefix[index] if index < len(form.prefix) else form.items


def _field_shape(form: ObjectShape, key: str) -> Shape | None:
    return form.fields[key].shape if key in form.fields else undeclared_shape(form, key)


def _in_published_names(shape: Shape | None, value: Any) -> Any:
    """Return the call with every field under its published name. A model may also accept other
    names.
    """
    if shape is None or shape.opaque:
        return value
    if is_object(value):
        form = form_of(shape.objects, value) or ObjectShape()
        made: Json = {}
        for key, each in value.items():
            name = form.fields[key].name if key in form.fields else key
            made[name] = _in_published_names(_field_shape(form, key), each)
        return made
    if is_array(value) and len(shape.arrays) == 1:
        return [_in_published_names(_below(shape, index), each) for index, each in enumerate(value)]
    return value


# --- schemas ------------------------------------------------------------------------------------


def _with_null(schema: Schema) -> Json:
    """Return the published schema, changed so that null is allowed everywhere.

    The portable profile writes no null branches. It mentions null only in descriptions.
    """
    made = dict(schema)
    for key in ("items", "additionalProperties"):
        if is_schema(made.get(key)):
            made[key] = _or_null(made[key])
    if "anyOf" in made:
        made["anyOf"] = [_with_null(each) for each in made["anyOf"]]
    if "properties" in made:
        made["properties"] = {name: _or_null(each) for name, each in made["properties"].items()}
    return made


def _or_null(schema: Schema) -> Json:
    return {"anyOf": [_with_null(schema), {"type": "null"}]}


_DEPENDENT = {"dependentSchemas", "dependentRequired", "dependencies"}
_IN_PLACE = {"anyOf", "oneOf", "if", "then", "else", *_DEPENDENT}


def close_schema(schema: Schema) -> Json:
    """Forbid undeclared keys in every object that declares properties, unless the object states
    that they are allowed. The boundary does the same.

    A schema with `allOf` is returned unchanged, because its parts cannot be closed one by one.
    """
    return dict(schema) if '"allOf"' in json.dumps(schema) else _close_object(schema)


def _close(schema: Any) -> Any:
    if is_schema(schema):
        return _close_object(schema)
    return list(map(_close, schema)) if is_array(schema) else schema


def _close_object(schema: Schema) -> Json:
    # A branch of `anyOf` beside `properties` often has only some of the keys, as in `{"required":
    # ["id"]}`. A closed branch would exclude the properties that are declared around it.
    kept = _IN_PLACE if "properties" in schema else ()
    made = dict(schema)
    for key in schema.keys() - kept:
        made[key] = _close(schema[key])
    silent = "properties" in made and not made.keys() & {*_IN_PLACE, "$ref", "patternProperties"}
    if not silent or "additionalProperties" in made:
        return made
    # A key can be required and not declared. In a closed object without it, no call would be valid.
    listed = {**dict.fromkeys(made.get("required", ()), True), **made["properties"]}
    return {"additionalProperties": False, **made, "properties": listed}
