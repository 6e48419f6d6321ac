"""The page that a browser gets from the endpoint."""

import contextlib
import html
import http.client
import json
import re
from html.parser import HTMLParser
from importlib.metadata import version

import django
import pytest
import rest_framework
from django.contrib.auth.models import User
from django.test import Client
from django.urls import include, path, re_path
from hypothesis import given
from hypothesis import strategies as st

from real_server import BASIC, served
from toolbooth.django.call.browser_page import prefers_page
from toolbooth.django.describe.catalogue import catalogue

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"


def page(at="/mcp", client=None, **headers):
    return (client or Client()).get(at, headers={"Accept": BROWSER, **headers})


class Tags(HTMLParser):
    """Collects the tags of a page, with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_browser_gets_a_page_that_explains_how_to_connect(db):
    reply = page()
    text = reply.content.decode()
    assert (reply.status_code, reply["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "<h1>This is an MCP server</h1>" in text
    entry = re.search(r"<pre><code>(.*?)</code></pre>", text, re.DOTALL)[1]
    assert json.loads(html.unescape(entry)) == {
        "mcpServers": {
            "api": {
                "type": "http",
                "url": "http://testserver/mcp",
                "headers": {"Authorization": "Token …"},
            }
        }
    }
    for words in ("manage.py mcp_config --as USERNAME", "mcp_doctor", "docs/guides/credentials.md"):
        assert words in text


def test_browser_page_is_the_same_for_every_user_and_project(ann, settings_of):
    settings_of(ROOT_URLCONF="crm.urls", TOOLBOOTH={"NAME": "secretname"})
    logged_in = Client()
    logged_in.force_login(User.objects.create_superuser("boss", password="pw"))
    text = page().content.decode()
    assert page(client=logged_in).content.decode() == text
    names = {"secretname", "boss", *catalogue().registry.tools}
    names |= {tool.partition("__")[0] for tool in catalogue().registry.tools}
    names |= {version("toolbooth"), django.get_version(), rest_framework.VERSION}
    assert {name for name in names if name in text} == set()
    endpoint = path("mcp", include("toolbooth.django.urls"))
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": [endpoint]}), TOOLBOOTH={})
    assert page().content.decode() == text


def test_the_page_loads_nothing_runs_nothing_and_sets_no_cookie(db, settings_of):
    settings_of(SESSION_SAVE_EVERY_REQUEST=True)
    reply = page()
    policy = reply["Content-Security-Policy"]
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; base-uri 'none'; "
        r"form-action 'none'; frame-ancestors 'none'",
        policy,
    )
    others = {name: reply[name] for name in ("X-Content-Type-Options", "X-Frame-Options", "Vary")}
    assert others == {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Vary": "Accept",
    }
    assert (reply["Cache-Control"], reply["Referrer-Policy"]) == ("no-store", "no-referrer")
    assert len(reply.cookies) == 0
    tags = Tags(reply.content.decode()).found
    assert {tag for tag, _ in tags} <= {
        *("html", "head", "meta", "title", "style", "body", "main"),
        *("h1", "h2", "p", "pre", "code", "ul", "li", "a"),
    }
    names = {name for _, attributes in tags for name in attributes}
    assert not names & {"src", "style", "srcset", "data", "action"}
    assert [each["href"] for tag, each in tags if tag == "a"] == [
        "https://modelcontextprotocol.io/"
    ]


def test_the_page_shows_the_opened_url_escaped(db, settings_of):
    patterns = [re_path("^a[^/]*/mcp", include("toolbooth.django.urls"))]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    text = page('/a"<b>&x=/mcp').content.decode()
    assert "<b>" not in text
    assert "http://testserver/a%22%3Cb%3E&amp;x=/mcp" in text


def test_a_host_that_is_not_served_gets_no_page(db):
    assert page(Host="evil.example").status_code == 400


@pytest.mark.parametrize(
    ("accept", "is_page"),
    {
        BROWSER: True,
        "text/html": True,
        "TEXT/HTML": True,
        "text/html;q=0.9, application/json;q=0.5": True,
        "text/html; charset=utf-8; q=0.2": True,
        "": False,
        "*/*": False,
        "text/*": False,
        "text/event-stream": False,
        "application/json, text/event-stream": False,
        "text/html, application/json": False,
        "text/html;q=0.5, text/event-stream": False,
        "text/html;q=0": False,
        "text/html;q=nonsense": False,
    }.items(),
)
@pytest.mark.parametrize("at", ["/mcp", "/mcp/"])
def test_only_clients_that_prefer_html_get_the_page(db, at, accept, is_page):
    reply = Client().get(at, headers={"Accept": accept})
    assert reply.status_code == (200 if is_page else 405)
    if not is_page:
        assert (reply["Allow"], reply["Vary"]) == ("POST", "Accept")
        assert reply.content == b"send JSON-RPC messages by POST"


@pytest.mark.parametrize("method", ["head", "put", "delete", "options", "patch"])
def test_other_methods_get_no_page(db, method):
    assert getattr(Client(), method)("/mcp", headers={"Accept": BROWSER}).status_code == 405


@given(st.text(st.sampled_from("text/html,;q=0.19 application/json*"), max_size=60) | st.text())
def test_random_accept_headers_are_parsed_and_must_contain_html(accept):
    assert prefers_page(accept) in ((True, False) if "text/html" in accept.lower() else (False,))


@pytest.mark.parametrize("server", ["gunicorn", "uvicorn"])
def test_a_real_server_has_the_page_and_the_endpoint_at_both_paths(server, tmp_path):
    listing = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})

    def answer(method, at, body=None, **headers):
        with contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        ) as connection:
            connection.request(method, at, body, {**BASIC, **headers})
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()

    with served(server, tmp_path) as port:
        for at in ("/mcp", "/mcp/"):
            status, headers, body = answer("GET", at, Accept=BROWSER)
            assert (status, headers["Set-Cookie"]) == (200, None)
            assert f"http://127.0.0.1:{port}{at}&quot;".encode() in body
            assert answer("GET", at, Accept="text/event-stream")[0] == 405
            posted = {"Content-Type": "application/json"}
            status, _, body = answer("POST", at, listing, **posted)
            assert (status, "tools" in json.loads(body)["result"]) == (200, True)
