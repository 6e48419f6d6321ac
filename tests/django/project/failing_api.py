"""Views whose serializers raise exceptions that REST framework does not report."""

from typing import Any

from django.urls import include, path
from rest_framework import serializers, viewsets
from rest_framework.routers import SimpleRouter

from odd.models import Log


class PartSerializer(serializers.Serializer):
    number = serializers.CharField()

    def validate_number(self, value: str) -> str:
        return {"1": "one"}[value]


def not_x(value: str) -> None:
    if value == "x":
        raise KeyError("secret")


class Word(serializers.CharField):
    default_validators = [not_x]


class LineSerializer(serializers.ModelSerializer):
    tags = serializers.ListField(child=Word(), required=False)
    named = serializers.DictField(child=Word(), required=False)
    parts = PartSerializer(many=True, required=False)

    class Meta:
        model = Log
        fields = ["id", "line", "tags", "named", "parts"]

    def validate_line(self, value: str) -> str:
        if value == "broken":
            raise KeyError("secret")
        return value

    def validate_tags(self, value: list[str]) -> list[str]:
        return [each for each in value if 1 / (len(each) - 2)]

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("line") == "wholly broken":
            raise AttributeError("secret")
        return attrs

    def create(self, validated_data: dict[str, Any]) -> Log:
        if validated_data["line"] == "unsaved":
            PartSerializer(data={"number": "2"}).is_valid()
        return Log.objects.create(line=validated_data["line"])


class Lines(viewsets.ModelViewSet):
    queryset = Log.objects.order_by("id")
    serializer_class = LineSerializer


router = SimpleRouter()
router.register("lines", Lines, "lines")
urlpatterns = [*router.urls, path("mcp/", include("toolbooth.django.urls"))]
