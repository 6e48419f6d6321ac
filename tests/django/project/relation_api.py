"""Ports with relations of every kind: by number or UUID, with one unique text, two, or none."""

import uuid

from django.urls import include, path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Port, Rack, Team, Vendor, Zone
from odd.views import Echo

RACK = "6b7e67eb-0000-4000-8000-000000000000"


def one_of_each():
    """The first row of each kind."""
    return {
        "zone": Zone.objects.create(pk=1, code="z-1"),
        "vendor": Vendor.objects.create(pk=1, name="Acme", code="ac"),
        "team": Team.objects.create(pk=1, name="Blue"),
        "rack": Rack.objects.create(pk=uuid.UUID(RACK), name="r-1"),
    }


class PortSerializer(serializers.ModelSerializer):
    class Meta:
        model = Port
        exclude = ()


class PortViewSet(viewsets.ModelViewSet):
    queryset = Port.objects.order_by("id")
    serializer_class = PortSerializer


class ManyPortsViewSet(viewsets.GenericViewSet):
    """Its whole body is a list."""

    queryset = Port.objects.order_by("id")
    serializer_class = PortSerializer

    @extend_schema(request=PortSerializer(many=True))
    def create(self, request):
        rows = PortSerializer(data=request.data, many=True)
        rows.is_valid(raise_exception=True)
        rows.save()
        return Response(rows.data, status=201)


class PanelSerializer(serializers.Serializer):
    """Ports inside a list, and values under any name."""

    zone = serializers.PrimaryKeyRelatedField(queryset=Zone.objects.all())
    ports = PortSerializer(many=True, required=False)
    by_side = serializers.DictField(
        child=serializers.PrimaryKeyRelatedField(queryset=Zone.objects.all()), required=False
    )


class PanelView(Echo):
    serializer_class = PanelSerializer


for view in (PortViewSet, ManyPortsViewSet, PanelView):
    view.__module__ = "odd.views"

router = SimpleRouter()
router.register("ports", PortViewSet, "ports")
router.register("many", ManyPortsViewSet, "many")


class Urls:
    urlpatterns = [
        path("api/", include(router.urls)),
        path("panel/", PanelView.as_view(), name="panel"),
        path("mcp/", include("toolbooth.django.urls")),
    ]
