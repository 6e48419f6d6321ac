"""Makes malformed variants of a correct call, as clients and models really send them. Each has its
expected outcome.

The expected outcome is the one that the law requires (docs/reference/law.md). It is derived only
from the declared types and not from the boundary's code, so the boundary can be tested against it.
In some cases the law leaves the outcome open, for example for unions without a tag, and for the
author's own code. Then no outcome is expected.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolbooth.boundary.mistakes import MOST_PROBLEMS
from toolbooth.contract import Contract
from toolbooth.jsonvalue import look_up, path_text
from toolbooth.shape import ObjectShape
from toolbooth.testing.client.delivery import wire
from toolbooth.testing.offline_schema import refuse_outside_references
from toolbooth.testing.shapes.call_places import with_value
from toolbooth.testing.shapes.declared_names import is_near, names_below
from toolbooth.testing.shapes.examples import example_arguments
from toolbooth.testing.shapes.expected import AgentShape, Draft, Found
from toolbooth.testing.shapes.key_faults import key_faults
from toolbooth.testing.shapes.value_faults import absent, value_faults


def agent_shapes(
    contract: Contract, arguments: Mapping[str, Any] | None = None
) -> list[AgentShape]:
    """Return the shapes in which a correct call may arrive. The correct one comes first.

    `arguments` are the arguments of a correct call. Without them, a correct call is made from the
    schema (`example_arguments`).

    Raises:
        NotJson: if no client could send these arguments.
        NoExample: if no correct call could be made.
        ContractError: if the schema refers to a file or URL.
    """
    refuse_outside_references(contract.schema, contract.name)
    correct = example_arguments(contract) if arguments is None else wire(dict(arguments))
    draft = Draft(contract, correct)
    every = [*_whole_call(draft), *value_faults(draft), *key_faults(draft)]
    # The id is the name of a test and the key of an accepted deviation, so it has to be unique.
    return list({shape.id: shape for shape in every}.values())


def _whole_call(draft: Draft) -> Iterator[AgentShape]:
    arguments = draft.arguments
    yield draft.accepted_shape("correct", (), arguments)
    if len(arguments) > 1:
        yield draft.accepted_shape("key-order", (), dict(reversed(arguments.items())))
    text = json.dumps(arguments)
    yield draft.accepted_shape("arguments-text", (), text, [("json-text", "$")], raw=True)
    yield draft.accepted_shape(
        "arguments-text-twice", (), json.dumps(text), [("json-text", "$")], raw=True
    )
    yield draft.refused_shape(
        "arguments-list", (), [arguments], [("not-an-object", "$")], corrected=None, raw=True
    )
    # If the author's own code reads the whole call, there are no places. Then the law prescribes
    # nothing about its fields.
    form = draft.places[0].form if draft.places else None
    required = None if form is None else _required_problems(draft, form)
    if form is not None and required is not None:
        yield from _without_arguments(draft, required)
        if form.additional is None and arguments:
            yield from _arguments_as_key(draft, form, required)
    yield from _faults_everywhere(draft)


def _required_problems(draft: Draft, form: ObjectShape) -> list[Found] | None:
    """Return the expected problems of a call without its required fields. Return None if the schema
    requires other names than the fields have, as with alias paths.
    """
    names = [name for name in form.names if form.fields[name].required]
    if set(names) != {*draft.schema.get("required", ())}:
        return None
    return [("missing", path_text((name,))) for name in names]


def _without_arguments(draft: Draft, required: list[Found]) -> Iterator[AgentShape]:
    """Yield calls without arguments: `arguments` is absent, null or {}."""
    for kind, sent in (
        ("no-arguments", b""),
        ("null-arguments", b"null"),
        ("empty-arguments", b"{}"),
    ):
        if required:
            yield draft.refused_shape(kind, (), sent, required, corrected=None)
        # For a tool without required fields, `{}` is a correct call.
        elif kind != "empty-arguments":
            yield draft.accepted_shape(kind, (), sent, means={})


def _arguments_as_key(
    draft: Draft, form: ObjectShape, required: list[Found]
) -> Iterator[AgentShape]:
    """Yield calls with misplaced arguments. In one, the JSON text of the arguments is a key. In the
    other, the whole call is sent as the arguments.
    """
    text = json.dumps(draft.arguments)
    declared = set(names_below(form))
    if not is_near(text, declared):
        yield draft.refused_shape(
            "arguments-as-key", (), {text: ""}, [("unknown-key", path_text((text,))), *required]
        )
    if not (is_near("name", declared) or is_near("arguments", declared)):
        sent = {"name": draft.tool, "arguments": draft.arguments}
        yield draft.refused_shape(
            "envelope", (), sent, [("unknown-key", "$.name"), ("nested-wrapper", "$.arguments")]
        )


def _faults_everywhere(draft: Draft) -> Iterator[AgentShape]:
    """Yield calls with the same fault in every value. An adapter between the agent and the server
    may cause such calls.
    """
    sent, repairs = draft.arguments, list[Found]()
    for place in draft.places:
        if place.form is not None and not place.form.exclusive_paths:
            missing = {
                key: None
                for key, field in absent(place)
                if not field.verbatim and "null" not in field.shape.types
            }
            if missing:
                sent = with_value(sent, place.path, {**look_up(sent, place.path), **missing})
                repairs += [("null-optional", path_text((*place.path, key))) for key in missing]
    if 1 < len(repairs) <= MOST_PROBLEMS:
        yield draft.accepted_shape("nulls-everywhere", (), sent, repairs)
    texts = [place for place in draft.places if place.path and isinstance(place.value, dict | list)]
    texts = [place for place in texts if not (place.has_text or place.shape.json_text)]
    if len(texts) > 1:
        sent = draft.arguments
        # The places are changed from the inside to the outside. Once an object is text, no path
        # leads to a place inside it.
        for place in reversed(texts):
            sent = with_value(sent, place.path, json.dumps(look_up(sent, place.path)))
        yield draft.accepted_shape(
            "json-text-everywhere",
            (),
            sent,
            [("json-text", path_text(place.path)) for place in texts],
        )
