"""Middleware of every kind runs around calls on real servers, WSGI and ASGI, as it does around
REST: it counts, opens a scope by the path, sets the URLconf, answers itself, raises; sync, async
and both.
"""

import contextlib
import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from http.cookies import SimpleCookie

import pytest

from real_server import BASIC, call, post, served


@pytest.fixture(scope="module", params=["gunicorn", "uvicorn"])
def port(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    with served(request.param, folder, settings="middleware_settings") as found:
        yield found


def rest(port, method, path, body=None, headers=BASIC):
    """Return the status, the headers and the JSON of a REST reply; None for a page."""
    sent = {"Content-Type": "application/json", **headers}
    with contextlib.closing(
        http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    ) as connection:
        connection.request(method, path, None if body is None else json.dumps(body), sent)
        reply = connection.getresponse()
        text = reply.read()
    is_json = reply.headers["Content-Type"].startswith("application/json")
    return reply.status, reply.headers, json.loads(text) if is_json else None


def mcp(port, tool, headers=None, **arguments):
    """Return the result of a call, or its error."""
    status, _, text = post(port, call(tool, **arguments), {**BASIC, **(headers or {})})
    assert status == 200
    reply = json.loads(text)
    return reply.get("result") or reply["error"]


def names(port):
    return [each["name"] for each in rest(port, "GET", "/companies/")[2]]


def seen_during(port, work):
    """Return the requests that middleware sees in the server while `work` is done."""
    rest(port, "GET", "/seen/")
    work()
    found = rest(port, "GET", "/seen/")[2]["seen"]
    # Before it: the end of the first request for this. After it: the start of the second.
    paths = [each[-1] for each in found]
    return found[2 : paths.index("/seen/")]


def test_middleware_sees_a_call_as_it_sees_a_rest_request(port):
    by_mcp = seen_during(port, lambda: mcp(port, "companies__create", name="Counted"))
    by_rest = seen_during(port, lambda: rest(port, "POST", "/companies/", {"name": "Counted too"}))
    inside = [
        ["in", "POST", "/companies/"],
        ["async in", "/companies/"],
        ["both in", "/companies/"],
        ["view", "companies-list", {}],
        ["async out", 201],
        ["out", 201, "ann"],
    ]
    assert by_rest == inside
    assert by_mcp == [
        ["in", "POST", "/mcp/"],
        ["async in", "/mcp/"],
        ["both in", "/mcp/"],
        ["view", "mcp", {}],
        *inside,
        ["async out", 200],
        ["out", 200, "ann"],
    ]


def test_a_bulk_create_passes_through_the_middleware_once(port):
    rows = [{"name": f"Row {number}"} for number in range(3)]
    found = seen_during(port, lambda: mcp(port, "companies__create", objects=rows))
    assert [each for each in found if each[0] == "in"] == [
        ["in", "POST", "/mcp/"],
        ["in", "POST", "/companies/"],
    ]


def test_simultaneous_calls_have_separate_scopes(port):
    keys = [str(number) for number in range(12)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda key: mcp(port, "scopes__list", site_pk=key), keys))
    assert [each["structuredContent"] for each in found] == [
        {"asked": key, "scope": key} for key in keys
    ]


def test_a_urlconf_that_middleware_sets_has_its_own_tools_for_that_request_only(port):
    other = {"X-Site": "admin"}
    page = {"count": 0, "next": None, "previous": None, "results": []}
    assert mcp(port, "others__list", other)["structuredContent"] == page
    unknown = {"code": -32602, "message": "there is no tool 'companies__list'"}
    assert mcp(port, "companies__list", other) == unknown
    assert mcp(port, "companies__list")["isError"] is False
    unknown = {"code": -32602, "message": "there is no tool 'others__list'"}
    assert mcp(port, "others__list") == unknown


def failed(words, details=None):
    text = f"Tool 'companies__create' failed{words}"
    found = {"content": [{"type": "text", "text": text}], "isError": True}
    return found if details is None else {**found, "structuredContent": {"details": details}}


def refused_by_status(status):
    step = ". Use other credentials, or ask your user." if status == 403 else ""
    return failed(f": the API answered {status}{step}", {"status": status, "problems": []})


def not_the_views(status):
    return failed(
        f": the project's middleware answered instead of the view, with the status {status}"
    )


@pytest.mark.parametrize(
    ("answer", "status", "result"),
    [
        ("redirect", 302, not_the_views(302)),
        ("login page", 200, not_the_views(200)),
        ("forbidden", 403, refused_by_status(403)),
        ("denies", 403, refused_by_status(403)),
        ("not allowed", 405, refused_by_status(405)),
        ("error page", 500, failed(" unexpectedly.")),
        ("breaks", 500, failed(" unexpectedly.")),
    ],
)
def test_an_answer_of_middleware_is_a_failure_by_its_status(port, answer, status, result):
    before = names(port)
    header = {"X-Answer": answer}
    assert rest(port, "POST", "/companies/", {"name": "x"}, {**BASIC, **header})[0] == status
    assert mcp(port, "companies__create", header, name="x") == result
    assert names(port) == before


def test_field_errors_of_middleware_are_problems_of_the_arguments(port):
    result = mcp(port, "companies__create", {"X-Answer": "field errors"}, name="x")
    problem = {"code": "invalid", "path": "$.name", "message": "is taken"}
    assert result["_meta"]["toolbooth"] == {"code": -32602, "problems": [problem]}


def session(port):
    """Return the cookies of a session of ann, and its CSRF token."""
    _, headers, body = rest(port, "GET", "/enter/", headers={})
    cookies = SimpleCookie("; ".join(headers.get_all("Set-Cookie")))
    sent = "; ".join(f"{name}={cookies[name].value}" for name in ("csrftoken", "sessionid"))
    return {"Cookie": sent}, body["token"]


def test_a_session_writes_only_with_its_csrf_token_as_over_rest(port):
    cookie, token = session(port)
    before = names(port)
    status, _, body = rest(port, "POST", "/companies/", {"name": "No token"}, cookie)
    assert (status, body) == (403, {"detail": "CSRF Failed: CSRF token missing."})
    reply = json.loads(post(port, call("companies__create", name="No token"), cookie)[2])
    assert (
        reply["result"]["content"]
        == failed(": CSRF Failed: CSRF token missing. Use other credentials, or ask your user.")[
            "content"
        ]
    )
    assert reply["result"]["isError"] is True
    assert names(port) == before

    read = json.loads(post(port, call("companies__list"), cookie)[2])["result"]
    assert [each["name"] for each in read["structuredContent"]["results"]] == before

    with_token = {**cookie, "X-CSRFToken": token}
    made = json.loads(post(port, call("companies__create", name="By token"), with_token)[2])
    assert made["result"]["isError"] is False
    assert names(port) == [*before, "By token"]
