"""`@unpack_pydantic_params` (seed 003): flat parameters for any framework that reads a signature, without an adapter.

In: a function with `Annotated[Model, Unpack()]` parameters. Out: one whose signature has the model's fields as
keyword-only parameters. The framework publishes them and passes every value on as it came; the model itself is
validated here, once. What a framework decides before the function is reached (unknown keys) is its own affair:
`protect` sees those too.
"""

from __future__ import annotations

import functools
import inspect
import json
import keyword
import logging
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any, NoReturn, TypeVar, cast

from pydantic import BaseModel, Field, GetCoreSchemaHandler, PydanticUndefinedAnnotation, PydanticUserError
from pydantic_core import CoreSchema, core_schema

from toolbooth.boundary.handle import accept_bytes, invalid_values
from toolbooth.boundary.render import refusal_text
from toolbooth.boundary.validate import values_of
from toolbooth.contract import Contract, InvalidValues
from toolbooth.errors import ContractError, ToolInputError
from toolbooth.markers import Unpack
from toolbooth.publish import portable
from toolbooth.sources.signature import Hints, ReadParam, Unresolved, compile_params, read_params

F = TypeVar("F", bound=Callable[..., Any])

ABSENT: Any = object()
"""What a framework passes for a flat parameter that was not sent."""

_HOST_ERRORS = ("fastmcp.exceptions", "mcp.server.mcpserver.exceptions")
"""Where a host, if it is loaded at all, keeps the exception whose text it shows to the agent."""


def unpack_pydantic_params(function: F) -> F:
    """Give `function` the flat signature of its unpacked models.

    Raises:
        ContractError: with every mistake in the signature, each with its remedy.
    """
    hints = {name: Hints(function).of(param) for name, param in inspect.signature(function).parameters.items()}
    marked = [name for name, hint in hints.items() if _is_unpacked(hint)]
    if not marked:
        return function
    flat = _Flat(function, marked)
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return await function(*args, **flat.keywords(args, kwargs))
    else:

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **flat.keywords(args, kwargs))

    signature = flat.signature(hints)
    wrapper.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue] a documented hook of inspect
    wrapper.__annotations__ = {
        param.name: param.annotation
        for param in signature.parameters.values()
        if param.annotation is not Parameter.empty
    }
    if signature.return_annotation is not inspect.Signature.empty:
        wrapper.__annotations__["return"] = signature.return_annotation
    return cast("F", wrapper)


def _is_unpacked(hint: Any) -> bool:
    """Whether a hint bears Unpack, also inside Optional and behind a type alias."""
    hint = getattr(hint, "__value__", hint)
    if typing.get_origin(hint) is Annotated:
        return any(each is Unpack or isinstance(each, Unpack) for each in hint.__metadata__) or _is_unpacked(
            hint.__origin__
        )
    inner = [each for each in typing.get_args(hint) if each is not type(None)]
    return len(inner) == 1 and len(typing.get_args(hint)) == 2 and _is_unpacked(inner[0])


@dataclass(frozen=True)
class _Flat:
    """The flat form of one function."""

    function: Callable[..., Any]
    marked: list[str]

    @functools.cached_property
    def contract(self) -> Contract:
        """Compiled on first need: a model may name classes that are defined after the function."""
        mistakes: list[str] = []
        owner = getattr(self.function, "__name__", "tool")
        params = read_params(self.function, lambda param, _: param.name not in self.marked, mistakes)
        if mistakes:
            raise ContractError(owner, mistakes)
        contract = compile_params(self.function, [each for each in params if not each.injected], name=owner)
        self._check_collisions(owner, params, contract)
        return contract

    def _check_collisions(self, owner: str, params: list[ReadParam], contract: Contract) -> None:
        plain = {param.name for param in params if param.injected}
        taken = [name for name in contract.shape.objects[0].names if name in plain]
        if taken:
            raise ContractError(
                owner,
                [f"{name!r} is a parameter and a field of {self.marked}; use Unpack(prefix=...)" for name in taken],
            )

    @functools.cached_property
    def required(self) -> dict[str, bool]:
        """The published keys, and whether each must be sent."""
        try:
            contract = self.contract
        except ContractError as error:
            if not isinstance(error.__cause__, PydanticUndefinedAnnotation | PydanticUserError):
                raise
            # A class that a model names does not exist yet: the fields are known, their types come on first use.
            return _declared_fields(self.function, self.marked) or _reraise(error)
        must = contract.schema.get("required", ())
        return {name: name in must for name in contract.shape.objects[0].names}

    @functools.cached_property
    def wire_names(self) -> dict[str, str]:
        """Parameter name -> published key. They differ where the key cannot be a parameter of every host."""
        names = tuple(self.required)
        return {_parameter_name(name, names): name for name in names}

    @functools.cached_property
    def schemas(self) -> Mapping[str, Any]:
        """The published schema of every key."""
        return portable(self.contract.schema)["properties"]

    def signature(self, hints: Mapping[str, Any]) -> inspect.Signature:
        """The signature that frameworks read."""
        original = inspect.signature(self.function)
        kept = [
            param.replace(annotation=param.annotation if isinstance(hints[name], Unresolved) else hints[name])
            if param.annotation is not Parameter.empty
            else param
            for name, param in original.parameters.items()
            if name not in self.marked
        ]
        before = [param for param in kept if param.kind is not Parameter.KEYWORD_ONLY]
        after = [param for param in kept if param.kind is Parameter.KEYWORD_ONLY]
        flat = [self._parameter(name, wire) for name, wire in self.wire_names.items()]
        returns = Hints(self.function).returns(original.return_annotation)
        return inspect.Signature([*before, *flat, *after], return_annotation=returns)

    def _parameter(self, name: str, wire: str) -> Parameter:
        required = self.required[wire]
        metadata: list[Any] = [_AsSent(self, wire, required)]
        if name != wire:
            metadata.append(Field(validation_alias=wire))
        # `str` is what keeps the official SDK from parsing text before we see it (pre_parse_json, mcp 2.3).
        annotation = Annotated[(str, *metadata)]  # pyright: ignore[reportInvalidTypeArguments] built at run time
        default = Parameter.empty if required else Field(default_factory=lambda: ABSENT)
        return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)

    def keywords(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The function's own keywords, from flat keywords or from the model instances themselves."""
        flat: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for key, value in kwargs.items():
            wire = self.wire_names.get(key) or (key if key in self.contract.shape.objects[0].fields else None)
            if wire is None:
                others[key] = value
            elif value is not ABSENT:
                flat[wire] = value
        bound = inspect.signature(self.function).bind_partial(*args, **others).arguments
        given = [name for name in self.marked if name in bound]
        if given and flat:
            raise TypeError(f"{self.contract.name}() got {given} and flat fields {list(flat)}; give one or the other")
        return others if len(given) == len(self.marked) else {**others, **self._validated(flat, given)}

    def _validated(self, flat: dict[str, Any], given: list[str]) -> dict[str, Any]:
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
        made = values if contract.bind is None else contract.bind(values)
        return {name: value for name, value in made.items() if name not in given}


def _declared_fields(function: Callable[..., Any], marked: list[str]) -> dict[str, bool]:
    """The fields of the marked models as far as their classes can tell without their types."""
    found: dict[str, bool] = {}
    for param in read_params(function, lambda param, _: param.name not in marked, []):
        fields: Mapping[str, Any] = getattr(param.info.annotation, "model_fields", {}) if not param.injected else {}
        prefix = next((each.prefix for each in param.info.metadata if isinstance(each, Unpack)), "")
        optional = not param.info.is_required()
        found |= {prefix + (each.alias or name): each.is_required() and not optional for name, each in fields.items()}
    return found


def _reraise(error: ContractError) -> NoReturn:
    raise error


def _parameter_name(wire: str, taken: tuple[str, ...]) -> str:
    """A name that every framework takes as a parameter's: some refuse keywords, `_x`, or a model's own attributes."""
    unusual = keyword.iskeyword(wire) or wire.startswith(("_", "model_", "field_")) or wire in ("self", "cls")
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

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        raw = core_schema.with_default_schema(core_schema.any_schema(), default_factory=lambda: ABSENT)
        # A union of one hides the default: published as required, yet reported by us, with all other problems.
        return core_schema.union_schema([raw]) if self.required else raw

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return dict(self.flat.schemas[self.wire])


def _visible(error: ToolInputError, contract: Contract) -> ToolInputError:
    """The same refusal, as an exception whose text the loaded hosts show instead of masking it."""
    text = refusal_text(error, contract.limits.max_text)
    loaded = (getattr(sys.modules.get(module), "ToolError", None) for module in _HOST_ERRORS)
    bases = tuple(found for found in loaded if isinstance(found, type))
    kind: Any = type(
        "ToolInputError", (ToolInputError, *bases), {"log_level": logging.WARNING, "__str__": lambda _: text}
    )
    return kind(
        error.problems,
        tool=error.tool,
        declared=error.declared,
        corrected=error.corrected,
        edits=error.edits,
        more=error.more,
    )
