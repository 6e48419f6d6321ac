"""A row of the table: a tool, the calls made to it, and the result of each call."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

Tool = Callable[..., Any]
Json_ = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Call:
    """The arguments as sent, and the whole MCP tool result."""

    sent: str
    result: Json_
    by_host: bool = False

    @property
    def text(self) -> str:
        return self.result["content"][0]["text"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One case. `make` builds a new tool, so that no state is left over from another test."""

    number: int
    case: str
    make: Callable[[], Tool]
    calls: tuple[Call, ...]

    @property
    def id(self) -> str:
        return f"{self.number:02}-{self.case.replace(' ', '_')}"


def rows_into(
    table: list[Row],
) -> Callable[..., Callable[[Callable[[], Tool]], Callable[[], Tool]]]:
    """Return the decorator `row(number, case, *calls)`, which adds a row to this table."""

    def row(
        number: int, case: str, *calls: Call
    ) -> Callable[[Callable[[], Tool]], Callable[[], Tool]]:
        def add(make: Callable[[], Tool]) -> Callable[[], Tool]:
            table.append(Row(number=number, case=case, make=make, calls=calls))
            return make

        return add

    return row


def gets(sent: str, text: str, *repairs: str) -> Call:
    """Expect the tool to be called. Each repair is written `code path`."""
    result: Json_ = {"content": [{"type": "text", "text": text}], "isError": False}
    if repairs:
        made = [dict(zip(("code", "path"), repair.split(" "), strict=True)) for repair in repairs]
        result["_meta"] = {"toolbooth": {"repairs": made}}
    return Call(sent=sent, result=result)


NOTHING_ARRIVED = (
    "No arguments arrived. Some clients drop all of them when one is empty text: "
    "leave that one out."
)


def refused(
    sent: str,
    *problems: tuple[str, str, str],
    declared: Mapping[str, str] = {},
    within: str = "",
    edits: Iterable[str] = (),
    instead: Json_ | None = None,
    form: Json_ | None = None,
) -> Call:
    """Expect a refusal. Each problem is its code, its path and the message; `declared` has the type
    of each field, `form` the placeholder if no arguments were sent.
    """
    head = f"Refused: {len(problems)} problem{'s' * (len(problems) > 1)} in the arguments of 'tool'. Nothing was done."
    lines = [head, *(f"- {path}: {message}" for _, path, message in problems)]
    where = f" of {within}" if within else ""
    fields = ", ".join(f"{json.dumps(name)} ({words})" for name, words in declared.items())
    lines += [f"Declared fields{where}: {fields}."] if declared else []
    lines += (
        [f"Send instead: {json.dumps(instead, separators=(',', ':'))}"]
        if instead is not None
        else []
    )
    if edits and instead is None:
        done = len(list(edits))
        part = f"This corrects {done} of {len(problems)} problems: "
        start = part if done < len(problems) else "To correct it: "
        lines += [start + "; ".join(edits) + "."]
    if form is not None:
        lines += [f"Form: {json.dumps(form)}", NOTHING_ARRIVED]
    data: Json_ = {
        "code": -32602,
        "problems": [
            dict(zip(("code", "path", "message"), problem, strict=True)) for problem in problems
        ],
    }
    data |= {"declared": {within or "$": dict(declared)}} if declared else {}
    data |= {"form": form} if form is not None else {}
    data |= {"edits": list(edits)} if edits else {}
    data |= {"corrected": instead} if instead is not None else {}
    content = [{"type": "text", "text": "\n".join(lines)}]
    return Call(
        sent=sent, result={"content": content, "isError": True, "_meta": {"toolbooth": data}}
    )


def by_host(call: Call) -> Call:
    """Return the same call, which a plain host decides before the function is reached."""
    return replace(call, by_host=True)


def missing(name: str) -> tuple[str, str, str]:
    return ("missing", f"$.{name}", "is required, but was not sent")


def shown(value: Any) -> str:
    """Return the fields of a model, by Python type, and the names of those that were sent."""
    return f"{value!r} sent={sorted(value.model_fields_set)}"
