"""What deleting a row does to others: from the `on_delete` of the models that refer to its model.
In words, only models that the API shows are named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import models
from rest_framework.mixins import DestroyModelMixin

from toolbooth.django.describe import messages
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.model_words import plural, singular
from toolbooth.django.describe.published_models import ModelClass, PublishedModels, model_of

_MOST_NAMES = 6
"""Models that one sentence names."""

_DELETING = (models.CASCADE, getattr(models, "DB_CASCADE", models.CASCADE))
_UNLINKING = (models.SET_NULL, getattr(models, "DB_SET_NULL", models.SET_NULL))
_BLOCKING = (models.PROTECT, models.RESTRICT)
"""What `on_delete` does. That the database does it is possible since Django 6.1."""

_stock: Any = DestroyModelMixin


def deleting(action: Action, published: PublishedModels) -> str:
    """What is deleted with a row, what loses its link to it, and what prevents it. Empty if there
    is nothing to say, or if the project deletes in its own way.
    """
    model = model_of(action)
    if model is None or not _is_stock(action, model):
        return ""
    one = singular(model)
    gone = dict(_deleted_with(model, published, {model}))
    own = tuple(plural(each) for each, owner in gone.items() if owner is model)[:_MOST_NAMES]
    further = tuple(plural(each) for each, owner in gone.items() if owner is not model)
    staying = _plurals(_referring(model, *_UNLINKING), published)
    relinked = _plurals(_relinked(model), published)
    blocking = _plurals(_referring(model, *_BLOCKING), published)
    sentences: list[str] = []
    if own or further:
        sentences.append(messages.also_deletes(own, further[:_MOST_NAMES]))
    if staying:
        sentences.append(messages.stay_without(staying, one))
    if relinked:
        sentences.append(messages.stay_with_another(relinked, one))
    if blocking:
        sentences.append(messages.refused_while(blocking))
    return " ".join(sentences)


@dataclass(frozen=True, slots=True)
class Cascade:
    """What deleting a row of a model reaches."""

    models: frozenset[ModelClass]
    """The models of the rows that are deleted: its own, its parents, and all that refer to them."""
    has_own_code: bool
    """Some `on_delete` is not Django's, or asks the project for a value."""


def cascade_of(model: Any) -> Cascade:
    """What deleting a row of this model reaches, whether the API shows it or not."""
    found: set[Any] = set()
    waiting = [model, model._meta.concrete_model]
    has_own_code = False
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        found.add(each)
        waiting += [*_referring(each, *_DELETING), *each._meta.get_parent_list()]
        has_own_code = has_own_code or any(map(_is_own_code, _handlers(each)))
    return Cascade(frozenset(found), has_own_code)


def _handlers(model: Any) -> Iterator[Any]:
    """Every `on_delete` of the foreign keys to a model."""
    for relation in model._meta.get_fields(include_hidden=True):
        if relation.auto_created and not relation.concrete:
            yield getattr(relation, "on_delete", None)


def _is_own_code(handler: Any) -> bool:
    usual = (*_DELETING, *_UNLINKING, *_BLOCKING, models.SET_DEFAULT, models.DO_NOTHING, None)
    if handler in usual:
        return False
    # `SET(value)`, which may be a function.
    if not hasattr(handler, "deconstruct"):
        return True
    name, values, _ = handler.deconstruct()
    return name != "django.db.models.SET" or callable(values[0])


def _plurals(found: Iterable[Any], published: PublishedModels) -> tuple[str, ...]:
    """What the rows of those models are called that are published."""
    names = (published.plural(each) for each in found if each in published)
    return tuple(dict.fromkeys(names))[:_MOST_NAMES]


def _is_stock(action: Action, model: ModelClass) -> bool:
    """Whether view and model delete as REST framework and Django do."""
    view: Any = action.view
    is_own_view = any(
        getattr(view, name, None) is not getattr(_stock, name)
        for name in ("destroy", "perform_destroy")
    )
    return action.name == "destroy" and not is_own_view and model.delete is models.Model.delete


def _deleted_with(
    model: Any, published: PublishedModels, seen: set[Any]
) -> Iterator[tuple[ModelClass, ModelClass]]:
    """The models whose rows are deleted with one of this model, each with the model that it refers
    to.
    """
    below: list[Any] = []
    for each in _referring(model, *_DELETING):
        if each not in seen:
            seen.add(each)
            below.append(each)
            if each in published:
                yield each, model
    for each in below:
        yield from _deleted_with(each, published, seen)


def _relinked(model: Any) -> list[Any]:
    """The models whose rows are linked to another row, or to a default."""
    usual = (*_DELETING, *_UNLINKING, *_BLOCKING, models.DO_NOTHING, None)
    relations = model._meta.related_objects
    return [each.related_model for each in relations if each.on_delete not in usual]


def _referring(model: Any, *kinds: Any) -> Iterator[Any]:
    """The models with a foreign key to this one that has one of these `on_delete`, and those with a
    generic one.
    """
    for relation in model._meta.get_fields(include_hidden=True):
        is_reverse = relation.auto_created and not relation.concrete
        if is_reverse and getattr(relation, "on_delete", None) in kinds:
            yield relation.related_model
    if models.CASCADE in kinds:
        for field in model._meta.private_fields:
            if hasattr(field, "bulk_related_objects"):
                yield field.related_model
