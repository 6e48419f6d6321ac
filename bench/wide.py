"""Writes a Django project of 1,700 REST actions in plain source; `python bench/wide.py DIRECTORY`
to read it.

Seventeen apps of a hundred actions each. An app has 14 resources with all six actions, 8 of which
have a POST action of their own besides, and 4 resources that can only be listed and read. The
content of a resource is drawn from one palette by a seeded random: 4 to 11 fields (text, addresses,
numbers, decimals, dates, choices, JSON), up to two foreign keys and a many-to-many relation, some
help texts. Lists are paged; every other one has filters (with ranges on numbers and dates), search
and ordering.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

ACTIONS = 1700
APPS = [
    "assets",
    "billing",
    "catalogue",
    "circuits",
    "delivery",
    "events",
    "fleet",
    "helpdesk",
    "ledger",
    "network",
    "payroll",
    "people",
    "planning",
    "purchasing",
    "quality",
    "stock",
    "training",
]
NOUNS = [
    "accounts",
    "batches",
    "contracts",
    "devices",
    "entries",
    "forms",
    "groups",
    "items",
    "jobs",
    "kinds",
    "locations",
    "orders",
    "plans",
    "roles",
    "regions",
    "sources",
    "statuses",
    "units",
]
READ_ONLY = NOUNS[-4:]
OWN_ACTIONS = ["approve", "archive", "assign", "cancel", "close", "publish", "release", "renew"]
"""One each for the first resources of an app."""

FIELDS = {
    "name": "models.CharField(max_length=100{})",
    "slug": "models.SlugField(max_length=50, unique=True{})",
    "title": "models.CharField(max_length=200, blank=True{})",
    "description": "models.TextField(blank=True{})",
    "status": 'models.CharField(max_length=20, default="draft", '
    'choices=choices("draft active paused closed"){})',
    "priority": "models.CharField(max_length=10, blank=True, "
    'choices=choices("low normal high urgent"){})',
    "kind": 'models.CharField(max_length=20, choices=choices("internal external shared"){})',
    "quantity": "models.PositiveIntegerField(default=1{})",
    "position": "models.IntegerField(null=True, blank=True{})",
    "price": "models.DecimalField(max_digits=12, decimal_places=2{})",
    "weight": "models.FloatField(null=True, blank=True{})",
    "active": "models.BooleanField(default=True{})",
    "starts_on": "models.DateField(null=True, blank=True{})",
    "ends_on": "models.DateField(null=True, blank=True{})",
    "checked_at": "models.DateTimeField(null=True, blank=True{})",
    "email": "models.EmailField(blank=True{})",
    "website": "models.URLField(blank=True{})",
    "reference": "models.UUIDField(null=True, blank=True{})",
    "settings": "models.JSONField(default=dict, blank=True{})",
    "comments": "models.TextField(blank=True{})",
}
RELATIONS = {
    "parent": 'models.ForeignKey("{}", null=True, blank=True, '
    'on_delete=models.SET_NULL, related_name="+")',
    "owner": 'models.ForeignKey("{}", on_delete=models.CASCADE, related_name="+")',
    "members": 'models.ManyToManyField("{}", blank=True, related_name="+")',
}
HELP = {
    "slug": "Short name for use in addresses",
    "status": "Where this stands in its life",
    "quantity": "How many there are of it",
    "price": "Without tax, in the account's own currency",
    "checked_at": "When somebody last looked at it",
    "settings": "Anything that the other fields have no room for",
}
FILTERED = ("status", "priority", "kind", "active", "quantity", "starts_on", "parent", "owner")
RANGED = ("quantity", "starts_on")
ORDERED = ("name", "slug", "title", "quantity", "price", "starts_on")
SEARCHED = ("name", "slug", "title", "description", "comments")

Fields = dict[str, str]
"""How a resource's fields are declared, by name."""


def write(home: Path) -> None:
    """Write a package for each app, and `wide_urls.router`."""
    drawn = random.Random(ACTIONS)
    for app in APPS:
        resources = {
            noun: _fields(drawn, [_class(app, each) for each in NOUNS[:number]])
            for number, noun in enumerate(NOUNS)
        }
        (home / app).mkdir(parents=True)
        (home / app / "__init__.py").write_text("")
        (home / app / "models.py").write_text(
            _MODELS + "".join(_model(app, *each) for each in resources.items())
        )
        (home / app / "api.py").write_text(
            _API.format(app=app) + "".join(_view(app, *each) for each in resources.items())
        )
    imports = "".join(f"from {app} import api as {app}\n" for app in APPS)
    registered = (
        f'router.register("{app}/{noun}", {app}.{_class(app, noun)}ViewSet, "{app}_{noun}")'
        for app in APPS
        for noun in NOUNS
    )
    (home / "wide_urls.py").write_text(imports + _ROUTER + "\n".join(registered) + "\n")


def _fields(drawn: random.Random, before: list[str]) -> Fields:
    """The fields of a resource, which may be related to earlier ones."""
    chosen = {"name", *drawn.sample(list(FIELDS)[1:], drawn.randint(3, 10))}
    made = {name: FIELDS[name].format(_help(name, drawn)) for name in FIELDS if name in chosen}
    for name, declared in RELATIONS.items():
        if before and drawn.random() < 0.5:
            made[name] = declared.format(drawn.choice(before))
    return made


def _help(name: str, drawn: random.Random) -> str:
    return f', help_text="{HELP[name]}"' if name in HELP and drawn.random() < 0.7 else ""


def _model(app: str, noun: str, fields: Fields) -> str:
    lines = "".join(f"    {name} = {declared}\n" for name, declared in fields.items())
    return f"\n\nclass {_class(app, noun)}(models.Model):\n{lines}"


def _view(app: str, noun: str, fields: Fields) -> str:
    number = NOUNS.index(noun)
    return _VIEW.format(
        name=_class(app, noun),
        fields=["id", *fields],
        kind="ReadOnlyModelViewSet" if noun in READ_ONLY else "ModelViewSet",
        said=f"{noun.capitalize()} of {app}.",
        filters="" if number % 2 else _filters(fields),
        reason=_REASON.format(name=_class(app, noun)) if number < len(OWN_ACTIONS) else "",
        action=_ACTION.format(name=_class(app, noun), action=OWN_ACTIONS[number])
        if number < len(OWN_ACTIONS)
        else "",
    )


def _filters(fields: Fields) -> str:
    by = {
        name: ["exact", "gte", "lte"] if name in RANGED else ["exact"]
        for name in FILTERED
        if name in fields
    }
    search = [name for name in SEARCHED if name in fields]
    order = [name for name in ORDERED if name in fields]
    return _FILTERS.format(by=by, search=search, order=order)


def _class(app: str, noun: str) -> str:
    """The name of a model, unique in the project."""
    return f"{app.capitalize()}{noun.capitalize()}"


_MODELS = """from django.db import models


def choices(names):
    return [(name, name.capitalize()) for name in names.split()]
"""
_API = """from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.response import Response

from {app} import models
"""
_VIEW = '''

class {name}Serializer(serializers.ModelSerializer):
    class Meta:
        model = models.{name}
        fields = {fields}

{reason}
class {name}ViewSet(viewsets.{kind}):
    """{said}"""

    queryset = models.{name}.objects.order_by("id")
    serializer_class = {name}Serializer
{filters}{action}'''
_REASON = """
class {name}ReasonSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=200)
    on = serializers.DateField(required=False)

"""
_FILTERS = """    filter_backends = [DjangoFilterBackend, SearchFilter, OrderingFilter]
    filterset_fields = {by}
    search_fields = {search}
    ordering_fields = {order}
"""
_ACTION = '''
    @action(detail=True, methods=["post"], serializer_class={name}ReasonSerializer)
    def {action}(self, request, pk=None):
        """Say why, and from when on."""
        given = self.get_serializer(data=request.data)
        given.is_valid(raise_exception=True)
        return Response({{"id": self.get_object().pk, **given.validated_data}})
'''
_ROUTER = """from rest_framework.routers import SimpleRouter

router = SimpleRouter()
"""


if __name__ == "__main__":
    write(Path(sys.argv[1]))
