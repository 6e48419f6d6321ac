"""Compiles a Python function to a Contract. Parameters become arguments, with their types."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Any

from pydantic import (
    GetCoreSchemaHandler,
    PydanticSchemaGenerationError,
    PydanticUndefinedAnnotation,
    PydanticUserError,
    TypeAdapter,
)
from pydantic.errors import PydanticErrorMixin, PydanticInvalidForJsonSchema
from pydantic.fields import FieldInfo
from pydantic_core import (
    CoreSchema,
    ErrorDetails,
    PydanticUndefined,
    ValidationError,
    core_schema,
)

from toolbooth.compile.flatten import mark_flattened_below
from toolbooth.compile.host_params import annotation_parts, is_unpack
from toolbooth.compile.mistakes import (
    check_function,
    name_mistakes,
    not_a_model,
    type_mistakes,
    warn_of_missing_examples,
)
from toolbooth.compile.params import Injected, ReadParam, read_params
from toolbooth.compile.pydantic.core_schema import (
    AS_JSON,
    DEFAULTS,
    LENIENT,
    OWN_LABELS,
    CoreNode,
    marker_of,
)
from toolbooth.compile.pydantic.failures import Failures, Passing
from toolbooth.compile.pydantic.field_nodes import (
    find_marker,
    is_nullable,
    is_optional,
    model_class,
)
from toolbooth.compile.pydantic.schema import exact_schema, is_self_explanatory
from toolbooth.compile.pydantic.shape import ShapeBuilder
from toolbooth.compile.pydantic.union_check import union_check
from toolbooth.compile.pydantic.validator import (
    CONFLICTING_KEYS,
    for_values,
    for_wire,
    json_run,
    proves_shape,
    validator,
    with_defaults_of,
)
from toolbooth.compile.shape_builder import object_shape
from toolbooth.contract import DEFAULT_LIMITS, Contract, Limits, Objection, Param
from toolbooth.errors import ContractError
from toolbooth.markers import Unpack
from toolbooth.shape import ObjectShape, Shape, anywhere

Describe = Callable[[], dict[str, Any]]

PYDANTIC_ERRORS = (PydanticSchemaGenerationError, PydanticUserError, PydanticUndefinedAnnotation)
"""The exceptions that Pydantic raises if it cannot use an annotation."""

_SAME_KINDS = {"unexpected_keyword_argument": "extra_forbidden"}
"""Kinds of errors of dataclasses. The value is the name of the same error in models."""

_OF_THE_TYPE = ("description", "examples", "deprecated", "json_schema_extra", "discriminator")


def compile_function(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    injected: Injected | None = None,
    limits: Limits = DEFAULT_LIMITS,
    passing: Passing = (),
) -> Contract:
    """Compile a function to the contract of one tool.

    The function gets values of the types that it declares, as docs/reference/wire-contract.md
    promises. If you call the function directly, this is not checked; use `handle_bytes` or
    `toolbooth.testing.call_over_wire` to check it.

    `injected` decides which parameters the host fills itself. A parameter of type `Context` is
    always filled by the host. `passing` are exceptions that validators raise for the host. Any
    other exception in a validator becomes a refusal of the call, except ToolError.

    Raises:
        ContractError: with every mistake in the signature, each with its remedy.
    """
    check_function(function)
    owner = name or getattr(function, "__name__", type(function).__name__)
    function = original_function(function)
    mistakes: list[str] = []
    params = read_params(function, injected, mistakes)
    said = description if description is not None else _docstring(function)
    try:
        contract = compile_params(
            function, params, name=owner, description=said, limits=limits, passing=passing
        )
    except ContractError as error:
        raise ContractError(owner, [*mistakes, *error.mistakes]) from error.__cause__
    if mistakes:
        raise ContractError(owner, mistakes)
    return contract


def original_function(function: Any) -> Any:
    """Return the author's own function, even if `unpack_pydantic_params` has flattened it."""
    own = getattr(function, "__toolbooth__", None)
    if own is None:
        return function
    holder = getattr(function, "__self__", None)
    # A decorated method is bound to an instance, so the original must be bound too.
    return own if holder is None else own.__get__(holder)


def compile_params(
    function: Callable[..., Any],
    params: list[ReadParam],
    *,
    name: str,
    description: str = "",
    limits: Limits = DEFAULT_LIMITS,
    passing: Passing = (),
) -> Contract:
    """Compile only these parameters of a function."""
    sent = [param for param in params if not param.injected]
    return Contract(
        name=name,
        description=description,
        function=function,
        params=tuple(map(_param, params)),
        limits=limits,
        **_compile_wire(name, sent, passing),
    )


def _param(param: ReadParam) -> Param:
    positional = param.kind is inspect.Parameter.POSITIONAL_ONLY
    return Param(name=param.name, positional=positional, injected=param.injected)


def compile_model(
    model: Any,
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Contract:
    """Compile a model, dataclass or TypedDict to a contract. `function` gets the validated
    instance.

    Raises:
        ContractError: with every mistake in the model, each with its remedy.
    """
    owner = name or getattr(function, "__name__", None) or getattr(model, "__name__", "tool")
    builder = ShapeBuilder()
    node = builder.open(_core_of(owner, model))
    if builder.field_list(node, DEFAULTS) is None:
        raise ContractError(
            owner, ["not a model with fields; give a model, a dataclass or a TypedDict"]
        )
    return Contract(
        name=owner,
        description=description if description is not None else _docstring(function or model),
        function=function,
        params=(Param(name="request", positional=True),),
        limits=limits,
        **_compile_sole(owner, builder, node, "request", ()),
    )


def _docstring(owner: Any) -> str:
    # Not inspect.getdoc, which would inherit the docstring of BaseModel.
    return inspect.cleandoc(getattr(owner, "__doc__", None) or "")


# --- compiling ----------------------------------------------------------------------------------


def _compile_wire(owner: str, params: list[ReadParam], passing: Passing) -> dict[str, Any]:
    builder = ShapeBuilder()
    root = builder.open(arguments_core(owner, params))
    for param in params:
        root["fields"][param.name] = with_own_defaults(root["fields"][param.name], param, builder)
    if len(params) == 1:
        field = root["fields"][params[0].name]
        # The marker is inside a validator, which gets the whole model.
        marker = marker_of(field["schema"])
        is_sole = isinstance(marker, Unpack) and not marker.prefix
        whole = is_sole and not is_nullable(field["schema"])
        if whole and not is_optional(field):
            model = field["schema"]["steps"][0]
            return _compile_sole(owner, builder, model, params[0].name, passing)
    shape = object_shape(builder.fields(root, DEFAULTS, noun="parameter"))
    return {**_finish(owner, builder, shape, root, passing), "bind": None}


def with_own_defaults(field: CoreNode, param: ReadParam, builder: ShapeBuilder) -> CoreNode:
    """Return an unpacked model with changed defaults. If the author gave the whole model a default
    instance, each flattened field gets its value in this instance as its default.
    """
    default: Any = param.info.default
    if default is PydanticUndefined or default is None:
        return field
    if find_marker(field["schema"], Unpack) is None:
        return field
    if not isinstance(default, model_class(field["schema"], builder.definitions)):
        builder.mistakes.append(
            f"parameter {param.name!r}: its default is not an instance of the model; "
            "give it one, or None"
        )
        return field
    inner = with_defaults_of(field["schema"]["schema"], default, builder.definitions)
    return {**field, "schema": {**field["schema"], "schema": inner}}


def _compile_sole(
    owner: str, builder: ShapeBuilder, node: CoreNode, param: str, passing: Passing
) -> dict[str, Any]:
    """Compile a function with a single parameter, a model. The model's keys are the arguments."""
    form = builder.flattened_fields(node, DEFAULTS, f"parameter {param!r}")
    shape = object_shape(form or ObjectShape())

    def bind(value: Any) -> dict[str, Any]:
        return {param: value}

    return {**_finish(owner, builder, shape, node, passing), "bind": bind}


def arguments_core(owner: str, params: list[ReadParam]) -> CoreNode:
    """Return the core schema of all parameters together."""
    return _core_of(owner, _arguments_type(owner, params))


def _arguments_type(owner: str, params: list[ReadParam]) -> Any:
    """Return one type with all parameters, for which Pydantic generates one core schema."""

    def hook(_cls: Any, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        table: dict[str, Any] = {}
        for param in params:
            info = param.info
            try:
                node = handler.generate_schema(_annotation(info))
            except PYDANTIC_ERRORS as error:
                raise ContractError(owner, [_unusable(param, error)]) from error
            alias: Any = info.validation_alias
            if not (alias is None or isinstance(alias, str)):
                alias = alias.convert_to_aliases()
            table[param.name] = core_schema.typed_dict_field(
                _with_default(node, info), required=info.is_required(), validation_alias=alias
            )
        return core_schema.typed_dict_schema(table, extra_behavior="forbid")

    return type("arguments", (), {"__get_pydantic_core_schema__": classmethod(hook)})


def _unusable(param: ReadParam, error: PydanticErrorMixin) -> str:
    parts = (*param.info.metadata, *annotation_parts(param.info.annotation))
    if any(map(is_unpack, parts)) and isinstance(error, PydanticSchemaGenerationError):
        return not_a_model(f"parameter {param.name!r}")
    return f"parameter {param.name!r}: {_pydantic_says(error)}"


def _annotation(info: FieldInfo) -> Any:
    """Return the type of a parameter with its metadata. The alias and the default are left out,
    because Pydantic would give a warning for them here.
    """
    said = {name: value for name in _OF_THE_TYPE if (value := getattr(info, name)) is not None}
    if not said and not info.metadata:
        return info.annotation
    made = FieldInfo(**said)
    made.metadata = list(info.metadata)
    return Annotated[info.annotation, made]


def _with_default(node: Any, info: FieldInfo) -> Any:
    if node["type"] == "default" or info.is_required():
        return node
    if info.default_factory is not None:
        takes_data = bool(info.default_factory_takes_validated_data)
        factory: Any = info.default_factory
        return core_schema.with_default_schema(
            node, default_factory=factory, default_factory_takes_data=takes_data
        )
    return core_schema.with_default_schema(node, default=info.default)


def _core_of(owner: str, annotation: Any) -> Any:
    try:
        adapter = TypeAdapter[Any](annotation)
        if not adapter.pydantic_complete:
            adapter.rebuild(raise_errors=True)  # names the missing definitions
        core: Any = adapter.core_schema
    except PYDANTIC_ERRORS as error:
        raise ContractError(owner, [_pydantic_says(error)]) from error
    return core


def _pydantic_says(error: PydanticErrorMixin) -> str:
    return error.message.splitlines()[0] if error.message else type(error).__name__


def _finish(
    owner: str, builder: ShapeBuilder, shape: Shape, root: CoreNode, passing: Passing
) -> dict[str, Any]:
    builder.shapes.finish(shape)
    mark_flattened_below(shape)
    mistakes = [*dict.fromkeys(builder.mistakes), *name_mistakes(shape.objects[0])]
    mistakes += type_mistakes(shape, builder.json_texts)
    if mistakes:
        raise ContractError(owner, mistakes)
    core = {
        "type": "definitions",
        "schema": root,
        "definitions": list(builder.definitions.values()),
    }
    describe = partial(exact_schema, core, builder)
    failures = Failures(owner, core, passing)
    guarded = failures.guarded()
    # Pydantic ranks the branches of a union differently for JSON and for Python values.
    as_json = builder.shapes.ambiguous
    values = for_wire(guarded, AS_JSON if as_json else DEFAULTS)
    if not is_self_explanatory(core):
        describe = _describe_now(owner, describe, builder)
    proves = proves_shape(values) and not anywhere(shape, _needs_a_check)
    if as_json:
        run = json_run(values)
    elif proves:
        run = validator(values).validate_python
    else:  # the compiled check decides, and accepts 5.0 as an integer
        run = validator(for_values(for_wire(guarded, LENIENT))).validate_python
    return {
        "shape": shape,
        "describe": describe,
        "validate": failures.refusing(run, objections),
        "check_unions": union_check(values, objections) if as_json else None,
        "validation_proves_shape": proves,
    }


def _describe_now(owner: str, describe: Describe, builder: ShapeBuilder) -> Describe:
    """Write the schema once at registration. This reports types that JSON cannot express, and types
    that agents can only guess.
    """
    try:
        schema = describe()
    except PydanticInvalidForJsonSchema as error:
        remedy = "has a type that JSON cannot carry; annotate it otherwise"
        mistakes = [f"{each} {remedy}" for each in builder.unsendable]
        raise ContractError(owner, mistakes) from error
    warn_of_missing_examples(owner, schema)
    return lambda: schema


def _needs_a_check(shape: Shape) -> bool:
    """Return True for shapes that the validation alone cannot check, such as JSON text."""
    return shape.json_text or any(
        form.flattened or (form.additional is not None and bool(form.fields))
        for form in shape.objects
    )


def objections(error: ValidationError) -> Iterable[Objection]:
    """Return the errors of the author's validation as objections."""
    found = error.errors(include_url=False, include_input=False)
    for each in found:
        # Inputs may be large, so they are read only where two keys must be named.
        if each["type"] == CONFLICTING_KEYS:
            return map(_objection, error.errors(include_url=False))
    return map(_objection, found)


def _objection(error: ErrorDetails) -> Objection:
    path = error["loc"]
    if not OWN_LABELS.isdisjoint(path):
        path = tuple(step for step in path if step not in OWN_LABELS)
    message = error["msg"]
    if error["type"] == CONFLICTING_KEYS:
        same: list[str] = error.get("ctx", {})["find"](error["input"])
        if same:
            path, message = (*path, same[1]), f"{same[0]} and {same[1]} mean the same"
    kind = _SAME_KINDS.get(error["type"], error["type"])
    context = error.get("ctx", {})
    return Objection(model_path=path, kind=kind, message=message, context=context)
