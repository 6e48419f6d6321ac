"""Views that write lines of a log, each in its own way: the API that the tests of idempotency keys
call.
"""

import threading
from contextlib import suppress

from django.db import IntegrityError, connection, transaction
from django.urls import include, path
from django.utils.decorators import method_decorator
from rest_framework import permissions, views, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.throttling import UserRateThrottle

from odd.models import Log
from odd.serializers import LogSerializer
from toolbooth.django.decorators import mcp_idempotent, mcp_preview

let_in = {"may": True}
"""Whether `Guarded` permits every call."""

started = threading.Event()
go_on = threading.Event()
"""`Slow` sets this when it runs, and waits."""


class Lines(viewsets.ModelViewSet):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer


class Open(Lines):
    permission_classes = [permissions.AllowAny]


class Guarded(Lines):
    def check_permissions(self, request):
        super().check_permissions(request)
        if not let_in["may"]:
            self.permission_denied(request, message="closed")


class GuardedInitially(Lines):
    """Lets callers in by code of its own."""

    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        if not let_in["may"]:
            self.permission_denied(request, message="closed")


class Catching(Lines):
    """Works around an error of the database, without a savepoint."""

    @mcp_preview
    def create(self, request, *args, **kwargs):
        first = Log.objects.create(line="first")
        with suppress(IntegrityError):
            Log.objects.create(pk=first.pk, line="second")
        return super().create(request, *args, **kwargs)


@mcp_preview
class Hiding(views.APIView):
    """Answers after an error of the database as if nothing had happened."""

    def post(self, request):
        first = Log.objects.create(line="first")
        with suppress(IntegrityError):
            first.save(force_insert=True)
        return Response({"done": True})


class Locking(Lines):
    """Uses rows that it locks, and rows that it creates if they are not there."""

    def perform_create(self, serializer):
        line = serializer.validated_data["line"]
        row, _ = Log.objects.select_for_update().get_or_create(line=line)
        with suppress(IntegrityError), transaction.atomic():
            Log.objects.create(pk=row.pk, line="second")
        serializer.instance = row


class Slow(Lines):
    def perform_create(self, serializer):
        serializer.save()
        started.set()
        go_on.wait(10)


class Failing(Lines):
    def perform_create(self, serializer):
        serializer.save()
        if serializer.validated_data["line"] == "refused":
            raise ValidationError({"line": ["no"]})
        if serializer.validated_data["line"] == "raises":
            raise RuntimeError

    @action(detail=False, methods=["post"], serializer_class=LogSerializer)
    def answers(self, request):
        Log.objects.create(line=request.data["line"])
        return Response({"line": ["no"]}, status=400)


class FewADay(UserRateThrottle):
    scope = "few"
    rate = "3/day"


class Throttled(Failing):
    throttle_classes = [FewADay]


@method_decorator(transaction.non_atomic_requests, name="dispatch")
class Free(Lines):
    pass


class Durable(Lines):
    @transaction.atomic(durable=True)
    def create(self, request, *args, **kwargs):
        return super().create(request, *args, **kwargs)


class DurableInside(Lines):
    def perform_create(self, serializer):
        with transaction.atomic(durable=True):
            serializer.save()


def write_durably(serializer):
    with transaction.atomic(durable=True):
        serializer.save()


class DurableBelow(Lines):
    """Its own code does not show it."""

    def perform_create(self, serializer):
        Log.objects.create(line="before")
        write_durably(serializer)


class Elsewhere(Lines):
    def perform_create(self, serializer):
        serializer.save()
        Log.objects.using("other").create(line="there")


class ElsewhereQuietly(Lines):
    def perform_create(self, serializer):
        serializer.save()
        try:
            Log.objects.using("other").create(line="there")
        except Exception:
            Log.objects.create(line="caught")


@mcp_preview
class Committing(Lines):
    def perform_create(self, serializer):
        serializer.save()
        with connection.cursor() as cursor:
            cursor.execute("COMMIT")


@mcp_preview
class CommittingQuietly(Lines):
    def perform_create(self, serializer):
        serializer.save()
        with suppress(Exception), connection.cursor() as cursor:
            cursor.execute("/* of a tracer */ commit")


class Updated(Lines):
    def perform_update(self, serializer):
        serializer.save(line="other")


class Marked(Lines):
    @mcp_idempotent
    @action(detail=False, methods=["post"], serializer_class=LogSerializer)
    def ensure(self, request):
        return Response({"id": Log.objects.get_or_create(line=request.data["line"])[0].pk})


class Urls:
    router = SimpleRouter()
    for view in (
        Lines,
        Open,
        Guarded,
        GuardedInitially,
        Catching,
        Locking,
        Slow,
        Failing,
        Throttled,
        Free,
        Durable,
        DurableInside,
        DurableBelow,
        Elsewhere,
        ElsewhereQuietly,
        Committing,
        CommittingQuietly,
        Updated,
        Marked,
    ):
        router.register(view.__name__.lower(), view, view.__name__.lower())
    urlpatterns = [
        path("api/", include(router.urls)),
        path("api/hiding/", Hiding.as_view(), name="hiding"),
        path("mcp/", include("toolbooth.django.urls")),
    ]
