"""An API whose writes can be previewed, and views that differ from those in one thing each."""

from typing import Any, ClassVar

from django.contrib import messages
from django.db import models, transaction
from django.urls import include, path
from django.utils.decorators import method_decorator
from rest_framework import generics, serializers, throttling, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import DjangoModelPermissions
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Annex, Badge, Depot, Device, Log, Part, Rack, Site, Thing, Vendor
from sales.models import Company, Deal, Note, Tag
from sales.views import CompanyViewSet, ContactViewSet, DealViewSet, NoteViewSet, TagViewSet
from toolbooth.django.decorators import mcp_preview

HOOKS: list[str] = []
"""The code that ran after a commit."""


def serializer_of(model: type[models.Model], *fields: str) -> type[serializers.ModelSerializer]:
    meta = type("Meta", (), {"model": model, "fields": list(fields) or "__all__"})
    return type(f"{model.__name__}Serializer", (serializers.ModelSerializer,), {"Meta": meta})


def stock(model: type[models.Model], *fields: str) -> type[viewsets.ModelViewSet]:
    """A view set that is REST framework's own in everything."""
    attributes = {
        "queryset": model._default_manager.all(),
        "serializer_class": serializer_of(model, *fields),
        "__module__": __name__,
    }
    return type(f"{model.__name__}ViewSet", (viewsets.ModelViewSet,), attributes)


STOCK = {
    "sites": stock(Site),
    "depots": stock(Depot),
    "annexes": stock(Annex),
    "devices": stock(Device),
    "parts": stock(Part),
    "racks": stock(Rack),
    "vendors": stock(Vendor),
    "badges": stock(Badge),
}


class Stock:
    router = SimpleRouter()
    router.register("companies", CompanyViewSet, "companies")
    router.register("tags", TagViewSet, "tags")
    router.register("contacts", ContactViewSet, "contacts")
    router.register("deals", DealViewSet, "deals")
    router.register("notes", NoteViewSet, "notes")
    for name, view in STOCK.items():
        router.register(name, view, name)
    urlpatterns = [
        path("api/", include(router.urls)),
        path("mcp/", include("toolbooth.django.urls")),
    ]


# --- views that are not offered, each for one reason ---


class OwnPerform(CompanyViewSet):
    def perform_create(self, serializer: Any) -> None:
        serializer.save()


class OwnCreate(CompanyViewSet):
    def create(self, *args: Any, **kwargs: Any) -> Response:
        return super().create(*args, **kwargs)


class OwnDispatch(CompanyViewSet):
    def dispatch(self, *args: Any, **kwargs: Any) -> Any:
        return super().dispatch(*args, **kwargs)


def counted(view: Any) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        HOOKS.append("counted")
        return view(*args, **kwargs)

    return wrapper


@method_decorator(counted, name="dispatch")
class Decorated(CompanyViewSet):
    pass


class OwnSave(serializers.ModelSerializer):
    class Meta:
        model = Company
        fields = ("id", "name")

    def save(self, **kwargs: Any) -> Any:
        return super().save(**kwargs)


class OwnSerializer(CompanyViewSet):
    serializer_class = OwnSave


class Plain(serializers.Serializer):
    name = serializers.CharField()

    def create(self, validated_data: dict[str, Any]) -> Any:
        return Company.objects.create(**validated_data)


class NoModelSerializer(CompanyViewSet):
    serializer_class = Plain


class Loud(Vendor):
    """A model with its own `save`."""

    class Meta:
        proxy = True
        app_label = "odd"

    def save(self, *args: Any, **kwargs: Any) -> None:
        HOOKS.append("saved")
        super().save(*args, **kwargs)


class LoudQuerySet(models.QuerySet):
    def create(self, **kwargs: Any) -> Any:
        HOOKS.append("created")
        return super().create(**kwargs)


class LoudManager(models.Manager):
    def get_queryset(self) -> LoudQuerySet:
        return LoudQuerySet(self.model, using=self._db)


class Managed(Vendor):
    """A model whose manager writes in its own way."""

    objects = LoudManager()

    class Meta:
        proxy = True
        app_label = "odd"


class Calm(Vendor):
    """A model of which a test connects receivers."""

    class Meta:
        proxy = True
        app_label = "odd"


OwnModel, OwnManager, Receiving = (
    stock(each, "id", "name", "code") for each in (Loud, Managed, Calm)
)
Filed = stock(Thing, "id", "title", "scan")


# --- views with and without a promise of their authors ---


class Promised(DealViewSet):
    """Writes in its own way, but to the database alone."""

    @mcp_preview
    def create(self, *args: Any, **kwargs: Any) -> Response:
        transaction.on_commit(lambda: HOOKS.append("hook"))
        transaction.on_commit(lambda: HOOKS.append("robust"), robust=True)
        with transaction.atomic():
            transaction.on_commit(lambda: HOOKS.append("inner"))
        return super().create(*args, **kwargs)

    @mcp_preview
    @action(detail=True, methods=["post"])
    def double(self, request: Any, pk: Any = None) -> Response:
        deal = self.get_object()
        Deal.objects.create(title=f"{deal.title} again", company=deal.company)
        return Response({"deals": Deal.objects.count()})

    @action(detail=True, methods=["post"])
    def drop(self, request: Any, pk: Any = None) -> Response:
        self.get_object().delete()
        return Response({})


class LineSerializer(serializers.Serializer):
    line = serializers.CharField()


@mcp_preview
class Touching(generics.GenericAPIView):
    """Leaves something in the session, and a message for its user."""

    serializer_class = LineSerializer

    def post(self, request: Any) -> Response:
        Log.objects.create(line=request.data["line"])
        request.session["seen"] = [*request.session.get("seen", []), request.data["line"]]
        messages.info(request._request, request.data["line"])
        return Response({"preview": "own", "seen": request.session["seen"]})


@mcp_preview
class Dangling(generics.GenericAPIView):
    """Breaks a foreign key, which the database notices at the commit."""

    serializer_class = LineSerializer

    def post(self, request: Any) -> Response:
        Deal.objects.create(title=request.data["line"], company_id=404)
        return Response({})


@mcp_preview
class Elsewhere(generics.GenericAPIView):
    """Writes to two databases."""

    serializer_class = LineSerializer

    def post(self, request: Any) -> Response:
        for alias in ("default", "second"):
            Log.objects.using(alias).create(line=request.data["line"])
            transaction.on_commit(lambda: HOOKS.append("hook"), using=alias)
        return Response({"rows": Log.objects.using("second").count()})


class FewADay(throttling.UserRateThrottle):
    rate = "3/day"


class Throttled(CompanyViewSet):
    throttle_classes: ClassVar = [FewADay]


class Permitted(CompanyViewSet):
    permission_classes: ClassVar = [DjangoModelPermissions]


class ByCaller(CompanyViewSet):
    """Takes another serializer for one caller."""

    def get_serializer_class(self) -> Any:
        if self.request.user.username == "eve":
            return OwnSave
        return super().get_serializer_class()


class NoteByOwner(NoteViewSet):
    queryset = Note.objects.all()
    perform_create = generics.CreateAPIView.perform_create


class Others:
    router = SimpleRouter()
    router.register("ownperform", OwnPerform, "ownperform")
    router.register("owncreate", OwnCreate, "owncreate")
    router.register("owndispatch", OwnDispatch, "owndispatch")
    router.register("decorated", Decorated, "decorated")
    router.register("ownserializer", OwnSerializer, "ownserializer")
    router.register("nomodel", NoModelSerializer, "nomodel")
    router.register("ownmodel", OwnModel, "ownmodel")
    router.register("ownmanager", OwnManager, "ownmanager")
    router.register("receiving", Receiving, "receiving")
    router.register("filed", Filed, "filed")
    router.register("promised", Promised, "promised")
    router.register("throttled", Throttled, "throttled")
    router.register("permitted", Permitted, "permitted")
    router.register("bycaller", ByCaller, "bycaller")
    router.register("companies", CompanyViewSet, "companies")
    router.register("contacts", ContactViewSet, "contacts")
    router.register("tags", TagViewSet, "tags")
    wrapped = CompanyViewSet.as_view({"post": "create"})
    urlpatterns = [
        path("api/", include(router.urls)),
        path("api/touching/", Touching.as_view(), name="touching"),
        path("api/elsewhere/", Elsewhere.as_view(), name="elsewhere"),
        path("api/dangling/", Dangling.as_view(), name="dangling"),
        path("mcp/", include("toolbooth.django.urls")),
    ]


__all__ = ["HOOKS", "STOCK", "Others", "Stock", "Tag"]
