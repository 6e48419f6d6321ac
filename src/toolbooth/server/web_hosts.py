"""Finds the host in the `Host` or `Origin` header of a request.

The headers are parsed with `urllib.parse`. They are refused if they have a part that a browser
never sends: a user, a path, or an invalid port.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from toolbooth.server import messages

ANY_HOST = "*"


@lru_cache(maxsize=256)  # cached, because most requests name the same host
def host_in_host(value: str) -> str | None:
    """Return the host in a `Host` header, in lower case and without its port. Return None if the
    header is invalid.
    """
    return _host(f"//{value}", value)


def host_in_origin(value: str) -> str | None:
    """Return the host in an `Origin` header, in lower case and without its port. Return None if the
    header is invalid.
    """
    scheme, separator, rest = value.partition("://")
    return _host(value, rest) if scheme and separator else None


def allowed_hosts(hosts: Iterable[str]) -> frozenset[str]:
    """Return the hosts that an author allows, in lower case and without ports.

    Raises:
        ValueError: if one of them is not a host.
    """
    return frozenset(map(_allowed_host, hosts))


def _allowed_host(name: str) -> str:
    if name == ANY_HOST:
        return name
    found = host_in_host(f"[{name}]" if name.count(":") > 1 and name[0] != "[" else name)
    if found is None:
        raise ValueError(messages.not_a_host(name))
    return found


def _host(url: str, authority: str) -> str | None:
    """Return the host of a URL that consists of a host and perhaps a port. Return None for any
    other URL.
    """
    try:
        found = urlsplit(url)
        host = found.hostname
        if host is None or found.netloc != authority or found.path or found.query or found.fragment:
            return None
        written = f"[{host}]" if ":" in host else host
        # `port` raises ValueError for an invalid port. Some versions of Python accept any text
        # between an address in brackets and the port.
        port = "" if found.port is None else str(found.port)
        if authority.lower() not in (written, f"{written}:{port}"):
            return None
        return f"[{IPv6Address(host).compressed}]" if ":" in host else host
    except ValueError:
        return None
