"""Which models the API shows: those of the views that list rows, and those whose rows are nested in
such a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import ForeignKey, Model
from rest_framework import serializers

from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.model_words import plural, singular

ModelClass = type[Model]


def _nothing(tool: str) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedModels:
    """What is known of them without a caller."""

    lists: dict[ModelClass, tuple[Action, ...]]
    """The actions that list the rows of a model."""
    creates: dict[ModelClass, tuple[Action, ...]]
    """The actions that create rows of a model."""
    nested: dict[ModelClass, tuple[str, ...]]
    """The foreign keys from a model to those in whose lists its rows are nested."""
    tools: dict[Action, str]
    """How a client calls an action, once its tool is described."""
    needs: Callable[[str], None] = _nothing
    """Describes a tool."""

    def tool(self, action: Action) -> str:
        """How a client calls an action; empty if it is not published after all."""
        if action in self.tools:
            self.needs(self.tools[action])
        return self.tools.get(action, "")

    def __contains__(self, model: ModelClass) -> bool:
        return model in self.lists or model in self.nested

    def plural(self, model: Any) -> str:
        """What the rows of a model are called: `deal lines` if they are only shown in deals."""
        own = plural(model)
        if model in self.lists or model not in self.nested:
            return own
        parent: Any = model._meta.get_field(self.nested[model][0]).related_model
        return f"{singular(parent)} {own}"


NO_MODELS = PublishedModels(lists={}, creates={}, nested={}, tools={})


def published_models(actions: Iterable[Action]) -> PublishedModels:
    """The models that these actions show, as far as the classes of their views tell."""
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
    return PublishedModels(lists=lists, creates=creates, nested=nested, tools={})


def model_of(action: Action) -> ModelClass | None:
    """The model of an action's view, as its class names it."""
    view: Any = action.view
    queryset: Any = getattr(view, "queryset", None)
    meta: Any = getattr(getattr(view, "serializer_class", None), "Meta", None)
    model: Any = getattr(queryset, "model", None) or getattr(meta, "model", None)
    meta = getattr(model, "_meta", None)
    return None if meta is None else meta.concrete_model


def path_names(action: Action) -> set[str]:
    """The names of the values in an action's URL."""
    return set(re.findall(r"{(\w+)}", action.path))


def _nested_in(view: Any, parent: ModelClass) -> Iterator[tuple[ModelClass, str]]:
    """The models nested in a view's rows, each with its foreign key to the model of the view."""
    declared: dict[str, Any] = getattr(view.serializer_class, "_declared_fields", {})
    for field in declared.values():
        child = getattr(field, "child", field)
        meta: Any = getattr(child, "Meta", None)
        model: Any = getattr(meta, "model", None)
        if not isinstance(child, serializers.BaseSerializer) or model is None:
            continue
        for each in model._meta.concrete_fields:
            if isinstance(each, ForeignKey) and each.related_model is parent:
                yield model, each.name
