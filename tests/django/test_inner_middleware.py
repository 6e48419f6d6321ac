"""The host's middleware runs around each call, with the request of the call."""

import pytest
from django.core.signals import request_finished, request_started
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import include, path, set_urlconf
from rest_framework import serializers, viewsets
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

import middleware
from doctor_report import words_of_doctor
from odd.models import Log, Site
from toolbooth.django.call.inner_middleware import OUTER_ONLY, chain_of, inner_middleware
from toolbooth.django.conf import mistakes
from toolbooth.django.describe.catalogue import catalogue, started_catalogue
from toolbooth.django.testing import acting_as

HOST = ["django.contrib.sessions.middleware.SessionMiddleware"]


class SiteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Site
        fields = ("id", "name", "slug")


class Sites(viewsets.ModelViewSet):
    """It works only inside the scope that `Scoped` opens."""

    queryset = Site.objects.order_by("id")
    serializer_class = SiteSerializer
    permission_classes = (AllowAny,)
    lookup_field = "slug"
    pagination_class = None

    def get_queryset(self):
        assert middleware.scope.get() == self.kwargs.get("site_pk")
        return super().get_queryset()

    def list(self, request, *args, **kwargs):
        rows = super().list(request, *args, **kwargs).data
        return Response({"site": request.site_pk, "rows": rows})


class Plain(viewsets.ModelViewSet):
    queryset = Site.objects.order_by("id")
    serializer_class = SiteSerializer
    permission_classes = (AllowAny,)


class Named(Plain):
    def list(self, request, *args, **kwargs):
        match = request.resolver_match
        return Response({"view": match.view_name, "kwargs": match.kwargs})


class Broken(Plain):
    def list(self, request, *args, **kwargs):
        raise LookupError("internal")


@pytest.fixture
def serve(settings_of):
    """Serve the views behind this middleware."""
    middleware.seen.clear()

    def served(*names, **toolbooth):
        router = SimpleRouter()
        router.register("plain", Plain, basename="plain")
        router.register("of/(?P<site_pk>[0-9]+)/named", Named, basename="named")
        router.register("broken", Broken, basename="broken")
        router.register("of/(?P<site_pk>[0-9]+)/sites", Sites, basename="sites")
        patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
        chosen = [*HOST, *(f"middleware.{name}" for name in names)]
        settings_of(
            ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}),
            MIDDLEWARE=chosen,
            TOOLBOOTH=toolbooth,
        )

    return served


ROW = {"name": "hq", "slug": "hq"}


def test_middleware_sees_a_call_as_it_sees_a_rest_request(serve, mcp, rest):
    serve("Counting")
    assert mcp("plain__create", ROW)["isError"] is False
    at_the_endpoint = [("in", "POST", "/mcp/"), ("view", "mcp", {})]
    assert middleware.seen[:2] == at_the_endpoint
    inside = middleware.seen[2:-1]
    assert middleware.seen[-1] == ("out", 200, "ann")
    Site.objects.all().delete()
    middleware.seen.clear()
    assert rest.post("/plain/", ROW, content_type="application/json").status_code == 201
    assert inside == middleware.seen


@pytest.mark.parametrize(
    ("tool", "sent", "url"),
    [("plain__list", {}, "/plain/"), ("plain__retrieve", {"id": 7}, "/plain/7/")],
)
def test_a_call_that_reads_makes_the_queries_of_rest_and_of_an_empty_request(
    serve, mcp, rest, tool, sent, url
):
    serve("Asking")
    Site.objects.create(id=7, **ROW)

    def queries(run):
        with CaptureQueriesContext(connection) as made:
            run()
        return sorted(each["sql"] for each in made)

    over_mcp = queries(lambda: mcp(tool, sent))
    over_rest = queries(lambda: rest.get(url))
    at_the_endpoint = queries(lambda: rest.get("/mcp/"))
    assert len(at_the_endpoint) == 1
    assert over_mcp == sorted(over_rest + at_the_endpoint)


CALLS = [
    ("plain__create", ROW, "post", "/plain/", ROW),
    ("plain__list", {}, "get", "/plain/", None),
    ("plain__partial_update", {"id": 1, "name": "b"}, "patch", "/plain/1/", {"name": "b"}),
    ("plain__destroy", {"id": 1}, "delete", "/plain/1/", None),
    ("plain__create", {"name": "b", "slug": "a b"}, "post", "/plain/", {"slug": "a b"}),
    ("named__retrieve", {"site_pk": "1", "id": 1}, "get", "/of/1/named/1/", None),
]


@pytest.mark.parametrize(("tool", "sent", "method", "url", "body"), CALLS)
def test_the_rows_of_an_audit_name_the_view_as_over_rest(
    serve, mcp, rest, tool, sent, method, url, body
):
    serve("Audited")

    def audit(run):
        for model in (Site, Log):
            model.objects.all().delete()
        Site.objects.create(pk=1, name="a", slug="a")
        run()
        return list(Log.objects.order_by("id").values_list("line", flat=True))

    expected = audit(lambda: getattr(rest, method)(url, body, content_type="application/json"))
    assert audit(lambda: mcp(tool, sent)) == expected
    assert all(f": {tool.partition('__')[0]}-" in each for each in expected)
    assert len(expected) > 1


def test_the_view_itself_finds_its_own_match(serve, mcp, rest):
    serve()
    by_rest = rest.get("/of/1/named/").json()
    assert by_rest == {"view": "named-list", "kwargs": {"site_pk": "1"}}
    assert mcp("named__list", {"site_pk": "1"})["structuredContent"] == by_rest


@pytest.mark.parametrize("chosen", ["none", []])
def test_inner_middleware_can_be_switched_off(serve, mcp, chosen):
    serve("Counting", INNER_MIDDLEWARE=chosen)
    mcp("plain__create", ROW)
    assert [each[2] for each in middleware.seen if each[0] == "in"] == ["/mcp/"]
    assert Site.objects.get().name == "hq"


def test_only_middleware_named_in_the_setting_runs(serve, mcp):
    serve("Counting", "Scoped", INNER_MIDDLEWARE=["middleware.Scoped"])
    assert mcp("sites__list", {"site_pk": "5"})["structuredContent"] == {"site": "5", "rows": []}
    assert [each[2] for each in middleware.seen if each[0] == "in"] == ["/mcp/"]


def test_path_based_middleware_runs_for_every_kind_of_call(serve, mcp):
    serve("Scoped")
    assert mcp("sites__create", {"site_pk": "5", **ROW})["isError"] is False
    assert mcp("sites__list", {"site_pk": "7"})["structuredContent"]["site"] == "7"
    changed = {"site_pk": "5", "slug_in_path": "hq", "name": "main"}
    assert mcp("sites__partial_update", changed)["isError"] is False
    rows = [{"name": each, "slug": each} for each in "ab"]
    assert mcp("sites__create", {"site_pk": "5", "objects": rows})["isError"] is False
    filtered = {"site_pk": "5", "slug": "a", "filter_keys": ["name"]}
    assert mcp("sites__retrieve", filtered)["structuredContent"] == {"name": "a"}
    assert mcp("sites__destroy", {"site_pk": "5", "slug": "b"})["isError"] is False
    assert list(Site.objects.order_by("id").values_list("name", flat=True)) == ["main", "a"]
    assert middleware.scope.get() is None


def test_middleware_that_keeps_the_request_keeps_the_one_of_the_call(serve, mcp):
    serve("Common")
    site = Site.objects.create(**ROW)
    assert mcp("plain__destroy", {"id": site.pk})["isError"] is False
    assert middleware.seen[-1] == ("common", "DELETE", f"/plain/{site.pk}/")


def test_a_bulk_create_passes_through_the_middleware_once(serve, mcp):
    serve("Counting")
    rows = [{"name": each, "slug": each} for each in "abc"]
    mcp("plain__create", {"objects": rows})
    assert [each[2] for each in middleware.seen if each[0] == "in"] == ["/mcp/", "/plain/"]
    assert Site.objects.count() == 3


def test_async_middleware_runs_too(serve, mcp):
    serve("AsyncOnly", "Counting")
    assert mcp("plain__create", ROW)["isError"] is False
    assert ("async in", "/plain/") in middleware.seen
    assert ("async out", 201) in middleware.seen
    assert Site.objects.get().name == "hq"


def test_language_time_zone_and_urlconf_are_restored(serve, mcp):
    serve("noting_place", INNER_MIDDLEWARE=["middleware.Foreign"])
    mcp("plain__create", ROW)
    assert Site.objects.get().name == "hq"
    before, inside, after = middleware.seen
    assert inside == ("nl", "Asia/Tokyo", "middleware_urls")
    assert before == after
    assert inside[0] != before[0]


def test_a_call_sends_no_request_signals_of_its_own(serve, mcp):
    """Django closes connections to databases when a request begins or ends."""
    serve("Counting")
    told = []

    def note(signal, **_):
        told.append(signal)

    both = (request_started, request_finished)
    for each in both:
        each.connect(note)
    try:
        mcp("plain__create", ROW)
        mcp("plain__list")
    finally:
        for each in both:
            each.disconnect(note)
    assert told == [*both, *both]
    assert ("in", "GET", "/plain/") in middleware.seen


def test_the_middleware_chain_is_built_once(serve, mcp):
    serve(INNER_MIDDLEWARE=["middleware.Made"])
    chain_of.cache_clear()
    made = middleware.Made.times
    for _ in range(3):
        assert mcp("plain__list")["isError"] is False
    assert middleware.Made.times == made + 1


def test_template_hooks_run_before_the_response_is_rendered_the_innermost_first(serve, mcp, rest):
    serve("Hooked", "HookedToo")
    by_rest = rest.get("/plain/").json()
    over_rest, middleware.seen[:] = list(middleware.seen), []
    assert mcp("plain__list")["structuredContent"] == by_rest
    assert middleware.seen == over_rest
    assert over_rest == [
        ("HookedToo", "template", "/plain/", False),
        ("Hooked", "template", "/plain/", False),
    ]


def test_template_response_hook_changes_the_result(serve, mcp):
    serve("ChangesTemplates")
    Site.objects.create(id=7, **ROW)
    row = mcp("plain__retrieve", {"id": 7})["structuredContent"]
    assert row == {"id": 7, **ROW, "added": True}


def test_a_view_hook_can_answer_instead_of_the_view(serve, mcp):
    serve("AnswersForView")
    problems = mcp("plain__create", ROW)["_meta"]["toolbooth"]["problems"]
    assert [(each["path"], each["message"]) for each in problems] == [("$.name", "is closed")]
    assert not Site.objects.exists()


def test_an_exception_hook_can_answer_the_call(serve, mcp):
    serve("AnswersExceptions")
    result = mcp("broken__list")
    assert result["isError"] is True
    assert "no LookupError today" in result["content"][0]["text"]


@pytest.mark.parametrize("name", ["redirecting", "page", "forbidding", "denying", "breaking"])
def test_an_error_page_of_middleware_is_a_failure_without_the_page(serve, mcp, name):
    serve(name)
    result = mcp("plain__create", ROW)
    assert result["isError"] is True
    assert "<" not in str(result)
    assert "internal" not in str(result)
    assert not Site.objects.exists()


def test_a_refusal_of_the_middleware_names_the_fields(serve, mcp):
    serve("refusing")
    problems = mcp("plain__create", ROW)["_meta"]["toolbooth"]["problems"]
    assert [(each["path"], each["message"]) for each in problems] == [("$.name", "is taken")]


def test_an_error_after_the_view_has_run_does_not_claim_that_nothing_was_done(serve, mcp):
    serve("replacing")
    result = mcp("plain__create", ROW)
    assert result["isError"] is True
    assert "Nothing was done" not in str(result)
    assert Site.objects.get().name == "hq"


def test_a_refused_call_is_refused_inside_the_middleware_too(serve, mcp):
    serve("Counting")
    result = mcp("plain__create", {"name": "hq", "slug": "not a slug"})
    assert [each["path"] for each in result["_meta"]["toolbooth"]["problems"]] == ["$.slug"]
    assert ("out", 400, "ann") in middleware.seen


def test_middleware_sees_the_exception_of_a_view(serve, mcp):
    serve("Counting")
    result = mcp("broken__list")
    assert result["isError"] is True
    assert "internal" not in str(result)
    assert ("exception", "LookupError") in middleware.seen


OUTER = (
    "django.middleware.common.CommonMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.cache.UpdateCacheMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "axes.middleware.AxesMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "debug_toolbar.middleware.DebugToolbarMiddleware",
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "django_ratelimit.middleware.RatelimitMiddleware",
    "opentelemetry.instrumentation.django.middleware.otel_middleware._DjangoMiddleware",
    "sentry_sdk.integrations.django.middleware.SentryMiddleware",
    "silk.middleware.SilkyMiddleware",
    "user_sessions.middleware.SessionMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "middleware.OwnSessions",  # derived from Django's
)
"""Middleware about the message as a whole."""


def test_middleware_about_the_whole_message_does_not_run_twice(settings_of):
    left = ("middleware.Old", "middleware.Counting", "middleware.page", "middleware.Common")
    settings_of(MIDDLEWARE=[*OUTER, *left])
    assert inner_middleware("auto") == left
    assert inner_middleware("none") == ()
    assert inner_middleware(("a.B",)) == ("a.B",)
    assert list(OUTER_ONLY) == sorted(OUTER_ONLY)


@pytest.mark.parametrize("value", ["all", True, [5], {"a": "b"}])
def test_a_wrong_setting_is_reported_by_name(settings_of, value):
    settings_of(TOOLBOOTH={"INNER_MIDDLEWARE": value})
    assert [key for key, _ in mistakes()] == ["INNER_MIDDLEWARE"]


def test_a_urlconf_that_the_host_sets_has_tools_of_its_own(serve, ann, mcp_as):
    serve("by_host")
    shop, admin = (mcp_as("ann", HTTP_X_SITE=name) for name in ("shop", "admin"))
    assert shop("plain__list")["isError"] is False
    assert shop("others__list")["error"]["code"] == -32602
    assert admin("others__list")["isError"] is False
    assert admin("plain__list")["error"]["code"] == -32602
    assert shop("plain__create", ROW)["isError"] is False
    assert Site.objects.get().name == "hq"


def test_at_most_eight_urlconfs_are_kept_and_each_has_its_own_tools(settings_of, db):
    def site(number):
        router = SimpleRouter()
        router.register(f"site{number}", Plain, basename=f"site{number}")
        patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
        return type(f"Urls{number}", (), {"urlpatterns": patterns})

    urlconfs = [site(number) for number in range(10)]
    settings_of(ROOT_URLCONF=urlconfs[0])
    first = {}
    try:
        for number, urlconf in enumerate(urlconfs):
            set_urlconf(urlconf)
            first[number] = catalogue()
            assert f"site{number}__list" in first[number].actions
            assert len(first[number].actions) == 6
            assert catalogue() is first[number]
        kept = []
        for number in range(9, -1, -1):  # the last one first: those that are kept drop none
            set_urlconf(urlconfs[number])
            kept.append(started_catalogue() is first[number])
            assert f"site{number}__list" in started_catalogue().actions
        assert kept == [True] * 8 + [False] * 2
    finally:
        set_urlconf(None)


def test_anonymous_call_works_in_a_project_without_sessions(serve, settings_of):
    serve()
    settings_of(SESSION_ENGINE="nowhere", MIDDLEWARE=[])
    assert acting_as(None).call("plain__list").is_error is False


def test_doctor_lists_the_middleware_around_each_call(serve):
    serve("Scoped")
    printed, _ = words_of_doctor()
    assert "runs around each call: middleware.Scoped" in printed
    assert f"runs only around the endpoint: {HOST[0]}" in printed
