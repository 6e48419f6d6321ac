"""Calls to our gateway without HTTP. `share`: the boundary's share of each, as JSON. `profile`: the
functions in which it spends its time.

The boundary reads the message, checks the arguments and writes the answer; the rest is Django and
REST framework.
"""

import cProfile
import json
import pstats
import sys
from collections.abc import Callable
from dataclasses import asdict
from io import BytesIO
from itertools import count
from typing import Any

import orjson
from django.core.management import BaseCommand
from django.core.wsgi import get_wsgi_application
from django.test import RequestFactory
from django_calls import MCP, REST
from django_server import Exchange
from measure import Task, Timing, compare

from toolbooth.boundary import render
from toolbooth.boundary.accept import accept_reading
from toolbooth.boundary.read import read_json
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.django.call.caller import answering
from toolbooth.django.describe.catalogue import catalogue

CALLS = 400
SHOWN = 30

_numbers = count()
Application = Callable[..., Any]


class Command(BaseCommand):
    requires_system_checks = ()

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("what", choices=("share", "profile"))

    def handle(self, what: str, **options: Any) -> None:
        application = get_wsgi_application()
        if what == "share":
            print(json.dumps({call: asdict(_share(application, call)) for call in MCP}))
        else:
            _profile(application)


def _share(application: Application, call: str) -> Timing:
    sent = MCP[call]
    tool = catalogue().registry.find(f"contacts__{call}")
    answer = json.loads(_answer(application, sent))["result"]["structuredContent"]
    value = orjson.Fragment(orjson.dumps(answer))

    def boundary() -> bytes:
        message, *rest = read_json(sent.body, DEFAULT_LIMITS)
        arguments = message["params"]["arguments"]
        variant = tool.variant and tool.variant(arguments)
        _, repairs = accept_reading((variant or tool).contract, (arguments, *rest))
        return orjson.dumps(render.value_result(value, repairs, structured=render.as_fragment))

    tasks: dict[str, Task] = {"boundary": boundary, "whole": lambda: _answer(application, sent)}
    with answering(RequestFactory().post("/")):  # the choice of a variant asks for the caller
        return compare(tasks, "whole")["boundary"]


def _profile(application: Application) -> None:
    for call in MCP:
        for way, table in (("REST", REST), ("MCP", MCP)):
            _answer(application, table[call])
            profiler = cProfile.Profile()
            profiler.enable()
            for _ in range(CALLS):
                _answer(application, table[call])
            profiler.disable()
            print(f"--- {call} over {way}, {CALLS} calls")
            pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(SHOWN)


def _answer(application: Application, sent: Exchange) -> bytes:
    """The answer to a request, after all of its work is done."""
    body = sent.numbered_body(next(_numbers))
    headers = {"Host": "127.0.0.1", "Authorization": f"Token token-of-{sent.user}", **sent.headers}
    environ = {f"HTTP_{name.upper().replace('-', '_')}": each for name, each in headers.items()}
    environ |= {
        "REQUEST_METHOD": sent.method,
        "PATH_INFO": sent.path,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
    }
    answer = application(environ, lambda *_: None)
    found = b"".join(answer)
    answer.close()
    return found
