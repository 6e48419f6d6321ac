"""The next step that a reply suggests to an agent after the API has refused a call."""

import json

import pytest
from django.contrib.auth.models import User
from django.urls import include, path
from rest_framework import permissions, serializers, status, throttling, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from sales.models import Company, Contact, Note, Tag
from sales.views import CompanyViewSet, ContactViewSet, DealViewSet, NoteViewSet, TagViewSet
from toolbooth.django.decorators import mcp_bulk
from toolbooth.django.testing import acting_as


def urls(**views):
    router = SimpleRouter()
    for name, view in views.items():
        router.register(name, view, name)
    return type("Urls", (), {"urlpatterns": [
        path("api/", include(router.urls)),
        path("mcp/", include("toolbooth.django.urls")),
    ]})  # fmt: skip


# --- rows that do not exist -----------------------------------------------------------------------


def test_missing_related_row_lists_the_existing_ones_and_the_create_tool(ann):
    for slug in ("newsletter", "vip"):
        Tag.objects.create(slug=slug, title=slug)
    result = acting_as(ann).call("contacts__create", email="a@example.org", tags=["nosuchtag"])
    assert result.is_error
    assert (
        '$.tags: no tag "nosuchtag"; existing: newsletter, vip; create one with tags__create'
        in result.text
    )
    assert Contact.objects.count() == 0


def test_a_missing_row_of_a_single_relation_is_answered_in_the_same_way(ann):
    company = Company.objects.create(name="Acme")
    text = acting_as(ann).call("deals__create", title="A", company=77).text
    assert (
        f'$.company: no company "77"; existing: {company.pk} ("Acme");'
        " create one with companies__create"
    ) in text


def test_failed_lookup_by_name_lists_the_existing_rows(ann):
    company = Company.objects.create(name="Acme")
    text = acting_as(ann).call("deals__create", title="A", company={"name": "Acne"}).text
    assert f'existing: {company.pk} ("Acme"); create one with companies__create' in text


class ManyContacts(ContactViewSet):
    """Takes a list of rows by itself."""

    @mcp_bulk
    def create(self, request, *args, **kwargs):
        serializer = self.get_serializer(data=request.data, many=isinstance(request.data, list))
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data, status=201)


@pytest.mark.parametrize("view", [ContactViewSet, ManyContacts])
def test_missing_related_rows_of_many_rows_are_answered_in_the_same_way(settings_of, ann, view):
    settings_of(ROOT_URLCONF=urls(contacts=view, tags=TagViewSet, companies=CompanyViewSet))
    Tag.objects.create(slug="vip", title="vip")
    rows = [
        {"email": "a@example.org", "tags": ["vip"]},
        {"email": "b@example.org", "tags": ["nosuchtag"]},
        {"email": "c@example.org", "company": 77},
    ]
    text = acting_as(ann).call("contacts__create", objects=rows).text
    assert text == (
        "Refused: 2 problems in the arguments of 'contacts__create'. Nothing was done.\n"
        '- $.objects[1].tags: no tag "nosuchtag"; existing: vip; create one with tags__create\n'
        '- $.objects[2].company: no company "77"; none exist that you can list;'
        " create one with companies__create"
    )
    assert Contact.objects.count() == 0


def test_only_the_first_rows_are_named_and_the_tool_that_lists_the_others(ann):
    for number in range(12):
        Company.objects.create(name=f"Company {number:02}")
    text = acting_as(ann).call("deals__create", title="A", company=999).text
    assert '("Company 00")' in text
    assert '("Company 10")' not in text
    assert ", …; all with companies__list; create one with companies__create" in text


def test_missing_related_row_in_an_empty_table_names_the_create_tool(ann):
    text = acting_as(ann).call("contacts__create", email="a@example.org", tags=["vip"]).text
    assert 'no tag "vip"; none exist that you can list; create one with tags__create' in text


def test_rows_and_tools_that_a_caller_may_not_list_or_call_are_not_named(settings_of, ann):
    class ClosedCompanies(CompanyViewSet):
        permission_classes = [permissions.IsAdminUser]

    class ReadOnlyTags(TagViewSet):
        http_method_names = ["get"]

    settings_of(
        ROOT_URLCONF=urls(
            companies=ClosedCompanies, contacts=ContactViewSet, deals=DealViewSet, tags=ReadOnlyTags
        )
    )
    Company.objects.create(name="Acme")
    Tag.objects.create(slug="vip", title="VIP")
    text = acting_as(ann).call("deals__create", title="A", company=77).text
    assert 'no company "77"' in text
    assert "Acme" not in text
    assert "companies__" not in text
    text = acting_as(ann).call("contacts__create", tags=["x"]).text
    assert 'no tag "x"; existing: vip' in text
    assert "create one" not in text
    admin = User.objects.create_user("admin", is_staff=True)
    assert "Acme" in acting_as(admin).call("deals__create", title="A", company=77).text


def test_rows_of_other_users_are_not_named(settings_of, ann):
    class LinkSerializer(serializers.Serializer):
        note = serializers.PrimaryKeyRelatedField(queryset=Note.objects.all())

    class Links(viewsets.GenericViewSet):
        serializer_class = LinkSerializer

        def create(self, request):
            form = self.get_serializer(data=request.data)
            form.is_valid(raise_exception=True)
            return Response({})

    settings_of(ROOT_URLCONF=urls(notes=NoteViewSet, links=Links))
    bob = User.objects.create_user("bob")
    mine = Note.objects.create(owner=ann, title="mine")
    Note.objects.create(owner=bob, title="his")
    text = acting_as(ann).call("links__create", note=999).text
    assert f'existing: {mine.pk} ("mine")' in text
    assert "his" not in text


def test_behind_a_dispatcher_tools_have_the_names_that_the_client_sees(settings_of, ann):
    settings_of(TOOLBOOTH={"DISPATCH": "app"})
    sent = {"resource": "contacts", "action": "create", "tags": ["x"]}
    text = acting_as(ann).call("sales", sent).text
    assert text == (
        "Refused: 1 problem in the arguments of 'sales' (contacts, create). Nothing was done.\n"
        "- $.tags: no tag \"x\"; none exist that you can list; create one with 'sales' (tags, create)"
    )


# --- statuses -------------------------------------------------------------------------------------


def test_a_row_that_is_not_found_is_answered_with_the_tool_that_lists_rows(ann):
    text = acting_as(ann).call("contacts__retrieve", id="0c2d8bd6-7a3c-4c57-9d3f-6f0f5c1a2b3d").text
    assert (
        "It does not exist, or you may not see it; contacts__list lists what you can see." in text
    )


class OneADay(throttling.UserRateThrottle):
    rate = "1/day"


class Busy(CompanyViewSet):
    throttle_classes = [OneADay]

    @action(detail=False, methods=["post"])
    def lock(self, request):
        return Response({"detail": "Somebody changed it"}, status=status.HTTP_409_CONFLICT)

    @action(detail=False, methods=["post"])
    def match(self, request):
        return Response({"detail": "Send the version"}, status=status.HTTP_412_PRECONDITION_FAILED)

    @action(detail=False, methods=["post"])
    def rest(self, request):
        pause = {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}
        return Response({"detail": "Locked"}, status=status.HTTP_423_LOCKED, headers=pause)

    @action(detail=False, methods=["post"])
    def find(self, request):
        return Response({"detail": "It was removed"}, status=status.HTTP_410_GONE)


class Closed(CompanyViewSet):
    def check_permissions(self, request):
        if self.action == "create":
            self.permission_denied(request, "Only sales may do this.")


@pytest.mark.parametrize(
    ("tool", "view", "calls", "told"),
    [
        ("rows__list", Busy, 2, "Try again in 86400 s."),
        ("rows__lock", Busy, 1, "Somebody changed it. Read the row as it is now before you"),
        ("rows__match", Busy, 1, "Send the version. Read the row as it is now before you"),
        ("rows__rest", Busy, 1, "Locked. Try again after Wed, 21 Oct 2026 07:28:00 GMT."),
        ("rows__find", Busy, 1, "It was removed. It does not exist, or you may not see it;"),
        (
            "rows__create",
            Closed,
            1,
            "Only sales may do this. Use other credentials, or ask your user.",
        ),
    ],
)
def test_a_refusal_by_status_names_the_next_step(settings_of, ann, tool, view, calls, told):
    settings_of(ROOT_URLCONF=urls(rows=view))
    results = [acting_as(ann).call(tool, {}) for _ in range(calls)]
    assert told in results[-1].text


def test_response_without_content_becomes_a_sentence(settings_of, ann):
    class Quiet(CompanyViewSet):
        @action(detail=False, methods=["post"])
        def ring(self, request):
            return Response(status=204)

    settings_of(ROOT_URLCONF=urls(rows=Quiet))
    value = acting_as(ann).call("rows__ring").value
    assert json.dumps(value) == '{"result": "Done. The API answered without content."}'
