"""Which host a request names in its `Host` or `Origin` header.

The headers are parsed by `urllib.parse`, and refused if they have any part that the browser's own
headers never have: a user, a path, a port that is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from toolbooth.server import messages

ANY_HOST = "*"


@lru_cache(maxsize=256)  # a server is asked for the same host again and again
def host_in_host(value: str) -> str | None:
    """The host that a `Host` header names, in lower case and without its port; None if it is not
    valid.
    """
    return _host(f"//{value}", value)


def host_in_origin(value: str) -> str | None:
    """The same for an `Origin` header."""
    scheme, separator, rest = value.partition("://")
    return _host(value, rest) if scheme and separator else None


def allowed_hosts(hosts: Iterable[str]) -> frozenset[str]:
    """Hosts as an author names them, in the form in which requests are compared with them.

    Raises:
        ValueError: one of them is not a host.
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
    """The host of a URL that has nothing but this authority, of a host and perhaps a port."""
    try:
        found = urlsplit(url)
        host = found.hostname
        if host is None or found.netloc != authority or found.path or found.query or found.fragment:
            return None
        written = f"[{host}]" if ":" in host else host
        # `port` raises ValueError for one that is none. Some versions of Python take anything
        # between the address in brackets and the port.
        port = "" if found.port is None else str(found.port)
        if authority.lower() not in (written, f"{written}:{port}"):
            return None
        return f"[{IPv6Address(host).compressed}]" if ":" in host else host
    except ValueError:
        return None
