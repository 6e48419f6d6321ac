"""Makes the flat signature that frameworks and people read.

In `__signature__`, every parameter has the type `str`. In `__annotations__`, each has the type of
its field. The reason is the official SDK: it reads the signature, and parses text itself if the
type is not `str` (`pre_parse_json`, mcp 2.3). Both kinds of annotations pass on every value as it
was sent.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Any

from pydantic import AliasChoices, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from toolbooth.compile.hints import Hints, Unresolved
from toolbooth.decorated.function import FlatFunction, is_own_context
from toolbooth.decorated.own_fields import UNKNOWN, OwnField, own_fields
from toolbooth.decorated.shown import ABSENT, ShownDefault, ShownType


def sign(wrapper: Any, flat: FlatFunction) -> None:
    """Give a wrapper the flat signature, in `__signature__` and in `__annotations__`."""
    names = flat.wire_names
    fields = own_fields(flat)
    params = [_parameter(flat, name, names[name], fields) for name in names]
    kept = _kept_parameters(flat)
    returns = Hints(flat.function).returns(flat.original.return_annotation)
    signature = inspect.Signature([*kept, *params], return_annotation=returns)
    wrapper.__signature__ = signature
    wrapper.__annotations__ = _annotations(signature)


def _annotations(signature: inspect.Signature) -> dict[str, Any]:
    hints = {each.name: each.annotation for each in signature.parameters.values()}
    hints["return"] = signature.return_annotation
    written = {name: hint for name, hint in hints.items() if hint is not Parameter.empty}
    return {name: _with_own_type(hint) for name, hint in written.items()}


def _with_own_type(hint: Any) -> Any:
    """Return the annotation of a flat parameter with the type of its field, as `get_type_hints`
    should return it. If the type cannot be evaluated yet, return the annotation unchanged.
    """
    if not isinstance(hint, ShownType) or _evaluated(hint.__shown__) is None:
        return hint
    return ShownType(hint.__shown__, hint.__shown__, hint.__metadata__)


def _kept_parameters(flat: FlatFunction) -> list[Parameter]:
    """Return the parameters that a framework fills itself. They keep their order. A parameter after
    a flat one becomes keyword-only.
    """
    sent = {each.name for each in flat.params}
    kept: list[Parameter] = []
    named = False
    for name, param in flat.original.parameters.items():
        hint = flat.hints[name]
        if name in sent or is_own_context(hint):
            named = True
            continue
        if param.annotation is not Parameter.empty and not isinstance(hint, Unresolved):
            param = param.replace(annotation=hint)
        kept.append(param.replace(kind=Parameter.KEYWORD_ONLY) if named else param)
    return kept


def _parameter(
    flat: FlatFunction, name: str, key: str, fields: Mapping[str, OwnField]
) -> Parameter:
    own = fields.get(key, UNKNOWN)
    required = flat.required[key]
    metadata: list[Any] = [_AsSent(flat, key, required)]
    if name != key:
        # The key is not a valid parameter name, such as `from`.
        metadata.append(Field(validation_alias=key))
    elif others := _other_keys(flat, key):
        metadata.append(Field(validation_alias=AliasChoices(key, *others)))
    shown = _evaluated(own.annotation) or own.annotation
    return Parameter(
        name,
        Parameter.KEYWORD_ONLY,
        annotation=ShownType(shown, str, tuple(metadata)),
        default=Parameter.empty if required else ShownDefault(own.default),
    )


def _evaluated(annotation: Any) -> Any:
    """Return a type without `Annotated`. Return None if the type names a class that does not exist
    yet.
    """
    # Names are looked up in the module of the class, and not in this module.
    space = {"__annotations__": {"hint": annotation}, "__module__": "builtins"}
    holder = type("_", (), space)
    try:
        return typing.get_type_hints(holder)["hint"]
    except NameError:
        return None


def _other_keys(flat: FlatFunction, key: str) -> list[str]:
    """Return further keys that the field with this key accepts."""
    if not flat.is_finished:
        return []
    fields = flat.contract.shape.objects[0].fields
    return [other for other, each in fields.items() if each is fields[key] and other != key]


@dataclass(frozen=True, slots=True, eq=False)
class _AsSent:
    """Metadata in the annotation of one flat parameter. It publishes the schema of the field. It
    passes on the value as it was sent, or ABSENT if none was sent.
    """

    flat: FlatFunction = field(repr=False)
    wire: str
    required: bool

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        any_value = core_schema.any_schema()
        raw = core_schema.with_default_schema(any_value, default_factory=lambda: ABSENT)
        if not self.required:
            return raw
        if _is_typed_dict_field():
            return any_value
        # A union with one branch hides the default. So the parameter is published as required, but
        # a missing one is reported here, together with all other problems.
        return core_schema.union_schema([raw])

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return dict(self.flat.published["properties"][self.wire])


def _is_typed_dict_field() -> bool:
    """Return True if Pydantic is building a field of a TypedDict. pydantic-ai makes such a
    TypedDict from a signature. Required fields of a TypedDict may not have a default. Pydantic has
    no public function that tells this.
    """
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "_generate_td_field_schema":
            return True
        frame = frame.f_back
    return False
