"""Ends the worker at a point in a call, or after a time, that the client names in a header. Each
answer names its worker.
"""

import os
import signal
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponseBase

AT, AFTER = "X-Kill-At", "X-Kill-After"
KILLED = 9
"""Gunicorn ends altogether when a worker ends with 3 or 4, so not these."""

wanted: ContextVar[str] = ContextVar("wanted", default="")


class KillPoints:
    """Stores, for the time of a request, where its worker is to be ended."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # SIGALRM has no handler, so it ends the process at any point, also after this call.
        if AFTER in request.headers:
            signal.setitimer(signal.ITIMER_REAL, float(request.headers[AFTER]))
        token = wanted.set(request.headers.get(AT, ""))
        try:
            response = self.get_response(request)
        finally:
            wanted.reset(token)
        response["X-Worker"] = str(os.getpid())
        return response


def reached(point: str) -> None:
    if point == wanted.get():
        # Like SIGKILL: no rollback, no answer, no message to the database.
        os._exit(KILLED)


def install() -> None:
    from toolbooth.django.call import used_keys

    used_keys._at_point = reached
