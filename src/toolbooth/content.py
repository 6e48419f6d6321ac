"""Content that a tool may return besides values: images, audio and files, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A piece of text, for a result that has several pieces."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image."""

    data: bytes = field(repr=False)
    mime_type: str = "image/png"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audio:
    """An audio recording."""

    data: bytes = field(repr=False)
    mime_type: str = "audio/wav"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A file in the result, as text or bytes."""

    uri: str
    content: str | bytes = field(repr=False)
    mime_type: str = "text/plain"


Content = Text | Image | Audio | Resource
