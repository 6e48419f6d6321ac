"""Actions that declare no body work once `TOOLBOOTH["BODIES"]` names them: their views receive the
same data as over REST.
"""

import json

import pytest
from django.urls import include, path
from pydantic import BaseModel
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Log
from toolbooth.django.checks import check_entries
from toolbooth.django.describe.catalogue import catalogue


class Orders(viewsets.ReadOnlyModelViewSet):
    """As pretix has them: each action reads `request.data` in its own way."""

    queryset = Log.objects.order_by("id")
    permission_classes = (AllowAny,)

    class serializer_class(serializers.ModelSerializer):
        class Meta:
            model = Log
            fields = ("id", "line")

    @action(detail=True, methods=["post"])
    def confirm(self, request, pk=None):
        """Reads some keys."""
        line = f"{pk} {request.data.get('send_email', True)} {request.data.get('force', False)}"
        return self._made(line)

    @action(detail=False, methods=["post"])
    def batch(self, request):
        """Takes a list."""
        for each in request.data:
            Log.objects.create(line=json.dumps(each, sort_keys=True))
        return Response({"made": len(request.data)}, status=201)

    @action(detail=True, methods=["post"])
    def refund(self, request, pk=None):
        """Takes an object in an object."""
        info = request.data["info"]
        return self._made(f"{pk} {info['account']['iban']} {sorted(info)}")

    def _made(self, line):
        Log.objects.create(line=line)
        return Response({"line": line})


class Account(BaseModel):
    iban: str


class Info(BaseModel):
    account: Account
    comment: str = ""


class Refund(BaseModel):
    info: Info


class ConfirmSerializer(serializers.Serializer):
    send_email = serializers.BooleanField(required=False)
    force = serializers.BooleanField(required=False)


class RowSerializer(serializers.Serializer):
    code = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField(), required=False)


class Row(BaseModel):
    code: str
    tags: list[str] = []


ROWS = {
    "type": "array",
    "items": {"$ref": "#/$defs/row"},
    "$defs": {
        "row": {
            "type": "object",
            "properties": {"code": {"type": "string"}, "tags": {"type": "array"}},
            "required": ["code"],
        }
    },
}
CONFIRM = {
    "type": "object",
    "properties": {"send_email": {"type": "boolean"}, "force": {"type": "boolean"}},
}

BODIES = {
    "keys by serializer": ("confirm", ConfirmSerializer),
    "keys by schema": ("confirm", CONFIRM),
    "list by serializer": ("batch", RowSerializer(many=True)),
    "list by model": ("batch", list[Row]),
    "list by schema": ("batch", ROWS),
    "nested by model": ("refund", Refund),
}
CALLS = {
    "confirm": [{"send_email": False}, {"send_email": False, "force": True}, {}],
    "batch": [[{"code": "a"}], [{"code": "a", "tags": ["x"]}, {"code": "b"}]],
    "refund": [{"info": {"account": {"iban": "NL"}, "comment": "c"}}],
}
WRONG = {
    "confirm": [({"sendEmail": False}, "$.sendEmail"), ({"data": {"force": True}}, "$.data")],
    "batch": [
        ([{"code": "a"}, {"cod": "b"}], "$.objects[1].cod"),
        ([{"code": "a", "data": {"tags": []}}], "$.objects[0].data"),
        ({"code": "a"}, "$.objects"),
    ],
    "refund": [
        ({"info": {"account": {"iban": "NL", "bic": "x"}}}, "$.info.account.bic"),
        ({"info": {"data": {"account": {"iban": "NL"}}}}, "$.info.data"),
    ],
}


@pytest.fixture
def serve(settings_of):
    def served(**bodies):
        router = SimpleRouter()
        router.register("orders", Orders, "orders")
        patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
        settings_of(
            ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}), TOOLBOOTH={"BODIES": bodies}
        )

    return served


def arguments(name, sent):
    if name == "batch":
        return {"objects": sent}
    return {"id": 1, **sent}


def lines():
    return list(Log.objects.order_by("id").values_list("line", flat=True))


@pytest.mark.parametrize(("name", "body"), BODIES.values(), ids=BODIES)
def test_a_declared_action_creates_the_same_rows_as_over_rest(serve, mcp, rest, name, body):
    serve(**{f"orders__{name}": body})
    assert check_entries() == []
    assert f"orders__{name}" not in catalogue().undeclared_bodies
    url = "/orders/batch/" if name == "batch" else f"/orders/1/{name}/"
    for sent in CALLS[name]:
        answer = rest.post(url, json.dumps(sent), content_type="application/json")
        expected = lines()
        Log.objects.all().delete()
        result = mcp(f"orders__{name}", arguments(name, sent))
        assert result["isError"] is False, result
        assert result["structuredContent"] == answer.json()
        assert lines() == expected != []
        Log.objects.all().delete()


@pytest.mark.parametrize(("name", "body"), BODIES.values(), ids=BODIES)
def test_undeclared_keys_and_wrappers_are_refused_in_a_declared_body(serve, mcp, name, body):
    serve(**{f"orders__{name}": body})
    for sent, where in WRONG[name]:
        result = mcp(f"orders__{name}", arguments(name, sent))
        assert result["isError"] is True, sent
        found = [each["path"] for each in result["_meta"]["toolbooth"]["problems"]]
        assert where in found
        assert lines() == []


def test_an_undeclared_action_accepts_no_body(serve, mcp):
    serve()
    assert {"orders__confirm", "orders__batch", "orders__refund"} == {
        *catalogue().undeclared_bodies
    }
    assert mcp("orders__confirm", {"id": 1, "force": True})["isError"] is True
    assert lines() == []
