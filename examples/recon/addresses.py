"""Checks addresses, and has a transport that connects only to allowed ones.

A host name is looked up once, every address found is checked, and the connection goes to a checked address, not to the
name: there is no second lookup that could answer differently (DNS rebinding). Each redirect passes here too.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpx2

from toolbooth import ToolError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

METADATA = {"169.254.169.254", "fd00:ec2::254", "168.63.129.16", "100.100.100.200", "192.0.0.192"}
"""Addresses at which clouds hand out credentials: AWS, GCP and Azure share the first; then AWS,
Azure, Alibaba and Oracle."""

KINDS = {
    "is_loopback": "a loopback address",
    "is_link_local": "a link-local address",
    "is_unspecified": "an unspecified address",
    "is_multicast": "a multicast address",
    "is_private": "a private address",
    "is_site_local": "a private address",
    "is_reserved": "a reserved address",
    # Tunnels: they can contain any IPv4 address, also a private one.
    "sixtofour": "a tunnel address",
    "teredo": "a tunnel address",
}


def why_not(address: Address) -> str | None:
    """Why this address is not public; None if it is."""
    if str(address) in METADATA:
        return "a cloud metadata address"
    for attribute, kind in KINDS.items():
        if getattr(address, attribute, None):
            return kind
    return None if address.is_global else "not a public address"


async def look_up(host: str, port: int) -> Sequence[str]:
    """Return every address of a host, in the system's order."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Connects only to public addresses and to those in `allowed`."""

    def __init__(
        self, allowed: Iterable[Network], verify: ssl.SSLContext, resolve: Resolve
    ) -> None:
        self._allowed = tuple(allowed)
        self._resolve = resolve
        # No connection is kept alive: TLS verified one name, and another name with the same address
        # must not use that connection.
        limits = httpx2.Limits(max_keepalive_connections=0)
        self._inner = httpx2.AsyncHTTPTransport(verify=verify, trust_env=False, limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request.

        Raises:
            ToolError: this server may not call the URL.
        """
        *others, last = await self._checked(request.url)
        for address in others:
            try:
                return await self._inner.handle_async_request(_sent_to(address, request))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(_sent_to(last, request))

    async def _checked(self, url: httpx2.URL) -> Sequence[str]:
        if url.scheme not in ("http", "https") or not url.host:
            raise ToolError(
                "http_request", f"{url.scheme}://{url.host} is no http or https address"
            )
        port = url.port or (443 if url.scheme == "https" else 80)
        if port > 65535:
            raise ToolError("http_request", f"there is no port {port}; the last one is 65535")
        if url.userinfo:
            raise ToolError(
                "http_request", "the URL holds a user name or password; send them in auth instead"
            )
        host = url.raw_host.decode()
        try:
            found = await self._resolve(host, port)
        except (OSError, UnicodeError):  # not found, or not a valid host name
            found = ()
        if not found:
            raise ToolError("http_request", f"no address was found for the host {host!r}")
        for text in found:
            self._check(host, ip_address(text))
        return found

    def _check(self, host: str, address: Address) -> None:
        kind = why_not(address)
        if kind is None or any(address in network for network in self._allowed):
            return
        what = (
            f"{address} is {kind}" if host == str(address) else f"{host} leads to {address}, {kind}"
        )
        raise ToolError(
            "http_request",
            f"{what}, which this server does not call; nothing was sent there. "
            f"The operator of the server can allow it with RECON_ALLOW={address}, "
            "or a network such as 10.0.0.0/8",
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


def _sent_to(address: str, request: httpx2.Request) -> httpx2.Request:
    """The same request to an address. `Host` stays unchanged, and TLS still verifies the name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.raw_host.decode()},
    )
