"""`@unpack_pydantic_params`: flat parameters for any framework that reads a signature, without an
adapter.

In: a function with `Annotated[Model, Unpack()]` parameters. Out: one whose signature has the
models' fields, and the plain parameters beside them, as keyword-only parameters. The framework
publishes them and passes every value on as it was sent; all are validated here, together and once.
Parameters that a framework fills itself stay as they were. Keys that it drops or refuses before it
calls the function are not seen here: `protect` sees those, too.
"""

from __future__ import annotations

import functools
import inspect
import json
import keyword
import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import BoundArguments, Parameter
from typing import Annotated, Any, TypeVar

from pydantic import (
    AliasChoices,
    BaseModel,
    Field,
    GetCoreSchemaHandler,
    PydanticUndefinedAnnotation,
    PydanticUserError,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from toolbooth.boundary.accept import accept_bytes, invalid_values
from toolbooth.boundary.render import refusal_text
from toolbooth.boundary.run import is_async
from toolbooth.boundary.validate import values_of
from toolbooth.compile.hints import Hints, Unresolved
from toolbooth.compile.host_params import annotation_parts, is_filled_by_host, is_unpack
from toolbooth.compile.params import ReadParam, is_context, read_params
from toolbooth.compile.signature import compile_params
from toolbooth.context import Context
from toolbooth.contract import Contract, InvalidValues
from toolbooth.errors import ContractError, ToolInputError
from toolbooth.markers import Unpack
from toolbooth.publish import portable

F = TypeVar("F", bound=Callable[..., Any])

ABSENT: Any = object()
"""The value that a framework passes for a flat parameter that was not sent."""

_DESCRIPTORS: tuple[type, ...] = (staticmethod, classmethod)

_HOST_ERRORS = {
    "fastmcp.exceptions": "ToolError",
    "mcp.server.mcpserver.exceptions": "ToolError",
    "pydantic_ai.exceptions": "ModelRetry",
}
"""By module, the exceptions whose text is shown to the agent."""


def unpack_pydantic_params(function: F) -> F:
    """Give `function` the flat signature of its unpacked models.

    Raises:
        ContractError: with every mistake in the signature, each with its remedy.
    """
    if isinstance(function, _DESCRIPTORS):
        method: Any = function
        return method.__class__(unpack_pydantic_params(method.__func__))
    parameters = inspect.signature(function).parameters
    hints = {name: Hints(function).of(param) for name, param in parameters.items()}
    marked = frozenset(name for name, hint in hints.items() if _has_unpack(hint))
    flat = _FlatSignature.of(function, marked)
    if not marked and not flat.has_unpacked_fields:
        return function
    return _with_signature(_wrapper(function, flat), flat.name, flat.signature(hints))


def _has_unpack(hint: Any) -> bool:
    return any(map(is_unpack, annotation_parts(hint)))


def _wrapper(function: Callable[..., Any], flat: _FlatSignature) -> Any:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        bound = flat.bind(args, kwargs)
        return function(*bound.args, **bound.kwargs)

    @functools.wraps(function)
    async def run_async(*args: Any, **kwargs: Any) -> Any:
        return await run(*args, **kwargs)

    return run_async if is_async(function) else run


def _with_signature(wrapper: Any, name: str, signature: inspect.Signature) -> Any:
    """The wrapper with the flat signature, in `__signature__` and in `__annotations__`."""
    hints = {param.name: param.annotation for param in signature.parameters.values()}
    hints["return"] = signature.return_annotation
    wrapper.__name__ = name
    # `compile_function` compiles this one instead of the wrapper.
    wrapper.__toolbooth__ = wrapper.__wrapped__
    wrapper.__signature__ = signature
    wrapper.__annotations__ = {
        key: hint for key, hint in hints.items() if hint is not Parameter.empty
    }
    return wrapper


@dataclass(frozen=True)
class _FlatSignature:
    """The flat signature of one function."""

    function: Callable[..., Any]
    name: str
    original: inspect.Signature
    params: list[ReadParam]
    """The parameters that callers send."""
    marked: frozenset[str]
    """The names of those that are unpacked."""

    @staticmethod
    def of(function: Callable[..., Any], marked: frozenset[str]) -> _FlatSignature:
        """Read a function while the names in its annotations can still be looked up."""
        mistakes: list[str] = []
        name = getattr(function, "__name__", type(function).__name__)
        params = [
            each for each in read_params(function, is_filled_by_host, mistakes) if not each.injected
        ]
        if mistakes:
            raise ContractError(name, mistakes)
        return _FlatSignature(function, name, inspect.signature(function), params, marked)

    @functools.cached_property
    def contract(self) -> Contract:
        """Compiled on first need: a model may name classes that are defined after the function."""
        contract = compile_params(self.function, self.params, name=self.name)
        hosts = self.original.parameters.keys() - {each.name for each in self.params}
        taken = [name for name in contract.shape.objects[0].names if name in hosts]
        if taken:
            conflict = "is a parameter that the host fills and a field of an unpacked model"
            mistakes = [f"{name!r} {conflict}; use Unpack(prefix=...)" for name in taken]
            raise ContractError(self.name, mistakes)
        return contract

    @property
    def has_unpacked_fields(self) -> bool:
        """Whether a plain parameter's model has unpacked fields of its own."""
        try:
            form = self.contract.shape.objects[0]
        except (ContractError, PydanticUserError) as error:
            if _is_unfinished(error):
                return False
            raise
        return form.flattened or form.flattened_below

    @functools.cached_property
    def required(self) -> dict[str, bool]:
        """The published keys, and whether each must be sent."""
        try:
            must = self.published.get("required", ())
        except (ContractError, PydanticUserError) as error:
            if not _is_unfinished(error):
                raise
            return self._required_by_class()
        return {name: name in must for name in self.contract.shape.objects[0].names}

    def _required_by_class(self) -> dict[str, bool]:
        """`required`, from the fields of the classes alone: their types are not known yet."""
        found: dict[str, bool] = {}
        for param in self.params:
            required = param.info.is_required()
            if param.name not in self.marked:
                found[param.name] = required
                continue
            markers = (each for each in param.info.metadata if isinstance(each, Unpack))
            prefix = next(markers, Unpack()).prefix
            fields: Mapping[str, FieldInfo] = getattr(param.info.annotation, "model_fields", {})
            for key, each in fields.items():
                found[prefix + (each.alias or key)] = required and each.is_required()
        return found

    @functools.cached_property
    def wire_names(self) -> dict[str, str]:
        """Parameter name -> published key. They differ if some host does not accept the key as a
        parameter name.
        """
        names = tuple(self.required)
        return {_parameter_name(name, names): name for name in names}

    @functools.cached_property
    def published(self) -> Mapping[str, Any]:
        """The schema that clients see."""
        return portable(self.contract.schema)

    def signature(self, hints: Mapping[str, Any]) -> inspect.Signature:
        """The signature that frameworks read."""
        wire = {each.name for each in self.params}
        kept: list[Parameter] = []
        for name, param in self.original.parameters.items():
            hint = hints[name]
            if name in wire or _is_own_context(hint):
                continue
            plain = param.annotation is Parameter.empty or isinstance(hint, Unresolved)
            kept.append(param if plain else param.replace(annotation=hint))
        before = [param for param in kept if param.kind is not Parameter.KEYWORD_ONLY]
        after = [param for param in kept if param.kind is Parameter.KEYWORD_ONLY]
        flat = [self._parameter(name, key) for name, key in self.wire_names.items()]
        returns = Hints(self.function).returns(self.original.return_annotation)
        return inspect.Signature([*before, *flat, *after], return_annotation=returns)

    def _parameter(self, name: str, key: str) -> Parameter:
        required = self.required[key]
        metadata: list[Any] = [_AsSent(self, key, required)]
        if name != key:
            metadata.append(Field(validation_alias=key))
        elif others := self._other_keys(key):
            metadata.append(Field(validation_alias=AliasChoices(key, *others)))
        # `str` is what keeps the official SDK from parsing text before we see it (pre_parse_json,
        # mcp 2.3).
        annotation: Any = Annotated[(str, *metadata)]
        default = Parameter.empty if required else Field(default_factory=lambda: ABSENT)
        return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)

    def _other_keys(self, key: str) -> list[str]:
        """Further keys by which the same field may be sent."""
        if "contract" not in vars(self):
            return []
        fields = self.contract.shape.objects[0].fields
        return [other for other, field in fields.items() if field is fields[key] and other != key]

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BoundArguments:
        """The function's own arguments, from flat keywords or from model instances."""
        sent = {
            self.wire_names.get(key, key): value
            for key, value in kwargs.items()
            if value is not ABSENT
        }
        keys = self.contract.shape.objects[0].fields
        by_position = list(self.original.parameters)[: len(args)]
        by_name = [key for key in sent if _is_instance(key, sent, keys)]
        instances = [name for name in (*by_position, *by_name) if name in self.marked]
        plain = {each.name for each in self.params} - self.marked
        if not instances:
            bound = self._bind_flat(args, sent, plain)
        elif fields := [key for key in sent if key in keys and key not in (*instances, *plain)]:
            raise TypeError(
                f"{self.name}() got {instances} and flat fields {fields}; give one or the other"
            )
        else:
            bound = self.original.bind_partial(*args, **sent)
        for name, param in self.original.parameters.items():
            if name not in bound.arguments and _is_own_context(param.annotation):
                bound.arguments[name] = Context()
        return bound

    def _bind_flat(
        self, args: tuple[Any, ...], sent: dict[str, Any], plain: set[str]
    ) -> BoundArguments:
        """The arguments from flat keywords, validated together with the `plain` parameters."""
        keys = self.contract.shape.objects[0].fields
        flat = {key: value for key, value in sent.items() if key in keys}
        others = {key: value for key, value in sent.items() if key not in keys}
        bound = self.original.bind_partial(*args, **others)
        flat |= {name: bound.arguments.pop(name) for name in plain & bound.arguments.keys()}
        bound.arguments.update(self._validate(flat))
        return bound

    def _validate(self, flat: dict[str, Any]) -> dict[str, Any]:
        contract = self.contract
        try:
            try:
                body = json.dumps(flat).encode()
            except TypeError:  # Python values, from a direct call: they have never been JSON
                values = values_of(contract, flat)
            else:
                values, _ = accept_bytes(contract, body, from_floats=True)
        except InvalidValues as error:
            raise _visible(invalid_values(contract, error, flat), contract) from None
        except ToolInputError as error:
            raise _visible(error, contract) from None
        return values if contract.bind is None else contract.bind(values)


def _is_own_context(hint: Any) -> bool:
    """Whether a parameter asks for Toolbooth's Context, which no plain framework knows."""
    return not isinstance(hint, Unresolved | str) and is_context(hint)


def _is_instance(key: str, sent: Mapping[str, Any], keys: Mapping[str, Any]) -> bool:
    """Whether a keyword is a model instance. One that is also the name of a field may be JSON."""
    return key not in keys or not isinstance(sent[key], str | int | float | list | dict | None)


def _is_unfinished(error: Exception) -> bool:
    """Whether a class that a model names does not exist yet. Then only the names of the model's
    fields are known; their types are read on first use.
    """
    cause = error.__cause__ or error
    unfinished = isinstance(cause, PydanticUserError) and cause.code == "class-not-fully-defined"
    return unfinished or isinstance(cause, PydanticUndefinedAnnotation)


def _parameter_name(wire: str, taken: tuple[str, ...]) -> str:
    """A parameter name that every framework accepts: some refuse keywords, `_x`, or a model's own
    attributes.
    """
    reserved = keyword.iskeyword(wire) or wire in ("self", "cls", *dir(BaseModel))
    if not reserved and not wire.startswith(("_", "model_", "field_")):
        return wire
    name = f"{wire.strip('_')}_value"
    while name in taken:
        name += "_"
    return name


@dataclass(frozen=True, slots=True)
class _AsSent:
    """The annotation of one flat parameter: published with its schema, passed on as it was sent,
    and ABSENT if it was not sent.
    """

    flat: _FlatSignature = field(repr=False)
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
        # A union of one hides the default. So the parameter is published as required, but a missing
        # one is reported here, with all other problems.
        return core_schema.union_schema([raw])

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return dict(self.flat.published["properties"][self.wire])


def _is_typed_dict_field() -> bool:
    """Whether Pydantic is building a field of a typed dict, as pydantic-ai makes one of a
    signature. There a required field may have no default, and Pydantic's handler does not say what
    is built.
    """
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "_generate_td_field_schema":
            return True
        frame = frame.f_back
    return False


def _visible(error: ToolInputError, contract: Contract) -> ToolInputError:
    """The same refusal, as an exception whose text the loaded hosts show instead of masking it."""
    text = refusal_text(error, contract.limits.max_text)
    loaded = (getattr(sys.modules.get(home), name, None) for home, name in _HOST_ERRORS.items())
    bases = tuple(found for found in loaded if isinstance(found, type))

    def write(_: object) -> str:
        return text

    own: dict[str, Any] = {"log_level": logging.WARNING, "__str__": write}
    kind: Any = type("ToolInputError", (ToolInputError, *bases), own)
    made = kind(
        error.problems,
        tool=error.tool,
        declared=error.declared,
        corrected=error.corrected,
        edits=error.edits,
        more=error.more,
    )
    # pydantic-ai shows this attribute.
    made.message = text
    return made
