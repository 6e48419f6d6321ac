"""The API of the ledger."""

import contextlib
import os
from pathlib import Path

from django.db import IntegrityError, OperationalError, connection, transaction
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, views, viewsets
from rest_framework.response import Response

from gate import pass_gate
from ledger.models import Account, Entry, Remark, Ticket
from toolbooth.django.decorators import mcp_preview

LOCK_WAIT = {
    "postgresql": "SHOW lock_timeout",
    "mysql": "SELECT @@innodb_lock_wait_timeout",
    "sqlite": "PRAGMA busy_timeout",
}


class AccountSerializer(serializers.ModelSerializer):
    class Meta:
        model = Account
        fields = ["id", "name", "limit"]


class EntrySerializer(serializers.ModelSerializer):
    class Meta:
        model = Entry
        fields = ["id", "label", "amount", "account", "lock_wait"]


class TicketSerializer(serializers.ModelSerializer):
    class Meta:
        model = Ticket
        fields = ["id", "number"]
        # The database compares the numbers, when the transaction ends.
        extra_kwargs = {"number": {"validators": []}}


class AccountViewSet(viewsets.ModelViewSet):
    """Accounts: nothing but REST framework's own."""

    queryset = Account.objects.order_by("id")
    serializer_class = AccountSerializer


@mcp_preview
class EntryViewSet(viewsets.ModelViewSet):
    """Entries. Each creation runs a hook when it is committed."""

    queryset = Entry.objects.order_by("id")
    serializer_class = EntrySerializer

    def perform_create(self, serializer: EntrySerializer) -> None:
        entry = serializer.save(lock_wait=lock_wait())
        transaction.on_commit(lambda: run_hook(entry.label))


class GatedEntryViewSet(mixins.CreateModelMixin, viewsets.GenericViewSet):
    """Entries that are saved when the test allows it."""

    queryset = Entry.objects.order_by("id")
    serializer_class = EntrySerializer

    def perform_create(self, serializer: EntrySerializer) -> None:
        serializer.save(lock_wait=lock_wait())
        pass_gate(serializer.validated_data["label"])


class StubbornEntryViewSet(mixins.CreateModelMixin, viewsets.GenericViewSet):
    """Entries that are saved also if a limit could not be changed because of a deadlock. The
    database has rolled back the whole transaction then.
    """

    queryset = Entry.objects.order_by("id")
    serializer_class = EntrySerializer

    def perform_create(self, serializer: EntrySerializer) -> None:
        change_limit("first")
        pass_gate(serializer.validated_data["label"])
        with contextlib.suppress(OperationalError):
            change_limit("second")
        serializer.save(lock_wait=lock_wait())


class RemarkSerializer(serializers.ModelSerializer):
    class Meta:
        model = Remark
        fields = ["id", "text"]


class RemarkViewSet(viewsets.ModelViewSet):
    """Remarks, in a table that a test may convert to another engine."""

    queryset = Remark.objects.order_by("id")
    serializer_class = RemarkSerializer


class StatementSerializer(serializers.Serializer):
    sql = serializers.CharField()


@mcp_preview
class StatementView(views.APIView):
    """Writes a remark, and then runs a statement."""

    @extend_schema(request=StatementSerializer)
    def post(self, request):
        Remark.objects.create(text=request.data["sql"][:60])
        with connection.cursor() as cursor:
            cursor.execute(request.data["sql"])
        return Response({"done": True})


@mcp_preview
class CarelessView(views.APIView):
    """Ignores that a name is taken, and writes a remark then."""

    @extend_schema(request=AccountSerializer)
    def post(self, request):
        limit = connection.ops.quote_name("limit")
        insert = f"INSERT INTO ledger_account (name, {limit}) VALUES (%s, 0)"
        for _ in range(2):
            with contextlib.suppress(IntegrityError), connection.cursor() as cursor:
                cursor.execute(insert, [request.data["name"]])
        Remark.objects.create(text=request.data["name"])
        return Response({"done": True})


class TicketViewSet(viewsets.ModelViewSet):
    """Tickets."""

    queryset = Ticket.objects.order_by("id")
    serializer_class = TicketSerializer


def change_limit(name: str) -> None:
    """In one statement, without a savepoint."""
    column = connection.ops.quote_name("limit")
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE ledger_account SET {column} = {column} + 1 WHERE name = %s", [name])


def lock_wait() -> str:
    with connection.cursor() as cursor:
        cursor.execute(LOCK_WAIT[connection.vendor])
        return str(cursor.fetchone()[0])


def run_hook(label: str) -> None:
    """Write one line in a file that the test reads."""
    with Path(os.environ["SERVICES_HOOKS"]).open("a", encoding="utf-8") as file:
        file.write(f"{label}\n")
