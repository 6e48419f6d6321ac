"""Writes the description of a tool."""

from __future__ import annotations

import inspect
import re
from typing import Any

from rest_framework import serializers
from rest_framework.fields import CreateOnlyDefault, HiddenField, empty
from rest_framework.mixins import UpdateModelMixin

from toolbooth.django.call.bodies import is_json
from toolbooth.django.describe import messages
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.cascades import deleting
from toolbooth.django.describe.discovery import STANDARD_ACTIONS, Action
from toolbooth.django.describe.model_words import (
    english_plural,
    english_singular,
    names_of_rows,
    plural,
    shown_model,
    singular,
    with_article,
)
from toolbooth.django.describe.operations import Operation
from toolbooth.django.describe.published_models import PublishedModels, model_of
from toolbooth.jsonvalue import recased

LONGEST_DESCRIPTION = 900
"""The most characters of a view's own description. This leaves room for added sentences below the
limit of 1,024 that some clients have.
"""

_update_mixin: Any = UpdateModelMixin
_model_serializer: Any = serializers.ModelSerializer


def description_of(described: Operation, arguments: Arguments, published: PublishedModels) -> str:
    """Return the description of a tool. For a standard action it begins with a sentence about the
    action, because the description of a view set is about its rows.
    """
    action = described.action
    own = cut(described.description.strip())
    if described.body_is_undeclared:
        # The view's own description may mention fields that cannot be sent.
        ending = messages.takes_no_fields(tuple(arguments.slots))
        return f"{(own or title(action)).rstrip('. ')}. {ending}"
    if action.name not in STANDARD_ACTIONS:
        return own or title(action)
    sentences = [f"{title(action)}."]
    if action.name == "update":
        sentences += _about_replacing(described, arguments)
    if action.name == "destroy":
        sentences.append(deleting(action, published))
    if own and not _is_said(described):
        sentences.append(own)
    return " ".join(filter(None, sentences))


def title(action: Action) -> str:
    """Return a short title of an action: `Create a company`."""
    label = action.label or action.name
    if label in STANDARD_ACTIONS:
        return messages.does(label, *nouns(action))
    # A plain view has no names for its actions, so the title contains the method.
    if action.name == action.method.lower():
        return f"{_begin(_words(action.base))} ({action.method})"
    return f"{_words(action.name).capitalize()} ({_words(action.base)})"


def nouns(action: Action) -> tuple[str, str]:
    """Return the nouns for one row of an action and for several rows, such as `a company` and
    `companies`. They are the names of the model. If the resource has another name, they are made
    from that name.
    """
    model = shown_model(action.view)
    base = _words(action.base)
    resource = _words(action.base.rpartition("__")[2])
    if model is None:
        return with_article(english_singular(base)), english_plural(base)
    one, many = singular(model), plural(model)
    names = tuple(map(recased, names_of_rows(model)))
    if recased(resource) in names:
        return with_article(one), many
    # `archived_companies` is more exact than the model's `companies`.
    if recased(resource).endswith(names):
        return with_article(english_singular(base)), english_plural(base)
    # Two resources may show the same model, so the name of the resource is added.
    return f"{with_article(one)} ({base})", f"{many} ({base})"


def summary(described: Operation) -> str:
    """Return the first paragraph of a view's description."""
    return cut(described.description.strip().partition("\n\n")[0])


def cut(text: str) -> str:
    """Return a description. If it is too long, return its beginning."""
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return f"{text[:LONGEST_DESCRIPTION].rsplit(maxsplit=1)[0]} …"


def _is_said(described: Operation) -> bool:
    """Return True if the view's description should not be added to the tool, either because it only
    repeats the title, or because the tool that lists the rows already has it.
    """
    action = described.action
    own = recased(described.description.strip().rstrip("."))
    model = model_of(action)
    names = () if model is None else names_of_rows(model)
    if own in map(recased, (*names, action.base)):
        return True
    # The tool that lists the rows shows the view's own description.
    if action.name == "list" or not hasattr(action.view, "list"):
        return False
    # drf-spectacular describes an action without a docstring by that of its view.
    return described.description.strip() == (inspect.getdoc(action.view) or "").strip()


def _about_replacing(described: Operation, arguments: Arguments) -> list[str]:
    """Return sentences about the fields that a caller leaves out of a full update."""
    view: Any = described.action.view
    serializer: Any = described.serializer
    is_stock = (
        getattr(view, "update", None) is _update_mixin.update
        and getattr(view, "perform_update", None) is _update_mixin.perform_update
        and getattr(serializer.__class__, "update", None) is _model_serializer.update
        # A checkbox that is left out of a form means false.
        and is_json(described.media_type)
    )
    # Nothing is known about fields that are left out if the project's own code replaces the row.
    if not is_stock:
        return [messages.SEND_ALL_REQUIRED]
    reset = tuple(name for name, each in serializer.fields.items() if _has_default(each))
    fields = arguments.named("body").values()
    kept = [name for name in fields if name not in arguments.required and name not in reset]
    has_required = any(name in arguments.required for name in fields)
    sentence = _required_and_kept(has_required=has_required, keeps=bool(kept))
    return [sentence, messages.reset_to_default(reset) if reset else ""]


def _required_and_kept(*, has_required: bool, keeps: bool) -> str:
    """Return the sentence about the fields of a full update. Every list of tools contains the
    sentence, so it mentions only fields that the tool has.
    """
    if has_required and keeps:
        return messages.REQUIRED_AND_OTHERS
    if has_required:
        return messages.SEND_ALL_REQUIRED
    return messages.OTHERS_ARE_KEPT if keeps else ""


def _has_default(field: Any) -> bool:
    """Return True if a full update resets this field to a default when the caller leaves it out."""
    default: Any = getattr(field, "default", empty)
    is_sent = not field.read_only and not isinstance(field, HiddenField)
    # REST framework skips a CreateOnlyDefault in updates.
    return is_sent and default is not empty and not isinstance(default, CreateOnlyDefault)


def _words(text: str) -> str:
    return re.sub(r"[_\-]+", " ", text).strip()


def _begin(text: str) -> str:
    return text[:1].upper() + text[1:]
