"""Adds the option `--as USERNAME` to commands, and makes the agent that acts as this user."""

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
    """Add the option `--as`. `without` completes its help text: it describes what the command does
    without this option.
    """
    parser.add_argument(
        "--as",
        dest="username",
        metavar="USERNAME",
        help=messages.act_as_user(without),
    )


def agent_of(username: str | None) -> Agent:
    """Return an agent that acts as the user with this name. If `username` is None, the agent is
    anonymous.

    Raises:
        CommandError: there is no endpoint, or no user has this name.
    """
    try:
        # Called because it raises if there is no endpoint, and names the line to add. Without this,
        # the call would end with a 404.
        endpoint_path()
    except LookupError as error:
        raise CommandError(str(error), returncode=2) from None
    return acting_as(None if username is None else user_of(username))


def shown_to(username: str) -> Shows:
    """Return a function that takes a tool, and returns True if this user sees it.

    Raises:
        CommandError: there is no such user.
    """
    request = APIRequestFactory().post(endpoint_path())
    # No token of the user is needed to find out which tools they see.
    force_authenticate(request, user_of(username))
    may_call = Caller(request).may_call
    return lambda tool: may_call(catalogue().actions[tool])


def user_of(name: str) -> Any:
    """Return the user with this name.

    Raises:
        CommandError: no user has this name.
    """
    model: Any = get_user_model()
    try:
        # This also finds the users of a model whose USERNAME_FIELD is an email address.
        return model._default_manager.get_by_natural_key(name)
    except model.DoesNotExist:
        raise CommandError(messages.no_such_user(name), returncode=2) from None


@contextmanager
def unlogged() -> Generator[None]:
    """A context in which Django does not log refused requests. The command prints the refusals
    itself.
    """
    logger = logging.getLogger("django.request")
    level = logger.level
    # Django logs an answer of 4xx as a warning, and a view that failed as an error, which stays
    # visible.
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
