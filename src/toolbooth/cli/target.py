"""Defines TARGET, the server that a command uses. All commands accept the same forms of TARGET.

`module:object` and `file.py:object` name a server in this process, which `adapters/connect.py`
loads. A URL names a running server. The words after `--` are a command that starts a server on
stdio.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from toolbooth.cli import messages
from toolbooth.cli.command import AFTER_DASHES, COMMAND_TARGET, Seconds, short_errors
from toolbooth.cli.interrupt import ending_at_interrupt
from toolbooth.cli.mistakes import Mistake, Unanswered
from toolbooth.cli.terminal import progress

if TYPE_CHECKING:
    from toolbooth.adapters.connect import Served
    from toolbooth.server.registry import ToolRegistry

TargetKind = Literal["object", "url", "command"]

Answer = TypeVar("Answer")

_SECONDS = 1.0
"""Seconds that a tool of this process has to end after Ctrl-C."""
_URL = ("http://", "https://")
_WITH_SCHEME = re.compile(r"[a-zA-Z]+:/")
_PASSWORD = re.compile(r"//[^/@\s]*@")
"""Matches the beginning of a URL. A Windows path may match too, but ends with `.py:object`."""
_HOST_AND_PORT = re.compile(r"[^/:]+:\d+(/.*)?")
"""A URL without its scheme, such as `localhost:8000/mcp`. The name of an object cannot be a
number.
"""
_HOST_AND_PATH = re.compile(r"[\w-]+(\.[\w-]+)+/.*")
"""A URL without its scheme and its port, such as `example.org/mcp`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The location of a server, as the user wrote it."""

    text: str
    command: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    timeout: float = 30.0

    @property
    def kind(self) -> TargetKind:
        if self.command:
            return "command"
        return "url" if self.text.lower().startswith(_URL) else "object"

    @property
    def name(self) -> str:
        """Return the name of the target for use in a sentence."""
        # A URL may have a password.
        return " ".join(self.command) or _PASSWORD.sub("//…@", self.text)


def takes_target(
    *, required: bool = True, running: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the argument TARGET to a command. With `running`, TARGET may also be a URL or a command,
    and the options for these are added.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def command(target: str | None, **options: Any) -> Any:
            header = options.pop("header", ())
            token = options.pop("token", None)
            timeout = options.pop("timeout", 30.0)
            read = None if target is None else _target(target, header, token, timeout)
            return function(target=read, **options)

        decorated: Any = command
        if running:
            decorated = click.option(
                "--timeout",
                type=Seconds(min=0, min_open=True),
                default=30.0,
                show_default=True,
                help=messages.TIMEOUT,
            )(decorated)
            decorated = click.option("--token", metavar="TOKEN", help=messages.TOKEN)(decorated)
            decorated = click.option(
                "--header", multiple=True, metavar="'NAME: VALUE'", help=messages.HEADER
            )(decorated)
        return click.argument("target", metavar="TARGET", required=required)(decorated)

    return decorate


def _target(text: str, header: tuple[str, ...], token: str | None, timeout: float) -> Target:
    command: tuple[str, ...] = ()
    if text == COMMAND_TARGET:
        # `Command.parse_args` has stored the words there, because click must not read the options
        # of the other command.
        command = tuple(click.get_current_context().meta[AFTER_DASHES])
        if not command:
            raise Mistake(messages.NOTHING_AFTER_DASHES)
        text = ""
    headers = read_headers(header)
    if token is not None:
        headers["Authorization"] = token if " " in token else f"Bearer {token}"
    made = Target(text=text, command=command, headers=headers, timeout=timeout)
    if made.kind == "object":
        _check_not_url(text)
    elif made.kind == "url" and not _has_address(text):
        raise Mistake(messages.bad_address(text))
    if headers and made.kind != "url":
        raise Mistake(messages.HEADERS_WITHOUT_URL)
    return made


def _check_not_url(text: str) -> None:
    """Raise Mistake if the text is an incomplete URL. Without this check, the text would be
    imported as a module.
    """
    # Unlike Path, `os.path` accepts text that is too long for a name, such as JSON.
    if ".py" in text or os.path.exists(text):
        return
    if _WITH_SCHEME.match(text):
        raise Mistake(messages.bad_url(text))
    if _HOST_AND_PORT.fullmatch(text):
        raise Mistake(messages.url_without_scheme(text, "http"))
    if _HOST_AND_PATH.fullmatch(text) and ":" not in text and not text.endswith(".json"):
        raise Mistake(messages.url_without_scheme(text, "https"))


def _has_address(url: str) -> bool:
    """Return True if a URL has a host and, if any, a possible port."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        # `port` raises ValueError if it is not a number, or too large.
        return bool(parts.hostname) and parts.port != 0 and " " not in parts.netloc
    except ValueError:
        return False


def read_headers(given: tuple[str, ...]) -> dict[str, str]:
    """Return the headers by name. Raise Mistake if a text has no colon."""
    pairs = [text.partition(":") for text in given]
    if wrong := [name for name, colon, _ in pairs if not colon]:
        raise Mistake(messages.bad_header(wrong[0]))
    return {name.strip(): value.strip() for name, _, value in pairs}


# --- servers in this process --------------------------------------------------------------------


def load_server(target: Target | str, *, shows_warnings: bool = False, **kinds: Any) -> Any:
    """Return the server that `module:object` or `file.py:object` names.

    Raises:
        Mistake: there is no such server, or it could not be loaded.
    """
    from toolbooth.adapters.connect import TargetError, load
    from toolbooth.errors import ContractError, ContractWarning
    from toolbooth.extras import MissingExtra

    wanted = Target(text=target) if isinstance(target, str) else target
    if wanted.kind != "object":
        raise Mistake(messages.only_objects(wanted.name))
    if not wanted.text.endswith(".py") and os.path.isfile(wanted.text):
        raise Mistake(messages.not_a_server_file(wanted.text))
    warned = "default" if shows_warnings else "ignore"
    try:
        with own_stdout(), warnings.catch_warnings():
            # Only `serve` shows the warnings about contracts. For a quick `toolbooth call`, they
            # would hide the result.
            warnings.simplefilter(warned, ContractWarning)
            return load(wanted.text, **kinds)
    except TargetError as error:
        raise Mistake(str(error)) from error
    # Its message is the command that installs the extra; `mistakes.ended` prints it as it is.
    except MissingExtra:
        raise
    except ContractError as error:
        raise Mistake(messages.contract_mistakes(error.owner, error.mistakes)) from error
    # The author's module failed.
    except (Exception, SystemExit) as error:
        raise Mistake(messages.not_loaded(wanted.text, error)) from error


def load_registry(target: Target | str) -> ToolRegistry:
    """Do the same as `load_server`, but only for a ToolRegistry."""
    return load_server(target, kinds=("toolbooth",))


# --- servers of every kind ----------------------------------------------------------------------


def open_target(target: Target) -> Served:
    """Return the server of any kind of target. Nothing is sent yet to a server outside of this
    process.

    Raises:
        Mistake: the server cannot be loaded.
    """
    if target.kind == "object":
        from toolbooth.adapters.connect import served

        return served(load_server(target))
    from toolbooth.extras import require

    require(messages.ASKING_A_SERVER, extra="mcp", modules={"mcp": messages.THE_CLIENT})
    from toolbooth.adapters.sdk.client import RemoteServer

    where = target.text if target.kind == "url" else list(target.command)
    return RemoteServer(where, headers=target.headers, timeout=target.timeout)


def ask(target: Target, question: Callable[[], Coroutine[Any, Any, Answer]], words: str) -> Answer:
    """Run a coroutine that uses a server, and return its result. Meanwhile, output of the server's
    tools goes to standard error. If this takes longer than a second, `words` are shown.

    Raises:
        Unanswered: the server cannot be reached, or does not answer in time.
    """
    import asyncio

    from toolbooth.adapters.connect import Unreachable

    try:
        with progress(words, in_pipe=target.kind != "object") as shown, own_stdout():
            if target.kind != "object":
                return asyncio.run(question())
            # A tool of this process may not stop, and its exceptions are logged here.
            with ending_at_interrupt(_SECONDS, shown.erase_now), short_errors():
                return asyncio.run(question())
    except Unreachable as error:
        raise Unanswered(messages.unanswered(target.name, str(error), error.status)) from error


@contextmanager
def own_stdout() -> Generator[None]:
    """Reserve standard output for the output of the command. Inside this context, all other code,
    and the programs that it starts, write to standard error.
    """
    # Standard output is flushed first. Otherwise text in Python's buffer would be written to
    # standard error after the change.
    sys.stdout.flush()
    # Python code writes to `sys.stdout`, and started programs write to the descriptor 1, which they
    # inherit. Both have to be redirected.
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
