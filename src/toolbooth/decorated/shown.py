"""Annotations and defaults that frameworks and people see differently.

A framework needs an annotation that passes on every value as it was sent, and a default that means
"not sent". People should read `limit: int = 10`. So each object of this module is printed like the
type or the default of the field, and is equal to it.
"""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any

from pydantic.fields import FieldInfo

ABSENT: Any = object()
"""The value that a framework passes for a flat parameter that was not sent."""

_FORWARD_REFERENCE = re.compile(r"ForwardRef\('([^']*)'[^)]*\)")
_ANNOTATED: Any = type(Annotated[int, ABSENT])


# The class behind `Annotated` has no public name. Without `_root`, `typing` allows no subclass.
class ShownType(_ANNOTATED, **{"_root": True}):
    """An annotation. Frameworks read `Annotated[origin, *metadata]`; people see `shown`."""

    def __init__(self, shown: Any, origin: Any, metadata: tuple[Any, ...]) -> None:
        # Pyright does not know the base class.
        super().__init__(origin, metadata)  # pyright: ignore[reportUnknownMemberType]
        self.__shown__ = shown

    def __repr__(self) -> str:
        if isinstance(self.__shown__, str):  # the name of a class that does not exist yet
            return self.__shown__
        return _FORWARD_REFERENCE.sub(r"\1", inspect.formatannotation(self.__shown__))

    def __eq__(self, other: object) -> bool:
        return other is self or other == self.__shown__

    # Not the hash of the type, because the caches of `typing` would confuse the two.
    def __hash__(self) -> int:
        return id(self)


# FastAPI subclasses it too, and Pydantic allows for that.
class ShownDefault(FieldInfo):  # pyright: ignore[reportGeneralTypeIssues]
    """A default. For frameworks it means "not sent". For people it is printed as the field's own
    default.
    """

    def __init__(self, shown: Any) -> None:
        super().__init__(default_factory=lambda: ABSENT)
        self.shown = shown

    def __repr__(self) -> str:
        return repr(self.shown)

    def __eq__(self, other: object) -> bool:
        return other is self or other == self.shown

    def __hash__(self) -> int:
        return id(self)


class Label:
    """Printed in place of a default that cannot be shown, such as `<factory>`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


FACTORY = Label("<factory>")
NOT_SENT = Label("<not sent>")
SECRET = Label("'**********'")
