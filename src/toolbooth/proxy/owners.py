"""Stores which server has which prompts, resources and tasks. The proxy learns this from the
servers' answers.
"""

from __future__ import annotations

import logging
import re
from typing import Any, Generic, TypeVar

from toolbooth.jsonvalue import Json, is_object
from toolbooth.proxy import messages

logger = logging.getLogger("toolbooth.proxy")

LISTS = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
    "tasks/list": ("tasks", "taskId"),
}
"""For each method: the member that holds the list, and the key that identifies an item."""

_MOST_TASKS = 10_000
_EXPRESSION = re.compile(r"\{[^{}]*\}")

Owner = TypeVar("Owner")


class Owners(Generic[Owner]):
    """Maps each prompt, resource and task to its server. If two servers have an item with the same
    name, the first server is used.
    """

    def __init__(self) -> None:
        self._by_kind: dict[str, dict[str, Owner]] = {kind: {} for kind, _ in LISTS.values()}
        self._templates: dict[str, re.Pattern[str]] = {}
        self._reported: set[tuple[str, str]] = set()

    def forget(self, kind: str) -> None:
        """Forget all items of one kind, such as prompts. The client is about to read their list
        again from its beginning.
        """
        if kind != "tasks":  # most servers do not list the tasks that they have
            self._by_kind[kind].clear()

    def learn(self, kind: str, name: Any, owner: Owner) -> bool:
        """Store that a server has an item. Return False if another server already has an item with
        this name.
        """
        if not isinstance(name, str):
            return True
        if self._by_kind[kind].setdefault(name, owner) is owner:
            return True
        if (kind, name) not in self._reported:
            self._reported.add((kind, name))
            logger.warning(messages.TWO_SERVERS_HAVE, kind, name)
        return False

    def learn_task(self, result: Json, owner: Owner) -> None:
        """Store which server has a task. `result` is the result of a call, and contains the
        task.
        """
        task: Any = result.get("task", result)
        if is_object(task) and isinstance(task.get("taskId"), str):
            tasks = self._by_kind["tasks"]
            tasks[task["taskId"]] = owner
            if len(tasks) > _MOST_TASKS:
                del tasks[next(iter(tasks))]

    def of(self, method: str, params: Json) -> Owner | None:
        """Return the server that a request is for. Return None if this is not known."""
        found = params
        if method == "completion/complete":
            reference: Any = params.get("ref")
            found: Json = reference if is_object(reference) else {}
        uri, name, task = found.get("uri"), found.get("name"), found.get("taskId")
        if method.startswith("tasks/") and isinstance(task, str):
            return self._by_kind["tasks"].get(task)
        if method.startswith("prompts/") and isinstance(name, str):
            return self._by_kind["prompts"].get(name)
        if method.startswith("resources/") and isinstance(uri, str):
            return self._of_uri(uri)
        if method == "completion/complete" and isinstance(uri, str):
            return self._by_kind["resourceTemplates"].get(uri) or self._of_uri(uri)
        if method == "completion/complete" and isinstance(name, str):
            return self._by_kind["prompts"].get(name)
        return None

    def of_tool(self, name: str) -> Owner | None:
        return self._by_kind["tools"].get(name)

    def _of_uri(self, uri: str) -> Owner | None:
        found = self._by_kind["resources"].get(uri)
        if found is not None:
            return found
        for template, owner in self._by_kind["resourceTemplates"].items():
            pattern = self._templates.get(template)
            if pattern is None:
                pattern = self._templates[template] = _pattern(template)
            if pattern.fullmatch(uri):
                return owner
        return None


def _pattern(template: str) -> re.Pattern[str]:
    """Return a pattern for the URIs of a template. Each expression in the template, such as `{id}`,
    matches any text.
    """
    fixed = (re.escape(part) for part in _EXPRESSION.split(template))
    return re.compile(".*".join(fixed), re.DOTALL)
