"""A view set with actions beside the standard ones, which store the arguments they receive."""

import json
from dataclasses import dataclass
from typing import Annotated

from drf_spectacular.utils import extend_schema
from pydantic import BaseModel, Field, field_validator
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.serializers import BooleanField, CharField, Serializer
from typing_extensions import TypedDict

from odd.models import Log


class RowSerializer(serializers.ModelSerializer):
    class Meta:
        model = Log
        fields = ["id", "line"]


class ReasonSerializer(Serializer):
    reason = CharField(max_length=10)
    notify = BooleanField(required=False)


class ConfirmModel(BaseModel):
    reason: str = Field(max_length=10)
    times: int = 1

    @field_validator("reason")
    @classmethod
    def _polite(cls, value: str) -> str:
        if value == "damn":
            raise ValueError("be polite")
        return value.upper()


Reason = Annotated[str, Field(max_length=10)]


@dataclass
class ConfirmData:
    reason: Reason
    times: int = 1


class ConfirmDict(TypedDict):
    reason: Reason


CONFIRM_SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": 10},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
    },
    "required": ["reason"],
    "dependentRequired": {"lines": ["reason"]},
    "$defs": {"line": {"type": "object", "properties": {"sku": {"type": "string"}}}},
}


def kept(request):
    """Store the data that a view received, with its type."""
    Log.objects.create(line=f"{type(request.data).__name__} {json.dumps(request.data)}")
    return Response({"ran": True})


def lines():
    return list(Log.objects.values_list("line", flat=True))


class Rows(viewsets.ModelViewSet):
    """Rows, with actions beside the standard ones."""

    queryset = Log.objects.all()
    serializer_class = RowSerializer

    @action(detail=True, methods=["post"])
    def cancel(self, request, pk=None):
        """Cancel a row. Takes an optional reason."""
        return kept(request)

    @action(detail=False, methods=["post"])
    def wipe(self, request):
        return kept(request)

    @action(detail=True, methods=["post"], serializer_class=ReasonSerializer)
    def own(self, request, pk=None):
        return kept(request)

    @extend_schema(request=ReasonSerializer)
    @action(detail=True, methods=["post"])
    def described(self, request, pk=None):
        return kept(request)

    @extend_schema(request=ConfirmModel)
    @action(detail=True, methods=["post"])
    def modelled(self, request, pk=None):
        return kept(request)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def empty(self, request, pk=None):
        return kept(request)

    @action(detail=True, methods=["get", "put", "patch"], serializer_class=ReasonSerializer)
    def several(self, request, pk=None):
        return kept(request)

    @action(detail=True)
    def mapped(self, request, pk=None):
        return Response({})

    @mapped.mapping.post
    def mapped_post(self, request, pk=None):
        return kept(request)

    @action(detail=True, serializer_class=ReasonSerializer)
    def ownmapped(self, request, pk=None):
        return Response({})

    @ownmapped.mapping.post
    def ownmapped_post(self, request, pk=None):
        return kept(request)

    @action(detail=True, methods=["delete"], serializer_class=ReasonSerializer)
    def drop(self, request, pk=None):
        return kept(request)


def fields_of(agent, tool):
    schema = agent.tools()[tool]["inputSchema"]
    return list(schema["properties"]), schema.get("required", [])
