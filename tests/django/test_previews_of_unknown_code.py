"""Code of a project's own that is only visible in the call, or that is hidden behind Django's: it
has no preview, and none of it runs.
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import models, transaction
from django.db.models.signals import post_delete, post_save
from django.urls import include, path
from django.utils.decorators import decorator_from_middleware
from django.views.decorators.debug import sensitive_variables
from rest_framework import serializers, viewsets
from rest_framework.routers import SimpleRouter

from estates.models import Club, Estate, House, Membership
from odd.models import Log
from sales.models import Company, Contact
from toolbooth.django.decorators import mcp_bulk, mcp_preview
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.testing import acting_as

BECAUSE = "this tool cannot be previewed, because "
RAN: list[str] = []
"""The code that ran."""


class LogSerializer(serializers.ModelSerializer):
    class Meta:
        model = Log
        fields = ("id", "line")


class Lines(viewsets.ModelViewSet):
    queryset = Log.objects.all()
    serializer_class = LogSerializer


Calling = Callable[..., Any]


@pytest.fixture
def serve(settings_of: Any, ann: User) -> Callable[[Any], Calling]:
    """Serve a view set, or a view, as `things`. Returns a function that calls a tool."""
    RAN.clear()

    def served(view: Any) -> Calling:
        router = SimpleRouter()
        own = []
        if isinstance(view, type):
            router.register("things", view, "things")
        else:
            own = [path("api/things/", view, name="things")]
        patterns = [
            path("api/", include(router.urls)),
            *own,
            path("mcp/", include("toolbooth.django.urls")),
        ]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
        return acting_as(ann).call

    return served


def takes_preview(tool: str) -> bool:
    return "preview" in catalogue().registry.find(tool).listing()["inputSchema"]["properties"]


def reason(result: Any) -> str:
    """Return the reason why there is no preview."""
    assert RAN == []
    [problem] = result.problems
    assert problem.where == "$.preview"
    return problem.message.removeprefix('there is no field "preview"; ').removeprefix(BECAUSE)


# --- serializers ---


class Loud(LogSerializer):
    def create(self, validated_data: Any) -> Any:
        RAN.append("create")
        return super().create(validated_data)


def test_a_serializer_that_is_chosen_by_the_body_is_noticed(serve: Any) -> None:
    class ByBody(Lines):
        def get_serializer_class(self) -> Any:
            data = getattr(self.request, "data", None) or {}
            return Loud if data.get("line") == "loud" else LogSerializer

    call = serve(ByBody)
    assert call("things__create", line="calm", preview=True).value["preview"] is True
    refused = call("things__create", line="loud", preview=True)
    assert reason(refused) == "its serializer has its own create()"
    assert "Nothing was done." in refused.text
    assert Log.objects.count() == 0
    assert call("things__create", line="loud").value["set"] == ["line"]
    assert RAN == ["create"]


def test_a_serializer_that_is_not_known_without_the_body_is_noticed(serve: Any) -> None:
    class NeedsBody(Lines):
        def get_serializer_class(self) -> Any:
            if self.request is not None and not self.request.data:
                raise serializers.ValidationError({"line": ["missing"]})
            return LogSerializer if self.request is None else Loud

    call = serve(NeedsBody)
    if takes_preview("things__create"):
        assert reason(call("things__create", line="a", preview=True)) == (
            "its serializer has its own create()"
        )
    assert Log.objects.count() == 0


def test_a_serializer_of_a_list_that_saves_in_its_own_way_is_noticed(serve: Any) -> None:
    class LoudList(serializers.ListSerializer):
        def create(self, validated_data: Any) -> Any:
            RAN.append("list")
            return super().create(validated_data)

    class Listed(LogSerializer):
        class Meta(LogSerializer.Meta):
            list_serializer_class = LoudList

    @mcp_bulk
    class Many(Lines):
        serializer_class = Listed

        def get_serializer(self, *args: Any, **kwargs: Any) -> Any:
            kwargs.setdefault("many", isinstance(kwargs.get("data"), list))
            return super().get_serializer(*args, **kwargs)

    call = serve(Many)
    rows = [{"line": "a"}, {"line": "b"}]
    assert call("things__create", line="a", preview=True).value["preview"] is True
    assert reason(call("things__create", objects=rows, preview=True)) == (
        "its serializer has its own create()"
    )
    assert Log.objects.count() == 0
    assert call("things__create", objects=rows).value["created"] == 2
    assert RAN == ["list"]


def test_a_method_that_was_replaced_in_the_framework_is_noticed(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fresh(LogSerializer):
        pass

    create = serializers.ModelSerializer.create

    def replaced(self: Any, validated_data: Any) -> Any:
        RAN.append("replaced")
        return create(self, validated_data)

    monkeypatch.setattr(serializers.ModelSerializer, "create", replaced)
    call = serve(type("Replaced", (Lines,), {"serializer_class": Fresh}))
    assert reason(call("things__create", line="a", preview=True)) == (
        "its serializer has its own create()"
    )


# --- managers and models beside that of the rows ---


class LoudQuerySet(models.QuerySet):
    def update(self, **values: Any) -> int:
        RAN.append("update")
        return super().update(**values)


@pytest.fixture
def loud_contacts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contacts are written by a manager of the project's own."""
    manager = models.Manager.from_queryset(LoudQuerySet)()
    manager.model, manager.name = Contact, "objects"
    monkeypatch.setitem(vars(Contact._meta), "base_manager", manager)


class CompanySerializer(serializers.ModelSerializer):
    class Meta:
        model = Company
        fields = ("id", "name", "contacts")


class Companies(viewsets.ModelViewSet):
    queryset = Company.objects.all()
    serializer_class = CompanySerializer


def test_the_managers_of_linked_rows_are_checked(serve: Any, loud_contacts: None) -> None:
    call = serve(Companies)
    own = "its manager has its own update()"
    contact = Contact.objects.create(email="a@x.io")
    sent = {"name": "Acme", "contacts": [str(contact.pk)]}
    assert reason(call("things__create", **sent, preview=True)) == own
    company = Company.objects.create(name="Other")
    # They lose their link.
    assert reason(call("things__destroy", id=company.pk, preview=True)) == own
    assert Company.objects.count() == 1


def test_links_that_are_not_written_do_not_matter(serve: Any, loud_contacts: None) -> None:
    class Named(serializers.ModelSerializer):
        class Meta:
            model = Company
            fields = ("id", "name", "contacts")
            read_only_fields = ("contacts",)

    call = serve(type("Named", (Companies,), {"serializer_class": Named}))
    assert call("things__create", name="Acme", preview=True).value["preview"] is True


def test_the_model_of_links_is_checked_like_that_of_deleted_rows(serve: Any) -> None:
    class ClubSerializer(serializers.ModelSerializer):
        members = serializers.PrimaryKeyRelatedField(many=True, queryset=House.objects.all())

        class Meta:
            model = Club
            fields = ("id", "name", "members")

    class Clubs(viewsets.ModelViewSet):
        queryset = Club.objects.all()
        serializer_class = ClubSerializer

    def note(**_: Any) -> None:
        RAN.append("receiver")

    club = Club.objects.create(name="a")
    house = House.objects.create(estate=Estate.objects.create(name="e"))
    Membership.objects.create(club=club, house=house)
    call = serve(Clubs)
    sent = {"id": club.pk, "members": []}
    assert takes_preview("things__partial_update")
    post_delete.connect(note, sender=Membership, dispatch_uid="test")
    try:
        refused = call("things__partial_update", **sent, preview=True)
    finally:
        post_delete.disconnect(sender=Membership, dispatch_uid="test")
    assert reason(refused) == "receivers of signals run when its rows are written"
    assert call("things__partial_update", **sent, preview=True).value["set"] == ["members"]
    assert Membership.objects.count() == 1


# --- Django's decorators around code of the project's own ---


def test_a_receiver_inside_a_decorator_of_django_is_noticed(serve: Any) -> None:
    @sensitive_variables()
    def note(**_: Any) -> None:
        RAN.append("receiver")

    call = serve(Lines)
    assert takes_preview("things__create")
    post_save.connect(note, sender=Log, dispatch_uid="test")
    try:
        refused = call("things__create", line="a", preview=True)
    finally:
        post_save.disconnect(sender=Log, dispatch_uid="test")
    assert reason(refused) == "receivers of signals run when its rows are written"


class Noting:
    def __init__(self, get_response: Any) -> None:
        pass

    def process_request(self, request: Any) -> None:
        RAN.append("middleware")


def test_middleware_as_a_decorator_of_the_view_is_noticed(serve: Any) -> None:
    view = Lines.as_view({"post": "create"})
    call = serve(decorator_from_middleware(Noting)(view))
    assert reason(call("things__create", line="a", preview=True)) == (
        "its view has a custom decorator"
    )


# --- views that commit ---


def test_a_promised_view_that_commits_by_itself_is_refused(serve: Any) -> None:
    class Durable(Lines):
        @mcp_preview
        def create(self, request: Any, *args: Any, **kwargs: Any) -> Any:
            with transaction.atomic(durable=True):
                return super().create(request, *args, **kwargs)

    refused = serve(Durable)("things__create", line="a", preview=True)
    assert reason(refused) == (
        "this call cannot be previewed: the view commits by itself (transaction.atomic(durable=True))"
    )
    assert "Nothing was done." in refused.text
    assert Log.objects.count() == 0
