"""The section "Dispatchers" of docs/guides/django.md shows the output of its calls, and a class
that works.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from sales.models import Contact
from toolbooth.django import decorators

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "django.md"
SECTION = PAGE.read_text(encoding="utf-8").split("\n## Dispatchers\n")[1].split("\n## ")[0]


@pytest.fixture(autouse=True)
def crm(ann, settings_of, monkeypatch):
    monkeypatch.setattr(decorators, "declared", {})
    settings_of(ROOT_URLCONF="crm.urls", TOOLBOOTH={"DISPATCH": "app"})


def printed(command):
    out = io.StringIO()
    with contextlib.suppress(SystemExit):
        call_command(*shlex.split(command), stdout=out)
    return re.sub(
        r'^{"id":\d+', '{"id":1', out.getvalue()
    )  # the first row, in a database of its own


def test_docs_show_the_output_of_their_dispatch_commands():
    blocks = re.findall(
        r"^<!-- tested by [^\n]+ -->\n```console\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL
    )
    shown = [
        call
        for block in blocks
        for call in re.findall(r"^\$ manage.py (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]
    assert (len(blocks), len(shown)) == (3, 4)
    assert [printed(call) for call, _ in shown] == [output for _, output in shown]


def test_the_class_of_the_page_is_a_dispatcher(mcp, ann):
    (code,) = re.findall(r"^```python skip\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
    exec(code, {"__name__": "sales.mcp_tools", "Contact": Contact})
    made = mcp("leads", {"action": "create", "email": "ann@example.org"})["structuredContent"]
    assert made == {"id": str(Contact.objects.get(email="ann@example.org").pk)}
    assert mcp("leads", {"action": "forget", "email": "ann@example.org"})["isError"] is True
    User.objects.filter(pk=ann.pk).update(is_staff=True)
    forgotten = mcp("leads", {"action": "forget", "email": "ann@example.org"})["structuredContent"]
    assert (forgotten, Contact.objects.count()) == ({"deleted": 1}, 0)
