"""Finds swallowed arguments: the text of one argument also contains the following arguments, in
tags.

Some clients let the model write a call in tags, such as `<parameter name="title">`. If the model
ends a value with a wrong tag, the client does not notice the end. The next arguments then become a
part of this value: anthropics/claude-code#44826 (2026-04-07) to #84405 (2026-08-06), all of them in
`docs/project/evidence/swallowed-arguments.md`. Nothing is ever taken out of the text, because the
tags may really belong to it. The call is refused, and the agent is asked to send it again.
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
"""An attribute that some hosts write after `parameter`."""

_OPENER = re.compile(rf"parameter\s+(?:{_STRING}\s+)?name\s*=([^<>]*)(?:>|\Z)")
"""The opening tag of an argument, from the word `parameter` on. At the end of a text, the tag may
be incomplete.
"""

_BEFORE_WORD = re.compile(r"""<\s*[^\s<>"'=]{0,40}\Z""")
"""The beginning of such a tag, before the word `parameter`. Any prefix is accepted, because models
write wrong ones (anthropics/claude-code#84362).
"""

_CLOSED = re.compile(r"parameter\s*>")

_QUOTES = " \t\r\n\\\"'`\u2018\u2019\u201c\u201d"
"""Characters that may be around the name in such a tag. Quotes may be escaped or missing."""

_NEXT = re.compile(r"</([^\s<>]+)\s*>\s*<([^\s<>/]+)\s*>")
"""A closing tag that is directly followed by an opening tag without attributes."""

_CLOSING = re.compile(r"</([^\s<>]{1,80})\s*>\s*\Z")
"""A closing tag at the end of a text."""

_CALL_TAGS = ("parameter", "invoke", "function_calls")

_MOST_CLOSING = 4
"""At most this many closing tags in a row are read."""

_MOST_SWALLOWED = 1_000
"""In one text, at most this many tags of swallowed arguments are read."""

_LONGEST_TAG = 200
"""A tag has at most this many characters."""


class Tags(NamedTuple):
    """What was found in the texts of a call."""

    problems: Sequence[Problem]
    """A problem for each text that contains arguments. These arguments were not sent as arguments.
    """
    names: frozenset[str]
    """The declared fields that were found inside texts."""
    notes: Sequence[Note]
    """A note for each text that ends in tags of a call but contains no argument."""


NO_TAGS = Tags((), frozenset(), ())


def has_tags(arguments: Json) -> bool:
    """Return True if a text at the top level may contain tags."""
    for each in arguments.values():  # noqa: SIM110  # a generator would cost more than the look
        if type(each) is str and "<" in each:
            return True
    return False


def look_for_tags(shape: Shape, arguments: Json, decoded: Json) -> Tags:
    """Search the texts at the top level for tags. `decoded` has the arguments after repairs."""
    level = _Level(shape, decoded)
    problems: list[Problem] = []
    swallowed: set[str] = set()
    notes: list[Note] = []
    for key, text in arguments.items():
        if type(text) is not str or "<" not in text or level.takes_as_sent(key):
            continue
        # JSON text that could be parsed contains nothing else, so no argument was appended to it.
        if type(decoded.get(key, text)) is not str:
            continue
        # Two searches have found them, so they are sorted by place. The first one shows where the
        # value has probably ended.
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
    """Knows the declared fields of the top level, and which of them were not sent."""

    def __init__(self, shape: Shape, decoded: Json) -> None:
        self.shape = shape
        self.decoded = decoded

    def takes_as_sent(self, key: str) -> bool:
        """Return True if the field is marked `Verbatim`."""
        forms = self.shape.objects
        return any(key in form.fields and form.fields[key].verbatim for form in forms)

    @cached_property
    def declared(self) -> list[tuple[str, Field]]:
        return [each for form in self.shape.objects for each in form.fields.items()]

    @cached_property
    def unsent(self) -> dict[str, str]:
        """Return the keys of all fields that were not sent. The value of each key is the published
        name of its field.
        """
        # Fields are compared by identity, because an alias is a further key of the same field.
        sent = {id(field) for key, field in self.declared if key in self.decoded}
        return {
            key: field.name
            for key, field in self.declared
            if id(field) not in sent and key not in self.decoded
        }

    @cached_property
    def respelt(self) -> dict[str, str]:
        """Return `unsent`, but with the keys in lower case and without separators. If a declared
        key is written exactly like this, its own field is used.
        """
        known = {recased(key): name for key, name in self.unsent.items()}
        # A name that is declared in exactly this spelling wins over one that differs in case.
        return {**known, **{key: self.unsent.get(key, "") for key, _ in self.declared}}

    def unsent_field(self, name: str) -> str:
        """Return the field that a name in a tag means. Return empty text if there is no such field,
        or if the field was sent.
        """
        return self.respelt[name] if name in self.respelt else self.respelt.get(recased(name), "")


def _swallowed(level: _Level, key: str, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start and the end of the tag before each swallowed argument, and the field of this
    argument.
    """
    # These tags may end the value. After the first swallowed argument, they include the tags that
    # end this argument.
    closing: set[str] = set()
    # Most texts with a `<` are HTML or XML and do not contain this word.
    if "parameter" in text:
        if _CLOSED.search(text):
            closing.add("parameter")
        for start, end, written in _openers(text):
            name = level.unsent_field(written)
            if name:
                closing.add(written)
                yield start, end, name
    unopened = _unopened(text, key)
    # If no closing tag ends the value, `</a><b>` is ordinary XML.
    for found in _NEXT.finditer(text) if closing or unopened else ():
        closed, opened = map(_local_name, found.groups())
        ends_value = closed in closing or (closed == key and found.start() in unopened)
        # A field that was sent was not swallowed, so its tag is part of the text.
        if ends_value and opened in level.unsent:
            closing.add(opened)
            yield found.start(), found.end(), level.unsent[opened]


def _openers(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the name of each opening tag of an argument."""
    for found in _OPENER.finditer(text):
        word = found.start()
        # The search goes back by at most the length of a tag, so a text full of this word takes
        # linear time.
        before = _BEFORE_WORD.search(text, max(0, word - _LONGEST_TAG), word)
        if before is not None:
            name = _without_attribute(found.group(1))
            yield before.start(), found.end(), name.strip(_QUOTES)


def _without_attribute(written: str) -> str:
    """Return the name in a tag, without the attribute `string` after it. A tag with any other
    attribute is not from a call, so its text is returned unchanged.
    """
    name, _, value = written.rpartition("string")
    is_attribute = name[-1:].isspace() and value.lstrip()[:1] == "="
    if is_attribute and value.strip(_QUOTES + "=") in ("true", "false"):
        return name
    return written


def _local_name(tag: str) -> str:
    """Return the name in a tag, without a prefix."""
    return tag.rpartition(":")[2]


def _unopened(text: str, name: str) -> set[int]:
    """Return the positions of the closing tags with this name that have no opening tag before them.
    If an opening tag comes later, all earlier tags belong to the text and are left out.
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
    """Return the message for the agent. It names the position where the text probably ended."""
    before = text[:start]
    for closing_tag, tag in _closing_tags(before):
        # The tag was opened in this text and belongs to it, so the text did not end earlier.
        if f"<{tag}" in before:
            break
        start = closing_tag
    return messages.swallowed(names, start, text[start:end])


def _closing_tags(text: str) -> Iterator[tuple[int, str]]:
    """Yield the start and the name of each closing tag at the end of a text, beginning with the
    last one.
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
    """Return True if the text ends in closing tags of a call, such as `</invoke>`, but has no
    opening tags for them. This does not prove a mistake: anthropics/claude-code#48679 (2026-04-15).
    """
    # Some clients use the names of arguments as tags, so `</body>` may end the argument `body`.
    call_tags = (*_CALL_TAGS, key)
    tags = (tag for _, tag in _closing_tags(text) if _local_name(tag) in call_tags)
    return any(f"<{tag}" not in text for tag in tags)
