"""What a person sees who opens the endpoint in a browser: what it is, and how to connect.

It is the same for everybody: it names no tool, model or version. It loads nothing, runs no script
and sets no cookie.
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
"""What MCP clients ask for."""


def prefers_page(accept: str) -> bool:
    """Whether a header `Accept` asks for HTML by name, and for nothing that MCP has at least as
    much. `*/*` asks for nothing by name.
    """
    wanted = dict(map(_weighted, accept.lower().split(",")))
    html_weight = wanted.get("text/html", 0.0)
    return html_weight > max(wanted.get(each, 0.0) for each in _OTHERS)


def _weighted(part: str) -> tuple[str, float]:
    """A media type, and how much it is wanted."""
    kind, *parameters = (each.strip() for each in part.split(";"))
    weights = [each[2:] for each in parameters if each.startswith("q=")]
    try:
        return kind, float(weights[0]) if weights else 1.0
    except ValueError:
        return kind, 0.0


def browser_page(request: HttpRequest) -> HttpResponse:
    """The page. Raises DisallowedHost."""
    template, policy = _page()
    entry = {
        "mcpServers": {
            "api": {
                "type": "http",
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
    """The page with a place for the entry of a client, and the policy that allows its own style and
    nothing else.
    """
    text = files("toolbooth.django.call").joinpath("browser_page.html").read_text(encoding="utf-8")
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
