"""The guide "Preview and retry": its answers to calls with a key are the real ones."""

import re
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from sales.models import Company, Deal
from toolbooth.django.testing import acting_as

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "preview-and-retry.md"
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00")


def test_docs_show_the_answers_to_calls_with_a_key(settings_of: Any, ann: User) -> None:
    settings_of(ROOT_URLCONF="crm.urls")
    Company.objects.create(pk=1, name="Acme")
    section = PAGE.read_text(encoding="utf-8").partition("## Retry")[2]
    sent, _ = re.findall(r"```json\n(.*?)\n```", section)
    answers = [TIME.sub("TIME", each) for each in re.findall(r"```text\n(.*?)\n```", section)]
    call = acting_as(ann).call
    without_key = sent.replace(', "idempotency_key": "5f0c2c1e"', "")
    found = [call("deals__create", each.encode()).text for each in (sent, sent, without_key)]
    first, second = Deal.objects.order_by("pk").values_list("pk", flat=True)
    assert [_as_shown(each, {first: 1, second: 2}) for each in found] == answers


def _as_shown(answer: str, keys: dict[int, int]) -> str:
    """Return an answer with the keys of an empty database, and without times."""
    renumbered = re.sub(r'"id":(\d+)', lambda found: f'"id":{keys[int(found[1])]}', answer)
    return TIME.sub("TIME", renumbered)
