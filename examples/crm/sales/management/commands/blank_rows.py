"""`manage.py blank_rows sales.Contact --delete`: finds and deletes rows that were created empty.

A server that ignores a wrapper around the fields of a create leaves such rows behind. To use the
command in another project, copy this file into `management/commands` of one of its apps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.core.management.base import CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, models, transaction
from django.db.models import NOT_PROVIDED, Model, Q
from rest_framework import serializers

from toolbooth.django.call.receipts import is_receipted
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.describing import describing
from toolbooth.django.describe.openapi import Unknowable
from toolbooth.django.describe.operations import operation
from toolbooth.django.management.printing import PrintingCommand


class Command(PrintingCommand):
    """Finds rows in which every writable field has its empty default."""

    help = (
        "List the rows of a model in which every field that can be sent is empty or has its default,"
        " and to which no other row refers; with --delete, delete them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "model", metavar="MODEL", help="sales.Contact, or Contact if only one app has it"
        )
        parser.add_argument("--delete", action="store_true", help="Delete them after listing them.")
        parser.add_argument("--database", default=DEFAULT_DB_ALIAS)

    def handle(self, *args: Any, **options: Any) -> None:
        model = _model(options["model"])
        names = list(_writable(model))
        rows = blank_rows(model, names, options["database"])
        found = list(rows)
        label = f"{model._meta.label}: {_counted(len(found))}"
        self.stdout.write(f"{label} with nothing in {', '.join(names)}")
        for row in found:
            self.stdout.write(f"  {row.pk}{_since(row)}")
        if found and not options["delete"]:
            self.stdout.write(f"To delete: manage.py blank_rows {model._meta.label} --delete")
        elif found:
            keys = [row.pk for row in found]
            with transaction.atomic(using=options["database"]):
                # Checked again: a row that was filled in since it was listed must stay.
                gone, _ = blank_rows(model, names, options["database"]).filter(pk__in=keys).delete()
            self.stdout.write(self.style.SUCCESS(f"Deleted {_counted(gone)}."))


def blank_rows(model: type[Model], names: Iterable[str], database: str = DEFAULT_DB_ALIAS) -> Any:
    """The rows in which these fields are all empty, and to which no other row refers. Raises
    CommandError.
    """
    empty = [condition for name in names if (condition := _is_empty(model, name)) is not None]
    if not empty:
        raise CommandError(
            f"no field of {model._meta.label} distinguishes a blank row from another",
            returncode=2,
        )
    unused = [Q(**{f"{each.name}__isnull": True}) for each in model._meta.related_objects]
    return model._base_manager.using(database).filter(*empty, *unused).order_by("pk")


def _model(label: str) -> type[Model]:
    try:
        found = [apps.get_model(label)] if "." in label else _models_named(label)
    except (LookupError, ValueError) as error:
        raise CommandError(str(error), returncode=2) from None
    if len(found) == 1:
        return found[0]
    several = ", ".join(each._meta.label for each in found)
    words = (
        f"there is more than one {label!r}: {several}" if found else f"there is no model {label!r}"
    )
    raise CommandError(words, returncode=2)


def _models_named(name: str) -> list[type[Model]]:
    return [each for each in apps.get_models() if each.__name__.lower() == name.lower()]


def _writable(model: type[Model]) -> Iterator[str]:
    """The model's fields that tools can set; if no tool sets any, those that a form could set."""
    sources = dict.fromkeys(
        source for serializer in _serializers(model) for source in _sources(serializer)
    )
    known = [name for name in sources if _field(model, name) is not None]
    if known:
        yield from known
        return
    for field in (*model._meta.concrete_fields, *model._meta.many_to_many):
        if field.editable and not isinstance(field, models.AutoField):
            yield field.name


def _serializers(model: type[Model]) -> Iterator[Any]:
    actions = catalogue().actions.values()
    with describing():
        for action in actions:
            if not is_receipted(action):
                continue
            try:
                described = operation(action)
            except Unknowable:
                continue
            serializer: Any = described and described.serializer
            if (
                isinstance(serializer, serializers.ModelSerializer)
                and cast("Any", serializer).Meta.model is model
            ):
                yield serializer


def _sources(serializer: Any) -> Iterator[str]:
    for field in serializer.fields.values():
        if not field.read_only and not isinstance(field, serializers.HiddenField):
            yield field.source


def _field(model: type[Model], name: str) -> Any:
    try:
        return model._meta.get_field(name)
    except FieldDoesNotExist:
        return None


def _is_empty(model: type[Model], name: str) -> Q | None:
    """A condition for rows that were created without this field; None if rows do not show it."""
    field = _field(model, name)
    if not isinstance(field, models.Field) or field.many_to_many:
        return Q(**{f"{name}__isnull": True})  # the values are rows of another table
    column = cast("Any", field)
    given: Any = getattr(column, "db_default", NOT_PROVIDED)  # new in Django 5.0
    values = (
        [column.get_default(), column.get_default()]
        if given is NOT_PROVIDED
        else [getattr(given, "value", given)]
    )
    if values[0] != values[-1] or hasattr(values[0], "resolve_expression"):
        return None  # the default differs for every row, such as a key or the time
    if values[0] is not None and values[0] != "":
        return Q(**{name: values[0]})
    empty = Q(**{f"{name}__isnull": True})
    return empty | Q(**{name: ""}) if column.empty_strings_allowed else empty


def _counted(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _since(row: Model) -> str:
    """When a row was created, if the model has a field for it."""
    fields = [field for field in row._meta.concrete_fields if getattr(field, "auto_now_add", False)]
    return "".join(f"  {field.name} {getattr(row, field.attname)}" for field in fields)
