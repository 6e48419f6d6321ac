"""One Django project for all tests of this folder: the example's app, and an app of odd views
beside it.
"""

import base64
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import django
import pytest
from django.apps import apps
from django.conf import settings
from django.core.cache import cache
from django.db import connections
from django.test import Client, override_settings
from django.urls import get_urlconf

HERE = Path(__file__).resolve().parent
for folder in (HERE / "project", HERE.parent.parent / "examples" / "crm"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
os.environ["DJANGO_SETTINGS_MODULE"] = "gateway_settings"
django.setup()

from django.contrib.auth.models import User  # noqa: E402  # models are there only once Django is set up

from toolbooth.django import decorators  # noqa: E402
from toolbooth.django.describe import catalogue as catalogues  # noqa: E402
from toolbooth.django.describe.catalogue import forget  # noqa: E402

_KEPT = ("auth.Permission", "contenttypes.ContentType")


@pytest.fixture(scope="session")
def _database() -> Iterator[None]:
    """Tables in memory, for all threads of this process."""
    kept = connections["default"]
    kept.creation.create_test_db(verbosity=0, autoclobber=True)
    kept.is_kept = True
    yield
    kept.is_kept = False
    connections.close_all()


@pytest.fixture
def db(_database: None) -> Iterator[None]:
    """Empty the database, and forget earlier requests."""
    yield
    for model in reversed(apps.get_models()):
        if model._meta.label not in _KEPT:
            model._base_manager.all().delete()
    cache.clear()


@pytest.fixture
def ann(db: None) -> User:
    return User.objects.create_user("ann", password="pw")


Mcp = Callable[..., Any]


@pytest.fixture
def mcp(ann: User) -> Mcp:
    """Calls a tool as Ann, over HTTP as Django's own tests do: `mcp("contacts__create", {...})` is
    the tool result.
    """
    return calling("ann")


@pytest.fixture
def mcp_as(db: None) -> Callable[[str | None], Mcp]:
    """Return `mcp` for another user, by name (the password is `pw`), or for an anonymous caller."""
    return calling


@pytest.fixture
def rest(ann: User) -> Client:
    return Client(headers={"Authorization": credentials("ann")})


def credentials(name: str, password: str = "pw") -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def calling(name: str | None, **defaults: Any) -> Mcp:
    client = Client(headers={"Authorization": credentials(name)} if name else None, **defaults)

    def call(tool: str, arguments: Any = None, *, raw: bool = False, path: str = "/mcp/") -> Any:
        params = {"name": tool} if arguments is None else {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        reply = client.post(path, json.dumps(message), content_type="application/json")
        if raw:
            return reply
        assert reply.status_code == 200, (reply.status_code, reply.content)
        return reply.json()["result"] if "result" in reply.json() else reply.json()

    return call


@pytest.fixture
def settings_of(db: None) -> Iterator[Callable[..., None]]:
    """Override settings until the test ends, and build the catalogue with them."""
    with ExitStack() as stack:

        def override(**changed: Any) -> None:
            stack.enter_context(override_settings(**changed))
            forget()

        yield override
    forget()


_kept: dict[str, Any] = {}


@pytest.fixture
def built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the catalogue of one configuration once for all tests that use this: the start itself
    is not under test.
    """
    start = catalogues.start

    def once(chosen: Any) -> Any:
        key = f"{get_urlconf() or settings.ROOT_URLCONF} {list(decorators.declared)} {chosen}"
        if key not in _kept:
            _kept[key] = start(chosen)
        return _kept[key]

    monkeypatch.setattr(catalogues, "start", once)
