"""Authentication, permissions and a throttle that record each use, because a call that skips one is
not a complete REST call.
"""

from collections import defaultdict
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.transaction import non_atomic_requests
from django.http import HttpRequest, JsonResponse
from rest_framework.authentication import BaseAuthentication, TokenAuthentication
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle

LIMITS = {"limited": 0}
"""How often a user may call, by name. Other users have no limit."""

asked: defaultdict[str, list[None]] = defaultdict(list)
"""One entry for each use, because appending is atomic in all threads."""


class WatchedToken(TokenAuthentication):
    def authenticate(self, request: Any) -> Any:
        asked["authentication"].append(None)
        return super().authenticate(request)


class StatelessToken(BaseAuthentication):
    """A project's own authenticator without queries, as for signed tokens: the content of a token
    is read once, and the user is made from it each time.
    """

    _users: ClassVar[dict[str, dict[str, Any]]] = {}

    def authenticate(self, request: Any) -> Any:
        token = request.META.get("HTTP_AUTHORIZATION", "").removeprefix("Token ")
        if token not in self._users:
            (self._users[token],) = User.objects.filter(auth_token=token).values()
        return User(**self._users[token]), token

    def authenticate_header(self, request: Any) -> str:
        return "Token"


class WatchedPermission(IsAuthenticated):
    def has_permission(self, request: Any, view: Any) -> bool:
        asked["permission"].append(None)
        return super().has_permission(request, view) and request.user.username != "visitor"

    def has_object_permission(self, request: Any, view: Any, obj: Any) -> bool:
        asked["row's permission"].append(None)
        return True


class WatchedThrottle(BaseThrottle):
    def allow_request(self, request: Any, view: Any) -> bool:
        asked["throttle"].append(None)
        key = f"calls-of-{request.user.pk}"
        cache.add(key, 0, None)
        return cache.incr(key) <= LIMITS.get(request.user.username, 1 << 60)


class PathMiddleware:
    """Middleware of a project: records the path before and after, as one for tenants would."""

    def __init__(self, get_response: Any) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        vars(request)["tenant"] = request.path.partition("/")[0]
        response = self.get_response(request)
        response["X-Tenant"] = request.path
        return response

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        vars(request)["is_api"] = request.path.startswith("/api/")


@non_atomic_requests
def authenticate(request: HttpRequest) -> JsonResponse:
    """The requested number of authentications and nothing else. As in a list, no transaction is
    open, so each query has its own.
    """
    times = int(request.GET["times"])
    for _ in range(times):
        for authenticator in api_settings.DEFAULT_AUTHENTICATION_CLASSES:
            authenticator().authenticate(Request(request))
    return JsonResponse({"times": times})


def tell(request: HttpRequest) -> JsonResponse:
    """How often each was used since the last call of this function."""
    found = {name: len(times) for name, times in asked.items()}
    asked.clear()
    return JsonResponse(found)
