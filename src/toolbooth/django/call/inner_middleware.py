"""Runs the host's middleware around one call, so that its view gets the request as it does over
REST.

A request to the MCP endpoint has passed all middleware once, with the path of the endpoint. Some
middleware depends on the path, so it runs again here, with the request of the call. Django's own
middleware does not run again, nor do packages that only handle the message as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from asgiref import sync as untyped_sync
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, MiddlewareNotUsed
from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import response_for_exception
from django.http import HttpRequest, HttpResponse, HttpResponseServerError
from django.middleware.common import CommonMiddleware
from django.urls import ResolverMatch, get_urlconf, set_urlconf
from django.utils import timezone, translation
from django.utils.deprecation import MiddlewareMixin
from django.utils.module_loading import import_string

from toolbooth.django import messages
from toolbooth.django.call.handled_errors import HANDLED

sync: Any = untyped_sync

_BASES: tuple[Any, ...] = (MiddlewareMixin, CommonMiddleware)
"""The usual base classes of middleware. Running their own code twice is harmless."""

InnerMiddleware = Literal["auto", "none"] | tuple[str, ...]
"""The setting: `"auto"` for all middleware outside of `OUTER_ONLY`, `"none"`, or the import paths
of the middleware to run.
"""

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

_CALL = "toolbooth_call"
"""The name of the attribute of a request that has its `InnerCall`."""

_base: Any = BaseHandler()


def inner_middleware(setting: InnerMiddleware) -> tuple[str, ...]:
    """Return the import paths of the middleware that is run for each call, in the host's order."""
    if setting == "none":
        return ()
    if setting == "auto":
        every: Sequence[str] = settings.MIDDLEWARE
        return tuple(each for each in every if not _is_outer_only(each))
    return tuple(setting)


def _is_outer_only(path: str) -> bool:
    """Return True if a middleware class is from a package in `OUTER_ONLY`, or is derived from such
    a class. A project's own session middleware is an example.
    """
    if path.startswith(OUTER_ONLY):
        return True
    # Middleware may be a function, which has no base classes.
    bases: tuple[type, ...] = getattr(import_string(path), "__mro__", ())
    return any(each.__module__.startswith(OUTER_ONLY) and each not in _BASES for each in bases)


@dataclass(slots=True)
class InnerCall:
    """One call that is run inside the middleware."""

    work: Callable[[], Any]
    """A function that runs the call, after the middleware has let it through."""
    match: ResolverMatch
    value: Any = None
    """The value that `work` returned."""
    error: Exception | None = None
    """The exception that `work` raised."""
    response: Any = None
    """The response of the view, as the middleware got it."""

    def run(self) -> Any:
        """Run the call, and return a response for the middleware."""
        try:
            self.value = self.work()
        except Exception as error:
            self.error = error
        # No view has run: the middleware gets a plain response with a fitting status.
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
        # The chain is built from the view outwards, as in Django.
        for path in reversed(tuple(paths)):
            middleware = import_string(path)
            # The gateway is sync, so only middleware that cannot be sync is adapted.
            wants_async = not getattr(middleware, "sync_capable", True)
            adapted = _base.adapt_method_mode(wants_async, handler, is_async)
            try:
                made = middleware(adapted)
            # Middleware raises this to be left out, often because of a setting.
            except MiddlewareNotUsed:
                continue
            # Django refuses such a factory in the same way.
            if made is None:
                raise ImproperlyConfigured(messages.no_middleware(path))
            self._add_hooks(made)
            handler, is_async = _answering(made), wants_async
        self._handler: Callable[[HttpRequest], Any] = _base.adapt_method_mode(
            False, handler, is_async
        )

    def _add_hooks(self, made: Any) -> None:
        # As in Django, `process_view` runs from the outside inwards, and the other two hooks from
        # the inside outwards. The chain is built from the inside, hence `insert` and `append`.
        if hasattr(made, "process_view"):
            self._of_view.insert(0, _base.adapt_method_mode(False, made.process_view))
        if hasattr(made, "process_template_response"):
            hook = _base.adapt_method_mode(False, made.process_template_response)
            self._of_template.append(hook)
        if hasattr(made, "process_exception"):
            self._of_exception.append(_base.adapt_method_mode(False, made.process_exception))

    def run(self, request: HttpRequest, call: InnerCall) -> Any:
        """Run the middleware around a call, and return its response. The URLconf, the language and
        the time zone are restored afterwards.
        """
        vars(request)[_CALL] = call
        # As in Django, middleware that runs before the view does not know the view yet.
        request.resolver_match = None
        urlconf = get_urlconf()
        try:
            with (
                # Middleware often sets these for the thread, which still has to answer the message.
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
        # `SyncInvocation.within` compares this response with the one that the chain returns. If
        # they differ, the middleware made the other response.
        call: InnerCall | None = vars(request).get(_CALL)
        if call is not None:
            call.response = response
        return response

    def _innermost(self, request: HttpRequest) -> Any:
        call: InnerCall = vars(request)[_CALL]
        urlconf = getattr(request, "urlconf", None)
        # Middleware may choose another URLconf for a request, as in Django.
        if urlconf is not None:
            set_urlconf(urlconf)
        request.resolver_match = call.match
        for hook in self._of_view:
            response = hook(request, call.match.func, call.match.args, call.match.kwargs)
            if response is not None:
                return response
        return call.run()

    def _response_to(self, error: Exception, request: HttpRequest) -> Any:
        """Return the first response that a middleware makes for an exception. Return None if no
        middleware makes one.
        """
        for hook in self._of_exception:
            response = hook(request, error)
            if response is not None:
                return response
        return None


def _answering(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Return `get_response`, wrapped so that every exception becomes a response. Outer middleware
    gets this response, as in Django.
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
    if isinstance(error, HANDLED):
        return response_for_exception(request, error)
    call: InnerCall = vars(request)[_CALL]
    call.error = error
    # If this response comes back unchanged, `SyncInvocation.within` raises the error.
    call.response = HttpResponseServerError()
    return call.response


def is_inside(request: HttpRequest) -> bool:
    """Return True if a request has already passed the middleware of its call."""
    return _CALL in vars(request)


@lru_cache(8)
def chain_of(paths: tuple[str, ...]) -> Chain | None:
    """Return the chain of the middleware at these import paths, built once. Return None if there
    are no paths.
    """
    return Chain(paths) if paths else None
