"""A DELETE accepts the body that it declares, and no other; `mcp_doctor` names the views for which
earlier versions guessed a body.
"""

import pytest
from django.urls import include, path
from drf_spectacular.extensions import OpenApiViewExtension
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.generics import CreateAPIView, DestroyAPIView, RetrieveUpdateDestroyAPIView
from rest_framework.mixins import CreateModelMixin, DestroyModelMixin
from rest_framework.parsers import FormParser
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import CharField, ModelSerializer, Serializer
from rest_framework.viewsets import GenericViewSet, ModelViewSet

from odd.models import Log
from toolbooth.django.decorators import mcp_bulk, mcp_tool
from toolbooth.django.management.examinations import EXAMINATIONS
from toolbooth.django.testing import acting_as


class PasswordSerializer(Serializer):
    current_password = CharField()


class ReadsPassword:
    """As in djoser: users repeat their password to delete their account."""

    queryset = Log.objects.all()
    serializer_class = PasswordSerializer

    def destroy(self, request, *args, **kwargs):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        if serializer.validated_data["current_password"] != "pw":
            raise ValidationError({"current_password": "is wrong"})
        return super().destroy(request, *args, **kwargs)


@extend_schema_view(delete=extend_schema(request=PasswordSerializer))
class Declared(ReadsPassword, DestroyAPIView):
    pass


class DeclaredForOneMethod(ReadsPassword, DestroyAPIView):
    @extend_schema(request=PasswordSerializer, methods=["DELETE"])
    def delete(self, request, *args, **kwargs):
        return super().delete(request, *args, **kwargs)


class DeclaredInSet(ReadsPassword, DestroyModelMixin, GenericViewSet):
    @extend_schema(request=PasswordSerializer)
    def destroy(self, request, *args, **kwargs):
        return super().destroy(request, *args, **kwargs)


class Users(GenericViewSet):
    """As in djoser: one action for several methods."""

    queryset = Log.objects.all()

    def get_serializer_class(self):
        return PasswordSerializer if self.request.method == "DELETE" else LogSerializer

    @action(["put", "delete"], detail=False)
    def me(self, request):
        reader = self.get_serializer(data=request.data)
        reader.is_valid(raise_exception=True)
        Log.objects.create(line=f"{request.method} {dict(request.data)}")
        return Response(reader.data)


class DeclareUsers(OpenApiViewExtension):
    target_class = Users

    def view_replacement(self):
        @extend_schema_view(me=extend_schema(request=PasswordSerializer, methods=["DELETE"]))
        class Described(self.target_class):
            pass

        return Described


def test_the_body_of_another_packages_view_is_declared_from_outside(serve, settings_of, ann):
    serve(users=Users)
    settings_of(TOOLBOOTH={"INHERITED_BODIES": ["users__me_put"]})
    agent = acting_as(ann)
    tools = agent.tools()
    assert tools["users__me_put"]["inputSchema"]["required"] == ["line"]
    assert tools["users__me_delete"]["inputSchema"]["required"] == ["current_password"]
    agent.call("users__me_put", line="a")
    agent.call("users__me_delete", current_password="pw")
    assert [row.line for row in Log.objects.all()] == [
        "PUT {'line': 'a'}",
        "DELETE {'current_password': 'pw'}",
    ]
    assert findings() == [("ok", "every view declares the bodies that it gets", "")]


@extend_schema(request=PasswordSerializer)
class DeclaredForView(ReadsPassword, DestroyAPIView):
    """DELETE is the only method that it has."""


@extend_schema(request=PasswordSerializer, methods=["DELETE"])
class DeclaredForMethodOfView(ReadsPassword, DestroyModelMixin, GenericViewSet):
    pass


@extend_schema(request=PasswordSerializer)
class DeclaredTwice(ReadsPassword, RetrieveUpdateDestroyAPIView):
    @extend_schema(request=PasswordSerializer)
    def delete(self, request, *args, **kwargs):
        return super().delete(request, *args, **kwargs)


@extend_schema(request=PasswordSerializer)
class DeclaredForOtherMethods(ReadsPassword, RetrieveUpdateDestroyAPIView):
    """A declaration for all methods is about those that have a body in any API."""


@extend_schema(request=PasswordSerializer, tags=["logs"])
class DeclaredForOtherActions(ReadsPassword, ModelViewSet):
    pass


class Undeclared(ReadsPassword, DestroyAPIView):
    pass


class UndeclaredInSet(ReadsPassword, DestroyModelMixin, GenericViewSet):
    pass


@extend_schema_view(delete=extend_schema(request=None))
class DeclaredEmpty(ReadsPassword, DestroyAPIView):
    pass


class ReadsNothing(DestroyAPIView):
    """It returns the row that it deletes."""

    queryset = Log.objects.all()
    serializer_class = PasswordSerializer

    def destroy(self, request, *args, **kwargs):
        super().destroy(request, *args, **kwargs)
        return Response(self.get_serializer({"current_password": "secret"}).data)


class ReadsInItsOwnWay(DestroyAPIView):
    queryset = Log.objects.all()

    @extend_schema(request=PasswordSerializer)
    def delete(self, request, *args, **kwargs):
        reader = PasswordSerializer(data=request.data)
        reader.is_valid(raise_exception=True)
        if reader.validated_data["current_password"] != "pw":
            raise ValidationError({"current_password": "is wrong"})
        return super().delete(request, *args, **kwargs)


@pytest.fixture
def serve(settings_of):
    def served(**views):
        router = SimpleRouter()
        patterns = []
        for name, view in views.items():
            if issubclass(view, GenericViewSet):
                router.register(name, view, name)
            elif issubclass(view, DestroyModelMixin):
                patterns.append(path(f"{name}/<int:pk>/", view.as_view(), name=name))
            else:
                patterns.append(path(f"{name}/", view.as_view(), name=name))
        endpoint = path("mcp/", include("toolbooth.django.urls"))
        urls = type("Urls", (), {"urlpatterns": [*patterns, *router.urls, endpoint]})
        settings_of(ROOT_URLCONF=urls)

    return served


@pytest.mark.parametrize(
    "view",
    [
        Declared,
        DeclaredForOneMethod,
        DeclaredInSet,
        DeclaredForView,
        DeclaredForMethodOfView,
        DeclaredTwice,
        ReadsInItsOwnWay,
    ],
)
def test_a_delete_accepts_the_body_that_it_declares(serve, ann, view):
    serve(row=view)
    agent = acting_as(ann)
    assert agent.tools()["row__destroy"]["inputSchema"]["required"] == ["id", "current_password"]
    row = Log.objects.create(line="kept")
    refused = agent.call("row__destroy", id=row.pk, current_password="guess")
    assert [(each.where, each.message) for each in refused.problems] == [
        ("$.current_password", "is wrong")
    ]
    assert list(Log.objects.all()) == [row]
    assert not agent.call("row__destroy", id=row.pk, current_password="pw").is_error
    assert Log.objects.count() == 0


@pytest.mark.parametrize(
    ("view", "deletes"),
    [
        (Undeclared, False),
        (UndeclaredInSet, False),
        (DeclaredForOtherMethods, False),
        (DeclaredForOtherActions, False),
        (DeclaredEmpty, False),
        (ReadsNothing, True),
    ],
)
def test_delete_declared_without_a_body_takes_no_fields(serve, ann, view, deletes):
    serve(row=view)
    agent = acting_as(ann)
    assert set(agent.tools()["row__destroy"]["inputSchema"]["properties"]) == {"id"}
    row = Log.objects.create(line="kept")
    refused = agent.call("row__destroy", id=row.pk, current_password="pw")
    assert [(each.code, each.where) for each in refused.problems] == [
        ("unknown-key", "$.current_password")
    ]
    assert Log.objects.count() == 1
    result = agent.call("row__destroy", id=row.pk)
    assert (result.is_error, Log.objects.count()) == ((False, 0) if deletes else (True, 1))


class CreatesInItsOwnWay(CreateAPIView):
    """Its serializer is only declared."""

    @extend_schema(request=PasswordSerializer)
    def post(self, request, *args, **kwargs):
        Log.objects.create(line=request.data["current_password"])
        return Response({}, 201)


def test_generic_view_without_a_serializer_is_published_with_a_body(serve, ann):
    serve(row=CreatesInItsOwnWay)
    assert not acting_as(ann).call("row__create", current_password="pw").is_error
    assert [row.line for row in Log.objects.all()] == ["pw"]


# --- mcp_doctor ---


class LogSerializer(ModelSerializer):
    class Meta:
        model = Log
        fields = ["id", "line"]


class TakesLists(CreateModelMixin, GenericViewSet):
    queryset = Log.objects.all()
    serializer_class = LogSerializer

    def create(self, request, *args, **kwargs):
        reader = self.get_serializer(data=request.data, many=isinstance(request.data, list))
        reader.is_valid(raise_exception=True)
        reader.save()
        return Response(reader.data, 201)


class TakesListsByKeyword(CreateAPIView):
    queryset = Log.objects.all()
    serializer_class = LogSerializer

    def get_serializer(self, *args, **kwargs):
        return super().get_serializer(*args, **kwargs, many=False)


@mcp_bulk
class MarkedSet(TakesLists):
    pass


class DeclaresList(TakesLists):
    @extend_schema(request=LogSerializer(many=True))
    def create(self, request, *args, **kwargs):
        return super().create(request, *args, **kwargs)


class TakesForms(TakesLists):
    parser_classes = [FormParser]


class Unknown(TakesLists):
    """Its body is unknown, so it has no tool."""

    serializer_class = None


class OneRow(CreateModelMixin, GenericViewSet):
    queryset = Log.objects.all()
    serializer_class = LogSerializer


def findings():
    return [
        (each.level, each.what.replace(f"{__name__}.", ""), each.remedy)
        for each in EXAMINATIONS["Bodies"]()
    ]


def test_the_doctor_names_each_view_for_which_earlier_versions_guessed_a_body(serve, ann):
    serve(
        bykeyword=TakesListsByKeyword,
        declared=Declared,
        empty=DeclaredEmpty,
        forms=TakesForms,
        list=DeclaresList,
        lists=TakesLists,
        marked=MarkedSet,
        nothing=ReadsNothing,
        one=OneRow,
        own=ReadsInItsOwnWay,
        undeclared=Undeclared,
        undeclaredset=UndeclaredInSet,
        unknown=Unknown,
    )
    mark = "write @mcp_bulk above class {}; from toolbooth.django.decorators import mcp_bulk"
    declare = (
        "write @extend_schema_view({}=extend_schema(request={})) above class {}; "
        "if it reads no body, request=None"
    )
    assert findings() == [
        (
            "note",
            "bykeyword__create: TakesListsByKeyword seems to take lists, but is not marked; "
            "rows are sent one by one",
            f"if it takes a list of rows, {mark.format('TakesListsByKeyword')}",
        ),
        (
            "note",
            "lists__create: TakesLists seems to take lists, but is not marked; "
            "rows are sent one by one",
            f"if it takes a list of rows, {mark.format('TakesLists')}",
        ),
        (
            "note",
            "own__destroy: ReadsInItsOwnWay declares a body; earlier versions called it without one",
            "if it reads no body, write "
            "@extend_schema_view(delete=extend_schema(request=None)) above class ReadsInItsOwnWay",
        ),
        (
            "warning",
            "undeclared__destroy: Undeclared seems to read a body that it does not declare; "
            "it is called without one",
            declare.format("delete", "PasswordSerializer", "Undeclared"),
        ),
        (
            "warning",
            "undeclaredset__destroy: UndeclaredInSet seems to read a body that it does not declare; "
            "it is called without one",
            declare.format("destroy", "PasswordSerializer", "UndeclaredInSet"),
        ),
    ]


def test_the_doctor_has_no_finding_about_declared_bodies(serve, ann, monkeypatch):
    monkeypatch.setattr("toolbooth.django.decorators.declared", {})

    @mcp_tool
    def create(many: int) -> int:
        """A function of this name that is not a view."""
        return many

    serve(declared=Declared, marked=MarkedSet)
    assert findings() == [("ok", "every view declares the bodies that it gets", "")]


@pytest.mark.parametrize(
    ("view", "remedy"),
    [
        (Undeclared, extend_schema_view(delete=extend_schema(request=PasswordSerializer))),
        (UndeclaredInSet, extend_schema_view(destroy=extend_schema(request=PasswordSerializer))),
        (Undeclared, extend_schema_view(delete=extend_schema(request=None))),
        (TakesLists, mcp_bulk),
    ],
)
def test_declaration_suggested_by_the_doctor_removes_its_finding(serve, ann, view, remedy):
    class Remedied(view):
        pass

    serve(row=remedy(Remedied))
    assert [level for level, _, _ in findings()] == ["ok"]
