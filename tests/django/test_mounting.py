"""Where the endpoint answers: `path("mcp", …)` at /mcp and at /mcp/, `path("mcp/", …)` at /mcp/."""

import io
import json
import sys

import pytest
from django.conf.urls.i18n import i18n_patterns
from django.core.management import call_command
from django.test import Client
from django.urls import get_script_prefix, include, path, reverse, set_script_prefix
from rest_framework.routers import SimpleRouter

from real_server import call, post, served
from sales.models import Company
from sales.views import CompanyViewSet
from toolbooth.django.management.examinations import EXAMINATIONS
from toolbooth.django.testing import acting_as

COMMON = "django.middleware.common.CommonMiddleware"
LOCALE = "django.middleware.locale.LocaleMiddleware"
ENDPOINT = include("toolbooth.django.urls")
BASIC = {"Authorization": "Basic YW5uOnB3"}

router = SimpleRouter()
router.register("companies", CompanyViewSet, "companies")


@pytest.fixture
def mounted(settings_of, ann):
    """Serves companies, and these patterns."""

    def mount(*patterns, **settings):
        urls = type("Urls", (), {"urlpatterns": [path("api/", include(router.urls)), *patterns]})
        settings_of(ROOT_URLCONF=urls, **settings)

    return mount


def created(at, name):
    """Return the status and the place of an answer; a company of this name is created if it is 200."""
    reply = Client(headers=BASIC).post(
        at, json.dumps(call("companies__create", name=name)), content_type="application/json"
    )
    is_there = Company.objects.filter(name=name).exists()
    assert is_there is (reply.status_code == 200)
    return reply.status_code


def endpoint_findings():
    """Return the doctor's findings about the endpoint, each with its remedy below it."""
    lines = []
    for found in EXAMINATIONS["Endpoint"]():
        lines.append(f"{found.level} {found.what}")
        lines += [f"-> {found.remedy}"] if found.remedy else []
    return lines


@pytest.mark.parametrize("append_slash", [True, False])
@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize("middleware", [[], [COMMON]], ids=["none", "common"])
def test_route_without_a_slash_answers_with_and_without_it(
    mounted, append_slash, debug, middleware
):
    mounted(path("mcp", ENDPOINT), APPEND_SLASH=append_slash, DEBUG=debug, MIDDLEWARE=middleware)
    assert [created("/mcp", "a"), created("/mcp/", "b")] == [200, 200]
    assert [created("/mcpx", "c"), created("/mcp//", "d"), created("/mcp/x", "e")] == [404] * 3
    assert reverse("toolbooth:mcp") == "/mcp"


@pytest.mark.parametrize("append_slash", [True, False])
@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize("middleware", [[], [COMMON]], ids=["none", "common"])
def test_route_with_a_slash_answers_only_there_and_does_not_redirect(
    mounted, append_slash, debug, middleware
):
    mounted(path("mcp/", ENDPOINT), APPEND_SLASH=append_slash, DEBUG=debug, MIDDLEWARE=middleware)
    assert [created("/mcp", "a"), created("/mcp/", "b")] == [404, 200]
    assert reverse("toolbooth:mcp") == "/mcp/"


@pytest.mark.parametrize(
    ("route", "path_of_it"), [("mcp", "/agents/mcp"), ("mcp/", "/agents/mcp/")]
)
def test_endpoint_can_be_mounted_below_a_prefix(mounted, ann, route, path_of_it):
    mounted(path("agents/", include([path(route, ENDPOINT)])))
    assert reverse("toolbooth:mcp") == path_of_it
    assert created(path_of_it, "a") == 200
    assert "companies__create" in acting_as(ann).tools()


def test_endpoint_can_be_mounted_at_the_root(mounted):
    mounted(path("", ENDPOINT))
    assert (created("/", "a"), reverse("toolbooth:mcp")) == (200, "/")
    assert endpoint_findings() == ["ok an agent reaches /"]


def test_endpoint_can_be_mounted_below_a_language_prefix(mounted, settings_of):
    module = type(sys)("urls_with_languages")
    module.urlpatterns = [
        path("api/", include(router.urls)),
        *i18n_patterns(path("mcp", ENDPOINT)),
    ]
    sys.modules[module.__name__] = module
    settings_of(ROOT_URLCONF=module.__name__, MIDDLEWARE=[LOCALE, COMMON], LANGUAGE_CODE="en")
    try:
        assert [created("/en/mcp", "a"), created("/de/mcp/", "b")] == [200, 200]
        # Django's own middleware sends clients without a language on.
        assert created("/mcp", "c") == 302
        assert reverse("toolbooth:mcp") == "/en/mcp"
        assert endpoint_findings() == ["ok an agent reaches /en/mcp"]
    finally:
        del sys.modules[module.__name__]


# --- the doctor ---


def test_doctor_notes_that_the_url_without_a_slash_does_not_answer(mounted):
    mounted(path("mcp/", ENDPOINT))
    assert endpoint_findings() == [
        "ok an agent reaches /mcp/",
        "note /mcp does not answer, only /mcp/: without the slash, clients get a 404",
        '-> path("mcp", include("toolbooth.django.urls")) answers with and without the slash',
    ]


def test_the_doctor_has_no_finding_if_both_urls_answer(mounted):
    mounted(path("mcp", ENDPOINT))
    assert endpoint_findings() == ["ok an agent reaches /mcp"]
    mounted(path("mcp/", ENDPOINT), path("mcp", ENDPOINT))
    assert len(endpoint_findings()) == 1


def test_commands_reach_the_endpoint_below_a_script_name(mounted, ann):
    mounted(path("mcp", ENDPOINT), FORCE_SCRIPT_NAME="/app")
    before = get_script_prefix()
    set_script_prefix("/app/")  # as Django does when a command begins
    try:
        assert endpoint_findings() == ["ok an agent reaches /app/mcp"]
        made = acting_as(ann).call("companies__create", name="Acme")
        out = io.StringIO()
        call_command("mcp_config", "--token", "s3", stdout=out, stderr=io.StringIO())
        url = json.loads(out.getvalue())["mcpServers"]["api"]["url"]
    finally:
        set_script_prefix(before)
    assert (made.structured["name"], Company.objects.get().name) == ("Acme", "Acme")
    assert url == "http://localhost:8000/app/mcp"


# --- a real server ---


@pytest.mark.parametrize("server", ["gunicorn", "uvicorn"])
def test_a_real_server_accepts_calls_at_both_urls(server, tmp_path):
    with served(server, tmp_path) as port:
        for at in ("/mcp", "/mcp/"):
            status, headers, body = post(port, call("companies__create", name=at), path=at)
            made = json.loads(body)["result"]["structuredContent"]
            assert (status, headers["Location"], made["name"]) == (200, None, at)
        status, _, body = post(port, call("companies__list"), path="/mcp")
        rows = json.loads(body)["result"]["structuredContent"]["results"]
        assert [each["name"] for each in rows] == ["/mcp", "/mcp/"]
        assert post(port, call("companies__list"), path="/mcp/x")[0] == 404


@pytest.mark.parametrize("server", ["gunicorn", "uvicorn"])
def test_a_real_server_with_a_slash_in_the_route_answers_404_without(server, tmp_path):
    with served(server, tmp_path, settings="middleware_settings") as port:
        assert post(port, call("companies__list"), path="/mcp")[0] == 404
        assert post(port, call("companies__list"), path="/mcp/")[0] == 200
