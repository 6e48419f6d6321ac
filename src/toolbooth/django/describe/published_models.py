"""Finds the models that the API shows. A model counts if a view lists its rows, or if its rows are
nested in such a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import ForeignKey, Model
from rest_framework import serializers

from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.model_words import (
    model_of_view,
    plural,
    shown_model,
    singular,
)

ModelClass = type[Model]


def _nothing(tool: str) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedModels:
    """The published models that are the same for all callers."""

    lists: dict[ModelClass, tuple[Action, ...]]
    """The actions that list the rows of a model."""
    creates: dict[ModelClass, tuple[Action, ...]]
    """The actions that create rows of a model."""
    nested: dict[ModelClass, tuple[str, ...]]
    """Maps each model whose rows are nested in lists of other models to its foreign keys to those
    models.
    """
    words: dict[ModelClass, ModelClass]
    """Maps each listed model to the model whose verbose names are used for its rows. This is a
    proxy if the API lists the rows only as rows of proxies.
    """
    tools: dict[Action, str]
    """The name by which a client calls each action, once its tool is described."""
    needs: Callable[[str], None] = _nothing
    """A function that describes a tool."""

    def tool(self, action: Action) -> str:
        """Return the name by which a client calls an action. Return an empty text if the action is
        not published.
        """
        # Describing the tool may remove it from `tools`, because it cannot be published.
        if action in self.tools:
            self.needs(self.tools[action])
        return self.tools.get(action, "")

    def __contains__(self, model: ModelClass) -> bool:
        return model in self.lists or model in self.nested

    def plural(self, model: Any) -> str:
        """Return the noun for the rows of a model. If they are shown only inside other rows, add
        the noun of those, as in `deal lines`.
        """
        own = plural(self.words.get(model, model))
        if model in self.lists or model not in self.nested:
            return own
        parent: Any = model._meta.get_field(self.nested[model][0]).related_model
        return f"{self.singular(parent)} {own}"

    def singular(self, model: Any) -> str:
        """Return the noun for one row of a model."""
        return singular(self.words.get(model, model))


NO_MODELS = PublishedModels(lists={}, creates={}, nested={}, words={}, tools={})


def published_models(actions: Iterable[Action]) -> PublishedModels:
    """Return the models that these actions show. Models that the classes of the views do not name
    are missing.
    """
    lists: dict[ModelClass, tuple[Action, ...]] = {}
    creates: dict[ModelClass, tuple[Action, ...]] = {}
    nested: dict[ModelClass, tuple[str, ...]] = {}
    for action in actions:
        model = model_of(action)
        if model is None:
            continue
        if action.name == "create":
            creates[model] = (*creates.get(model, ()), action)
        if action.name == "list" and action.method == "GET":
            lists[model] = (*lists.get(model, ()), action)
            for child, key in _nested_in(action.view, model):
                nested[child] = (*nested.get(child, ()), key)
    words = {model: _named_as(model, views) for model, views in lists.items()}
    return PublishedModels(lists=lists, creates=creates, nested=nested, words=words, tools={})


def model_of(action: Action) -> ModelClass | None:
    """Return the model that the class of an action's view names. Return None if it names no
    model.
    """
    return model_of_view(action.view)


def _named_as(model: Any, lists: Iterable[Action]) -> ModelClass:
    """Return the model whose verbose names the views use for the rows of `model`. It may be a
    proxy.
    """
    named: list[Any] = [shown_model(each.view) for each in lists]
    # If only proxies of the model are listed, its rows have the names of the first one.
    return model if model in named else named[0]


def path_names(action: Action) -> set[str]:
    """Return the names of the values in an action's URL."""
    return set(re.findall(r"{(\w+)}", action.path))


def _nested_in(view: Any, parent: ModelClass) -> Iterator[tuple[ModelClass, str]]:
    """Yield the models whose rows are nested in a view's rows, each with its foreign key to the
    parent.
    """
    # These fields are known without an instance, which may need a request.
    serializer: Any = view.serializer_class
    declared: dict[str, Any] = getattr(serializer, "_declared_fields", {})
    for name, field in declared.items():
        child = getattr(field, "child", field)
        model: Any = getattr(getattr(child, "Meta", None), "model", None)
        if not isinstance(child, serializers.BaseSerializer) or model is None:
            continue
        if field.write_only or not _is_listed(name, serializer.Meta):
            continue
        for each in model._meta.concrete_fields:
            # The foreign key shows to which row of the list a nested row belongs. A field with
            # another source may show only some of the rows.
            is_key = isinstance(each, ForeignKey) and each.related_model is parent
            if is_key and each.remote_field.get_accessor_name() == (field.source or name):
                yield model, each.name


def _is_listed(name: str, meta: Any) -> bool:
    """Return True if a serializer includes a declared field. The serializer's Meta may leave out an
    inherited field.
    """
    fields: Any = getattr(meta, "fields", None)
    excluded: Any = getattr(meta, "exclude", None) or ()
    is_all = not isinstance(fields, list | tuple)
    return name not in excluded and (is_all or name in fields)
