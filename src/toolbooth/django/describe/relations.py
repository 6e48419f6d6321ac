"""Accepts relations by key and by object. For example, `{"site": {"name": "hq-1"}}` means the only
site with that name. If there is no such site, or more than one, the call is refused with the
reason. Keys and objects are both published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from rest_framework import serializers

from toolbooth.django.describe import messages
from toolbooth.django.describe.field_schemas import with_words, without_loose_limits
from toolbooth.django.describe.model_words import singular
from toolbooth.django.describe.readers import has_own_code
from toolbooth.errors import Problem
from toolbooth.jsonvalue import Json, JsonPath, is_array, is_object
from toolbooth.secret_names import is_secret_name
from toolbooth.shape import Shape

_TYPES: tuple[tuple[tuple[type[models.Field[Any, Any]], ...], Json], ...] = (
    ((models.UUIDField,), {"type": "string", "format": "uuid"}),
    ((models.BooleanField,), {"type": "boolean"}),
    ((models.IntegerField, models.AutoField), {"type": "integer"}),
)

_link_field: Any = serializers.HyperlinkedRelatedField
_slug_field: Any = serializers.SlugRelatedField
_related_field: Any = serializers.RelatedField

_TEXTS = (models.CharField, models.TextField)

_ANNOTATIONS = ("description", "default")

NO_SUCH_ROW = "does_not_exist"
"""REST framework's code for a key without a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """One relation, with the fields by which its rows can be found."""

    path: tuple[str, ...]
    """The path of the relation's field, starting at the body's serializer."""
    model: Any
    key: str
    lookups: dict[str, Json]
    """The fields that an object may have, with their types."""
    names: tuple[str, ...]
    """The fields in which a text is looked up, if a text cannot be the key."""
    has_one_name: bool
    """True if `names` has only one field, and the values of this field are unique."""

    @property
    def kind(self) -> str:
        """The noun for one of the relation's rows."""
        return singular(self.model)

    @property
    def by_object(self) -> Json:
        """The schema of an object that names a row."""
        return {
            "type": "object",
            "properties": self.lookups,
            "minProperties": 1,
            "additionalProperties": False,
        }

    @property
    def by_object_in_brief(self) -> Json:
        """The schema of an object that names a row, for lists of tools. It has only the field that
        the description mentions. Help has all fields.
        """
        return {"type": "object", "properties": {self.lookup: self.lookups[self.lookup]}}

    @property
    def lookup(self) -> str:
        """The best field by which to find a row. It is the key only if there is no other field."""
        others = (name for name in self.lookups if name not in ("pk", self.key))
        return next(others, next(iter(self.lookups)))

    def both_forms(self, by_key: Json) -> Json:
        """Return a schema that accepts a row by its key or by an object. `by_key` is the schema of
        the key.
        """
        annotations = {name: by_key[name] for name in _ANNOTATIONS if name in by_key}
        key = {name: each for name, each in by_key.items() if name not in _ANNOTATIONS}
        by = "URL" if by_key.get("format") == "uri" else self.key
        words = messages.names_a_row(by, self.kind, self.lookup)
        return {**with_words(annotations, words), "anyOf": [key, self.by_object]}


def key_schema(found: Any, documented: Json) -> Json:
    """Return the schema of a relation's key. drf-spectacular describes every slug as text, so the
    schema of a slug is made from the type of its column. Even if an author has documented the whole
    row, return the schema of the key, because only the key is accepted.
    """
    is_slug = isinstance(found, _slug_field)
    is_row = "properties" in documented or documented.get("type") == "object"
    if not is_slug and not is_row:
        return documented
    kept = {key: documented[key] for key in _ANNOTATIONS if key in documented}
    if isinstance(found, _link_field):
        return {**kept, "type": "string", "format": "uri"}
    try:
        name = str(found.slug_field) if is_slug else "pk"
        own = _type(_model_field(found.get_queryset().model, name))
    except Exception:  # there is no column, or only a call can find the model
        return kept if is_row else documented
    if is_row:
        return {**kept, **own}
    return documented if own == {"type": "string"} else {**documented, **own}


def relation_of(found: Any, path: tuple[str, ...], by_key: Json) -> Relation | None:
    """Return the relation of a serializer's field. Return None if its rows can only be found in a
    call. `by_key` is the schema of the relation's key.
    """
    try:
        # The attribute comes first, because `get_queryset` may need a request.
        model = (found.queryset if found.queryset is not None else found.get_queryset()).model
    except Exception:  # only a call can find the model
        return None
    is_slug = isinstance(found, serializers.SlugRelatedField)
    key = str(found.slug_field) if is_slug else model._meta.pk.name
    lookups = {name: _type(_model_field(model, name)) for name in _lookups(model)}
    # If any text may be a key, a name cannot be distinguished from one.
    texts = [] if _is_any_text(by_key) else _texts(model, lookups)
    unique = [name for name in texts if name in _unique_fields(model)]
    return Relation(
        path=path,
        model=model,
        key=key,
        lookups=lookups,
        # The value of a unique field finds one row at most. Other fields are used only if no field
        # is unique.
        names=tuple(unique or texts),
        has_one_name=len(unique) == 1,
    )


def _is_any_text(by_key: Json) -> bool:
    """Return True if, according to its schema, a key may be any text."""
    declared = by_key.get("type", "string")
    kinds = declared if is_array(declared) else [declared]
    return "string" in kinds and by_key.get("format") != "uuid"


def _texts(model: Any, lookups: Mapping[str, Json]) -> list[str]:
    own = [name for name in lookups if name != "pk"]
    return [name for name in own if isinstance(model._meta.get_field(name), _TEXTS)]


def _model_field(model: Any, name: str) -> Any:
    return model._meta.pk if name == "pk" else model._meta.get_field(name)


def _lookups(model: type[models.Model]) -> list[str]:
    """Return the fields that can identify a row: unique fields, the row's name, and its key. Fields
    with secrets are left out.
    """
    called = [each.name for each in model._meta.concrete_fields if each.name in ("name", "slug")]
    names = dict.fromkeys([*_unique_fields(model), *called, "pk"])
    return [name for name in names if not is_secret_name(name)]


def _unique_fields(model: type[models.Model]) -> list[str]:
    """Return the fields whose values are unique."""
    alone = [each.fields[0] for each in _total_constraints(model) if len(each.fields) == 1]
    return [each.name for each in model._meta.concrete_fields if each.unique or each.name in alone]


def _total_constraints(model: Any) -> list[models.UniqueConstraint]:
    """Return the unique constraints that apply to all rows."""
    return model._meta.total_unique_constraints


def _type(field: Any) -> Json:
    # A key that is itself a relation has the type of the key that it points to.
    target: Any = getattr(field, "target_field", field)
    if target is not field:
        return _type(target)
    for kinds, schema in _TYPES:
        if isinstance(field, kinds):
            return dict(schema)
    return {"type": "string"}


# --- in a contract ---


def in_brief(schema: Json, relations: Any) -> Json:
    """Return the schema of a value for lists of tools. Relations in it have their brief schema."""
    if isinstance(relations, Relation):
        # As `both_forms` writes it: the key, the object, and null if the field accepts that.
        by_key, _, *null = schema["anyOf"]
        key = without_loose_limits(by_key)
        return {**schema, "anyOf": [key, relations.by_object_in_brief, *null]}
    if is_array(relations):
        return {**schema, "items": in_brief(schema["items"], relations[0])}
    if is_object(relations):
        properties = {
            name: in_brief(each, relations.get(name)) for name, each in schema["properties"].items()
        }
        return {**schema, "properties": properties}
    return schema


def mark_names(shape: Shape, relations: Any) -> None:
    """Mark the relations in the shape of a value. Each mark has the fields in which a row can be
    looked up by a text.
    """
    if isinstance(relations, Relation):
        shape.named_by, shape.has_one_name = relations.names, relations.has_one_name
        shape.is_row_key = True
        # A key that is a number is not a secret, whatever the relation is called.
        shape.secret = shape.secret and "string" in shape.types
    elif is_array(relations):
        for form in shape.arrays:
            mark_names(form.items or Shape(), relations[0])
    elif is_object(relations):
        for form in shape.objects:
            for name in form.fields.keys() & relations.keys():
                mark_names(form.fields[name].shape, relations[name])


# --- in a call ---

FieldOf = Callable[[Relation], Any]
"""Finds the serializer's field of a relation for this caller."""


def names_rows(value: Any, relations: Any) -> bool:
    """Return True if a value has an object where a relation expects a key."""
    if isinstance(relations, Relation):
        return is_object(value)
    if is_array(relations) and is_array(value):
        return any(names_rows(each, relations[0]) for each in value)
    if is_object(relations) and is_object(value):
        return any(names_rows(each, relations.get(key)) for key, each in value.items())
    return False


def with_keys(
    value: Any, relations: Any, field_of: FieldOf, path: JsonPath, problems: list[Problem]
) -> Any:
    """Return `value` with every object that names a row replaced by that row's key. For each object
    that does not name exactly one row, add a problem to `problems`.
    """
    if isinstance(relations, Relation) and is_object(value):
        return _key(relations, field_of(relations), value, path, problems)
    if is_array(relations) and is_array(value):
        return [
            with_keys(each, relations[0], field_of, (*path, index), problems)
            for index, each in enumerate(value)
        ]
    if is_object(relations) and is_object(value):
        return {
            key: with_keys(each, relations.get(key), field_of, (*path, key), problems)
            for key, each in value.items()
        }
    return value


def field_at(serializer: Any, path: tuple[str, ...]) -> Any:
    """Return the serializer field at a path of names. If the field is a list, return the field of
    its items. Return None if only a call can find the field.
    """
    found = _one(serializer)
    try:
        for name in path:
            found = _one(found.fields[name])
    except Exception:
        return None
    return found


def _one(field: Any) -> Any:
    """Return the field of a list's items. Return any other field unchanged."""
    while (child := _child(field)) is not None:
        field = child
    return field


def _child(field: Any) -> Any:
    return getattr(field, "child_relation", None) or getattr(field, "child", None)


def _key(
    relation: Relation, field: Any, sent: Mapping[str, Any], path: JsonPath, problems: list[Problem]
) -> Any:
    """Return the key of the row that an object names. If the object does not name exactly one row,
    add a problem.
    """
    # This caller may have another field here, which accepts objects itself.
    is_relation = isinstance(field, _related_field)
    if not is_relation or has_own_code(field.__class__, "to_internal_value", "run_validation"):
        return sent
    if not sent:
        message = messages.names_no_row(tuple(relation.lookups))
        problems.append(Problem(code="invalid", path=path, message=message))
        return None
    # The field's own rows: a caller must not find a row that the field would refuse.
    queryset: Any = field.get_queryset()
    # The second row only shows that the object is ambiguous.
    try:
        rows = list(queryset.filter(**sent)[:2])
    except (ValueError, TypeError, ValidationError):  # no such value could be stored
        rows = list[Any]()
    if len(rows) == 1:
        return _key_of_row(field, rows[0])
    kind = str(queryset.model._meta.verbose_name)
    message = messages.several_rows(kind, sent) if rows else messages.no_such_row(kind, sent)
    kind_of_problem = None if rows else NO_SUCH_ROW
    problems.append(Problem(code="invalid", path=path, message=message, kind=kind_of_problem))
    return None


def _key_of_row(field: Any, row: Any) -> Any:
    """Return a row's key as the field accepts it: its primary key, slug or URL."""
    if isinstance(field, serializers.HyperlinkedRelatedField):
        return _url_of_row(field, row)
    made: Any = field.to_representation(row)
    # The body is JSON, so a UUID becomes text.
    return made if isinstance(made, str | int | float) else str(made)


def _url_of_row(field: Any, row: Any) -> Any:
    return field.get_url(row, field.view_name, field.context.get("request"), None)
