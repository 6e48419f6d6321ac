"""Handles the address that a command listens on, and the token that requests must send."""

from __future__ import annotations

import errno
import os
import socket
from ipaddress import ip_address
from pathlib import Path

from toolbooth.cli.mistakes import Mistake
from toolbooth.cli.serving import messages
from toolbooth.server.bearer import check_token

_TOKEN = "TOOLBOOTH_TOKEN"


def open_socket(host: str, port: int, *, token: str | None, no_auth: bool) -> socket.socket:
    """Return a listening socket. Raise Mistake if other machines can reach the socket, but no token
    is required.
    """
    listening = listen(host, port)
    if token is None and not no_auth and not is_loopback(listening):
        listening.close()
        raise Mistake(messages.token_needed(host))
    return listening


def url_of(host: str, listening: socket.socket, path: str) -> str:
    """Return the URL at which clients reach this address."""
    # An IPv6 address such as ::1 is written in brackets in a URL.
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}{path}"


# --- the address --------------------------------------------------------------------------------


def names(host: str) -> list[str]:
    """Return the hosts that a request may name in its `Host` header. The list is empty if the
    address means "all addresses".
    """
    return [host] if host and not _is_every_address(host) else []


def _is_every_address(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        # `create_server` sets SO_REUSEADDR, so that a restart does not have to wait for old
        # connections.
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Mistake(messages.port_taken(host, port)) from None
        raise Mistake(messages.cannot_listen(host, port, _reason(error))) from None


def _reason(error: OSError) -> object:
    # Numbers below zero come from the name resolver and not from the system.
    if error.errno is not None and error.errno < 0:
        return messages.NO_SUCH_NAME
    # Python appends the address to the message of the system.
    return os.strerror(error.errno) if error.errno else error


def is_loopback(listening: socket.socket) -> bool:
    """Return True if only this machine can reach the socket. This is read from the socket, because
    a host name may stand for any address.
    """
    return ip_address(listening.getsockname()[0]).is_loopback


# --- the token ----------------------------------------------------------------------------------


def token_of(file: str | None, *, no_auth: bool) -> str | None:
    """Return the token that requests must send. It is read from a file or an environment variable.
    Return None if there is no token.
    """
    if no_auth and file is not None:
        raise Mistake(messages.NO_AUTH_OR_TOKEN)
    if no_auth:
        return None
    if file is not None:
        try:
            return _checked_token(Path(file).read_text(encoding="utf-8"), file)
        except OSError as error:
            reason = error.strerror or error
            raise Mistake(messages.token_not_read(file, reason)) from None
        except UnicodeDecodeError:
            raise Mistake(messages.token_not_read(file, "not text")) from None
    if _TOKEN in os.environ:
        return _checked_token(os.environ[_TOKEN], _TOKEN)
    return None


def _checked_token(text: str, where: str) -> str:
    # Editors and `echo` end a file with a line feed, which no header can contain.
    token = text.strip()
    if not token:
        raise Mistake(messages.token_empty(where))
    try:
        check_token(token)
    except ValueError as error:
        raise Mistake(messages.token_wrong(where, error)) from None
    return token
