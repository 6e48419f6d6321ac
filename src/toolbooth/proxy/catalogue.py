"""The tools of one upstream session, learned from the pages of its `tools/list`."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any

from toolbooth.jsonvalue import is_object, near_name
from toolbooth.proxy import messages
from toolbooth.proxy.memory import Memory
from toolbooth.proxy.message import Message, NotAMessage, items, members, spliced
from toolbooth.proxy.rules import Rules
from toolbooth.proxy.tool import CHANGED, Forbidden, ProxiedTool, marked, read_tool

logger = logging.getLogger("toolbooth.proxy")


class Catalogue:
    """The tools of a session, by the names that clients use."""

    def __init__(self, rules: Rules, memory: Memory | None = None) -> None:
        self.rules = rules
        self.memory = memory
        self.tools: dict[str, ProxiedTool] = {}
        self.is_known = False
        """True if at least one page was read since the list last changed."""
        self._names: list[Any] = []
        """The names of the server's tools on the pages so far, with those that the rules hide."""
        self._reported: set[tuple[str, str]] = set()

    def find(self, published: str) -> ProxiedTool | None:
        """Return the tool with this published name. Return None if there is none."""
        return self.tools.get(published)

    def near(self, published: str) -> str | None:
        """Return the known name that is most similar to this one. Return None if no name is
        similar.
        """
        return near_name(published, list(self.tools))

    def forget(self) -> None:
        """Forget all tools, because the list may have changed. The list is fetched again before the
        next call.
        """
        self.tools = {}
        self.is_known = False

    def learn(self, message: Message, *, is_first: bool) -> str | None:
        """Store the tools of one page. Return the page as clients see it, or None if the result
        contains no list. The first page replaces all tools that were stored before.
        """
        text = message.part("result") or ""
        try:
            spans = members(text, 0)
            span = spans["tools"]
            definitions = items(text, span[0])
        except (NotAMessage, KeyError):
            return None
        if is_first:
            self.tools = {}
            self._names = []
        self.is_known = True
        listed: dict[str, ProxiedTool] = {}
        for each in definitions:
            tool = self._read(each, listed)
            if tool is not None:
                listed[tool.published] = tool
        self.tools |= listed
        following = spans.get("nextCursor")
        is_last = following is None or text[slice(*following)] == "null"
        if is_last:
            self._report_rules()
        if self.memory is not None and is_last:
            self.memory.save((tool.name, tool.definition) for tool in self.tools.values())
        shown = ",".join(tool.listing for tool in listed.values())
        return spliced(text, [(span, f"[{shown}]")])

    def _read(self, definition: str, page: dict[str, ProxiedTool]) -> ProxiedTool | None:
        self._names.append(_name_in(definition))
        try:
            tool = read_tool(definition, self.rules)
            if tool is None:
                return None
            earlier = self.tools.get(tool.published, tool)
            if tool.published in page or earlier.name != tool.name:
                raise Forbidden(messages.SAME_NAME)
        except Forbidden as error:
            self._report(definition, str(error))
            return None
        if tool.contract is None:
            self._say(tool.name, messages.IS_UNGUARDED, tool.name)
        if self.memory is not None and self.memory.has_changed(tool.name, definition):
            self._say(tool.name, messages.HAS_CHANGED, tool.name)
            return replace(tool, listing=marked(tool.listing, CHANGED))
        return tool

    def _report(self, definition: str, why: str) -> None:
        name = _name_in(definition)
        self._say(str(name), messages.LEFT_OUT, repr(name), why)

    def _report_rules(self) -> None:
        """Report the names in the settings that no tool has. With a typo in `deny`, a tool that
        should be hidden is shown.
        """
        names = [each for each in self._names if isinstance(each, str)]
        for setting, name in self.rules.without_tool(names):
            told = messages.rule_without_tool(setting, name, near_name(name, names))
            self._say(f"{setting} {name}", "%s", told)

    def _say(self, name: str, words: str, *arguments: object) -> None:
        """Log a sentence about a tool. Each sentence is logged only once, although the list is read
        many times.
        """
        if (name, words) not in self._reported:
            self._reported.add((name, words))
            logger.warning(words, *arguments)


def _name_in(definition: str) -> Any:
    found: Any = json.loads(definition)
    return found.get("name") if is_object(found) else None
