"""Views behind middleware of every kind, on a real server."""

from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import JsonResponse
from django.middleware.csrf import get_token
from django.urls import include, path
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import ModelSerializer
from rest_framework.viewsets import ModelViewSet, ViewSet

import middleware
from sales.models import Company


class CompanySerializer(ModelSerializer):
    class Meta:
        model = Company
        fields = ("id", "name")


class Companies(ModelViewSet):
    queryset = Company.objects.order_by("id")
    serializer_class = CompanySerializer
    pagination_class = None


class Scopes(ViewSet):
    def list(self, request, site_pk):
        return Response({"asked": site_pk, "scope": middleware.scope.get()})


def seen(request):
    """Return the requests that middleware has seen since the last request for this."""
    found = [*middleware.seen]
    middleware.seen.clear()
    return JsonResponse({"seen": found})


def enter(request):
    """Log ann in, and return the CSRF token of her session."""
    login(request, User.objects.get(username="ann"))
    return JsonResponse({"token": get_token(request)})


router = SimpleRouter()
router.register("companies", Companies, basename="companies")
router.register("of/(?P<site_pk>[0-9]+)/scopes", Scopes, basename="scopes")
urlpatterns = [
    path("mcp/", include("toolbooth.django.urls")),
    path("seen/", seen, name="seen"),
    path("enter/", enter, name="enter"),
    *router.urls,
]
