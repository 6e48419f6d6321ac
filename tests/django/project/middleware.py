"""Middleware of many kinds, for calls that run inside it."""

from contextvars import ContextVar

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import PermissionDenied
from django.db.models.signals import post_save
from django.http import (
    HttpResponse,
    HttpResponseForbidden,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
    HttpResponseServerError,
    JsonResponse,
)
from django.middleware.common import CommonMiddleware
from django.urls import get_urlconf, resolve, set_urlconf
from django.utils import timezone, translation
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin

from odd.models import Log

seen = []
"""The requests that middleware has seen: its name, the method and the path; in order."""

audited = ContextVar("audited", default=None)
"""The request that `Audited` writes about."""

scope = ContextVar("scope", default=None)
"""The scopes that `Scoped` opens, by the path."""


class Counting:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        seen.append(("in", request.method, request.path))
        response = self.get_response(request)
        seen.append(("out", response.status_code, getattr(request.user, "username", "")))
        return response

    def process_view(self, request, view, args, kwargs):
        seen.append(("view", request.resolver_match.url_name, kwargs))

    def process_exception(self, request, error):
        seen.append(("exception", type(error).__name__))


class Asking:
    """Asks the database about every request."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        Log.objects.exists()
        return self.get_response(request)


class Audited:
    """Writes down which view a request is for, before and after it, and each row that it saves."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        if request.path == "/mcp/":
            return self.get_response(request)
        post_save.connect(self._saved, weak=False, dispatch_uid="audit")
        token = audited.set(request)
        try:
            response = self.get_response(request)
        finally:
            audited.reset(token)
            post_save.disconnect(dispatch_uid="audit")
        self._write(request, f"out {response.status_code}")
        return response

    def process_view(self, request, view, args, kwargs):
        if request.path != "/mcp/":
            self._write(request, f"view {view.__name__} {kwargs}")

    def _saved(self, sender, instance, **_):
        if sender is not Log and audited.get() is not None:
            self._write(audited.get(), f"saved {sender.__name__}")

    def _write(self, request, what):
        match = request.resolver_match
        line = f"{what}: {match.view_name} {match.route} {match.kwargs} {request.method}"
        Log.objects.create(line=line[:200])


class Scoped:
    """Opens a scope for the path, as pretix does for its organizers."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        match = resolve(request.path_info, getattr(request, "urlconf", None))
        request.site_pk = match.kwargs.get("site_pk")
        token = scope.set(request.site_pk)
        try:
            return self.get_response(request)
        finally:
            scope.reset(token)


class AsyncOnly:
    sync_capable, async_capable = False, True

    def __init__(self, get_response):
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request):
        seen.append(("async in", request.path))
        response = await self.get_response(request)
        seen.append(("async out", response.status_code))
        return response


@sync_and_async_middleware
def both_ways(get_response):
    """Runs without a thread of its own on either kind of server."""
    if iscoroutinefunction(get_response):

        async def middleware(request):
            seen.append(("both in", request.path))
            return await get_response(request)
    else:

        def middleware(request):
            seen.append(("both in", request.path))
            return get_response(request)

    return middleware


class Common(CommonMiddleware):
    """Derived from Django's common middleware only to have hooks, as label-studio's are."""

    def process_request(self, request):
        seen.append(("common", request.method, request.path))


class Foreign:
    """Changes the language, the time zone and the URLconf, and leaves them so."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        translation.activate("nl")
        timezone.activate("Asia/Tokyo")
        response = self.get_response(request)
        set_urlconf("middleware_urls")
        seen.append(_place())
        return response


def noting_place(get_response):
    """Notes the language, the time zone and the URLconf before and after a request to the
    endpoint.
    """

    def middleware(request):
        seen.append(_place())
        response = get_response(request)
        seen.append(_place())
        return response

    return middleware


def _place():
    return translation.get_language(), timezone.get_current_timezone_name(), get_urlconf()


class Made:
    """Counts how often it is made."""

    times = 0

    def __init__(self, get_response):
        type(self).times += 1
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)


class Hooked:
    """Has the hooks that Django runs right around a view. Its subclasses answer in one of them."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)

    def process_template_response(self, request, response):
        seen.append((type(self).__name__, "template", request.path, response.is_rendered))
        return response


class HookedToo(Hooked):
    """Second, to show the order."""


class AnswersForView(Hooked):
    def process_view(self, request, view, args, kwargs):
        if request.path == "/mcp/":
            return None
        return JsonResponse({"name": ["is closed"]}, status=400)


class AnswersExceptions(Hooked):
    def process_exception(self, request, error):
        return JsonResponse({"detail": f"no {type(error).__name__} today"}, status=409)


class ChangesTemplates(Hooked):
    def process_template_response(self, request, response):
        if request.path != "/mcp/":
            response.data = {**response.data, "added": True}
        return response


def answering(make):
    """Middleware that answers everything but the endpoint itself."""

    def factory(get_response):
        def middleware(request):
            if request.path == "/mcp/":
                return get_response(request)
            return make(request)

        return middleware

    return factory


def _denied(request):
    raise PermissionDenied("<b>internal</b>")


def _broken(request):
    raise RuntimeError("<b>internal</b>")


redirecting = answering(lambda request: HttpResponseRedirect("/login/?next=/"))
page = answering(lambda request: HttpResponse("<html><b>Log in</b></html>"))
forbidding = answering(lambda request: HttpResponse("<html>no</html>", status=403))
refusing = answering(lambda request: JsonResponse({"name": ["is taken"]}, status=400))
denying = answering(_denied)
breaking = answering(_broken)


ANSWERS = {
    "redirect": lambda request: HttpResponseRedirect("/login/?next=/"),
    "login page": lambda request: HttpResponse("<html><b>Log in</b></html>"),
    "forbidden": lambda request: HttpResponseForbidden("<html>no</html>"),
    "not allowed": lambda request: HttpResponseNotAllowed(["GET"], "<html>no</html>"),
    "error page": lambda request: HttpResponseServerError("<html>internal</html>"),
    "field errors": lambda request: JsonResponse({"name": ["is taken"]}, status=400),
    "denies": _denied,
    "breaks": _broken,
}


def by_header(get_response):
    """Answers itself if a header requests it; not for the endpoint itself."""

    def middleware(request):
        kind = request.headers.get("X-Answer")
        if kind is None or request.path == "/mcp/":
            return get_response(request)
        return ANSWERS[kind](request)

    return middleware


def replacing(get_response):
    """Answers with an error once the view has run."""

    def middleware(request):
        response = get_response(request)
        if request.path == "/mcp/":
            return response
        return HttpResponse("<html>too late</html>", status=409)

    return middleware


def by_host(get_response):
    """Serves another URLconf for another site."""

    def middleware(request):
        if request.headers.get("X-Site") == "admin":
            request.urlconf = "middleware_urls"
        return get_response(request)

    return middleware


class OwnSessions(SessionMiddleware):
    """Sessions of the project's own kind."""


class Old(MiddlewareMixin):
    """Middleware in the form that Django has kept for old code."""
