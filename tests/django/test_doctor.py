"""`manage.py mcp_doctor`: each problem, how often it occurs, and the one remedy."""

import json
import re

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import include, path
from django.views import View
from drf_spectacular.utils import extend_schema
from rest_framework import permissions, serializers, viewsets
from rest_framework.authentication import SessionAuthentication
from rest_framework.decorators import api_view
from rest_framework.renderers import TemplateHTMLRenderer
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from doctor_report import doctor, words_of_doctor
from odd.models import Log
from sales.views import CompanyViewSet, ContactViewSet, DealViewSet, NoteViewSet
from toolbooth.django.decorators import mcp_ignore
from toolbooth.django.management import examinations
from toolbooth.django.management.doctor.report import MOST_LINES, WIDTH


class LogSerializer(serializers.ModelSerializer):
    class Meta:
        model = Log
        fields = ["id", "line"]


def urls(*patterns, mcp=True, **views):
    """Return a URLconf with these view sets, by name."""
    router = SimpleRouter()
    for name, view in views.items():
        router.register(name, view, name)
    endpoint = [path("mcp", include("toolbooth.django.urls"))] if mcp else []
    return type(
        "Urls", (), {"urlpatterns": [path("api/", include(router.urls)), *patterns, *endpoint]}
    )


@pytest.fixture
def crm(settings_of, ann):
    settings_of(
        ROOT_URLCONF=urls(
            contacts=ContactViewSet, companies=CompanyViewSet, deals=DealViewSet, notes=NoteViewSet
        )
    )


# --- the report ---


def test_the_report_of_a_sound_project_has_only_expected_lines(crm):
    printed, code = doctor()
    versions, answer, _, *rest = printed.splitlines()
    assert versions.startswith("toolbooth ")
    assert answer.startswith(
        "without credentials, the tools were not listed: HTTP 401, authentication required"
    )
    for line in (
        "       ok  an agent reaches /mcp",
        "       ok  every tool requires a login",
        "       ok  every view and every field is published",
    ):
        assert line in rest
    assert code == 0
    assert rest[-6].startswith("0 errors, 0 warnings, ")
    assert rest[-5:] == [
        "",
        "What to do next",
        "  1. See what the user of your agent gets: manage.py mcp_doctor --as USERNAME",
        "  2. Connect a client: manage.py mcp_config --client claude-code",
        "  3. Before you deploy: manage.py mcp_doctor --deploy",
    ]


def test_findings_of_one_cause_are_one_group_with_three_examples_and_one_remedy(settings_of, ann):
    views = {
        f"open{number}": type(f"Open{number}", (Open,), {"__module__": __name__})
        for number in range(300)
    }
    settings_of(ROOT_URLCONF=urls(**views))
    printed, code = doctor()
    lines = printed.splitlines()
    at = lines.index("  warning  1,200 tools that write are open to anonymous callers")
    assert lines[at + 1 : at + 3] == [
        "           open0__create, open0__update, open0__partial_update and 1,197 more",
        "           -> set permission_classes on the views, or TOOLBOOTH['LOGIN_REQUIRED'] = True",
    ]
    assert code == 0
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= WIDTH
    assert "(`manage.py mcp_doctor -v 2` names every place)" in printed
    everything, _ = doctor(verbosity=2)
    assert everything.count("anybody may write: ") == 1200
    assert max(map(len, everything.splitlines())) <= WIDTH


@pytest.mark.parametrize("options", [[], ["--as", "ann"], ["--deploy"]], ids=str)
def test_the_report_of_the_example_fits_on_a_screen(settings_of, ann, options):
    settings_of(ROOT_URLCONF="crm.urls")
    printed, _ = doctor(*options)
    lines = printed.splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= WIDTH
    assert "What to do next" in lines


def test_the_report_as_one_json_document(settings_of, ann):
    settings_of(ROOT_URLCONF=urls(open=Open, chatty=Chatty))
    printed, code = doctor("--json")
    report = json.loads(printed)  # and no output of the project is in it
    assert (code, report["exit_code"], report["counts"]["error"]) == (0, 0, 0)
    (group,) = [each for each in report["findings"] if each["code"] == "open-writes"]
    names = ["open__create", "open__update", "open__partial_update", "open__destroy"]
    cure = "set permission_classes on the views, or TOOLBOOTH['LOGIN_REQUIRED'] = True"
    assert group == {
        "level": "warning",
        "code": "open-writes",
        "what": "4 tools that write are open to anonymous callers",
        "cure": cure,
        "count": 4,
        "places": [
            {"place": name, "what": f"anybody may write: {name}", "cure": cure} for name in names
        ],
    }
    assert report["next"][0].startswith("Go through each warning above.")


def test_the_exit_code_is_1_for_errors_and_2_if_it_cannot_run(settings_of, ann):
    settings_of(ROOT_URLCONF=urls())
    assert doctor()[1] == 1
    assert json.loads(doctor("--json")[0])["exit_code"] == 1
    assert doctor("--as", "nobody") == (
        "there is no user 'nobody'; `manage.py createsuperuser` creates one",
        2,
    )


def test_without_a_database_no_user_is_found(crm):
    def refuse(*_):
        raise DatabaseError("no such table: auth_user")

    with connection.execute_wrapper(refuse):
        printed, code = doctor("--as", "ann")
    assert (printed, code) == ("users could not be read: no such table: auth_user", 2)


# --- tools by user ---


def test_doctor_lists_the_tools_once_as_the_given_user(crm):
    printed, code = doctor("--as", "ann")
    assert code == 0
    assert re.match(r"tools/list as 'ann' returned \d+ tools, ", printed.splitlines()[1])
    assert "Connect a client: manage.py mcp_config --client claude-code\n" in printed


def test_a_user_who_gets_no_tool_is_a_warning(settings_of, ann):
    class ForStaff(CompanyViewSet):
        permission_classes = [permissions.IsAdminUser]

    settings_of(ROOT_URLCONF=urls(companies=ForStaff))
    words, _ = words_of_doctor("--as", "ann")
    assert "warning tools/list as 'ann' returned no tools -> give this user permissions" in words
    User.objects.create_user("boss", password="pw", is_staff=True)
    assert "tools/list as 'boss' returned 6 tools, " in words_of_doctor("--as", "boss")[0]


class Open(viewsets.ModelViewSet):
    queryset = Log.objects.all()
    authentication_classes = [SessionAuthentication]
    permission_classes = []
    serializer_class = LogSerializer


class Chatty(viewsets.ReadOnlyModelViewSet):
    queryset = Log.objects.all()

    def get_serializer_class(self):
        print("a view that prints")
        return LogSerializer


def test_open_tools_are_named_until_a_login_is_required(settings_of, ann):
    settings_of(ROOT_URLCONF=urls(open=Open))
    words, _ = words_of_doctor()
    assert "warning the API accepts only session cookies" in words
    assert "4 tools that write are open to anonymous callers - anybody may write: open__cr" in words
    assert "2 tools that read are open to anonymous callers - anybody may read: open__list" in words
    assert "-> if agents should log in, TOOLBOOTH['LOGIN_REQUIRED'] = True asks them to" in words
    assert (
        words.split("drf-spectacular ")[1]
        .split(" ", 1)[1]
        .startswith("tools/list as an anonymous caller returned 6 tools, ")
    )
    settings_of(TOOLBOOTH={"LOGIN_REQUIRED": True})
    words, _ = words_of_doctor()
    assert "open to anonymous callers" not in words
    assert "ok TOOLBOOTH['LOGIN_REQUIRED'] is set: anonymous callers get no tool" in words


class ChoosesAuthenticators(APIView):
    permission_classes = [permissions.IsAuthenticated]

    def get_authenticators(self):
        return [] if self.request.method == "OPTIONS" else [SessionAuthentication()]

    def get(self, request):
        return Response({})


def test_authenticators_may_be_chosen_by_the_request(settings_of, ann):
    view = ChoosesAuthenticators.as_view()
    settings_of(ROOT_URLCONF=urls(path("mine/", view, name="mine")))
    words, code = words_of_doctor()
    assert (code, "this check failed" in words) == (0, False), words
    assert "warning the API accepts only session cookies, and agents have none" in words


# --- views ---


def test_every_fault_is_named_with_its_remedy(settings_of, ann):
    class Mystery(APIView):
        authentication_classes = [SessionAuthentication]

        def post(self, request):
            return Response()

    @mcp_ignore
    class Kept(CompanyViewSet):
        pass

    settings_of(
        ROOT_URLCONF=urls(path("mystery/", Mystery.as_view()), kept=Kept, open=Open),
        TOOLBOOTH={"EXCLUDE": ["nothing__*"], "PAGE": 3},
    )
    words, code = words_of_doctor()
    assert code == 1
    for line in (
        "error TOOLBOOTH['PAGE']: there is no such setting",
        "warning TOOLBOOTH['EXCLUDE']: 'nothing__*' adds nothing: it matches no tool ->",
        "note 6 actions are left out as their authors want it",
        "- GET /api/kept/: @mcp_ignore",
        "Mystery.post declares no body, so the tool takes no fields -> if that is right, write "
        "@extend_schema(request=None) above post",
        "1. Correct each error above, from the top, and run this again.",
    ):
        assert line in words, words


@api_view(["POST", "PUT"])
def reads(request):
    return Response({"name": request.data["name"]})


@api_view(["POST"])
def reads_nothing(request):
    return Response({})


def test_function_views_without_a_body_are_named_as_functions(settings_of, ann):
    patterns = [path("reads/", reads, name="reads"), path("none/", reads_nothing, name="none")]
    settings_of(ROOT_URLCONF=urls(*patterns))
    words, _ = words_of_doctor()
    place = f"{reads.cls.__module__}.reads"
    for method in ("post", "put"):
        assert f"reads__{method}: {place} declares no body, so the tool takes no fields" in words
    assert (
        f"note none__post: {place}_nothing declares no body, so the tool takes no fields -> if that "
        "is right, write @extend_schema(request=None) above reads_nothing"
    ) in words
    assert "WrappedAPIView" not in words


class Page(APIView):
    renderer_classes = [TemplateHTMLRenderer]

    def get(self, request):
        return Response({})


def plain(request):
    return HttpResponse()


class PlainClass(View):
    def get(self, request):
        return HttpResponse()


def test_html_pages_and_plain_views_are_notes_with_a_remedy(settings_of, ann):
    settings_of(
        ROOT_URLCONF=urls(
            path("page/", Page.as_view()),
            path("plain/", plain),
            path("class/", PlainClass.as_view()),
            companies=CompanyViewSet,
        )
    )
    words, code = words_of_doctor()
    assert code == 0
    assert "0 errors, 0 warnings, " in words
    assert "note GET /page/: it renders only HTML: a page for people" in words
    for line in (
        "note 2 plain Django views are not covered: only REST framework views are tools",
        f"- {__name__}.plain is a plain Django view, and not covered",
        f"- {__name__}.PlainClass is a plain Django view, and not covered",
        "-> for what agents need, write a function with @mcp_tool in your app's mcp_tools.py",
    ):
        assert line in words, words


def test_views_of_django_ninja_are_named_by_their_urls(settings_of, ann):
    """Django Ninja's patterns call functions of its own module."""

    def view(request):
        return HttpResponse()

    view.__module__ = "ninja.operation"

    def schema(request):
        return HttpResponse()

    schema.__module__ = "ninja.openapi.views"
    routes = [path("add", view), path("items/<int:pk>", view), path("openapi.json", schema)]
    patterns = path("ninja/", include((routes, "api-1.0.0")))
    settings_of(ROOT_URLCONF=urls(patterns, companies=CompanyViewSet))
    words, _ = words_of_doctor()
    assert (
        "note 2 addresses of Django Ninja are not covered: only REST framework views are tools "
        "- /ninja/add is a Django Ninja view, and not covered: only REST framework views are tools "
        "- /ninja/items/<int:pk> is a Django Ninja view"
    ) in words, words


def test_doctor_reports_dispatch_patterns_that_add_nothing(crm, settings_of):
    settings_of(
        TOOLBOOTH={"DISPATCH": {"people": ["contacts"], "money": ["invoices"], "late": ["con*"]}}
    )
    words, code = words_of_doctor()
    assert code == 0
    for line in (
        "warning 2 patterns in TOOLBOOTH add nothing",
        "- TOOLBOOTH['DISPATCH']['money']: 'invoices' adds nothing: it matches no resource",
        "- TOOLBOOTH['DISPATCH']['late']: 'con*' adds nothing: everything that it",
        "-> correct or delete them; `mcp_tools` lists the names of tools and resources",
        " tools with 6 more behind them cost every agent ",
    ):
        assert line in words, words


def test_doctor_suggests_dispatchers_for_many_tools(crm, monkeypatch):
    monkeypatch.setattr(examinations, "MANY_TOKENS", 100)
    words, _ = words_of_doctor()
    assert re.search(r"warning \d+ tools cost every agent ", words)
    assert "-> TOOLBOOTH['DISPATCH'] = 'app' groups them behind a few tools" in words


def test_warnings_of_drf_spectacular_are_notes(settings_of, ann):
    class Untyped(serializers.Field):
        def to_internal_value(self, data):
            return data

    class Body(serializers.Serializer):
        thing = Untyped()

    class Thing(APIView):
        @extend_schema(request=Body)
        def post(self, request):
            return Response()

    settings_of(ROOT_URLCONF=urls(path("thing/", Thing.as_view(), name="thing")))
    words, code = words_of_doctor()
    assert code == 0
    assert "note thing__post: drf-spectacular: " in words
    assert "-> describe it with @extend_schema" in words


KEEPS_OUT = {
    "not mounted": (
        {"ROOT_URLCONF": urls(companies=CompanyViewSet, mcp=False)},
        'error the project has no MCP endpoint -> add path("mcp"',
    ),
    "no views": (
        {"ROOT_URLCONF": urls()},
        "error there is no tool -> add REST framework views",
    ),
    "none included": (
        {"ROOT_URLCONF": urls(companies=CompanyViewSet), "TOOLBOOTH": {"INCLUDE": ["x"]}},
        "error there is no tool -> widen TOOLBOOTH['INCLUDE']",
    ),
    "no hosts": (
        {"ROOT_URLCONF": urls(companies=CompanyViewSet), "ALLOWED_HOSTS": []},
        "error no request is answered: ALLOWED_HOSTS is empty",
    ),
    "something before it": (
        {
            "ROOT_URLCONF": urls(companies=CompanyViewSet),
            "MIDDLEWARE": [
                "django.contrib.sessions.middleware.SessionMiddleware",
                f"{__name__}.all_to_login",
            ],
        },
        "error an agent does not reach /mcp: something before it answers HTTP 302 -> find the",
    ),
    "a pattern before it": (
        {"ROOT_URLCONF": urls(path("<slug:any>", APIView.as_view()), companies=CompanyViewSet)},
        "error an agent does not reach /mcp: the pattern '<slug:any>' comes first, and matches",
    ),
    "a URLconf that fails": (
        {"ROOT_URLCONF": "nowhere.urls"},
        "error this check failed: ModuleNotF",
    ),
}


@pytest.mark.parametrize(("changes", "told"), KEEPS_OUT.values(), ids=KEEPS_OUT)
def test_settings_that_prevent_calls_by_agents_are_errors(settings_of, ann, changes, told):
    settings_of(**changes)
    words, code = words_of_doctor()
    assert (code, told in words) == (1, True), words
    assert words.count("this check failed") <= 1
    assert words.count("no MCP endpoint") <= 1


def all_to_login(get_response):
    return lambda request: HttpResponseRedirect("/login/")


def test_doctor_notes_that_atomic_requests_is_off(crm, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", False)
    words, code = words_of_doctor()
    assert (code, "note ATOMIC_REQUESTS is off for default" in words) == (0, True)


def cache(kind, location):
    module = {"LocMemCache": "locmem", "DummyCache": "dummy", "FileBasedCache": "filebased"}[kind]
    return {"BACKEND": f"django.core.cache.backends.{module}.{kind}", "LOCATION": str(location)}


CACHES = {
    "LocMemCache": "note workers do not share the cache 'kept': agents may not get the rest of a "
    "large result, and receipts may lack possible_duplicate_of -> with several workers",
    "DummyCache": "note the cache 'kept' keeps nothing: large results that cannot be repeated are "
    "returned whole, and receipts never have possible_duplicate_of -> name another cache",
    "FileBasedCache": "ok large results are kept in the cache 'kept'",
}


@pytest.mark.parametrize(("backend", "told"), CACHES.items(), ids=CACHES)
def test_doctor_reports_whether_the_cache_shares_large_results(
    crm, settings_of, tmp_path, backend, told
):
    kept = cache(backend, tmp_path)
    settings_of(CACHES={"default": kept, "kept": kept}, TOOLBOOTH={"CACHE": "kept"})
    words, code = words_of_doctor()
    assert (code, told in words) == (0, True), words


def test_doctor_names_the_field_that_replaces_a_protocol_argument(settings_of, ann):
    class Asking(serializers.Serializer):
        help = serializers.CharField()

    class Ask(APIView):
        permission_classes = [permissions.IsAuthenticated]

        @extend_schema(request=Asking)
        def post(self, request):
            return Response()

    settings_of(ROOT_URLCONF=urls(path("ask/", Ask.as_view(), name="ask")))
    words, code = words_of_doctor()
    assert code == 0
    assert (
        "note ask__post does not offer the protocol argument 'help': it has its own argument of that name "
        "-> to have both, rename the former: TOOLBOOTH['ARGUMENTS'] = {'help': 'mcp_help'}"
    ) in words


# --- before a deployment ---


def test_doctor_deploy_checks_production_settings(crm, settings_of, monkeypatch):
    settings_of(ALLOWED_HOSTS=["*"], DEBUG=True)
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", False)
    words, code = words_of_doctor("--deploy")
    assert code == 1
    for line in (
        "error DEBUG is on: failures show your code and settings to callers -> DEBUG = False",
        "warning workers do not share the cache 'default': agents may not get the rest of a large "
        "result, and receipts may lack possible_duplicate_of -> set CACHES['default'] to Redis",
        "warning a view that fails does not undo its writes in default -> "
        "DATABASES['default']['ATOMIC_REQUESTS'] = True",
        "warning agents send credentials with each request, and nothing in the settings asks for "
        "HTTPS -> SECURE_SSL_REDIRECT = True; behind a proxy",
        "warning ALLOWED_HOSTS has '*': requests for any host are answered",
        "note a call has no time limit of its own in Django",
    ):
        assert line in words, words
    assert "ATOMIC_REQUESTS is off" not in words  # it is reported once


def test_a_project_that_is_ready_has_nothing_to_correct(crm, settings_of, tmp_path):
    settings_of(
        CACHES={"default": cache("FileBasedCache", tmp_path)},
        SECURE_SSL_REDIRECT=True,
        SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"),
        ALLOWED_HOSTS=["api.example.org"],
    )
    words, code = words_of_doctor("--deploy")
    assert (code, "0 errors, 0 warnings, " in words) == (0, True), words
    for line in (
        "ok workers share the cache 'default'",
        "ok a call that fails is rolled back",
        "ok ALLOWED_HOSTS: api.example.org",
        "ok all migrations are applied",
        "note a request counts as HTTPS if it has HTTP_X_FORWARDED_PROTO: https",
    ):
        assert line in words, words
    settings_of(SECURE_PROXY_SSL_HEADER=None)
    assert (
        "behind a proxy that ends TLS, every request is redirected"
        in (words_of_doctor("--deploy")[0])
    )


def test_doctor_notes_that_throttles_trust_x_forwarded_for_without_num_proxies(crm, settings_of):
    throttled = ["rest_framework.throttling.AnonRateThrottle"]
    settings_of(REST_FRAMEWORK={"DEFAULT_THROTTLE_CLASSES": throttled})
    told = "note throttles count anonymous callers by X-Forwarded-For"
    assert told in words_of_doctor("--deploy")[0]
    settings_of(REST_FRAMEWORK={"DEFAULT_THROTTLE_CLASSES": throttled, "NUM_PROXIES": 1})
    assert told not in words_of_doctor("--deploy")[0]


def test_unapplied_migrations_are_an_error(crm):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
    try:
        words, code = words_of_doctor("--deploy")
        told = (
            "error the migration sessions.0001_initial is not applied to 'default' -> run `manage"
        )
        assert (code, told in words) == (1, True), words
    finally:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO django_migrations (app, name, applied) "
                "VALUES ('sessions', '0001_initial', CURRENT_TIMESTAMP)"
            )
