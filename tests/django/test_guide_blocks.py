"""The Python blocks that need a Django project run here, if no test of their own runs them: those of
README.md, start/django.md, django.md, from-django-mcp-server.md,
sizing.md and preview-and-retry.md.
"""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from django.conf import settings
from django.urls import include, path
from rest_framework.serializers import Serializer

from toolbooth.django import conf, decorators

ROOT = Path(__file__).resolve().parents[2]
MARK = "<!-- tested by tests/django/test_guide_blocks.py -->\n"
BLOCK = re.compile(rf"^{MARK}```python skip\n(.*?)^```$", re.MULTILINE | re.DOTALL)


SHOP = {
    "models": ("Event", "Organizer"),
    "api": ("ConfirmSerializer", "OrderSerializer", "RefundSerializer"),
}


def shop_module(name):
    """A module of the page's imaginary project, with the names that it imports."""
    module = ModuleType(f"shop.{name}")
    for each in SHOP[name]:
        setattr(module, each, type(each, (Serializer,), {}))
    return module


def marked_blocks():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        for number, code in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1):
            yield pytest.param(code, id=f"{page.relative_to(ROOT).as_posix()}-{number}")


@pytest.mark.parametrize("code", list(marked_blocks()))
def test_blocks_for_a_project_run_and_their_settings_are_valid(code, ann, monkeypatch, settings_of):
    """The names that a settings or URL file has before the block are there."""
    monkeypatch.setattr(decorators, "declared", {})
    for name in ("models", "api"):
        monkeypatch.setitem(sys.modules, f"shop.{name}", shop_module(name))
    monkeypatch.setitem(sys.modules, "shop", ModuleType("shop"))
    module = {
        "__name__": "sales.mcp_tools",
        "BASE_DIR": ROOT,
        "INSTALLED_APPS": [],
        "urlpatterns": [],
        "path": path,
        "include": include,
    }
    exec(code, module)
    project = ModuleType("shop.mcp")
    vars(project).update(module)
    monkeypatch.setitem(sys.modules, "shop.mcp", project)
    if "TOOLBOOTH" in module:
        settings_of(TOOLBOOTH=module["TOOLBOOTH"])
        assert list(conf.mistakes()) == []
    assert settings.configured
