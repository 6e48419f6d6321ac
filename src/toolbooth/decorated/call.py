"""Handles a call of a decorated function: validates the values, and converts them to the author's
parameters.

In: the flat fields as keywords, or a whole model under the name or position of its parameter. Out:
the arguments of the author's function. An instance of the model is passed on unchanged. A dict is
validated as the model. Any other value is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from inspect import BoundArguments
from typing import Any

import orjson

from toolbooth.boundary.accept import accept_bytes
from toolbooth.boundary.advise import invalid_values
from toolbooth.boundary.validate import values_of
from toolbooth.context import Context
from toolbooth.contract import Contract, InvalidValues
from toolbooth.decorated.function import FlatFunction
from toolbooth.decorated.host_errors import visible
from toolbooth.decorated.shown import ABSENT, ShownDefault
from toolbooth.errors import ToolInputError
from toolbooth.jsonvalue import json_bytes

_SCALARS = frozenset((str, int, float, bool, type(None)))
_TEXT = frozenset((str,))


def bind(flat: FlatFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BoundArguments:
    """Return the arguments of the author's function.

    Raises:
        ToolInputError: if a value is not valid.
        TypeError: if an argument is not a parameter of the function, or a whole model has another
        type.
    """
    given = _Given(flat)
    given.take_positional(args)
    given.take_keywords(kwargs)
    # Filled by name, so that `args` and `kwargs` fit the author's function, even if it has
    # positional-only parameters.
    bound = flat.original.bind_partial()
    bound.arguments.update(given.by_host)
    if given.whole:
        bound.arguments.update(_with_whole_models(flat, given))
    else:
        bound.arguments.update(_fields(flat, given, frozenset()))
    # A plain framework does not know this parameter and leaves it out.
    for name in flat.own_contexts:
        bound.arguments.setdefault(name, Context())
    return bound


@dataclass(slots=True)
class _Given:
    """The values of one call, sorted by what they are for."""

    flat: FlatFunction
    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    """Flat fields and plain parameters, by their published keys."""
    whole: dict[str, Any] = field(default_factory=dict[str, Any])
    """Models that were passed as a whole, by the name of their parameter."""
    by_host: dict[str, Any] = field(default_factory=dict[str, Any])
    """Parameters that a framework fills itself."""

    def take_positional(self, args: tuple[Any, ...]) -> None:
        """Sort arguments that were passed by position. Positions are those of the author's
        function.
        """
        if not args:
            return
        try:
            found = self.flat.original.bind_partial(*args).arguments
        except TypeError as error:
            raise self._refused(str(error)) from None
        for name, value in found.items():
            self._take_parameter(name, value)

    def take_keywords(self, kwargs: dict[str, Any]) -> None:
        """Sort keyword arguments. Each is a flat field, or a parameter of the author's function."""
        contract = self.flat.contract
        keys = contract.shape.objects[0].fields
        for name, value in kwargs.items():
            # A framework may also fill in the default that it reads in the signature.
            if value is ABSENT or isinstance(value, ShownDefault):
                continue
            key = self.flat.wire_names.get(name, name)
            # A model may have a field with the name of its parameter: `order` in `order:
            # Annotated[Order, Unpack()]`. Then the value decides which of them is meant.
            if key in keys and not self._is_model(key, value):
                self._put(self.fields, key, value)
            elif name in self.flat.original.parameters:
                self._take_parameter(name, value)
            elif not contract.closed:
                self._put(self.fields, key, value)
            else:
                raise self._refused(f"got an unexpected keyword argument {name!r}")

    def _is_model(self, name: str, value: Any) -> bool:
        """Return True if the parameter `name` has a model and `value` is an instance of it. Needed
        because a field of the model may have the same name.
        """
        model = self.flat.models.get(name)
        return model is not None and value is not None and model.is_given_by(value)

    def _take_parameter(self, name: str, value: Any) -> None:
        if name in self.flat.models:
            self._put(self.whole, name, value)
        elif name in self.flat.plain_keys:
            self._put(self.fields, self.flat.plain_keys[name], value)
        else:
            self._put(self.by_host, name, value)

    def _put(self, where: dict[str, Any], name: str, value: Any) -> None:
        if name in where:
            raise self._refused(f"got multiple values for {name!r}")
        where[name] = value

    def _refused(self, why: str) -> TypeError:
        return TypeError(f"{self.flat.name}() {why}. {_usage(self.flat)}")


def _usage(flat: FlatFunction) -> str:
    """Return a text that shows how to call the function from Python."""
    names = ", ".join(f"{name}=..." for name in flat.wire_names)
    models = ", ".join(f"{name}={model.name}(...)" for name, model in flat.models.items())
    whole = f", or give the model itself: {models}" if models else ""
    return f"Call {flat.name}({names}){whole}"


def _with_whole_models(flat: FlatFunction, given: _Given) -> dict[str, Any]:
    """Return the arguments of a call that passes some models as a whole. The other models were sent
    as flat fields and are validated as usual.
    """
    # If `name` were passed both flat and inside a model, it would be unclear which value counts.
    mixed = [key for key in given.fields if flat.owner_of(key) in given.whole]
    if mixed:
        raise TypeError(
            f"{flat.name}() got {list(given.whole)} and flat fields {mixed}; give one or the other"
        )
    found: dict[str, Any] = {}
    for name, value in given.whole.items():
        found.update(_whole_model(flat, name, value))
    names = frozenset(given.whole)
    if len(names) < len(flat.params):
        found.update(_fields(flat, given, names))
    return found


def _whole_model(flat: FlatFunction, name: str, value: Any) -> Mapping[str, Any]:
    model = flat.models[name]
    if model.is_given_by(value):
        return {name: value}
    if isinstance(value, dict):
        body = _json_of({name: value})
        contract = flat.contract_of_whole(name, python=body is None)
        return _validated(contract, {name: value}, body)
    wrong = f"takes {model.name} as {name!r}, not {type(value).__name__}"
    raise TypeError(f"{flat.name}() {wrong}. {_usage(flat)}")


def _fields(flat: FlatFunction, given: _Given, without: frozenset[str]) -> dict[str, Any]:
    """Return the values of all parameters except those in `without`."""
    body = _json_of(given.fields)
    return _validated(flat.contract_without(without, python=body is None), given.fields, body)


def _validated(contract: Contract, given: dict[str, Any], body: bytes | None) -> dict[str, Any]:
    """Return the values of the author's parameters. `body` has the given values as JSON text; it is
    None if they are not plain JSON.

    Raises:
        ToolInputError: the values are not valid.
    """
    try:
        # Plain JSON goes through all stages of a call, with repairs and refusals. Python objects,
        # such as a `datetime` in a test, are only validated.
        if body is None:
            values = values_of(contract, given)
        else:
            values, _ = accept_bytes(contract, body, from_floats=True)
    except InvalidValues as error:
        raise visible(invalid_values(contract, error, given, is_json=False), contract) from None
    except ToolInputError as error:
        raise visible(error, contract) from None
    return values if contract.bind is None else contract.bind(values)


def _json_of(given: dict[str, Any]) -> bytes | None:
    """Return these values as JSON; None if one of them is not plain JSON."""
    try:
        body = orjson.dumps(given)
        if b"null" in body:  # this may be NaN, which must be refused
            body = json_bytes(given)
    except TypeError:  # a Python object, or an integer beyond 64 bits
        try:
            body = json_bytes(given)
        except TypeError:
            return None
    return body if _is_json(given) else None


def _is_json(given: dict[str, Any]) -> bool:
    """Return True if the values are plain JSON. The JSON writers cannot decide this, because they
    also accept other types of keys and values. The only values that they refuse are those that
    contain themselves.
    """
    waiting: list[Iterable[Any]] = [given.values()]
    while waiting:
        for value in waiting.pop():
            kind = value.__class__
            # The class itself, not a subclass: an `IntEnum` can be written as JSON too, but the
            # validation should get the member.
            if kind in _SCALARS:
                continue
            if kind is dict:
                if not _TEXT.issuperset(map(type, value)):
                    return False
                waiting.append(value.values())
            elif kind is list:
                waiting.append(value)
            else:
                return False
    return True
