"""The arguments, the result and the limits of `http_request`."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import httpx2
from pydantic import BaseModel, Field, SecretStr, field_validator
from typing_extensions import TypedDict

from recon.addresses import Network, Resolve, look_up
from recon.mission_tools import MissionId
from toolbooth import JsonText

MEBIBYTE = 1 << 20

HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]
# No space at the ends, and no line break, which would begin another header.
HeaderValue = Annotated[str, Field(pattern=r"^([\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?)?$")]
CookieValue = Annotated[  # a semicolon would begin another cookie
    str, Field(pattern=r"^([\x21-\x3a\x3c-\x7e]([\x20-\x3a\x3c-\x7e]*[\x21-\x3a\x3c-\x7e])?)?$")
]

OWN_HEADERS = {
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
"""Headers about the connection and the length of the body. The server sets them itself, because a
wrong one could break the exchange, or smuggle a second request into it."""


class BasicAuth(BaseModel):
    username: str
    password: SecretStr


class HttpRequest(BaseModel):
    url: str = Field(
        pattern="^https?://",
        max_length=8192,
        description="Where to, e.g. https://example.org/login",
    )
    method: Literal["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"] = "GET"
    headers: Annotated[
        dict[HeaderName, HeaderValue] | None, JsonText(example={"User-Agent": "MyBot"})
    ] = Field(None, description="Headers to send.")
    data: str | None = Field(
        None, description='The body, sent as it is, e.g. {"name": "Ann"}; JSON is labelled as JSON.'
    )
    params: Annotated[dict[str, str] | None, JsonText(example={"q": "tea", "page": "2"})] = Field(
        None, description="Added to the query of the URL."
    )
    cookies: Annotated[dict[HeaderName, CookieValue] | None, JsonText(example={"lang": "en"})] = (
        Field(None, description="Cookies to send; they win over those of the profile.")
    )
    cookie_profile: str | None = Field(
        None,
        description="A set of cookies that the server keeps, by its name; else that of the mission.",
    )
    follow_redirects: bool = Field(True, description="Whether to go where the reply points.")
    auth: Annotated[BasicAuth | None, JsonText(example={"username": "ann", "password": "…"})] = (
        Field(None, description="For HTTP basic authentication.")
    )
    mission_id: MissionId | None = Field(
        None, description="The mission it belongs to; else the current one."
    )

    @field_validator("headers")
    @classmethod
    def check_names(cls, headers: dict[str, str] | None) -> dict[str, str] | None:
        """Refuse headers that only the server may set, and names that are sent twice."""
        names = [name.lower() for name in headers or {}]
        for name in headers or {}:
            if name.lower() in OWN_HEADERS:
                raise ValueError(f"leave out the header {name}: the server sets it itself")
            if names.count(name.lower()) > 1:
                raise ValueError(f"the header {name} is sent twice; case makes no difference")
        return headers


class SentRequest(TypedDict):
    method: str
    url: str
    headers: dict[str, str]


class HttpReply(TypedDict):
    """The reply after redirects. If the body is not text, `text` is null and `base64` contains it."""

    request_id: str
    mission_id: str | None
    cookie_profile: str | None
    status_code: int
    url: str
    redirects: list[str]
    headers: dict[str, str]
    cookies: dict[str, str]
    text: str | None
    json: Any
    base64: str | None
    elapsed_ms: int
    request: SentRequest


@dataclass(frozen=True, kw_only=True)
class HttpConfig:
    """The limits of `http_request`. `allowed` lists networks that it may call although they are not
    public.
    """

    allowed: tuple[Network, ...] = ()
    timeout: float = 30.0
    """Seconds for the whole exchange, redirects included."""
    max_request_bytes: int = MEBIBYTE
    max_response_bytes: int = MEBIBYTE
    """After decompression."""
    max_redirects: int = 5
    tracing_headers: Mapping[str, str] = field(
        default_factory=lambda: {"User-Agent": "toolbooth-recon/0.1"}
    )
    sensitive_headers: tuple[str, ...] = ()
    """Names whose values are redacted in addition to those that look like credentials."""
    cookie_profiles: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict[str, Mapping[str, str]]
    )
    verify: ssl.SSLContext = field(default_factory=httpx2.create_ssl_context)
    resolve: Resolve = look_up
