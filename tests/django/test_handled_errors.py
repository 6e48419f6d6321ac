"""A view that raises outside of REST framework's own `dispatch` is answered as over REST: with 404,
403 or 400, and without the text of the exception.
"""

from typing import Any

import pytest
from django.core.exceptions import BadRequest, DisallowedHost, PermissionDenied
from django.http import Http404
from django.urls import include, path
from rest_framework import serializers, viewsets
from rest_framework.permissions import AllowAny
from rest_framework.routers import SimpleRouter

from odd.models import Log

ERRORS: dict[str, Exception] = {
    "unknown": Http404("secret"),
    "denied": PermissionDenied("secret"),
    "bad": BadRequest("secret"),
    "suspicious": DisallowedHost("secret"),
    "broken": KeyError("secret"),
}


class LogSerializer(serializers.ModelSerializer):
    class Meta:
        model = Log
        fields = ("id", "line")


class Logs(viewsets.ModelViewSet):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    permission_classes = (AllowAny,)

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs["name"] in ERRORS:
            raise ERRORS[kwargs["name"]]
        return super().dispatch(request, *args, **kwargs)


router = SimpleRouter()
router.register(r"of/(?P<name>\w+)/logs", Logs, basename="logs")
urlpatterns = [*router.urls, path("mcp/", include("toolbooth.django.urls"))]


@pytest.fixture(params=[(), ("middleware.ChangesTemplates",)], ids=["alone", "inside middleware"])
def served(request, settings_of):
    settings_of(ROOT_URLCONF=__name__, MIDDLEWARE=list(request.param))


@pytest.mark.parametrize(
    ("name", "status", "says"),
    [
        ("unknown", 404, "Not found"),
        ("denied", 403, "You do not have permission to perform this action"),
        ("bad", 400, "Bad request"),
        ("suspicious", 400, "Bad request"),
    ],
)
def test_a_view_that_raises_before_its_dispatch_is_answered_as_over_rest(
    served, mcp, rest, name, status, says
):
    assert rest.get(f"/of/{name}/logs/").status_code == status
    result = mcp("logs__list", {"name": name})
    assert result["isError"] is True
    text = result["content"][0]["text"]
    assert says in text
    assert "secret" not in str(result)
    assert "unexpectedly" not in text


def test_nothing_is_written_by_a_create_that_is_refused_in_this_way(served, mcp):
    result = mcp("logs__create", {"name": "unknown", "line": "a"})
    assert "Not found" in result["content"][0]["text"]
    assert not Log.objects.exists()


def test_any_other_exception_is_a_failed_tool(served, mcp):
    result = mcp("logs__list", {"name": "broken"})
    assert result["content"][0]["text"] == "Tool 'logs__list' failed unexpectedly."
