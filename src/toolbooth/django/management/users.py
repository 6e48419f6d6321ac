"""The option `--as USERNAME`, and the agent that it stands for."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser
from rest_framework.test import APIRequestFactory, force_authenticate

from toolbooth.django.call.caller import Caller
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.management import messages
from toolbooth.django.testing import Agent, acting_as, endpoint_path
from toolbooth.server.tool import Shows


def add_user(parser: CommandParser, without: str) -> None:
    """Add `--as`; `without` says what happens when it is not given."""
    parser.add_argument(
        "--as",
        dest="username",
        metavar="USERNAME",
        help=messages.act_as_user(without),
    )


def agent_of(username: str | None) -> Agent:
    """An agent of the user of this name; None: of nobody in particular. Raises CommandError."""
    try:
        endpoint_path()
    except LookupError as error:
        raise CommandError(str(error), returncode=2) from None
    return acting_as(None if username is None else user_of(username))


def shown_to(username: str) -> Shows:
    """Which tools the user of this name is shown. Raises CommandError."""
    request = APIRequestFactory().post(endpoint_path())
    force_authenticate(request, user_of(username))
    may_call = Caller(request).may_call
    return lambda tool: may_call(catalogue().actions[tool.name])


def user_of(name: str) -> Any:
    """The user of this name. Raises CommandError."""
    model: Any = get_user_model()
    try:
        return model._default_manager.get_by_natural_key(name)
    except model.DoesNotExist:
        raise CommandError(messages.no_such_user(name), returncode=2) from None


@contextmanager
def unlogged() -> Generator[None]:
    """While this is open, Django does not log that a request was refused: the command says so
    itself.
    """
    logger = logging.getLogger("django.request")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
