"""Serializers with unusual fields."""

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from odd.models import Device, Log, Part, Secret, Site, Thing


class ThingSerializer(serializers.ModelSerializer):
    class Meta:
        model = Thing
        fields = "__all__"


class Colour(serializers.Field):
    """The author's own: takes `[r, g, b]` or `{"r": …}`."""

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"type": "string", "enum": ["north", "south"]})
class Direction(serializers.JSONField):
    pass


class PointSerializer(serializers.Serializer):
    x = serializers.IntegerField(min_value=0)
    y = serializers.IntegerField(default=7)


class FancySerializer(serializers.Serializer):
    """Fields that no model has."""

    words = serializers.ListField(child=serializers.CharField(max_length=5), max_length=3)
    anything = serializers.ListField(required=False)
    scores = serializers.DictField(child=serializers.IntegerField(), required=False)
    loose = serializers.DictField(required=False)
    prices = serializers.DictField(
        child=serializers.DecimalField(max_digits=30, decimal_places=12, allow_null=True),
        required=False,
    )
    flavours = serializers.MultipleChoiceField(choices=["mint", "rose"], required=False)
    camelCase = serializers.CharField(required=False)
    passphrase = serializers.CharField(
        write_only=True, required=False, style={"input_type": "password"}
    )
    shown = serializers.CharField(read_only=True)
    kept = serializers.HiddenField(default="kept")
    colour = Colour(required=False)
    direction = Direction(required=False)
    point = PointSerializer(required=False, allow_null=True)
    points = PointSerializer(many=True, required=False)
    amount = serializers.DecimalField(max_digits=30, decimal_places=12, required=False)
    nested_file = serializers.FileField(required=False)


class SiteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Site
        fields = ["id", "slug", "name"]


class OwnSites(serializers.PrimaryKeyRelatedField):
    """Only the caller's own sites."""

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(owner=self.context["request"].user)


class DeviceSerializer(serializers.ModelSerializer):
    class Meta:
        model = Device
        fields = ["serial", "label", "site", "twin", "parts"]


class LinkedSerializer(serializers.ModelSerializer):
    site = serializers.HyperlinkedRelatedField(
        "site-detail", lookup_field="slug", queryset=Site.objects.all()
    )
    parts = serializers.SlugRelatedField(
        slug_field="token", many=True, queryset=Part.objects.all(), required=False
    )

    class Meta:
        model = Device
        fields = ["serial", "site", "parts"]
        read_only_fields = ["serial"]


class OwnedSerializer(serializers.ModelSerializer):
    site = OwnSites(queryset=Site.objects.all())

    class Meta:
        model = Device
        fields = ["serial", "label", "site"]
        read_only_fields = ["serial"]


class ShelfSerializer(serializers.Serializer):
    """Relations at depth."""

    label = serializers.CharField()
    devices = DeviceSerializer(many=True)


class TreeSerializer(serializers.Serializer):
    """Contains itself."""

    name = serializers.CharField()

    def get_fields(self) -> Any:
        fields = super().get_fields()
        depth = self.context.get("depth", 0)
        if depth < 3:
            fields["branches"] = TreeSerializer(
                many=True, required=False, context={"depth": depth + 1}
            )
        return fields


class PublicNoteSerializer(serializers.Serializer):
    text = serializers.CharField()


class StaffNoteSerializer(PublicNoteSerializer):
    internal = serializers.CharField(required=False)


class ProtocolSerializer(serializers.Serializer):
    """Fields named as protocol arguments and wrappers are."""

    data = serializers.JSONField(required=False)
    params = serializers.DictField(child=serializers.CharField(), required=False)
    arguments = serializers.CharField(required=False)
    name = serializers.CharField(required=False)
    mode = serializers.CharField(required=False)
    page = serializers.IntegerField(required=False)
    page_size = serializers.IntegerField(required=False)
    help = serializers.BooleanField(required=False)
    toolCallId = serializers.CharField(required=False)
    detail = serializers.IntegerField(required=False)


class SecretSerializer(serializers.ModelSerializer):
    class Meta:
        model = Secret
        fields = ["id", "body"]


class LogSerializer(serializers.ModelSerializer):
    class Meta:
        model = Log
        fields = ["id", "line"]


class UserSerializer(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["username"]
