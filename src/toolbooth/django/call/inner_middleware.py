"""The host's middleware around one call, so that its view finds the request as REST has it.

A request to the MCP endpoint has passed all middleware once, with the path of the endpoint. What
middleware does by the path, it has not done for the view that is called: that is what is run here,
with the request of the call. Django's own middleware, and packages that are only about the message
as a whole, are not run twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from asgiref import sync as untyped_sync
from django.conf import settings
from django.core.exceptions import (
    BadRequest,
    ImproperlyConfigured,
    MiddlewareNotUsed,
    PermissionDenied,
    SuspiciousOperation,
)
from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import response_for_exception
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseServerError
from django.http.multipartparser import MultiPartParserError
from django.middleware.common import CommonMiddleware
from django.urls import ResolverMatch, get_urlconf, set_urlconf
from django.utils import timezone, translation
from django.utils.deprecation import MiddlewareMixin
from django.utils.module_loading import import_string

from toolbooth.django import messages

sync: Any = untyped_sync

_BASES: tuple[Any, ...] = (MiddlewareMixin, CommonMiddleware)
"""What middleware of every kind is derived from. What they do themselves can be done twice."""

InnerMiddleware = Literal["auto", "none"] | tuple[str, ...]
"""The setting: by our list, none, or these classes by their import paths."""

OUTER_ONLY = (
    "allauth.",
    "axes.",
    "compression_middleware.",
    "corsheaders.",
    "csp.",
    "debug_toolbar.",
    "defender.",
    "django.",
    "django_brotli.",
    "django_prometheus.",
    "django_ratelimit.",
    "django_structlog.",
    "django_user_agents.",
    "kolo.",
    "opentelemetry.",
    "qinspect.",
    "querycount.",
    "ratelimit.",
    "sentry_sdk.",
    "silk.",
    "toolbooth.",
    "user_sessions.",
    "whitenoise.",
)
"""Packages whose middleware is about the HTTP message, not about the view that is called: headers,
compression, files, sessions and logins, counting, tracing, limits.
"""

_HANDLED = (
    Http404,
    PermissionDenied,
    MultiPartParserError,
    BadRequest,
    SuspiciousOperation,
)
"""Exceptions for which Django has a response of its own."""

_CALL = "toolbooth_call"
"""The attribute of a request: the call that it is for."""

_base: Any = BaseHandler()


def inner_middleware(setting: InnerMiddleware) -> tuple[str, ...]:
    """The import paths of the middleware that is run for each call, in the host's order."""
    if setting == "none":
        return ()
    if setting == "auto":
        every: Sequence[str] = settings.MIDDLEWARE
        return tuple(each for each in every if not _is_outer_only(each))
    return tuple(setting)


def _is_outer_only(path: str) -> bool:
    """Whether middleware is of one of these packages, or of a class that is derived from one of
    theirs: a project's own sessions are sessions too.
    """
    if path.startswith(OUTER_ONLY):
        return True
    bases: tuple[type, ...] = getattr(import_string(path), "__mro__", ())
    return any(each.__module__.startswith(OUTER_ONLY) and each not in _BASES for each in bases)


@dataclass(slots=True)
class InnerCall:
    """One call inside the middleware."""

    work: Callable[[], Any]
    """Runs the call, once the middleware has let it through."""
    match: ResolverMatch
    value: Any = None
    """What `work` returned."""
    error: Exception | None = None
    """What `work` raised."""
    response: Any = None
    """What the middleware was given: the response of the view."""

    def run(self) -> Any:
        """Run the call, and return a response for the middleware."""
        try:
            self.value = self.work()
        except Exception as error:
            self.error = error
        if self.response is None:
            self.response = HttpResponse(status=200 if self.error is None else 400)
        return self.response


class Chain:
    """The middleware of a project, ready to run."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._of_view: list[Callable[..., Any]] = []
        self._of_template: list[Callable[..., Any]] = []
        self._of_exception: list[Callable[..., Any]] = []
        handler: Callable[[HttpRequest], Any] = _answering(self._innermost)
        is_async = False
        for path in reversed(tuple(paths)):
            middleware = import_string(path)
            wants_async = not getattr(middleware, "sync_capable", True)
            adapted = _base.adapt_method_mode(wants_async, handler, is_async)
            try:
                made = middleware(adapted)
            except MiddlewareNotUsed:
                continue
            if made is None:
                raise ImproperlyConfigured(messages.no_middleware(path))
            self._add_hooks(made)
            handler, is_async = _answering(made), wants_async
        self._handler: Callable[[HttpRequest], Any] = _base.adapt_method_mode(
            False, handler, is_async
        )

    def _add_hooks(self, made: Any) -> None:
        if hasattr(made, "process_view"):
            self._of_view.insert(0, _base.adapt_method_mode(False, made.process_view))
        if hasattr(made, "process_template_response"):
            hook = _base.adapt_method_mode(False, made.process_template_response)
            self._of_template.append(hook)
        if hasattr(made, "process_exception"):
            self._of_exception.append(_base.adapt_method_mode(False, made.process_exception))

    def run(self, request: HttpRequest, call: InnerCall) -> Any:
        """The response that comes out of the middleware. The URLconf, the language and the time
        zone are the same afterwards.
        """
        vars(request)[_CALL] = call
        request.resolver_match = None
        urlconf = get_urlconf()
        try:
            with (
                translation.override(translation.get_language()),
                timezone.override(timezone.get_current_timezone()),
            ):
                return self._handler(request)
        finally:
            set_urlconf(urlconf)

    def respond(self, request: HttpRequest, view: Callable[[], Any]) -> Any:
        """Run a view with the hooks that Django runs right before and after a view."""
        try:
            response = view()
        except Exception as error:
            response = self._response_to(error, request)
            if response is None:
                raise
        if callable(getattr(response, "render", None)):
            for hook in self._of_template:
                response = hook(request, response)
            try:
                response = response.render()
            except Exception as error:
                response = self._response_to(error, request)
                if response is None:
                    raise
        call: InnerCall | None = vars(request).get(_CALL)
        if call is not None:
            call.response = response
        return response

    def _innermost(self, request: HttpRequest) -> Any:
        call: InnerCall = vars(request)[_CALL]
        urlconf = getattr(request, "urlconf", None)
        if urlconf is not None:
            set_urlconf(urlconf)
        request.resolver_match = call.match
        for hook in self._of_view:
            response = hook(request, call.match.func, call.match.args, call.match.kwargs)
            if response is not None:
                return response
        return call.run()

    def _response_to(self, error: Exception, request: HttpRequest) -> Any:
        """The response of the first middleware that has one for an exception."""
        for hook in self._of_exception:
            response = hook(request, error)
            if response is not None:
                return response
        return None


def _answering(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """`get_response` with a response for every exception, so that middleware further out sees one,
    as under Django.
    """
    if sync.iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> Any:
            try:
                return await get_response(request)
            except Exception as error:
                return _response_for(request, error)

        return answer_async

    def answer(request: HttpRequest) -> Any:
        try:
            return get_response(request)
        except Exception as error:
            return _response_for(request, error)

    return answer


def _response_for(request: HttpRequest, error: Exception) -> Any:
    if isinstance(error, _HANDLED):
        return response_for_exception(request, error)
    call: InnerCall = vars(request)[_CALL]
    call.error = error
    call.response = HttpResponseServerError()
    return call.response


def is_inside(request: HttpRequest) -> bool:
    """Whether a request is one that the middleware has let through."""
    return _CALL in vars(request)


@lru_cache(8)
def chain_of(paths: tuple[str, ...]) -> Chain | None:
    """The chain of these classes, built once; None if there are none."""
    return Chain(paths) if paths else None
