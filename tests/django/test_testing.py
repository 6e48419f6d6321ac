"""`toolbooth.django.testing`, used as a project's own tests use it."""

import pytest
from django.contrib.auth.models import User
from django.test import TestCase, override_settings
from django.urls import include, path
from rest_framework import permissions
from rest_framework.routers import SimpleRouter

from sales.models import Company, Contact, Note
from sales.views import CompanyViewSet, ContactViewSet, NoteViewSet
from toolbooth.boundary.repairs import Repair
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.testing import acting_as
from toolbooth.errors import Problem


class Guarded(CompanyViewSet):
    permission_classes = [permissions.DjangoModelPermissions]


class Urls:
    router = SimpleRouter()
    router.register("contacts", ContactViewSet, "contacts")
    router.register("notes", NoteViewSet, "notes")
    router.register("guarded", Guarded, "guarded")
    urlpatterns = [
        path("api/", include(router.urls)),
        path("agents/", include("toolbooth.django.urls")),
    ]


@pytest.fixture
def agent(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    return acting_as(ann)


def test_arguments_can_be_keywords_and_the_call_runs_as_the_user(agent, ann):
    result = agent.call("notes__create", title="t")
    note = Note.objects.get()
    assert note.owner == ann
    assert (result.is_error, result.status, result.problems, result.repairs) == (False, 200, (), ())
    assert result.value["id"] == note.pk
    assert result.text.startswith(f'{{"id":{note.pk},')


def test_a_refusal_has_its_problems_and_the_corrected_call(agent):
    result = agent.call("contacts__create", {"data": {"email": "ann@x.io"}})
    assert result.is_error
    assert [(each.code, each.where) for each in result.problems] == [("nested-wrapper", "$.data")]
    assert isinstance(result.problems[0], Problem)
    assert result.corrected == {"email": "ann@x.io"}
    assert result.value is None
    assert "Nothing was done." in result.text
    assert repr(result).startswith(
        "<WireResult refused: nested-wrapper at $.data; text='Refused: 1 problem"
    )


def test_repair_is_in_the_result_of_the_test_client(agent):
    result = agent.call("contacts__create", subscribed="true")
    assert result.repairs == (Repair(code="scalar-text", path=("subscribed",)),)
    assert repr(result).startswith(
        "<WireResult repaired: scalar-text at $.subscribed; structured={"
    )
    assert Contact.objects.get().subscribed is True


def test_bytes_are_sent_unchanged_by_the_test_client(agent):
    result = agent.call("contacts__create", b'{"email": "a@x.io", "email": "b@x.io"}')
    assert [each.code for each in result.problems] == ["duplicate-key"]
    assert repr(agent.call("contacts__create", b'{"email": "a@x.io"}')).startswith(
        "<WireResult passed; structured={"
    )


def test_arguments_are_a_dict_or_keywords(agent):
    with pytest.raises(TypeError, match="pass either one dict of arguments or keyword arguments"):
        agent.call("contacts__create", {"email": "a@x.io"}, notes="n")


def test_tools_and_calls_depend_on_the_permissions_of_the_user(agent, ann):
    assert {name for name in agent.tools() if name.startswith("guarded")} == {
        "guarded__list",
        "guarded__retrieve",
    }
    assert agent.tools()["notes__create"]["inputSchema"]["properties"]["title"] == {
        "type": "string",
        "maxLength": 80,
    }
    denied = agent.call("guarded__create", name="Acme")
    assert (denied.is_error, denied.problems) == (True, ())
    assert "permission" in denied.text
    assert repr(denied).startswith("<WireResult error; ")
    chief = User.objects.create_superuser("chief")
    assert "guarded__create" in acting_as(chief).tools()
    assert not acting_as(chief).call("guarded__create", name="Acme").is_error
    assert Company.objects.get().name == "Acme"


def test_anonymous_test_client_gets_401(agent):
    result = acting_as(None).call("notes__list")
    assert (result.status, result.is_error, result.raw) == (401, True, {})
    with pytest.raises(
        PermissionError, match="the tools were not listed: HTTP 401, authentication required"
    ):
        acting_as(None).tools()


def test_protocol_error_has_the_same_attributes_in_the_test_client(agent, settings_of):
    settings_of(TOOLBOOTH={"ERRORS": "protocol"})
    result = agent.call("contacts__create", data={"email": "ann@x.io"})
    assert result.is_error
    assert result.corrected == {"email": "ann@x.io"}
    assert result.raw["error"]["code"] == -32602
    assert "did you mean 'notes__list'" in agent.call("notes__lists").text


def test_all_pages_of_tools_are_listed(agent, monkeypatch):
    monkeypatch.setattr(catalogue().registry._encoded, "most", 3)
    assert len(agent.tools()) == 14


@pytest.mark.parametrize(
    "settings",
    [
        {"ALLOWED_HOSTS": ["crm.example", "other.example"]},
        {"ALLOWED_HOSTS": [".crm.example"]},
        {"ALLOWED_HOSTS": ["*"]},
        {"ALLOWED_HOSTS": [], "DEBUG": True},
        {
            "SECURE_SSL_REDIRECT": True,
            "MIDDLEWARE": [
                "django.middleware.security.SecurityMiddleware",
                "django.contrib.sessions.middleware.SessionMiddleware",
                "django.contrib.auth.middleware.AuthenticationMiddleware",
            ],
        },
    ],
    ids=["hosts", "subdomains", "any host", "debug", "https only"],
)
def test_test_client_works_with_every_host_and_https_setting(settings_of, ann, settings):
    settings_of(ROOT_URLCONF=Urls, **settings)
    assert acting_as(ann).call("notes__create", title="t").value["set"] == ["title"]


def test_test_client_without_an_endpoint_names_the_line_to_add(settings_of, ann):
    settings_of(ROOT_URLCONF=type("Empty", (), {"urlpatterns": []}))
    with pytest.raises(LookupError, match=r'no MCP endpoint; add path\("mcp", include'):
        acting_as(ann).call("notes__list")


@pytest.mark.usefixtures("_database")
@override_settings(ROOT_URLCONF=Urls)
class ContactTests(TestCase):
    """As a project writes it: only Django's own TestCase."""

    @classmethod
    def setUpTestData(cls):
        cls.ann = User.objects.create_user("ann")

    def test_create_stores_the_row_in_a_django_test_case(self):
        made = acting_as(self.ann).call("contacts__create", email="ann@x.io")
        assert not made.is_error
        assert Contact.objects.get(pk=made.value["id"]).email == "ann@x.io"

    def test_tools_are_listed_in_a_django_test_case(self):
        assert "contacts__create" in acting_as(self.ann).tools()

    @override_settings(TOOLBOOTH={"EXCLUDE": ["contacts__*"]})
    def test_override_settings_applies_to_calls_of_the_test_client(self):
        assert "contacts__create" not in acting_as(self.ann).tools()

    def test_bulk_create_is_all_or_none_in_a_django_test_case(self):
        made = acting_as(self.ann).call(
            "contacts__create", objects=[{"email": "a@x.io"}, {"email": "b@x.io"}]
        )
        assert made.value["created"] == 2
        refused = acting_as(self.ann).call(
            "contacts__create", objects=[{"email": "c@x.io"}, {"email": "no"}]
        )
        assert [each.where for each in refused.problems] == ["$.objects[1].email"]
        assert Contact.objects.count() == 2
