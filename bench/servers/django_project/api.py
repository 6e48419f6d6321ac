"""Serializers and view sets. BENCH_PERMISSIONS: watched (the default), open, or of models; after a
comma, the authenticator (see `settings`).
"""

import os
from typing import Any

from rest_framework import permissions, serializers, viewsets
from servers.django_project.models import PEOPLE, Company, Contact, Person, Tag
from servers.django_project.watched import WatchedPermission, WatchedThrottle

PERMISSIONS = {
    "watched": (WatchedPermission,),
    "open": (permissions.AllowAny,),
    "of models": (permissions.DjangoModelPermissions,),
}[os.environ.get("BENCH_PERMISSIONS", "watched").partition(",")[0]]


class CompanySerializer(serializers.ModelSerializer):
    class Meta:
        model = Company
        fields = ("id", "name")


class TagSerializer(serializers.ModelSerializer):
    class Meta:
        model = Tag
        fields = ("id", "title")


class Api(viewsets.GenericViewSet):
    permission_classes = PERMISSIONS
    throttle_classes = (WatchedThrottle,)


class CompanyViewSet(Api, viewsets.ReadOnlyModelViewSet):
    """Companies."""

    queryset = Company.objects.order_by("name")
    serializer_class = CompanySerializer


class TagViewSet(Api, viewsets.ReadOnlyModelViewSet):
    """Labels."""

    queryset = Tag.objects.order_by("title")
    serializer_class = TagSerializer


def view_set(person: type[Person]) -> type[viewsets.ModelViewSet]:
    """A view set with a serializer of its own."""
    meta = type(
        "Meta", (), {"model": person, "fields": [each.name for each in person._meta.get_fields()]}
    )
    serializer = type(
        f"{person.__name__}Serializer", (serializers.ModelSerializer,), {"Meta": meta}
    )
    body: dict[str, Any] = {
        "__doc__": "People to write to.",
        "queryset": person.objects.order_by("email", "id"),
        "serializer_class": serializer,
    }
    return type(f"{person.__name__}ViewSet", (Api, viewsets.ModelViewSet), body)


VIEW_SETS = {f"{each.__name__.lower()}s": view_set(each) for each in PEOPLE}
VIEW_SETS["contacts"].queryset = Contact.objects.order_by("email", "id").prefetch_related("tags")
