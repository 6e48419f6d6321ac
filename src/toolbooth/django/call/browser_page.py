"""The page for a person who opens the endpoint in a browser: it explains the endpoint and how to
connect.

The page is the same for every visitor. It has no names of tools or models, and no version. It loads
nothing, runs no script and sets no cookie.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib.resources import files
from string import Template

from django.http import HttpRequest, HttpResponse

_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_OTHERS = ("application/json", "text/event-stream")
"""The media types that MCP clients accept."""


def prefers_page(accept: str) -> bool:
    """Return True if an `Accept` header gives HTML a higher weight than the media types of MCP.
    Only media types that the header names count: `*/*` does not.
    """
    wanted = dict(map(_weighted, accept.lower().split(",")))
    # A browser sends `text/html,...,*/*;q=0.8`. An MCP client that opens a stream by GET names
    # `text/event-stream`, and must get 405 if there is no stream.
    html_weight = wanted.get("text/html", 0.0)
    return html_weight > max(wanted.get(each, 0.0) for each in _OTHERS)


def _weighted(part: str) -> tuple[str, float]:
    """Return the media type and the weight in one part of an `Accept` header."""
    kind, *parameters = (each.strip() for each in part.split(";"))
    weights = [each[2:] for each in parameters if each.startswith("q=")]
    try:
        return kind, float(weights[0]) if weights else 1.0
    # A weight that cannot be read counts as 0.
    except ValueError:
        return kind, 0.0


def browser_page(request: HttpRequest) -> HttpResponse:
    """Return the page. Raises DisallowedHost."""
    template, policy = _page()
    entry = {
        "mcpServers": {
            "api": {
                "type": "http",
                # Only the path: the query of the visitor's own URL could contain a token.
                "url": request.build_absolute_uri(request.path),
                "headers": {"Authorization": "Token …"},
            }
        }
    }
    written = json.dumps(entry, indent=2, ensure_ascii=False)
    response = HttpResponse(template.substitute(entry=html.escape(written)))
    for name, value in _HEADERS.items():
        response[name] = value
    response["Content-Security-Policy"] = policy
    return response


_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Type": "text/html; charset=utf-8",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@cache
def _page() -> tuple[Template, str]:
    """Return the template of the page and its content security policy. The policy allows the page's
    own style and nothing else.
    """
    text = files("toolbooth.django.call").joinpath("browser_page.html").read_text(encoding="utf-8")
    # Browsers hash the text between the tags as it is, so it must keep its line ends and spaces.
    style = "".join(_STYLE.findall(text))
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    rules = (
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
    return Template(text), "; ".join(rules)
