"""What a tool says that it does, in its description."""

from __future__ import annotations

import inspect
import re
from typing import Any

from rest_framework import serializers
from rest_framework.fields import CreateOnlyDefault, HiddenField, empty
from rest_framework.mixins import UpdateModelMixin

from toolbooth.django.describe import messages
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.cascades import deleting
from toolbooth.django.describe.discovery import STANDARD_ACTIONS, Action
from toolbooth.django.describe.model_words import (
    english_plural,
    english_singular,
    names_of_rows,
    plural,
    singular,
    with_article,
)
from toolbooth.django.describe.operations import Operation
from toolbooth.django.describe.published_models import PublishedModels, model_of
from toolbooth.jsonvalue import recased

LONGEST_DESCRIPTION = 900
"""Characters of a view's own description: with what is added to it, clients take 1,024 (lint knows
which).
"""

_update_mixin: Any = UpdateModelMixin
_model_serializer: Any = serializers.ModelSerializer


def description_of(described: Operation, arguments: Arguments, published: PublishedModels) -> str:
    """What a tool does. The description of a view set is about its rows; the standard actions say
    what they do to them.
    """
    action = described.action
    own = cut(described.description.strip())
    if described.body_is_undeclared:
        ending = messages.takes_no_fields(tuple(arguments.slots))
        return f"{(own or title(action)).rstrip('. ')}. {ending}"
    if action.name not in STANDARD_ACTIONS:
        return own or title(action)
    sentences = [f"{title(action)}."]
    if action.name == "update":
        sentences += _about_replacing(described)
    if action.name == "destroy":
        sentences.append(deleting(action, published))
    if own and not _is_said(described):
        sentences.append(own)
    return " ".join(filter(None, sentences))


def title(action: Action) -> str:
    """What an action does, in a few words: `Create a company`."""
    label = action.label or action.name
    if label in STANDARD_ACTIONS:
        return messages.does(label, *nouns(action))
    if action.name == action.method.lower():
        return f"{_begin(_words(action.base))} ({action.method})"
    return f"{_words(action.name).capitalize()} ({_words(action.base)})"


def nouns(action: Action) -> tuple[str, str]:
    """One row of an action, and several: `a company` and `companies`. These are the names of the
    model, unless the resource has another name.
    """
    model = model_of(action)
    base = _words(action.base)
    resource = _words(action.base.rpartition("__")[2])
    if model is None:
        return with_article(english_singular(base)), english_plural(base)
    one, many = singular(model), plural(model)
    names = tuple(map(recased, names_of_rows(model)))
    if recased(resource) in names:
        return with_article(one), many
    if recased(resource).endswith(names):
        return with_article(english_singular(base)), english_plural(base)
    return f"{with_article(one)} ({base})", f"{many} ({base})"


def summary(described: Operation) -> str:
    """The first paragraph of a view's description."""
    return cut(described.description.strip().partition("\n\n")[0])


def cut(text: str) -> str:
    """A description that is not too long."""
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return f"{text[:LONGEST_DESCRIPTION].rsplit(maxsplit=1)[0]} …"


def _is_said(described: Operation) -> bool:
    """Whether the description repeats the title, or is the view's own, which the tool that lists
    its rows has already.
    """
    action = described.action
    own = recased(described.description.strip().rstrip("."))
    model = model_of(action)
    names = () if model is None else names_of_rows(model)
    if own in map(recased, (*names, action.base)):
        return True
    if action.name == "list" or not hasattr(action.view, "list"):
        return False
    return described.description.strip() == (inspect.getdoc(action.view) or "").strip()


def _about_replacing(described: Operation) -> list[str]:
    """What a full update does to the fields that are left out."""
    view: Any = described.action.view
    serializer: Any = described.serializer
    is_stock = (
        getattr(view, "update", None) is _update_mixin.update
        and getattr(view, "perform_update", None) is _update_mixin.perform_update
        and getattr(serializer.__class__, "update", None) is _model_serializer.update
    )
    if not is_stock:
        return [messages.SEND_ALL_REQUIRED]
    reset = tuple(name for name, each in serializer.fields.items() if _has_default(each))
    return [messages.OTHERS_ARE_KEPT, messages.reset_to_default(reset) if reset else ""]


def _has_default(field: Any) -> bool:
    """Whether a field that is left out of a full update gets a value."""
    default: Any = getattr(field, "default", empty)
    is_sent = not field.read_only and not isinstance(field, HiddenField)
    return is_sent and default is not empty and not isinstance(default, CreateOnlyDefault)


def _words(text: str) -> str:
    return re.sub(r"[_\-]+", " ", text).strip()


def _begin(text: str) -> str:
    return text[:1].upper() + text[1:]
