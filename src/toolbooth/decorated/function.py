"""Describes a function with unpacked parameters, and compiles the contract of its flat
signature.
"""

from __future__ import annotations

import functools
import inspect
import keyword
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, PydanticUndefinedAnnotation, PydanticUserError
from pydantic.fields import FieldInfo

from toolbooth.compile.direct import compile_direct
from toolbooth.compile.hints import Hints, Unresolved
from toolbooth.compile.host_params import is_filled_by_host
from toolbooth.compile.params import ReadParam, is_context, read_params
from toolbooth.compile.signature import compile_params
from toolbooth.contract import Contract
from toolbooth.decorated.host_errors import passing_errors
from toolbooth.decorated.models import UnpackedModel, is_marked, keys_of, unpacked_model
from toolbooth.errors import ContractError
from toolbooth.publish import portable


@dataclass(frozen=True, eq=False)
class FlatFunction:
    """A function whose unpacked models are published as flat fields."""

    function: Callable[..., Any]
    name: str
    original: inspect.Signature
    hints: Mapping[str, Any]
    """The annotation of each parameter. Annotations are resolved when the function is decorated,
    while their names can still be looked up.
    """
    params: list[ReadParam]
    """The parameters that callers send."""

    @staticmethod
    def of(function: Callable[..., Any]) -> FlatFunction:
        """Read a function.

        Raises:
            ContractError: with every mistake in the signature, each with its remedy.
        """
        mistakes: list[str] = []
        name = getattr(function, "__name__", type(function).__name__)
        original = inspect.signature(function)
        own = Hints(function)
        hints = {each: own.of(param) for each, param in original.parameters.items()}
        params = read_params(function, is_filled_by_host, mistakes)
        if mistakes:
            raise ContractError(name, mistakes)
        sent = [each for each in params if not each.injected]
        return FlatFunction(function, name, original, hints, sent)

    @functools.cached_property
    def models(self) -> dict[str, UnpackedModel]:
        """Return the unpacked parameters with their models."""
        return {
            each.name: unpacked_model(self.hints[each.name], each.info)
            for each in self.params
            if is_marked(self.hints[each.name])
        }

    @functools.cached_property
    def plain_keys(self) -> dict[str, str]:
        """Return the parameters that are not unpacked, each with its published key."""
        return {
            each.name: keys_of(each.name, each.info)[0]
            for each in self.params
            if each.name not in self.models
        }

    def owner_of(self, key: str) -> str:
        """Return the unpacked parameter that a flat field belongs to; empty for a plain
        parameter.
        """
        if self.contract.bind is not None:  # there is only one parameter
            return self.params[0].name
        form = self.contract.shape.objects[0]
        field = form.fields.get(key)
        model_path = form.additional_path if field is None else field.model_path
        owners = {keys_of(each.name, each.info)[0]: each.name for each in self.params}
        return owners.get(model_path[0], "") if model_path else ""

    @functools.cached_property
    def own_contexts(self) -> list[str]:
        """Return the parameters whose type is Toolbooth's Context. Frameworks other than Toolbooth
        cannot fill these parameters.
        """
        return [name for name, hint in self.hints.items() if is_own_context(hint)]

    @functools.cached_property
    def contract(self) -> Contract:
        """Return the contract. It is compiled on first use, because a model may name classes that
        are defined after the function.
        """
        passing = passing_errors()
        contract = compile_params(self.function, self.params, name=self.name, passing=passing)
        hosts = self.original.parameters.keys() - {each.name for each in self.params}
        taken = [name for name in contract.shape.objects[0].names if name in hosts]
        # The host would fill the parameter, and callers could not send the field of the same name.
        if taken:
            conflict = "is a parameter that the host fills and a field of an unpacked model"
            mistakes = [f"{name!r} {conflict}; use Unpack(prefix=...)" for name in taken]
            raise ContractError(self.name, mistakes)
        return contract

    @functools.cached_property
    def other_contracts(self) -> dict[Any, Contract]:
        """Return the cache of further contracts. They are needed only for calls from Python."""
        return {}

    def contract_without(self, names: frozenset[str], *, python: bool) -> Contract:
        """Return the contract of all flat fields, except the fields of the unpacked parameters in
        `names`. `python` is true if some values are not JSON.
        """
        if not names and not python:
            return self.contract
        key = (names, python)
        if key not in self.other_contracts:
            params = [each for each in self.params if each.name not in names]
            self.other_contracts[key] = compile_direct(
                params, name=self.name, python=python, passing=passing_errors()
            )
        return self.other_contracts[key]

    def contract_of_whole(self, name: str, *, python: bool) -> Contract:
        """Return the contract for one unpacked parameter whose model is passed as a dict."""
        key = (name, python)
        if key not in self.other_contracts:
            [param] = [each for each in self.params if each.name == name]
            info = FieldInfo.from_annotation(self.hints[name])
            # Here the parameter has its Python name and not its published one.
            info.alias = info.validation_alias = None
            params = [replace(param, info=info)]
            made = compile_direct(
                params, name=self.name, whole=True, python=python, passing=passing_errors()
            )
            self.other_contracts[key] = made
        return self.other_contracts[key]

    @property
    def has_unpacked_fields(self) -> bool:
        """Return True if some parameter without `Unpack` has a model that itself contains unpacked
        fields.
        """
        try:
            form = self.contract.shape.objects[0]
        except (ContractError, PydanticUserError) as error:
            if _is_unfinished(error):
                return False
            raise
        return form.flattened or form.flattened_below

    @functools.cached_property
    def is_finished(self) -> bool:
        """Return True if all classes that the models refer to exist. Otherwise only the names of
        the models' fields are known.
        """
        try:
            _ = self.published
        except (ContractError, PydanticUserError) as error:
            if not _is_unfinished(error):
                raise
            return False
        return True

    @functools.cached_property
    def published(self) -> Mapping[str, Any]:
        """Return the schema that clients see."""
        return portable(self.contract.schema)

    @functools.cached_property
    def required(self) -> dict[str, bool]:
        """Return a dict of the published keys. A value is True if the key is required."""
        if not self.is_finished:
            return self._required_by_class()
        must = self.published.get("required", ())
        return {name: name in must for name in self.contract.shape.objects[0].names}

    def _required_by_class(self) -> dict[str, bool]:
        """Return what `required` returns, but use only the classes of the models. Used if the types
        of their fields are not known yet.
        """
        found: dict[str, bool] = {}
        for param in self.params:
            required = param.info.is_required()
            model = self.models.get(param.name)
            if model is None:
                found[param.name] = required
                continue
            for key, each in model.fields.items():
                found[model.prefix + keys_of(key, each)[0]] = required and each.is_required()
        return found

    @functools.cached_property
    def wire_names(self) -> dict[str, str]:
        """Return the published key of each parameter name. The two differ if some framework does
        not accept the key as the name of a parameter.
        """
        names = tuple(self.required)
        return {_parameter_name(name, names): name for name in names}


def is_own_context(hint: Any) -> bool:
    """Return True if the type of a parameter is Toolbooth's Context."""
    return not isinstance(hint, Unresolved) and is_context(hint)


def _is_unfinished(error: Exception) -> bool:
    """Return True if a model refers to a class that does not exist yet. Then only the names of the
    model's fields are known. Their types are read on first use.
    """
    cause = error.__cause__ or error
    unfinished = isinstance(cause, PydanticUserError) and cause.code == "class-not-fully-defined"
    return unfinished or isinstance(cause, PydanticUndefinedAnnotation)


def _parameter_name(wire: str, taken: tuple[str, ...]) -> str:
    """Return a parameter name that every framework accepts. Some frameworks refuse Python keywords,
    names that begin with `_`, or names of Pydantic's model attributes.
    """
    reserved = keyword.iskeyword(wire) or wire in ("self", "cls", *dir(BaseModel))
    if not reserved and not wire.startswith(("_", "model_", "field_")):
        return wire
    name = f"{wire.strip('_')}_value"
    while name in taken:
        name += "_"
    return name
