"""A Python function -> Contract: its parameters are the arguments, its annotations the types."""

from __future__ import annotations

import inspect
import re
import sys
import typing
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, cast

from pydantic import (
    GetCoreSchemaHandler,
    PydanticSchemaGenerationError,
    PydanticUndefinedAnnotation,
    PydanticUserError,
    TypeAdapter,
)
from pydantic.errors import PydanticErrorMixin
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticUndefined, ValidationError, core_schema

from toolbooth.context import Context
from toolbooth.contract import DEFAULT_LIMITS, Contract, InvalidValues, Limits, Objection, ObjectShape, Param, Shape
from toolbooth.errors import ContractError, ContractWarning
from toolbooth.gate import anywhere
from toolbooth.sources.core import (
    DEFAULTS,
    LENIENT,
    Node,
    for_values,
    for_wire,
    has_exact_integers,
    proves_shape,
    validator,
    with_defaults_of,
)
from toolbooth.sources.exact import exact_schema
from toolbooth.sources.flatten import mark_deep
from toolbooth.sources.model import ShapeBuilder, is_nullable, is_optional, unpack_of
from toolbooth.sources.shapes import object_shape

Injected = Callable[[inspect.Parameter, Any], bool]

PUBLISHED_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
"""The names that every client takes (Vertex is the strictest: evidence/client_faults.md, F1b)."""

RESERVED_NAMES = frozenset(("config", "run_manager", "callbacks"))
"""Swallowed by LangChain before they reach a server (langchain#40535, 2026-09-16)."""

PYDANTIC_ERRORS = (PydanticSchemaGenerationError, PydanticUserError, PydanticUndefinedAnnotation)
"""What Pydantic says of an annotation that it cannot use."""

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def compile_function(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    injected: Injected | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Contract:
    """Compile a function to the contract of one tool.

    `injected` tells which parameters the host fills itself; `Context` parameters always are.

    Raises:
        ContractError: with every mistake in the signature, each with its remedy.
    """
    owner = name or getattr(function, "__name__", type(function).__name__)
    function = _undecorated(function)
    mistakes: list[str] = []
    params = read_params(function, injected, mistakes)
    said = description if description is not None else _docstring(function)
    try:
        contract = compile_params(function, params, name=owner, description=said, limits=limits)
    except ContractError as error:
        raise ContractError(owner, [*mistakes, *error.mistakes]) from error.__cause__
    if mistakes:
        raise ContractError(owner, mistakes)
    return contract


def _undecorated(function: Any) -> Any:
    """The function itself, where `unpack_pydantic_params` has flattened it for other frameworks."""
    own = getattr(function, "__toolbooth__", None)
    if own is None:
        return function
    holder = getattr(function, "__self__", None)
    return own if holder is None else own.__get__(holder)


def compile_params(
    function: Callable[..., Any],
    params: list[ReadParam],
    *,
    name: str,
    description: str = "",
    limits: Limits = DEFAULT_LIMITS,
) -> Contract:
    """Compile these parameters of a function, and no others."""
    positional = inspect.Parameter.POSITIONAL_ONLY
    return Contract(
        name=name,
        description=description,
        function=function,
        params=tuple(
            Param(name=param.name, positional=param.kind is positional, injected=param.injected) for param in params
        ),
        special=any(param.injected or param.kind is positional for param in params),
        limits=limits,
        **_compile_wire(name, [param for param in params if not param.injected]),
    )


def compile_model(
    model: Any,
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Contract:
    """Compile a model, dataclass or TypedDict to a contract; `function` gets the validated instance.

    Raises:
        ContractError: with every mistake in the model, each with its remedy.
    """
    owner = name or getattr(function, "__name__", None) or getattr(model, "__name__", "tool")
    builder = ShapeBuilder()
    node = builder.open(_core_of(owner, model))
    return Contract(
        name=owner,
        description=description if description is not None else _docstring(function or model),
        function=function,
        params=(Param(name="request", positional=True),),
        special=True,
        limits=limits,
        **_compile_sole(owner, builder, node, "request"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadParam:
    """One parameter as the author wrote it, its hint resolved."""

    name: str
    kind: Any
    info: FieldInfo
    injected: bool


def read_params(function: Callable[..., Any], injected: Injected | None, mistakes: list[str]) -> list[ReadParam]:
    """The parameters of a function; what cannot be compiled is added to `mistakes`."""
    hints = Hints(function)
    made: list[ReadParam] = []
    for param in inspect.signature(function).parameters.values():
        if param.kind in _VARIADIC:
            mistakes.append(
                f"parameter {_starred(param)!r} takes names that nobody declared; declare each parameter, "
                'or take a model with extra="allow"'
            )
            continue
        hint = hints.of(param)
        host = is_context(hint) or (injected is not None and injected(param, hint))
        if isinstance(hint, Unresolved) and not host:
            mistakes.append(
                f"parameter {param.name!r}: the name {hint.missing!r} in its annotation cannot be resolved; "
                "import it at run time, not only under TYPE_CHECKING"
            )
            continue
        info = FieldInfo() if host else _field_info(hint, param.default)
        made.append(ReadParam(name=param.name, kind=param.kind, info=info, injected=host))
    return made


def _starred(param: inspect.Parameter) -> str:
    return ("*" if param.kind is inspect.Parameter.VAR_POSITIONAL else "**") + param.name


@dataclass(frozen=True, slots=True)
class Unresolved:
    """An annotation that names what cannot be found at run time."""

    text: str
    missing: str


class Hints:
    """Resolves the annotations of a function, each by itself, also against the locals it was defined among."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = _plain_function(function)
        around = getattr(self.function, "__qualname__", "").split(".<locals>.")[:-1]
        self.enclosing = {".<locals>.".join(around[: index + 1]) for index in range(len(around))}

    def of(self, param: inspect.Parameter) -> Any:
        """The resolved hint; Any where nothing is annotated."""
        return Any if param.annotation is inspect.Parameter.empty else self._of(param.annotation)

    def returns(self, raw: Any) -> Any:
        """The resolved return annotation; what cannot be resolved is skipped: nothing arrives there."""
        if raw is inspect.Signature.empty:
            return raw
        found = self._of(raw)
        return inspect.Signature.empty if isinstance(found, Unresolved) else found

    def _of(self, raw: Any) -> Any:
        try:
            return self._resolve(raw, _surroundings(self.enclosing))
        except NameError:
            pass
        try:
            return self._resolve(raw, _surroundings(None))
        except NameError as error:
            return Unresolved(str(raw), error.name or str(raw))

    def _resolve(self, raw: Any, around: Mapping[str, Any]) -> Any:
        scope = getattr(self.function, "__globals__", {})
        holder = type("_", (), {"__annotations__": {"hint": raw}})
        closure = dict(inspect.getclosurevars(self.function).nonlocals) if inspect.isfunction(self.function) else {}
        return typing.get_type_hints(holder, scope, {**around, **closure}, include_extras=True)["hint"]


def _plain_function(function: Any) -> Any:
    """The function whose globals the annotations refer to."""
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    if not inspect.isroutine(function) and not inspect.isclass(function):
        function = type(function).__call__
    return inspect.unwrap(getattr(function, "__func__", function))


def _surroundings(enclosing: set[str] | None) -> dict[str, Any]:
    """The locals of the functions around the definition, innermost last; None: of every frame outside this package."""
    frames: list[dict[str, Any]] = []
    # The frames are the only place where a model that is local to a function can be found by its name.
    frame = sys._getframe(1) if enclosing != set() else None  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        ours = frame.f_globals.get("__name__", "").startswith("toolbooth.")
        if not ours if enclosing is None else frame.f_code.co_qualname in enclosing:
            frames.append(frame.f_locals)
        frame = frame.f_back
    return {key: value for found in reversed(frames) for key, value in found.items()}


def is_context(hint: Any) -> bool:
    """Whether a parameter is filled with the call's Context."""
    if isinstance(hint, Unresolved):
        return re.search(r"\bContext\b", hint.text) is not None
    while typing.get_origin(hint) is Annotated:
        hint = typing.get_args(hint)[0]
    choices = [each for each in typing.get_args(hint) if each is not type(None)]
    found = choices[0] if len(choices) == 1 else hint
    return isinstance(found, type) and issubclass(found, Context)


def _field_info(hint: Any, default: Any) -> FieldInfo:
    if default is inspect.Parameter.empty:
        return FieldInfo.from_annotation(hint)
    return FieldInfo.from_annotated_attribute(hint, default)


def _docstring(owner: Any) -> str:
    # Not inspect.getdoc: a model without a docstring would be described by BaseModel's.
    return inspect.cleandoc(getattr(owner, "__doc__", None) or "")


# --- compiling ------------------------------------------------------------------------------------------------


def _compile_wire(owner: str, params: list[ReadParam]) -> dict[str, Any]:
    builder = ShapeBuilder()
    root = builder.open(_core_of(owner, _arguments_type(owner, params)))
    for param in params:
        root["fields"][param.name] = _with_own_defaults(root["fields"][param.name], param, builder)
    if len(params) == 1:
        field = root["fields"][params[0].name]
        marker = unpack_of(field["schema"])
        whole = marker is not None and not marker.prefix and not is_nullable(field["schema"])
        if whole and not is_optional(field):
            return _compile_sole(owner, builder, field["schema"]["steps"][0], params[0].name)
    shape = object_shape(builder.fields(root, DEFAULTS, noun="parameter"))
    return {**_finish(owner, builder, shape, root), "bind": None}


def _with_own_defaults(field: Node, param: ReadParam, builder: ShapeBuilder) -> Node:
    """An unpacked model with a default instance: each hoisted field defaults to what the instance holds."""
    default: Any = param.info.default
    if default is PydanticUndefined or default is None or unpack_of(field["schema"]) is None:
        return field
    if not isinstance(default, dict) and not hasattr(default, "__dict__"):
        builder.mistakes.append(
            f"parameter {param.name!r}: its default is no instance of the model; give it one, or None"
        )
        return field
    inner = with_defaults_of(field["schema"]["schema"], default, builder.definitions)
    return {**field, "schema": {**field["schema"], "schema": inner}}


def _compile_sole(owner: str, builder: ShapeBuilder, node: Node, param: str) -> dict[str, Any]:
    """One model is all there is: its keys are the arguments, and it validates them as they are."""
    form = builder.hoisted(node, DEFAULTS, f"parameter {param!r}")
    shape = object_shape(form or ObjectShape())

    def bind(value: Any) -> dict[str, Any]:
        return {param: value}

    return {**_finish(owner, builder, shape, node), "bind": bind}


def _arguments_type(owner: str, params: list[ReadParam]) -> Any:
    """A type whose core schema is the table of parameters, generated by Pydantic in one go."""

    def hook(_cls: Any, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        table: dict[str, Any] = {}
        for param in params:
            info = param.info
            try:
                node = handler.generate_schema(Annotated[info.annotation, _without_names(info)])
            except PYDANTIC_ERRORS as error:
                raise ContractError(owner, [f"parameter {param.name!r}: {_pydantic_says(error)}"]) from error
            alias: Any = info.validation_alias
            table[param.name] = core_schema.typed_dict_field(
                _with_default(node, info),
                required=info.is_required(),
                validation_alias=alias if alias is None or isinstance(alias, str) else alias.convert_to_aliases(),
            )
        return core_schema.typed_dict_schema(table, extra_behavior="forbid")

    return type("arguments", (), {"__get_pydantic_core_schema__": classmethod(hook)})


def _without_names(info: FieldInfo) -> FieldInfo:
    """What a parameter says of its type; name and default are the table's business, and Pydantic warns of them here."""
    made = FieldInfo(
        description=info.description,
        examples=info.examples,
        deprecated=info.deprecated,
        json_schema_extra=info.json_schema_extra,
        discriminator=info.discriminator,
    )
    made.metadata = list(info.metadata)
    return made


def _with_default(node: Any, info: FieldInfo) -> Any:
    if node["type"] == "default" or info.is_required():
        return node
    if info.default_factory is not None:
        takes_data = bool(info.default_factory_takes_validated_data)
        factory: Any = info.default_factory
        return core_schema.with_default_schema(node, default_factory=factory, default_factory_takes_data=takes_data)
    return core_schema.with_default_schema(node, default=info.default)


def _core_of(owner: str, annotation: Any) -> Any:
    try:
        adapter = TypeAdapter[Any](annotation)
        if not adapter.pydantic_complete:
            adapter.rebuild(raise_errors=True)  # names what is missing
        core: Any = adapter.core_schema
    except PYDANTIC_ERRORS as error:
        raise ContractError(owner, [_pydantic_says(error)]) from error
    return core


def _pydantic_says(error: PydanticErrorMixin) -> str:
    return error.message.splitlines()[0] if error.message else type(error).__name__


def _finish(owner: str, builder: ShapeBuilder, shape: Shape, root: Node) -> dict[str, Any]:
    builder.shapes.finish(shape)
    mark_deep(shape)
    mistakes = [*dict.fromkeys(builder.mistakes), *_name_mistakes(shape.objects[0])]
    mistakes += _type_mistakes(shape, builder.json_texts)
    if mistakes:
        raise ContractError(owner, mistakes)
    core = {"type": "definitions", "schema": root, "definitions": list(builder.definitions.values())}
    schema = exact_schema(core, builder)
    _warn_of_untyped(owner, schema)
    values = for_values(for_wire(core))
    proves = proves_shape(values) and not anywhere(shape, _needs_a_look)
    if not proves:  # the gate decides, and to the gate 5.0 is an integer
        values = for_values(for_wire(core, LENIENT))
    return {
        "shape": shape,
        "schema": schema,
        "validate": _validate_with(values),
        "integers": has_exact_integers(values),
        "exact": anywhere(shape, lambda each: each.exact),
        "proves": proves,
    }


def _needs_a_look(shape: Shape) -> bool:
    """What validation alone would let through: wrappers in open objects, and what was hoisted."""
    return shape.json_text or any(
        form.arranged or (form.rest is not None and bool(form.fields)) for form in shape.objects
    )


def _name_mistakes(form: ObjectShape) -> Iterable[str]:
    for name in form.names:
        if not PUBLISHED_NAME.fullmatch(name):
            yield f"{name!r} is not a name every client takes (letters, digits, _; 64 at most); give it an alias"
        if name in RESERVED_NAMES:
            yield f"{name!r} is reserved: LangChain swallows it on the way; rename it or give it an alias"


def _type_mistakes(shape: Shape, json_texts: list[tuple[str, Shape]]) -> Iterable[str]:
    for owner, each in json_texts:
        if each.free or "string" in each.types:
            yield f"{owner}: JsonText() needs a type without text in it, an object or an array; text is taken as it is"
    for name, field in shape.objects[0].fields.items():
        if not field.shape.types:
            yield f"{name!r} has a type that JSON cannot carry; annotate it otherwise, or have the host inject it"


def _warn_of_untyped(owner: str, schema: Any) -> None:
    """Agents cannot see what an open dict or an untyped list is to hold: an example must say it (seed 002)."""
    tables = [schema.get("properties", {})]
    tables += [each.get("properties", {}) for each in schema.get("$defs", {}).values()]
    for name, node in ((name, node) for table in tables for name, node in table.items()):
        branches = list(_branches(node))
        if any(map(_is_untyped, branches)) and not any(map(_has_example, branches)):
            warnings.warn(
                f"{owner}: {name!r} is an open object or untyped list without an example; "
                "put one in its description, or use JsonText(example=...)",
                ContractWarning,
                stacklevel=_frames_of_ours(),
            )


def _branches(node: Any) -> Iterable[Mapping[str, Any]]:
    """A node, its alternatives, and what it is a list or table of."""
    if isinstance(node, Mapping):
        found = cast("Mapping[str, Any]", node)
        yield found
        for each in (*found.get("anyOf", ()), found.get("items"), found.get("additionalProperties")):
            yield from _branches(each)


def _frames_of_ours() -> int:
    """How far up the caller's own line is, for a warning that points at it."""
    frame, depth = sys._getframe(1), 1  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("toolbooth."):
        frame, depth = frame.f_back, depth + 1
    return depth


def _is_untyped(node: Mapping[str, Any]) -> bool:
    if node.get("contentMediaType") == "application/json" and "contentSchema" not in node:
        return True
    if node.get("type") == "object":
        return "properties" not in node and node.get("additionalProperties", True) is True
    return node.get("type") == "array" and not node.get("items") and not node.get("prefixItems")


def _has_example(node: Mapping[str, Any]) -> bool:
    return "examples" in node or any(sign in str(node.get("description", "")) for sign in ("e.g.", "{", "["))


def _validate_with(core: Any) -> Callable[[Any], Any]:
    run = validator(core).validate_python

    def validate(arguments: Any) -> Any:
        try:
            return run(arguments)
        except ValidationError as error:
            raise InvalidValues(partial(_objections, error)) from None

    return validate


def _objections(error: ValidationError) -> Iterable[Objection]:
    for each in error.errors(include_url=False, include_input=False):
        yield Objection(place=each["loc"], kind=each["type"], message=each["msg"])
