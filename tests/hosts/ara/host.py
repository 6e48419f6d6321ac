"""The contents of ARA's database, valid values for fields whose schemas do not show them, and a
call of each tool that writes.
"""

import zlib
from typing import Any

from ara.api.fields import EMPTY_DICT, EMPTY_LIST
from ara.api.models import (
    File,
    FileContent,
    Host,
    Label,
    LatestHost,
    Play,
    Playbook,
    Record,
    Result,
    Task,
)

UUID = "0c2d8bd6-7a3c-4c57-9d3f-6f0f5c1a2b3{}"


def seed() -> None:
    """Two of everything, so that a wrong key is some other row."""
    for at in (1, 2):
        label = Label.objects.create(name=f"label-{at}")
        book = Playbook.objects.create(
            name=f"book {at}", ansible_version="2.17", path="a.yml", arguments=EMPTY_DICT
        )
        book.labels.add(label)
        content = FileContent.objects.create(
            sha1=str(at) * 40, contents=zlib.compress(b"- hosts: all")
        )
        file = File.objects.create(path=f"{at}.yml", content=content, playbook=book)
        play = Play.objects.create(name=f"play {at}", uuid=UUID.format(at), playbook=book)
        task = Task.objects.create(
            name=f"task {at}",
            action="copy",
            lineno=at,
            tags=EMPTY_LIST,
            handler=False,
            play=play,
            file=file,
            playbook=book,
        )
        machine = Host.objects.create(name=f"web{at}", facts=EMPTY_DICT, playbook=book)
        LatestHost.objects.create(name=machine.name, host=machine)
        Record.objects.create(key=f"key {at}", value=EMPTY_DICT, type="json", playbook=book)
        Result.objects.create(content=EMPTY_DICT, host=machine, task=task, play=play, playbook=book)


EXAMPLES = 6

PREVIEWED = 9
"""Tools whose writes can be previewed. Its playbooks, plays and others have their own `save`."""

JOINED = {"order"}
"""Filters that take several values in one, with commas."""

PATHS = {("/api/v1/latesthosts/{pk}", "pk"): "web1"}
"""Values for URLs where they are not 1."""

KEYS = [1, 2, 99]
VALUES: dict[str, list[Any]] = {
    **dict.fromkeys(("playbook", "play", "task", "file", "host", "delegated_to"), KEYS),
    "labels": ["label-1", "a new one"],
    "duration": ["00:00:10.5", "1 02:03:04", "soon"],
}
UNSENT = {"ended"}
"""Not generated, because the outcome depends on the clock."""
UNLIKE: tuple[str, ...] = ()
"""Tools, by the beginning of their names, whose answers are only compared for success."""

_PAGE = "it renders only HTML: a page for people"
HIDDEN = {
    "GET /": _PAGE,
    "GET /distributed": _PAGE,
    "GET /files/{pk}.html": _PAGE,
    "GET /hosts": _PAGE,
    "GET /hosts/{pk}.html": _PAGE,
    "GET /playbooks/{pk}.html": _PAGE,
    "GET /records/{pk}.html": _PAGE,
    "GET /results/{pk}.html": _PAGE,
    "GET /tasks": _PAGE,
}
LEFT_OUT: dict[str, str] = {}
UNKNOWN: set[str] = set()
"""The places of those of them that are left out whole."""

ROWS: dict[str, dict[str, Any]] = {
    "label": {"name": "nightly"},
    "playbook": {
        "ansible_version": "2.18",
        "path": "/srv/site.yml",
        "name": None,
        "arguments": {"check": True, "extraVars": [{"firstName": "Ann"}]},
        "labels": ["label-1", "a new one"],
        "started": "2026-11-15T09:30:00Z",
        "duration": "00:00:10.500000",
        "status": "running",
    },
    "play": {
        "uuid": UUID.format(9),
        "playbook": 2,
        "name": "",
        "started": "2026-11-15T09:30:00+02:00",
    },
    "task": {
        "action": "template",
        "lineno": 12,
        "handler": True,
        "play": 2,
        "file": 1,
        "playbook": 2,
        "tags": ["always", "never"],
        "warnings": [["nested"], None, 1.5],
        "uuid": None,
    },
    "host": {"name": "db1", "playbook": 1, "facts": {"ansible_os": {"userID": 1}}, "ok": 3},
    "result": {
        "host": 1,
        "task": 2,
        "play": 1,
        "playbook": 2,
        "delegated_to": [1, 2],
        "changed": True,
        "content": [],
    },
    "file": {"path": "/srv/new.yml", "content": "- hosts: web\n", "playbook": 1},
    "record": {"key": "git", "type": "text", "playbook": 1, "value": {"sha": "abc"}},
}
CALLS = [
    call
    for name, row in ROWS.items()
    for call in (
        (f"{name}__create", row),
        (f"{name}__update", {"id": 1, **row}),
        (f"{name}__partial_update", {"id": 2, **dict(list(row.items())[:1])}),
        (f"{name}__destroy", {"id": 1}),
    )
]
NEVER: set[str] = set()
"""Tools without a call that succeeds."""
