"""Places deep in the value of an author's validator, where its code creates something from an
object.
"""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, WrapValidator
from validator_ways import Plain, Way

from toolbooth import compile_function, handle_bytes


class Outer(BaseModel):
    label: str = ""
    inner: Plain | None = None


class Deep(BaseModel):
    outers: list[Outer] = []
    groups: dict[str, list[Plain]] = {}


def outcome(hint: Any, sent: str) -> Any:
    """Return the value that the tool received, or the problems of the refusal."""
    received: list[Any] = []

    def tool(it: hint) -> str:
        received.append(it)
        return "done"

    result = handle_bytes(compile_function(tool), f'{{"it": {sent}}}'.encode())
    if not result["isError"]:
        return received[0]
    return [(each["code"], each["path"]) for each in result["_meta"]["toolbooth"]["problems"]]


def in_mode(mode: str, hint: Any, change: Way) -> Any:
    if mode == "before":
        return Annotated[hint, BeforeValidator(change)]
    return Annotated[hint, WrapValidator(lambda value, handler: handler(change(value)))]


PLACES: dict[str, tuple[Any, Callable[[Way], Way], str, str]] = {
    "a shorter list": (
        list[Plain],
        lambda way: lambda items: [way(each) for each in items[1:]],
        '[{"email": "b@x", "age": 1}, %s, {"email": "c@x"}]',
        "[1]",
    ),
    "a filtered list": (
        list[Plain],
        lambda way: lambda items: [way(each) for each in items if each.get("age") != 1],
        '[{"email": "b@x", "age": 1}, %s]',
        "[1]",
    ),
    "a list in another order": (
        list[Plain],
        lambda way: lambda items: [way(each) for each in reversed(items)],
        '[{"email": "b@x", "age": 1}, {"email": "c@x"}, %s]',
        "[2]",
    ),
    "a list in a dict": (
        dict[str, list[Plain]],
        lambda way: lambda groups: {name: list(map(way, each)) for name, each in groups.items()},
        '{"a": [{"email": "b@x"}, %s]}',
        ".a[1]",
    ),
    "a tuple": (
        tuple[Plain, ...],
        lambda way: lambda items: tuple(map(way, items)),
        "[%s]",
        "[0]",
    ),
    "inside another object": (
        Outer,
        lambda way: lambda outer: {**outer, "inner": way(outer["inner"])},
        '{"label": "x", "inner": %s}',
        ".inner",
    ),
    "inside another instance": (
        Outer,
        lambda way: lambda outer: Outer(label=outer["label"], inner=way(outer["inner"])),
        '{"label": "x", "inner": %s}',
        ".inner",
    ),
    "three levels down": (
        Deep,
        lambda way: (
            lambda deep: {"outers": [Outer(inner=way(each["inner"])) for each in deep["outers"]]}
        ),
        '{"outers": [{"inner": %s}]}',
        ".outers[0].inner",
    ),
    "in groups": (
        Deep,
        lambda way: (
            lambda deep: {
                "groups": {
                    name: [way(each) for each in group if each]
                    for name, group in deep["groups"].items()
                }
            }
        ),
        '{"groups": {"a": [{}, %s]}}',
        ".groups.a[1]",
    ),
}
"""For each place: its type, the code around a validator, the JSON around an object, and its path.
"""
