"""Many rows in one call: which lists are rows, the contents of the answer, and views that accept
lists.

`test_bulk_all_or_none.py` tests that all rows are created or none.
"""

import json

import pytest
from django.urls import include, path
from drf_spectacular.utils import extend_schema
from rest_framework import generics, mixins, permissions, serializers, status, viewsets
from rest_framework.authentication import BasicAuthentication
from rest_framework.decorators import action
from rest_framework.parsers import FormParser
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Log, Site
from odd.serializers import SiteSerializer
from sales.models import Company, Contact
from sales.serializers import CompanySerializer, ContactSerializer
from sales.views import CompanyViewSet, ContactViewSet, DealViewSet, NoteViewSet
from toolbooth.django.decorators import mcp_bulk
from toolbooth.django.testing import acting_as


@mcp_bulk
class TakesListsByCreate(mixins.CreateModelMixin, viewsets.GenericViewSet):
    """As many projects write it."""

    queryset = Company.objects.all()
    serializer_class = CompanySerializer

    def create(self, request, *args, **kwargs):
        many = isinstance(request.data, list)
        Log.objects.create(line=f"{'list' if many else 'one'}: {json.dumps(request.data)}")
        serializer = self.get_serializer(data=request.data, many=many)
        serializer.is_valid(raise_exception=True)
        self.perform_create(serializer)
        return Response(serializer.data, status=status.HTTP_201_CREATED)


@mcp_bulk()
class TakesListsByGetSerializer(mixins.CreateModelMixin, viewsets.GenericViewSet):
    """As NetBox writes it."""

    queryset = Contact.objects.all()
    serializer_class = ContactSerializer

    def get_serializer(self, *args, **kwargs):
        if isinstance(kwargs.get("data"), list):
            kwargs["many"] = True
        return super().get_serializer(*args, **kwargs)

    def perform_create(self, serializer):
        Log.objects.create(line=type(serializer).__name__)
        serializer.save()


class TakesListsByRequest(TakesListsByGetSerializer):
    def get_serializer(self, *args, **kwargs):
        kwargs["many"] = isinstance(self.request.data, list)
        return viewsets.GenericViewSet.get_serializer(self, *args, **kwargs)


class AnswersInItsOwnWay(TakesListsByCreate):
    def create(self, request, *args, **kwargs):
        if isinstance(request.data, list):
            return Response({"job": 7}, status=status.HTTP_202_ACCEPTED)
        return super().create(request, *args, **kwargs)


class Unmarked(mixins.CreateModelMixin, viewsets.GenericViewSet):
    """Takes lists too, but does not declare it."""

    queryset = Company.objects.all()
    serializer_class = CompanySerializer

    def create(self, request, *args, **kwargs):
        Log.objects.create(line=type(request.data).__name__)
        serializer = self.get_serializer(data=request.data, many=isinstance(request.data, list))
        serializer.is_valid(raise_exception=True)
        self.perform_create(serializer)
        return Response(serializer.data, status=status.HTTP_201_CREATED)


class MarkedMethod(Unmarked):
    @mcp_bulk
    def create(self, request, *args, **kwargs):
        return super().create(request, *args, **kwargs)


@mcp_bulk
class MarkedPost(generics.CreateAPIView):
    queryset = Company.objects.all()
    serializer_class = CompanySerializer

    def get_serializer(self, *args, **kwargs):
        many = isinstance(kwargs.get("data"), list)
        return super().get_serializer(*args, many=many, **kwargs)

    def perform_create(self, serializer):
        Log.objects.create(line=type(self.request.data).__name__)
        serializer.save()


@mcp_bulk
class MarkedByMistake(mixins.CreateModelMixin, viewsets.GenericViewSet):
    queryset = Company.objects.all()
    serializer_class = CompanySerializer


@mcp_bulk
class MarkedWithForms(MarkedByMistake):
    """A form cannot hold a list of rows."""

    parser_classes = [FormParser]


class DeclaresLists(Unmarked):
    @extend_schema(request=CompanySerializer(many=True))
    def create(self, request, *args, **kwargs):
        return super().create(request, *args, **kwargs)


class TakesOnlyLists(generics.GenericAPIView):
    """The body is a list, and drf-spectacular knows it."""

    queryset = Company.objects.all()
    serializer_class = CompanySerializer

    def get_serializer(self, *args, **kwargs):
        return super().get_serializer(*args, many=True, **kwargs)

    def post(self, request):
        return self.create(request)

    def create(self, request):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data, status=status.HTTP_201_CREATED)


class Words(serializers.Serializer):
    word = serializers.CharField()
    data = serializers.ListField(child=serializers.CharField(), required=False)


class WordView(generics.CreateAPIView):
    """Has a field called `data`, and creates no row."""

    serializer_class = Words

    def create(self, request, *args, **kwargs):
        words = Words(data=request.data)
        words.is_valid(raise_exception=True)
        Log.objects.create(line=words.validated_data["word"])
        return Response({"said": words.validated_data})


class OfSite(viewsets.ModelViewSet):
    """Below another row: the site is in the address."""

    queryset = Site.objects.all()
    serializer_class = SiteSerializer

    def perform_create(self, serializer):
        serializer.save(name=f"{self.kwargs['area']}: {serializer.validated_data['name']}")


class Slow(BasicAuthentication):
    asked = 0

    def authenticate_credentials(self, *args, **kwargs):
        Slow.asked += 1
        return super().authenticate_credentials(*args, **kwargs)


class Guarded(CompanyViewSet):
    authentication_classes = [Slow]
    permission_classes = [permissions.DjangoModelPermissions]


class Urls:
    router = SimpleRouter()
    router.register("contacts", ContactViewSet, "contacts")
    router.register("companies", CompanyViewSet, "companies")
    router.register("deals", DealViewSet, "deals")
    router.register("notes", NoteViewSet, "notes")
    router.register("bycreate", TakesListsByCreate, "bycreate")
    router.register("bygetserializer", TakesListsByGetSerializer, "bygetserializer")
    router.register("byrequest", TakesListsByRequest, "byrequest")
    router.register("ownway", AnswersInItsOwnWay, "ownway")
    router.register("unmarked", Unmarked, "unmarked")
    router.register("method", MarkedMethod, "method")
    router.register("mistake", MarkedByMistake, "mistake")
    router.register("forms", MarkedWithForms, "forms")
    router.register("declares", DeclaresLists, "declares")
    router.register("guarded", Guarded, "guarded")
    router.register(r"in/(?P<area>\w+)/sites", OfSite, "sites")
    urlpatterns = [
        path("api/", include(router.urls)),
        path("onlylists/", TakesOnlyLists.as_view(), name="onlylists"),
        path("post/", MarkedPost.as_view(), name="post"),
        path("words/", WordView.as_view(), name="words"),
        path("mcp/", include("toolbooth.django.urls")),
    ]


class Few:
    router = SimpleRouter()
    router.register("contacts", ContactViewSet, "contacts")
    urlpatterns = [
        path("api/", include(router.urls)),
        path("mcp/", include("toolbooth.django.urls")),
    ]


@pytest.fixture
def call(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    return acting_as(ann).call


@pytest.fixture
def call_few(settings_of, ann):
    settings_of(ROOT_URLCONF=Few)
    return acting_as(ann).call


TWO = [{"email": "ann@x.io", "first_name": "Ann"}, {"email": "bob@x.io", "notes": "n"}]


def contacts():
    return sorted(Contact.objects.values_list("email", "first_name", "notes"))


# --- lists that are rows ---


@pytest.mark.parametrize("key", ["objects", "data", "items", "_items", "body"])
@pytest.mark.parametrize("form", ["list", "list as text", "all as text", "all as text, twice"])
def test_a_list_under_one_of_five_keys_creates_a_row_per_item(call_few, key, form):
    sent = {
        "list": {key: TWO},
        "list as text": {key: json.dumps(TWO)},
        "all as text": json.dumps({key: TWO}),
        "all as text, twice": json.dumps(json.dumps({key: TWO})),
    }[form]
    result = call_few("contacts__create", sent)
    assert contacts() == [("ann@x.io", "Ann", ""), ("bob@x.io", "", "n")]
    assert result.value == {
        "created": 2,
        "order": "as sent",
        "ids": [str(Contact.objects.get(email=each["email"]).pk) for each in TWO],
    }
    assert [each.code for each in result.repairs] == ([] if form == "list" else ["json-text"])


def test_sixty_rows_are_answered_with_their_ids_and_little_more(call_few):
    result = call_few("contacts__create", objects=[{"email": f"{n}@x.io"} for n in range(60)])
    ids = [str(Contact.objects.get(email=f"{n}@x.io").pk) for n in range(60)]
    assert result.value == {"created": 60, "order": "as sent", "ids": ids}
    assert len(result.text) - len(json.dumps(ids, separators=(",", ":"))) <= 120


def test_verify_gives_the_rows_whole(call):
    result = call("companies__create", {"objects": [{"name": "Acme"}], "verify": True})
    acme = Company.objects.get()
    assert result.value == {
        "results": [{"id": acme.pk, "name": "Acme", "website": "", "employees": None}]
    }


def test_key_added_by_the_client_is_dropped_beside_objects(call):
    result = call("companies__create", {"objects": [{"name": "Acme"}], "toolCallId": "c1"})
    assert (result.value["created"], [each.code for each in result.repairs]) == (1, ["client-key"])


def test_url_kwarg_is_sent_beside_the_rows(call):
    rows = [{"slug": "hq", "name": "HQ"}, {"slug": "lab", "name": "Lab"}]
    assert call("sites__create", {"area": "north", "objects": rows}).value["created"] == 2
    assert sorted(Site.objects.values_list("slug", "name")) == [
        ("hq", "north: HQ"),
        ("lab", "north: Lab"),
    ]
    missing = call("sites__create", {"objects": rows})
    assert [(each.code, each.where) for each in missing.problems] == [("missing", "$.area")]


def test_a_declared_field_named_like_a_bulk_key_stays_a_field(call):
    assert call("words__create", {"word": "a", "data": ["b"]}).value == {
        "said": {"word": "a", "data": ["b"]}
    }
    refused = call("words__create", {"data": ["b"]})
    assert [(each.code, each.where) for each in refused.problems] == [("missing", "$.word")]
    assert call("words__create", {"items": [{"word": "c"}]}).value == {
        "created": 1,
        "results": [{"said": {"word": "c"}}],
    }


@pytest.mark.parametrize(
    ("sent", "problems"),
    {
        "an object": ({"objects": TWO[0]}, [("nested-wrapper", "$.objects")]),
        "an object as text": ({"data": json.dumps(TWO[0])}, [("nested-wrapper", "$.data")]),
        "in a wrapper": ({"data": {"objects": TWO}}, [("nested-wrapper", "$.data")]),
        "beside a field": ({"email": "c@x.io", "objects": TWO}, [("unknown-key", "$.email")]),
        "beside a field of none": (
            {"notes": "n", "objects": [{"email": "c@x.io"}]},
            [("unknown-key", "$.notes")],
        ),
        "beside a field of one": (
            {"email": "c@x.io", "objects": [{"notes": "n"}]},
            [("unknown-key", "$.email")],
        ),
        "two lists": ({"objects": TWO, "data": TWO}, [("unknown-key", "$.data")]),
        "beside what is unknown": ({"objects": TWO, "atomic": True}, [("unknown-key", "$.atomic")]),
        "another key": ({"contacts": TWO}, [("unknown-key", "$.contacts")]),
        "numbers": ({"objects": [1]}, [("wrong-type", "$.objects[0]")]),
        "no rows": ({"objects": []}, [("invalid", "$.objects")]),
        "a wrapper in a row": (
            {"objects": [TWO[0], {"data": TWO[1]}]},
            [("nested-wrapper", "$.objects[1].data")],
        ),
        "a wrapper in a row, as text": (
            {"objects": [TWO[0], {"body": json.dumps(TWO[1])}]},
            [("nested-wrapper", "$.objects[1].body")],
        ),
        "half a row in a wrapper": (
            {"objects": [{"email": "a@x.io", "fields": {"notes": "n"}}]},
            [("nested-wrapper", "$.objects[0].fields")],
        ),
        "a misspelt field in a row": (
            {"objects": [TWO[0], {"emial": "c@x.io"}]},
            [("unknown-key", "$.objects[1].emial")],
        ),
        "a re-cased field in a row": (
            {"items": [{"firstName": "Ann"}]},
            [("unknown-key", "$.items[0].firstName")],
        ),
    }.values(),
    ids=lambda each: None,
)
def test_invalid_bulk_body_is_refused_and_makes_no_row(call_few, sent, problems):
    result = call_few("contacts__create", sent)
    assert [(each.code, each.where) for each in result.problems] == problems
    assert contacts() == []


def test_the_corrected_call_has_every_row(call):
    result = call("contacts__create", {"objects": [TWO[0], {"data": TWO[1]}]})
    assert result.corrected == {"objects": TWO}


def test_more_rows_than_the_limit_are_refused_with_the_limit(settings_of, call):
    settings_of(TOOLBOOTH={"MAX_BULK": 2})
    result = call("companies__create", objects=[{"name": f"c{n}"} for n in range(3)])
    assert result.text.splitlines()[1] == "- $.objects: takes 1 to 2 rows in one call, not 3"
    assert Company.objects.count() == 0


def test_bulk_create_is_described_in_one_sentence(call, ann):
    tools = acting_as(ann).tools()
    assert tools["contacts__create"]["description"] == (
        'Create a contact. Many: {"objects": [{…}]}, all or none.'
    )
    assert "objects" not in tools["contacts__update"]["description"]


# --- permission to create ---


def test_permissions_hold_before_the_first_row(mcp, settings_of):
    settings_of(ROOT_URLCONF=Urls)
    Slow.asked = 0
    result = mcp("guarded__create", {"objects": [{"name": f"c{n}"} for n in range(5)]})
    assert result["isError"] is True
    assert "permission" in result["content"][0]["text"]
    # The first row's view refuses; it runs once more to give the refusal the boundary's form.
    assert (Slow.asked, Company.objects.count()) == (2, 0)


# --- hosts that accept lists themselves ---


def test_a_host_that_accepts_lists_gets_the_list_unchanged(call):
    rows = [{"name": "a"}, {"name": "b", "employees": 3}]
    result = call("bycreate__create", objects=rows)
    assert [each.line for each in Log.objects.all()] == [f"list: {json.dumps(rows)}"]
    assert result.value == {
        "created": 2,
        "ids": list(Company.objects.order_by("name").values_list("pk", flat=True)),
    }
    refused = call("bycreate__create", objects=[{"name": "c"}, {"name": "a"}, {"nmae": "d"}])
    assert [each.where for each in refused.problems] == ["$.objects[2].nmae"]
    refused = call("bycreate__create", objects=[{"name": "c"}, {"name": "a"}])
    assert [(each.where, each.message) for each in refused.problems] == [
        ("$.objects[1].name", "company with this name already exists.")
    ]
    assert Company.objects.count() == 2


@pytest.mark.parametrize("tool", ["bygetserializer__create", "byrequest__create"])
def test_a_host_whose_serializer_accepts_lists_gets_relations_by_key(call, tool):
    Company.objects.create(name="Acme")
    rows = [{"email": "a@x.io", "company": {"name": "Acme"}}, {"email": "b@x.io"}]
    assert call(tool, data=rows).value["created"] == 2
    assert [each.line for each in Log.objects.all()] == ["ListSerializer"]
    assert Contact.objects.get(email="a@x.io").company.name == "Acme"
    refused = call(tool, data=[rows[1], {"company": {"name": "No"}}, {"company": {"name": "Nor"}}])
    assert [each.where for each in refused.problems] == ["$.data[1].company", "$.data[2].company"]


def test_a_host_answers_a_list_in_its_own_way(call):
    assert call("ownway__create", objects=[{"name": "a"}]).value == {"job": 7}


@pytest.mark.parametrize(
    ("tool", "kinds"),
    [
        ("unmarked__create", ["dict", "dict"]),
        ("method__create", ["list"]),
        ("post__create", ["list"]),
        ("declares__create", ["list"]),
    ],
)
def test_a_list_is_passed_on_only_if_the_view_is_marked_or_declares_one(call, tool, kinds):
    """The code of the view is not analysed."""
    result = call(tool, objects=[{"name": "a"}, {"name": "b", "employees": 3}])
    rows = Company.objects.order_by("name")
    order = {"order": "as sent"} if kinds == ["dict", "dict"] else {}
    assert result.value == {"created": 2, **order, "ids": [row.pk for row in rows]}
    assert [(row.name, row.employees) for row in rows] == [("a", None), ("b", 3)]
    assert [each.line for each in Log.objects.all()] == kinds
    refused = call(tool, objects=[{"name": "c"}, {"name": "a"}])
    assert [each.where for each in refused.problems] == ["$.objects[1].name"]
    assert Company.objects.count() == 2, "all rows or none"


def test_single_row_for_a_marked_view_is_sent_as_an_object(call):
    assert call("method__create", name="a").value["name"] == "a"
    assert [each.line for each in Log.objects.all()] == ["dict"]


def test_bulk_refusal_of_a_marked_view_without_many_comes_from_the_view(call):
    refused = call("mistake__create", objects=[{"name": "a"}])
    assert [(each.where, each.message) for each in refused.problems] == [
        ("$.objects", "Invalid data. Expected a dictionary, but got list.")
    ]
    assert Company.objects.count() == 0


def test_a_marked_view_that_accepts_only_forms_gets_its_rows_one_by_one(call):
    assert call("forms__create", objects=[{"name": "a"}, {"name": "b"}]).value["created"] == 2
    assert sorted(each.name for each in Company.objects.all()) == ["a", "b"]


@pytest.mark.parametrize("key", ["objects", "data"])
def test_a_host_that_accepts_only_lists_has_the_same_receipt(call, key):
    result = call("onlylists__create", {key: [{"name": "a"}, {"name": "b"}]})
    assert result.value == {
        "created": 2,
        "ids": [each.pk for each in Company.objects.order_by("name")],
    }
    refused = call("onlylists__create", {key: [{"name": "c"}, {"name": "a"}]})
    assert [each.where for each in refused.problems] == [f"$.{key}[1].name"]
    assert Company.objects.count() == 2


# --- separate tools ---


def test_bulk_tools_are_published_if_configured(settings_of, call, ann):
    settings_of(TOOLBOOTH={"BULK_TOOLS": True, "MAX_BULK": 3})
    tools = acting_as(ann).tools()
    assert "objects" not in tools["companies__create"]["description"]
    published = tools["companies__bulk_create"]
    assert (published["title"], published["description"]) == (
        "Create many companies",
        "Create many companies: all are made, or none.",
    )
    rows = published["inputSchema"]["properties"]["objects"]
    assert (rows["minItems"], rows["maxItems"], rows["items"]["required"]) == (1, 3, ["name"])
    assert set(rows["items"]["properties"]) == {"name", "website", "employees"}
    assert published["inputSchema"]["required"] == ["objects"]
    assert call("companies__bulk_create", objects=[{"name": "a"}]).value["created"] == 1
    assert call("companies__bulk_create", data=[{"name": "b"}]).value["created"] == 1
    assert call("companies__create", objects=[{"name": "c"}]).value["created"] == 1
    nothing = call("companies__bulk_create", {})
    assert [(each.code, each.where) for each in nothing.problems] == [("missing", "$.objects")]
    assert "onlylists__bulk_create" not in tools


def test_a_hosts_own_bulk_create_keeps_its_name(settings_of, ann):
    class Own(CompanyViewSet):
        @action(detail=False, methods=["post"], serializer_class=Words)
        def bulk_create(self, request):
            return Response({"mine": request.data["word"]})

    class Clashing:
        router = SimpleRouter()
        router.register("companies", Own, "companies")
        urlpatterns = [
            path("zzz/", include(router.urls)),
            path("mcp/", include("toolbooth.django.urls")),
        ]

    settings_of(ROOT_URLCONF=Clashing, TOOLBOOTH={"BULK_TOOLS": True})
    assert acting_as(ann).call("companies__bulk_create", word="w").value == {"mine": "w"}


def test_callers_without_permission_to_create_are_not_listed_the_bulk_tool(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"BULK_TOOLS": True})
    tools = acting_as(ann).tools()
    assert "guarded__create" not in tools
    assert "guarded__bulk_create" not in tools
    refused = acting_as(ann).call("guarded__bulk_create", nonsense=1)
    assert refused.problems == ()
    assert "permission" in refused.text
