"""Stage 3: converts the arguments to Python values. The author's own validation runs once.

Flattened fields are first put back where the author's model has them. `objections.py` converts the
errors of the validation to problems.
"""

from __future__ import annotations

from typing import Any

from toolbooth.contract import Contract
from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.shape import ArrayShape, ObjectShape, Shape, item_shape
from toolbooth.shape_check import fitting_form


def values_of(contract: Contract, decoded: Json, *, costly: bool = False) -> Any:
    """Return the values of the function's parameters. Raises InvalidValues. `costly` is true if the
    validation would try very many branches of unions.
    """
    # If nothing was flattened, the arguments already have the form of the author's model.
    if contract.flattened:
        form = contract.shape.objects[0]
        decoded = _put_back(form, decoded) if form.flattened else _put_back_below(form, decoded)
    # The validation itself would report the errors of every form it tries.
    if costly and contract.check_unions is not None:
        contract.check_unions(decoded)
    return contract.validate(decoded)


def _put_back_below(form: ObjectShape, value: Json) -> Json:
    """Put back the flattened fields of deeper levels. No field was flattened to this level."""
    if not form.flattened_below:
        return value
    return {key: _put_back_value(_shape_under(form, key), each) for key, each in value.items()}


def _shape_under(form: ObjectShape, key: str) -> Shape | None:
    declared = form.fields.get(key)
    return form.additional if declared is None else declared.shape


def _put_back(form: ObjectShape, value: Json) -> Json:
    """Return an object with the same values. Each value is at its path in the author's model."""
    made: Json = {}
    # Perhaps no field of a flattened model was sent. Then a required model becomes `{}`, so that
    # its own defaults apply, and a nullable one becomes null.
    for group in form.groups:
        if group.absent != "omit":
            _put(made, group.model_path, {} if group.absent == "empty" else None)
    for key, each in value.items():
        declared = form.fields.get(key)
        if declared is None:
            model_path = (*form.additional_path, key)
        else:
            model_path = declared.model_path or (key,)
        _put(made, model_path, _put_back_value(_shape_under(form, key), each))
    return made


def _put(made: Json, model_path: tuple[str, ...], value: Any) -> None:
    *groups, last = model_path
    for step in groups:
        inner: Any = made.get(step)
        # `_put_back` may have set the model to null before it found one of its fields.
        if inner is None:
            inner = made[step] = {}
        made = inner
    made[last] = value


def _put_back_value(shape: Shape | None, value: Any) -> Any:
    if shape is None or shape.opaque:
        return value
    if is_object(value):
        form = fitting_form(shape, value)
        if isinstance(form, ObjectShape):
            return _put_back(form, value) if form.flattened else _put_back_below(form, value)
    elif is_array(value):
        # In a union, perhaps only one form was flattened, so the form of this value decides.
        form = fitting_form(shape, value)
        if isinstance(form, ArrayShape):
            return [
                _put_back_value(item_shape(form, index), each) for index, each in enumerate(value)
            ]
    return value
