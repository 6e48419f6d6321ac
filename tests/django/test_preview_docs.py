"""The guide "Preview and retry": its answers to previews are the real ones."""

import re
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from sales.models import Company, Contact, Deal, Note
from toolbooth.django.testing import acting_as

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "preview-and-retry.md"


def test_docs_show_the_answers_to_their_previews(settings_of: Any, ann: User) -> None:
    settings_of(ROOT_URLCONF="crm.urls")
    acme = Company.objects.create(pk=1, name="Acme")
    Contact.objects.create(email="bob@example.org", company=acme)
    for title in ("Chairs", "Tables"):
        Deal.objects.create(title=title, company=acme)
    section = PAGE.read_text(encoding="utf-8").partition("## Preview")[2].partition("\n## ")[0]
    shown = re.findall(
        r"`(\w+__\w+)`[^`]*(?:`\w+`, )?called with\n\n```json\n(.*?)\n```.*?```text\n(.*?)\n```",
        section,
        re.DOTALL,
    )
    assert [tool for tool, _, _ in shown] == [
        "companies__destroy",
        "notes__create",
        "companies__create",
    ]
    call = acting_as(ann).call
    answers = [call(tool, sent.encode()).text for tool, sent, _ in shown]
    assert answers == [answer for _, _, answer in shown]
    assert (Company.objects.count(), Deal.objects.count(), Note.objects.count()) == (1, 2, 0)
