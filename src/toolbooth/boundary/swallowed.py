"""Swallowed arguments: a text that contains the tags of the arguments after it.

Some clients let the model write a call in tags, `<parameter name="title">`. If the model ends a
value with a wrong tag, the client reads on, and the next arguments arrive inside this text:
anthropics/claude-code#44826 (2026-04-07) to #84405 (2026-08-06), all of them in
`docs/project/evidence/swallowed-arguments.md`. Nothing is ever taken out of the text, because it
may be somebody else's: the caller is asked to send the call again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

from toolbooth.boundary import messages
from toolbooth.boundary.repairs import Note
from toolbooth.errors import Problem
from toolbooth.jsonvalue import Json, recased
from toolbooth.shape import Field, Shape

_STRING = r"""string\s*=\s*["']?(?:true|false)["']?"""
"""An attribute that some hosts write beside the name."""

_OPENER = re.compile(rf"parameter\s+(?:{_STRING}\s+)?name\s*=([^<>]*)(?:>|\Z)")
"""The tag that begins an argument, from its word on. The last one of a text may have been cut off.
"""

_BEFORE_WORD = re.compile(r"""<\s*[^\s<>"'=]{0,40}\Z""")
"""The begin of such a tag, with any prefix: models mangle it (anthropics/claude-code#84362)."""

_CLOSED = re.compile(r"parameter\s*>")

_QUOTES = " \t\r\n\\\"'`\u2018\u2019\u201c\u201d"
"""Written around the name in such a tag: any quotes, also escaped ones, or none."""

_NEXT = re.compile(r"</([^\s<>]+)\s*>\s*<([^\s<>/]+)\s*>")
"""A closing tag, and right after it an opening tag without attributes."""

_CLOSING = re.compile(r"</([^\s<>]{1,80})\s*>\s*\Z")
"""A closing tag at the end of a text."""

_CALL_TAGS = ("parameter", "invoke", "function_calls")

_MOST_CLOSING = 4
"""Closing tags that are looked at before one place."""

_MOST_SWALLOWED = 1_000
"""Tags of swallowed arguments that are looked at in one text."""

_LONGEST_TAG = 200
"""Characters in which one of them is looked for."""


class Tags(NamedTuple):
    """The tags of a call that its texts contain."""

    problems: Sequence[Problem]
    """One for each text that contains arguments which were not sent."""
    names: frozenset[str]
    """The fields of these arguments."""
    notes: Sequence[Note]
    """One for each text that ends in tags of a call, without an argument."""


NO_TAGS = Tags((), frozenset(), ())


def has_tags(arguments: Json) -> bool:
    """Whether a text at the top level may contain tags."""
    for each in arguments.values():  # noqa: SIM110  # a generator would cost more than the look
        if type(each) is str and "<" in each:
            return True
    return False


def look_for_tags(shape: Shape, arguments: Json, decoded: Json) -> Tags:
    """Look into the texts at the top level. `decoded`: the arguments after repairs."""
    level = _Level(shape, decoded)
    problems: list[Problem] = []
    swallowed: set[str] = set()
    notes: list[Note] = []
    for key, text in arguments.items():
        if type(text) is not str or "<" not in text or level.takes_as_sent(key):
            continue
        # JSON text that could be read is no text any more, and a client has not glued anything to
        # it.
        if type(decoded.get(key, text)) is not str:
            continue
        # In the order of the text, because two searches have found them: the first one shows where
        # the value has probably ended.
        found = sorted(islice(_swallowed(level, key, text), _MOST_SWALLOWED))
        if found:
            names = tuple(dict.fromkeys(name for _, _, name in found))
            message = _message(text, found[0][0], found[0][1], names)
            problems.append(Problem(code="swallowed-argument", path=(key,), message=message))
            swallowed.update(names)
        elif _ends_in_call_tags(key, text):
            notes.append(Note(code="call-tags", path=(key,)))
    return Tags(problems, frozenset(swallowed), notes)


class _Level:
    """The fields that are declared at the top level, and which of them were not sent."""

    def __init__(self, shape: Shape, decoded: Json) -> None:
        self.shape = shape
        self.decoded = decoded

    def takes_as_sent(self, key: str) -> bool:
        """Whether the field is marked `Verbatim`."""
        forms = self.shape.objects
        return any(key in form.fields and form.fields[key].verbatim for form in forms)

    @cached_property
    def declared(self) -> list[tuple[str, Field]]:
        return [each for form in self.shape.objects for each in form.fields.items()]

    @cached_property
    def unsent(self) -> dict[str, str]:
        """The keys of every field that was sent under none of them, with its published name."""
        # By identity: an alias is a further key of the same field.
        sent = {id(field) for key, field in self.declared if key in self.decoded}
        return {
            key: field.name
            for key, field in self.declared
            if id(field) not in sent and key not in self.decoded
        }

    @cached_property
    def respelt(self) -> dict[str, str]:
        """The same, without case and separators; not for names that are declared as they are."""
        known = {recased(key): name for key, name in self.unsent.items()}
        # A name that is declared exactly so wins over one that is only equal without case.
        return {**known, **{key: self.unsent.get(key, "") for key, _ in self.declared}}

    def unsent_field(self, name: str) -> str:
        """The field that a name in a tag means, if it was not sent; otherwise nothing."""
        return self.respelt[name] if name in self.respelt else self.respelt.get(recased(name), "")


def _swallowed(level: _Level, key: str, text: str) -> Iterator[tuple[int, int, str]]:
    """Where the tag of each swallowed argument begins and ends, and the name of its field."""
    # The tags that may end a value: after the first swallowed argument, also those that end it.
    closing: set[str] = set()
    # Most texts with a `<` are HTML or XML without this word.
    if "parameter" in text:
        if _CLOSED.search(text):
            closing.add("parameter")
        for start, end, written in _openers(text):
            name = level.unsent_field(written)
            if name:
                closing.add(written)
                yield start, end, name
    unopened = _unopened(text, key)
    # Without a closing tag that ends a value, `</a><b>` is ordinary XML.
    for found in _NEXT.finditer(text) if closing or unopened else ():
        closed, opened = map(_local_name, found.groups())
        ends_value = closed in closing or (closed == key and found.start() in unopened)
        # A field that was sent itself has not been swallowed, so its tag is part of the text.
        if ends_value and opened in level.unsent:
            closing.add(opened)
            yield found.start(), found.end(), level.unsent[opened]


def _openers(text: str) -> Iterator[tuple[int, int, str]]:
    """The tags that begin an argument: where each begins and ends, and the name in it."""
    for found in _OPENER.finditer(text):
        word = found.start()
        # No further back than a tag is long, so that a text full of this word takes linear time.
        before = _BEFORE_WORD.search(text, max(0, word - _LONGEST_TAG), word)
        if before is not None:
            name = _without_attribute(found.group(1))
            yield before.start(), found.end(), name.strip(_QUOTES)


def _without_attribute(written: str) -> str:
    """The name in a tag, without the attribute `string` after it. A tag with any other attribute
    is not one of a call: real XML is written so.
    """
    name, _, value = written.rpartition("string")
    is_attribute = name[-1:].isspace() and value.lstrip()[:1] == "="
    if is_attribute and value.strip(_QUOTES + "=") in ("true", "false"):
        return name
    return written


def _local_name(tag: str) -> str:
    """The name in a tag, without a prefix."""
    return tag.rpartition(":")[2]


def _unopened(text: str, name: str) -> set[int]:
    """Where the closing tags of this name are that have no opening tag, unless one follows: then
    the tags are part of the text.
    """
    found: set[int] = set()
    if f"</{name}" not in text and f":{name}" not in text:
        return found
    depth = 0
    for tag in _tags_named(name).finditer(text):
        is_opening = not tag.group(1)
        if is_opening:
            depth += 1
            found.clear()
        elif depth:
            depth -= 1
        else:
            found.add(tag.start())
    return found


@lru_cache(maxsize=256)
def _tags_named(name: str) -> re.Pattern[str]:
    return re.compile(rf"<(/?)(?:[^\s<>/:]{{1,40}}:)?{re.escape(name)}(?=[\s/>])")


def _message(text: str, start: int, end: int, names: tuple[str, ...]) -> str:
    """The problem, with the place where the text probably ended."""
    before = text[:start]
    for closing_tag, tag in _closing_tags(before):
        # The tag was opened in this text, so it is part of it, and the text ended no earlier.
        if f"<{tag}" in before:
            break
        start = closing_tag
    return messages.swallowed(names, start, text[start:end])


def _closing_tags(text: str) -> Iterator[tuple[int, str]]:
    """The closing tags at the end of a text, the last one first: where each begins, and its
    name.
    """
    end = len(text)
    for _ in range(_MOST_CLOSING):
        last = text[max(0, end - _LONGEST_TAG) : end]
        found = _CLOSING.search(last)
        if found is None:
            return
        end -= len(last) - found.start()
        yield end, found.group(1)


def _ends_in_call_tags(key: str, text: str) -> bool:
    """Whether the text ends in closing tags of a call that it does not open, such as `</invoke>`.
    That proves nothing: anthropics/claude-code#48679 (2026-04-15).
    """
    # Some clients name tags after the arguments, so `</body>` may end the argument `body`.
    call_tags = (*_CALL_TAGS, key)
    tags = (tag for _, tag in _closing_tags(text) if _local_name(tag) in call_tags)
    return any(f"<{tag}" not in text for tag in tags)
