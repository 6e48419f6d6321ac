"""Many rows in one call: all are created or none, and a row in a list has the same meaning as
alone.
"""

import pytest
from django.db import connection, connections, transaction
from django.urls import include, path
from rest_framework import generics, serializers, status, throttling
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Log
from sales.models import Company, Contact, Tag
from sales.serializers import ContactSerializer
from sales.views import CompanyViewSet, ContactViewSet, DealViewSet, NoteViewSet
from toolbooth.django.testing import acting_as


class Word(serializers.Serializer):
    word = serializers.CharField()


class FailingView(generics.CreateAPIView):
    """Fails on some words, after it has written one."""

    serializer_class = Word

    def create(self, request, *args, **kwargs):
        words = Word(data=request.data)
        words.is_valid(raise_exception=True)
        Log.objects.create(line=words.validated_data["word"])
        if words.validated_data["word"] == "taken":
            return Response({"detail": "taken"}, status=status.HTTP_409_CONFLICT)
        if words.validated_data["word"] == "forbidden":
            self.permission_denied(request, "not this word")
        if words.validated_data["word"] == "breaks":
            raise RuntimeError("broken")
        return Response({"said": words.validated_data})


class FewADay(throttling.UserRateThrottle):
    rate = "3/day"


class Throttled(CompanyViewSet):
    throttle_classes = [FewADay]


class Urls:
    router = SimpleRouter()
    router.register("contacts", ContactViewSet, "contacts")
    router.register("companies", CompanyViewSet, "companies")
    router.register("deals", DealViewSet, "deals")
    router.register("notes", NoteViewSet, "notes")
    router.register("throttled", Throttled, "throttled")
    urlpatterns = [
        path("api/", include(router.urls)),
        path("words/", FailingView.as_view(), name="words"),
        path("mcp/", include("toolbooth.django.urls")),
    ]


@pytest.fixture
def call(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    return acting_as(ann).call


@pytest.fixture(params=[True, False], ids=["atomic", "not-atomic"])
def atomic(request, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", request.param)


def test_the_problems_of_all_rows_come_by_index_in_one_reply(call, atomic):
    Company.objects.create(name="Old")
    rows = [
        {"name": "New"},
        {"name": "Old"},
        {"name": "New"},
        {},
        {"name": " ", "website": "no"},
    ]
    result = call("companies__create", items=rows)
    assert [(each.code, each.where, each.message) for each in result.problems] == [
        ("invalid", "$.items[1].name", "company with this name already exists."),
        ("invalid", "$.items[2].name", "company with this name already exists."),
        ("missing", "$.items[3].name", "is required, but was not sent"),
        ("invalid", "$.items[4].name", "This field may not be blank."),
        ("invalid", "$.items[4].website", "Enter a valid URL."),
    ]
    assert [each.name for each in Company.objects.all()] == ["Old"]
    assert "Nothing was done." in result.text


def test_relations_are_named_by_object_in_rows_and_nested_rows(call):
    acme = Company.objects.create(name="Acme")
    Tag.objects.create(slug="vip", title="VIP")
    assert not call(
        "contacts__create", objects=[{"company": {"name": "Acme"}, "tags": [{"slug": "vip"}]}]
    ).is_error
    made = Contact.objects.get()
    assert (made.company, [each.slug for each in made.tags.all()]) == (acme, ["vip"])
    result = call(
        "contacts__create",
        objects=[{}, {"company": {"name": "No"}}, {"tags": ["vip", {"slug": "no"}]}],
    )
    told = [(each.where, each.message.partition("; existing")[0]) for each in result.problems]
    assert told == [
        ("$.objects[1].company", "there is no company with name 'No'"),
        ("$.objects[2].tags[1]", "there is no tag with slug 'no'"),
    ]
    lines = [{"product": "tea", "price": "2.50"}, {"product": "x", "price": "dear"}]
    result = call(
        "deals__create", data=[{"title": "t", "company": {"name": "Acme"}, "lines": lines}]
    )
    assert [each.where for each in result.problems] == ["$.data[0].lines[1].price"]
    assert Contact.objects.count() == 1


@pytest.mark.parametrize(
    ("last", "told"),
    {
        "taken": "- $.objects[1]: taken",
        "forbidden": "Tool 'words__create' failed: not this word",
        "breaks": "Tool 'words__create' failed unexpectedly.",
    }.items(),
)
def test_a_row_that_fails_in_any_way_rolls_back_the_others(call, atomic, last, told):
    result = call("words__create", objects=[{"word": "first"}, {"word": last}])
    assert result.is_error
    assert told in result.text
    assert Log.objects.count() == 0


def test_on_commit_hooks_run_once_all_rows_are_created(call, monkeypatch):
    done = []
    monkeypatch.setattr(
        CompanyViewSet,
        "perform_create",
        lambda self, serializer: (
            serializer.save(),
            transaction.on_commit(lambda: done.append(serializer.data["name"])),
        ),
    )
    call("companies__create", objects=[{"name": "a"}, {"name": "a"}])
    assert done == []
    call("companies__create", objects=[{"name": "a"}, {"name": "b"}])
    assert done == ["a", "b"]


def test_rows_in_other_databases_are_rolled_back_where_reachable(call, monkeypatch, tmp_path):
    for alias, place in {
        "other": tmp_path / "other.sqlite3",
        "gone": tmp_path / "no" / "folder.sqlite3",
    }.items():
        settings = {**connections.settings["default"], "NAME": str(place), "ATOMIC_REQUESTS": False}
        monkeypatch.setitem(connections.settings, alias, settings)
    with connections["other"].schema_editor() as editor:
        editor.create_model(Log)
    monkeypatch.setattr(
        CompanyViewSet,
        "perform_create",
        lambda self, serializer: Log.objects.using("other").create(line=serializer.save().name),
    )
    try:
        call("companies__create", objects=[{"name": "a"}, {"name": "a"}])
        assert Log.objects.using("other").count() == 0
        call("companies__create", objects=[{"name": "a"}, {"name": "b"}])
        assert Log.objects.using("other").count() == 2
    finally:
        for alias in ("other", "gone"):
            connections[alias].close()
            del connections[alias]


def test_the_owner_is_set_row_by_row_as_over_rest(call, ann):
    assert call("notes__create", objects=[{"title": "a"}, {"title": "b"}]).value["created"] == 2
    assert {(note.title, note.owner) for note in ann.note_set.all()} == {("a", ann), ("b", ann)}


def test_every_row_counts_towards_a_throttle(call):
    assert call("throttled__create", objects=[{"name": "a"}, {"name": "b"}]).value["created"] == 2
    assert "throttled" in call("throttled__create", objects=[{"name": "c"}, {"name": "d"}]).text
    assert Company.objects.count() == 2


ALONE = [
    {},
    {"email": "ann@x.io", "profile": {"a": [1, None]}, "subscribed": "true"},
    {"email": "no", "first_name": "x" * 61},
    {"email": 5, "first_name": ["Ann"]},
    {"company": {"name": "Acme"}, "tags": ["vip", {"title": "V"}]},
    {"company": {"name": "No"}},
    {"company": 99, "tags": "vip"},
    {"tags": '["vip"]', "notes": None},
    {"profile": '{"a": 1}', "company": ""},
    {"data": {"email": "ann@x.io"}},
    {"email": "ann@x.io", "firstName": "Ann", "profile.a": 1},
    {"profile": "text"},
    "{}",
]


@pytest.mark.parametrize("errors", ["result", "protocol"])
def test_row_in_a_list_is_handled_as_the_same_row_alone(settings_of, call, errors):
    settings_of(TOOLBOOTH={"ERRORS": errors})
    Company.objects.create(name="Acme")
    Tag.objects.create(slug="vip", title="V")

    def outcome(sent, prefix):
        result = call("contacts__create", sent)
        told = [
            (each.code, each.where.replace(prefix, "$"), each.message) for each in result.problems
        ]
        repairs = [(each.code, each.where.replace(prefix, "$")) for each in result.repairs]
        rows = [(*ContactSerializer(row).data.items(),)[1:] for row in Contact.objects.all()]
        Contact.objects.all().delete()
        return result.is_error, told, repairs, rows

    for row in ALONE:
        alone = outcome(row, "$")
        listed = outcome({"objects": [row]}, "$.objects[0]")
        # A correction is given as text that names its place.
        shown = [(code, path) for code, path, _ in listed[1]]
        assert (listed[0], shown, *listed[2:]) == (
            alone[0],
            [each[:2] for each in alone[1]],
            *alone[2:],
        ), row
