"""Describes how deleting a row affects other rows. The effects follow from the `on_delete` of the
foreign keys to the row's model. The sentences name only models that the API shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db import models
from rest_framework.mixins import DestroyModelMixin

from toolbooth.django.describe import messages
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.model_words import plural
from toolbooth.django.describe.published_models import ModelClass, PublishedModels, model_of

_MOST_NAMES = 6
"""The most models that one sentence names."""

_DELETING = (models.CASCADE, getattr(models, "DB_CASCADE", models.CASCADE))
_UNLINKING = (models.SET_NULL, getattr(models, "DB_SET_NULL", models.SET_NULL))
_BLOCKING = (models.PROTECT, models.RESTRICT)
"""The handlers of `on_delete`, by effect. Since Django 6.1 the database can apply some of them."""

_stock: Any = DestroyModelMixin


def deleting(action: Action, published: PublishedModels) -> str:
    """Return sentences about other rows that a delete affects: rows that are deleted too, rows that
    lose their link, and rows that prevent the deletion. Return an empty text if no rows are
    affected, or if the project deletes with its own code.
    """
    model = model_of(action)
    if model is None or not _is_stock(action, model):
        return ""
    seen: dict[Any, None] = {model: None}
    gone = dict(_deleted_with(model, published, seen))
    names = {each: plural(published.words.get(each, each)) for each in gone}
    own = tuple(names[each] for each, owner in gone.items() if owner is model)[:_MOST_NAMES]
    further = tuple(names[each] for each, owner in gone.items() if owner is not model)
    sentences: list[str] = []
    if own or further:
        sentences.append(messages.also_deletes(own, further[:_MOST_NAMES]))
    # The rows are a tree, such as categories with subcategories.
    if model in _referring(model, *_DELETING):
        sentences.append(messages.also_deletes_below(published.plural(model)))
    # `seen` begins with the model itself. It also has the models that the API does not show,
    # because their rows are deleted too.
    effects = _Effects(model=model, below=tuple(seen)[1:], published=published)
    for staying, target in effects.of(effects.unlinked):
        sentences.append(messages.stay_without(staying, target and published.singular(target)))
    for relinked, target in effects.of(effects.relinked):
        sentences.append(
            messages.stay_with_another(relinked, target and published.singular(target))
        )
    for blocking, target in effects.of(effects.blocking):
        if target is model:
            sentences.append(messages.refused_while(blocking))
        else:
            below = target and published.plural(target)
            sentences.append(messages.refused_while_below(blocking, below))
    return " ".join(sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Effects:
    """The effects on rows that refer to a deleted row, or to a row that is deleted with it."""

    model: Any
    below: tuple[Any, ...]
    """The models whose rows are deleted with the row."""
    published: PublishedModels

    def of(self, find: Callable[[Any], Iterable[Any]]) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Yield up to two pairs. A pair has the names of the models that refer to a row, and the
        model of that row.

        The first pair is about the row that is deleted. The second pair is about the rows that are
        deleted with it. In the second pair, the model is None if the API does not show it, or if
        there are several.
        """
        direct = self._names(find(self.model))
        if direct:
            yield direct, self.model
        referring = {each: self._names(self._own(each, find)) for each in self.below}
        targets = [each for each, names in referring.items() if names]
        names = tuple(dict.fromkeys(chain.from_iterable(referring.values())))[:_MOST_NAMES]
        if names:
            is_named = len(targets) == 1 and targets[0] in self.published
            yield names, targets[0] if is_named else None

    def _own(self, model: Any, find: Callable[[Any], Iterable[Any]]) -> list[Any]:
        """Return the models that refer to `model`. Leave out models that refer to a parent of
        `model`, if the parent's rows are deleted too.
        """
        gone = {self.model, *self.below}
        parents = [each for each in model._meta.get_parent_list() if each in gone]
        inherited = set(chain.from_iterable(map(find, parents)))
        return [each for each in find(model) if each not in inherited]

    def unlinked(self, model: Any) -> Iterable[Any]:
        return self._not_deleted(_referring(model, *_UNLINKING))

    def relinked(self, model: Any) -> Iterable[Any]:
        return self._not_deleted(_relinked(model))

    def blocking(self, model: Any) -> Iterable[Any]:
        # RESTRICT allows a delete if the referring rows are deleted too. PROTECT does not.
        restricting = self._not_deleted(_referring(model, models.RESTRICT))
        return chain(_referring(model, models.PROTECT), restricting)

    def _not_deleted(self, found: Iterable[Any]) -> Iterator[Any]:
        return (each for each in found if each not in self.below)

    def _names(self, found: Iterable[Any]) -> tuple[str, ...]:
        """Return the plural nouns of those models that the API shows."""
        names = (self.published.plural(each) for each in found if each in self.published)
        return tuple(dict.fromkeys(names))[:_MOST_NAMES]


@dataclass(frozen=True, slots=True)
class Cascade:
    """The models that are affected when a row is deleted."""

    models: frozenset[ModelClass]
    """The models of the deleted rows: the row's own, its parents, and the models that refer to
    them.
    """
    unlinked: frozenset[ModelClass]
    """The models of the rows that stay, but lose their link or get another one."""
    has_own_code: bool
    """True if an `on_delete` is the project's own code, or calls a function of the project."""


def cascade_of(model: Any) -> Cascade:
    """Return the models that are affected when a row of `model` is deleted. Models that the API
    does not show are included.
    """
    found: set[Any] = set()
    unlinked: set[Any] = set()
    # The rows of a proxy are rows of its concrete model too.
    waiting = [model, model._meta.concrete_model]
    has_own_code = False
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        found.add(each)
        # For a derived model, Django also deletes the part of the row in each parent's table, and
        # the rows that refer to that part.
        waiting += [*_referring(each, *_DELETING), *each._meta.get_parent_list()]
        relations = list(_relations_to(each))
        unlinked.update(each.related_model for each in relations if _unlinks(each.on_delete))
        has_own_code = has_own_code or any(_is_own_code(each.on_delete) for each in relations)
    return Cascade(frozenset(found), frozenset(unlinked), has_own_code)


def _relations_to(model: Any) -> Iterator[Any]:
    """Yield the foreign keys to a model, as relations of that model."""
    # With `related_name="+"` a relation is hidden, but its rows are deleted all the same.
    for relation in model._meta.get_fields(include_hidden=True):
        if relation.auto_created and not relation.concrete and hasattr(relation, "on_delete"):
            yield relation


def _unlinks(handler: Any) -> bool:
    """Return True if an `on_delete` handler changes the foreign key of the referring rows."""
    # All other handlers set the foreign key: SET_NULL, SET_DEFAULT, `SET(...)`, or the project's
    # own function.
    return handler not in (*_DELETING, *_BLOCKING, models.DO_NOTHING, None)


def _is_own_code(handler: Any) -> bool:
    usual = (*_DELETING, *_UNLINKING, *_BLOCKING, models.SET_DEFAULT, models.DO_NOTHING, None)
    if handler in usual:
        return False
    # `SET(value)` is Django's own, but its value may be a function.
    if not hasattr(handler, "deconstruct"):
        return True
    name, values, _ = handler.deconstruct()
    return name != "django.db.models.SET" or callable(values[0])


def _is_stock(action: Action, model: ModelClass) -> bool:
    """Return True if an action is a delete with only REST framework's and Django's code."""
    view: Any = action.view
    is_own_view = any(
        getattr(view, name, None) is not getattr(_stock, name)
        for name in ("destroy", "perform_destroy")
    )
    # A model with its own `delete` may only archive the row, for example.
    return action.name == "destroy" and not is_own_view and model.delete is models.Model.delete


def _deleted_with(
    model: Any, published: PublishedModels, seen: dict[Any, None]
) -> Iterator[tuple[ModelClass, ModelClass]]:
    """Yield a pair for each published model whose rows are deleted with a row of `model`: that
    model, and the model to which its foreign key refers.
    """
    below: list[Any] = []
    for each in _referring(model, *_DELETING):
        if each not in seen:
            seen[each] = None
            below.append(each)
            if each in published:
                yield each, model
    # All direct models come first, so that each is yielded with the nearest model.
    for each in below:
        yield from _deleted_with(each, published, seen)


def _relinked(model: Any) -> list[Any]:
    """Return the models whose rows refer to another row, or to a default, after the delete."""
    relations = model._meta.related_objects
    return [
        each.related_model
        for each in relations
        if _unlinks(each.on_delete) and each.on_delete not in _UNLINKING
    ]


def _referring(model: Any, *kinds: Any) -> Iterator[Any]:
    """Yield the models with a foreign key to this model whose `on_delete` is one of `kinds`. For
    CASCADE, also yield the models with a generic foreign key.
    """
    for relation in _relations_to(model):
        if relation.on_delete in kinds:
            yield relation.related_model
    if models.CASCADE in kinds:
        # A GenericRelation: Django deletes its rows too, although they have no foreign key to the
        # model.
        for field in model._meta.private_fields:
            if hasattr(field, "bulk_related_objects"):
                yield field.related_model
