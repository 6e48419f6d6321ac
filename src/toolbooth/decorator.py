"""`@unpack_pydantic_params`: flat parameters for any framework that reads a signature, without an
adapter.

In: a function with `Annotated[Model, Unpack()]` parameters. Out: one whose signature has the
models' fields, and the plain parameters beside them, as keyword-only parameters. The framework
publishes them and passes every value on as it came; all are validated here, together and once. What
a framework fills itself stays as it was; what it decides before the function is reached (unknown
keys) is its own affair: `protect` sees those too.
"""

from __future__ import annotations

import functools
import inspect
import json
import keyword
import logging
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import BoundArguments, Parameter
from typing import Annotated, Any, TypeVar, cast

from pydantic import (
    AliasChoices,
    BaseModel,
    Field,
    GetCoreSchemaHandler,
    PydanticSchemaGenerationError,
    PydanticUndefinedAnnotation,
    PydanticUserError,
    TypeAdapter,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from toolbooth.boundary.accept import accept_bytes, invalid_values
from toolbooth.boundary.render import refusal_text
from toolbooth.boundary.run import is_async
from toolbooth.boundary.validate import values_of
from toolbooth.compile.hints import Hints, Unresolved
from toolbooth.compile.params import ReadParam, is_context, read_params
from toolbooth.compile.signature import compile_params
from toolbooth.context import Context
from toolbooth.contract import Contract, InvalidValues
from toolbooth.errors import ContractError, ToolInputError
from toolbooth.markers import Unpack
from toolbooth.publish import portable

F = TypeVar("F", bound=Callable[..., Any])

ABSENT: Any = object()
"""What a framework passes for a flat parameter that was not sent."""

_DESCRIPTORS: tuple[type, ...] = (staticmethod, classmethod)

_HOSTS = frozenset(("fastmcp", "mcp"))
"""Frameworks whose own types mark a parameter as theirs to fill: both have a Context that could be
read as a model.
"""

_MARKERS = frozenset(("pydantic", "pydantic_core", "annotated_types", "toolbooth"))
"""Whose markers in `Annotated` are known to leave a parameter on the wire."""

_HOST_ERRORS = ("fastmcp.exceptions", "mcp.server.mcpserver.exceptions")
"""Where a host, if it is loaded at all, keeps the exception whose text it shows to the agent."""


def unpack_pydantic_params(function: F) -> F:
    """Give `function` the flat signature of its unpacked models.

    Raises:
        ContractError: with every mistake in the signature, each with its remedy.
    """
    if isinstance(function, _DESCRIPTORS):
        method: Any = function
        return method.__class__(unpack_pydantic_params(method.__func__))
    hints = {
        name: Hints(function).of(param)
        for name, param in inspect.signature(function).parameters.items()
    }
    marked = frozenset(name for name, hint in hints.items() if any(map(_is_unpack, _parts(hint))))
    flat = _Flat.of(function, marked)
    if not marked and not flat.holds_unpacked:
        return function
    return cast("F", _dressed(_wrapper(function, flat), flat.name, flat.signature(hints)))


def _wrapper(function: Callable[..., Any], flat: _Flat) -> Any:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        bound = flat.bind(args, kwargs)
        return function(*bound.args, **bound.kwargs)

    @functools.wraps(function)
    async def run_async(*args: Any, **kwargs: Any) -> Any:
        return await run(*args, **kwargs)

    return run_async if is_async(function) else run


def _dressed(wrapper: Any, name: str, signature: inspect.Signature) -> Any:
    """The wrapper, so that whoever reads `__signature__` or `__annotations__` finds the flat form."""
    hints = {param.name: param.annotation for param in signature.parameters.values()} | {
        "return": signature.return_annotation
    }
    wrapper.__name__ = name
    wrapper.__toolbooth__ = (
        wrapper.__wrapped__
    )  # what `compile_function` compiles instead of the flat form
    wrapper.__signature__ = signature
    wrapper.__annotations__ = {
        key: hint for key, hint in hints.items() if hint is not Parameter.empty
    }
    return wrapper


@dataclass(frozen=True)
class _Flat:
    """The flat form of one function."""

    function: Callable[..., Any]
    name: str
    original: inspect.Signature
    params: list[ReadParam]
    """What comes over the wire."""
    marked: frozenset[str]
    """Those of them that are unpacked."""

    @staticmethod
    def of(function: Callable[..., Any], marked: frozenset[str]) -> _Flat:
        """Read a function, while the names of its annotations can still be looked up."""
        mistakes: list[str] = []
        name = getattr(function, "__name__", type(function).__name__)
        params = [each for each in read_params(function, _is_hosts, mistakes) if not each.injected]
        if mistakes:
            raise ContractError(name, mistakes)
        return _Flat(function, name, inspect.signature(function), params, marked)

    @functools.cached_property
    def contract(self) -> Contract:
        """Compiled on first need: a model may name classes that are defined after the function."""
        contract = compile_params(self.function, self.params, name=self.name)
        wire = {each.name for each in self.params}
        taken = [
            name
            for name in contract.shape.objects[0].names
            if name in self.original.parameters.keys() - wire
        ]
        if taken:
            said = "{!r} is a parameter that the host fills and a field of an unpacked model; use Unpack(prefix=...)"
            raise ContractError(self.name, [said.format(name) for name in taken])
        return contract

    @property
    def holds_unpacked(self) -> bool:
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
            return self._declared()
        return {name: name in must for name in self.contract.shape.objects[0].names}

    def _declared(self) -> dict[str, bool]:
        """The fields of the models as far as their classes can tell without their types."""
        found: dict[str, bool] = {}
        for param in self.params:
            fields: Mapping[str, FieldInfo] = getattr(param.info.annotation, "model_fields", {})
            prefix = next(
                (each.prefix for each in param.info.metadata if isinstance(each, Unpack)), ""
            )
            must = param.info.is_required()
            if param.name not in self.marked:
                found[param.name] = must
            else:
                found |= {
                    prefix + (each.alias or key): must and each.is_required()
                    for key, each in fields.items()
                }
        return found

    @functools.cached_property
    def wire_names(self) -> dict[str, str]:
        """Parameter name -> published key. They differ where the key cannot be a parameter of every
        host.
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
        kept = [
            param
            if param.annotation is Parameter.empty or isinstance(hints[name], Unresolved)
            else param.replace(annotation=hints[name])
            for name, param in self.original.parameters.items()
            if name not in wire and not _is_own_context(hints[name])
        ]
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
        """The function's own arguments, from flat keywords or from the model instances themselves."""
        sent = {
            self.wire_names.get(key, key): value
            for key, value in kwargs.items()
            if value is not ABSENT
        }
        keys = self.contract.shape.objects[0].fields
        names = [
            *list(self.original.parameters)[: len(args)],
            *(key for key in sent if _is_given(key, sent, keys)),
        ]
        given = [name for name in names if name in self.marked]
        plain = {each.name for each in self.params} - self.marked
        if not given:
            flat = {key: value for key, value in sent.items() if key in keys}
            others = {key: value for key, value in sent.items() if key not in keys}
            bound = self.original.bind_partial(*args, **others)
            flat |= {name: bound.arguments.pop(name) for name in plain & bound.arguments.keys()}
            bound.arguments.update(self._validated(flat))
        elif fields := [key for key in sent if key in keys and key not in (*given, *plain)]:
            raise TypeError(
                f"{self.name}() got {given} and flat fields {fields}; give one or the other"
            )
        else:
            bound = self.original.bind_partial(*args, **sent)
        for name, param in self.original.parameters.items():
            if name not in bound.arguments and _is_own_context(param.annotation):
                bound.arguments[name] = Context()
        return bound

    def _validated(self, flat: dict[str, Any]) -> dict[str, Any]:
        contract = self.contract
        try:
            try:
                body = json.dumps(flat).encode()
            except TypeError:  # Python values, from a direct call: nothing has been on a wire
                values = values_of(contract, flat)
            else:
                values, _ = accept_bytes(contract, body)
        except InvalidValues as error:
            raise _visible(invalid_values(contract, error, flat), contract) from None
        except ToolInputError as error:
            raise _visible(error, contract) from None
        return values if contract.bind is None else contract.bind(values)


# --- which parameters are whose ------------------------------------------------------------------------------


def _parts(hint: Any) -> Iterator[Any]:
    """Every class and every marker in a hint, aliases looked through."""
    hint = getattr(hint, "__value__", hint)
    yield hint
    yield from getattr(hint, "__metadata__", ())
    for each in typing.get_args(hint):
        yield from _parts(each)


def _is_unpack(part: Any) -> bool:
    return part is Unpack or isinstance(part, Unpack)


def _is_hosts(param: Parameter, hint: Any) -> bool:
    """Whether the framework fills a parameter: its type, a marker or its default is nothing of ours
    or Pydantic's.
    """
    if param.name in ("self", "cls") and param.annotation is Parameter.empty:
        return True
    parts: list[Any] = [] if isinstance(hint, Unresolved) else list(_parts(hint))
    markers = [each for part in parts for each in getattr(part, "__metadata__", ())]
    if not _is_value(param.default, parts) or not all(map(_is_known, markers)):
        return True
    if any(isinstance(part, type) and _home(part) in _HOSTS for part in parts):
        return True
    try:
        TypeAdapter[Any](cast("Any", hint) if parts else Any)
    except PydanticSchemaGenerationError:
        return True
    except PydanticUserError:  # a class that is defined later
        return False
    return False


def _is_value(default: Any, parts: list[Any]) -> bool:
    """Whether a default is a value of the parameter, not a dependency for a framework to resolve."""
    if default is Parameter.empty or isinstance(default, FieldInfo):
        return True
    return (
        any(part is type(default) for part in parts)
        or _home(type(default)) in sys.stdlib_module_names
    )


def _is_known(marker: Any) -> bool:
    return (
        _is_unpack(marker)
        or _home(type(marker)) in _MARKERS
        or hasattr(marker, "__get_pydantic_core_schema__")
    )


def _home(kind: Any) -> str:
    """The package that a class comes from."""
    return kind.__module__.partition(".")[0]


def _is_own_context(hint: Any) -> bool:
    """Whether a parameter asks for Toolbooth's Context, which no plain framework knows."""
    return not isinstance(hint, Unresolved | str) and is_context(hint)


def _is_given(key: str, sent: Mapping[str, Any], keys: Mapping[str, Any]) -> bool:
    """Whether a keyword that may also be a field's name holds a model instance: fields hold JSON."""
    return key not in keys or not isinstance(sent[key], str | int | float | list | dict | None)


def _is_unfinished(error: Exception) -> bool:
    """Whether a class that a model names does not exist yet: its fields are known, their types come
    on first use.
    """
    cause = error.__cause__ or error
    unfinished = isinstance(cause, PydanticUserError) and cause.code == "class-not-fully-defined"
    return unfinished or isinstance(cause, PydanticUndefinedAnnotation)


def _parameter_name(wire: str, taken: tuple[str, ...]) -> str:
    """A name that every framework takes as a parameter's: some refuse keywords, `_x`, or a model's
    own attributes.
    """
    unusual = (
        keyword.iskeyword(wire)
        or wire.startswith(("_", "model_", "field_"))
        or wire in ("self", "cls")
    )
    if not unusual and wire not in dir(BaseModel):
        return wire
    name = f"{wire.strip('_')}_value"
    while name in taken:
        name += "_"
    return name


@dataclass(frozen=True, slots=True)
class _AsSent:
    """Published with this schema, passed on as it came, and told apart from what was not sent."""

    flat: _Flat
    wire: str
    required: bool

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        raw = core_schema.with_default_schema(
            core_schema.any_schema(), default_factory=lambda: ABSENT
        )
        # A union of one hides the default: published as required, yet reported by us, with all
        # other problems.
        return core_schema.union_schema([raw]) if self.required else raw

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return dict(self.flat.published["properties"][self.wire])


def _visible(error: ToolInputError, contract: Contract) -> ToolInputError:
    """The same refusal, as an exception whose text the loaded hosts show instead of masking it."""
    text = refusal_text(error, contract.limits.max_text)
    loaded = (getattr(sys.modules.get(module), "ToolError", None) for module in _HOST_ERRORS)
    bases = tuple(found for found in loaded if isinstance(found, type))
    own: dict[str, Any] = {"log_level": logging.WARNING, "__str__": lambda _: text}  # pyright: ignore[reportUnknownLambdaType]
    kind: Any = type("ToolInputError", (ToolInputError, *bases), own)
    return kind(
        error.problems,
        tool=error.tool,
        declared=error.declared,
        corrected=error.corrected,
        edits=error.edits,
        more=error.more,
    )
