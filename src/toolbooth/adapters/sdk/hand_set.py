"""Handles schemas that an author has changed after the host made them from a function. The changes
are published and enforced.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.contract import Contract, InvalidValues, Objection
from toolbooth.errors import ContractWarning
from toolbooth.jsonvalue import Json, Schema, is_object
from toolbooth.shape import Field

_DEFINITIONS = ("$defs", "definitions")


@contextmanager
def without_warnings() -> Generator[None]:
    """Ignore warnings about missing examples in this context. The host may find descriptions
    elsewhere, so the warning is only given after `with_hand_set` has added these descriptions.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)
        yield


def with_hand_set(contract: Contract, made: Schema, listed: Schema) -> Contract:
    """Return the contract of a function, with the changes that the author has made to its schema.

    `made` is the schema that the host makes from the function. `listed` is the schema that the tool
    now has. Descriptions always come from `listed`, because hosts read some of them from the
    docstring.
    """
    changed = _changed(made, listed)
    # A field that only the host's schema has was flattened in the contract.
    for name in changed.keys() & _properties(made).keys() - _properties(contract.schema).keys():
        del changed[name]
    required = _required(listed) - _required(made)
    describe = partial(_describe, contract.schema, listed, changed, required)
    if not changed and not required:
        return replace(contract, describe=describe)
    return replace(
        contract,
        describe=describe,
        validate=_also(contract, listed, changed, required),
        validation_proves_shape=False,
    )


def is_rewritten(contract: Contract, made: Schema, listed: Schema) -> bool:
    """Return True if every field of a schema was changed. Such a schema is published unchanged."""
    declared = _properties(contract.schema).keys()
    return bool(declared) and declared <= _changed(made, listed).keys()


def _changed(made: Schema, listed: Schema) -> Json:
    """Return the fields that were changed or added."""
    return {
        name: node
        for name, node in _properties(listed).items()
        # Descriptions are not compared: the host may read them from the docstring, so they can
        # differ although the author has changed nothing.
        if _without_description(node) != _without_description(_properties(made).get(name))
    }


def _properties(schema: Schema) -> Mapping[str, Any]:
    return schema.get("properties") or {}


def _required(schema: Schema) -> set[str]:
    return set(schema.get("required") or ())


def _without_description(node: Any) -> Any:
    if not is_object(node):
        return node
    return {key: value for key, value in node.items() if key != "description"}


def _describe(schema: Schema, listed: Schema, changed: Json, required: set[str]) -> Json:
    properties: Json = {}
    for name, own in schema["properties"].items():
        theirs: Any = _properties(listed).get(name, {})
        if is_object(theirs) and "description" in theirs:
            properties[name] = {"description": theirs["description"], **own}
        else:
            properties[name] = own
    made: Json = {**schema, "properties": {**properties, **changed}}
    if required:
        made["required"] = list(dict.fromkeys([*schema.get("required", ()), *sorted(required)]))
    if changed:
        for key in _DEFINITIONS:
            if key in listed:
                made[key] = {**listed[key], **made.get(key, {})}
    return made


def _also(contract: Contract, listed: Schema, changed: Json, required: set[str]) -> Any:
    """Return a validation that first checks the changed parameters, and then calls the function's
    own validation.
    """
    declared = contract.shape.objects[0].fields
    checked = [name for name in {**changed, **dict.fromkeys(required)} if name in declared]
    properties = {name: changed[name] for name in checked if name in changed}
    # The function's own validation checks the other fields.
    schema: Json = {"type": "object", "properties": properties, "additionalProperties": True}
    schema["required"] = [name for name in checked if name in required]
    schema.update((key, listed[key]) for key in _DEFINITIONS if key in listed)
    hand_set = compile_json_schema(schema, name=contract.name)

    def validate(arguments: Any) -> Any:
        try:
            hand_set.validate(_sent(declared, arguments, checked))
        except InvalidValues as error:
            raise InvalidValues(partial(_in_model, declared, error.objections)) from None
        except (TypeError, ValueError):
            # A call in this process may have Python values, which a JSON Schema cannot check.
            pass
        return contract.validate(arguments)

    return validate


def _sent(declared: Mapping[str, Field], arguments: Any, names: list[str]) -> Json:
    """Return the fields `names` as they were sent. A flattened field is found at its path in the
    model.
    """
    made: Json = {}
    for name in names:
        found: Any = arguments
        for step in declared[name].model_path or (name,):
            found = found.get(step, _ABSENT) if is_object(found) else _ABSENT
        if found is not _ABSENT:
            made[name] = found
    return made


_ABSENT = object()


def _in_model(
    declared: Mapping[str, Field], objections: tuple[Objection, ...]
) -> Iterator[Objection]:
    """Yield the objections with changed paths. A path of a published field becomes the path in the
    author's model.
    """
    for each in objections:
        name, *below = each.model_path
        place = declared[str(name)].model_path or (name,)
        yield replace(each, model_path=(*place, *below))
