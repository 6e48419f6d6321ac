"""The branch of a union is the one that Pydantic's `validate_json` chooses on the closed type.

Every difference from that is of one of the kinds below, each of which the law demands.
"""

import json
import re
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from typing import Annotated, Any

import jsonschema_rs
import pytest
from pydantic import BaseModel, Field, SecretStr, TypeAdapter, ValidationError

from toolbooth import Contract, compile_function, handle_bytes
from union_kinds import VALUES, WRAPPED, Making, UnionKind, unions

TYPES, CLOSED, STRICT = (
    Making(extra="ignore").types(),
    Making(extra="forbid").types(),
    Making(extra="forbid", strict=True).types(),
)
REFUSED = ("refused",)


def described(value: Any) -> tuple[Any, ...]:
    """A value with the types of all its parts."""
    name = type(value).__name__.partition("[")[0]
    if isinstance(value, BaseModel):
        fields = {key: described(each) for key, each in vars(value).items()}
        return name, fields, sorted(value.model_fields_set)
    if isinstance(value, dict):
        return name, [(described(key), described(each)) for key, each in value.items()]
    if isinstance(value, list | tuple | deque):
        return name, [described(each) for each in value]
    if isinstance(value, set | frozenset):
        return name, sorted(repr(described(each)) for each in value)
    if is_dataclass(value):
        return name, described(vars(value))
    if isinstance(value, SecretStr):
        return name, value.get_secret_value()
    return name, repr(value)


def judged(reference: TypeAdapter[Any], body: str) -> tuple[Any, ...]:
    """What a reference makes of JSON."""
    try:
        return described(reference.validate_json(body))
    except ValidationError:
        return REFUSED


@dataclass(frozen=True)
class Case:
    """One union, one value, and what became of it."""

    kind: UnionKind
    body: str
    contract: Contract
    ours: tuple[Any, ...]
    theirs: tuple[Any, ...]
    notes: dict[str, Any]

    @cached_property
    def codes(self) -> set[str]:
        """The codes of the problems or repairs."""
        return {each["code"] for part in ("problems", "repairs") for each in self.notes.get(part, ())}


def is_repaired(case: Case) -> bool:
    """A recorded repair was made, so the JSON that was validated is not the JSON that was sent."""
    return case.ours != REFUSED and bool(case.codes)


def is_not_published(case: Case) -> bool:
    """Pydantic makes a value of another JSON type than it publishes: a date of a number. We do not."""
    schema = jsonschema_rs.validator_for(case.contract.schema, validate_formats=True)
    return case.codes == {"wrong-type"} and not schema.is_valid({"v": json.loads(case.body)})


def is_strict(case: Case) -> bool:
    """Neither text nor a boolean is a number, and neither text nor a number is a boolean."""
    return case.ours == judged(TypeAdapter(case.kind.annotation(STRICT)), case.body)


def is_whole_number(case: Case) -> bool:
    """1e3 and 5.0 are the integers 1000 and 5."""
    whole = re.sub(r"\b5\.0\b", "5", case.body.replace("1e3", "1000"))
    return case.ours == judged(TypeAdapter(case.kind.annotation(CLOSED)), whole)


def has_more_digits(case: Case) -> bool:
    """Digits beyond a float are kept in a Decimal and in an integer."""
    return REFUSED not in (case.ours, case.theirs) and rounded(case.ours) == rounded(case.theirs)


def rounded(value: tuple[Any, ...]) -> str:
    """A description with floats for Decimals and for long integers."""

    def as_float(found: re.Match[str]) -> str:
        return repr(float(found[1] or found[2]))

    return re.sub(r"Decimal\('([^']*)'\)|\b(\d{15,})\b", as_float, repr(value))


def has_merged_keys(case: Case) -> bool:
    """Pydantic keeps one of two values whose keys mean the same; we refuse, or keep both."""
    return '"01"' in case.body and case.theirs != REFUSED


KINDS: list[Callable[[Case], bool]] = [
    has_more_digits,
    is_repaired,
    is_not_published,
    is_strict,
    is_whole_number,
    has_merged_keys,
]


def compiled(annotation: Any) -> tuple[Contract, list[Any]]:
    """The contract of a tool with one argument, and what it was called with."""
    received: list[Any] = []

    def take(v: Any) -> str:
        received.append(v)
        return "done"

    take.__annotations__["v"] = annotation
    return compile_function(take), received


def can_be_made(annotation: Any) -> bool:
    """Pydantic knows no `left_to_right` for a union that collapses into one type."""
    try:
        TypeAdapter(annotation)
    except RuntimeError:
        return False
    return True


def cases(kind: UnionKind) -> list[Case]:
    """All values sent to one union."""
    contract, received = compiled(kind.annotation(TYPES))
    reference = TypeAdapter[Any](kind.annotation(CLOSED))
    made: list[Case] = []
    for value in VALUES:
        body = WRAPPED[kind.place](value)
        received.clear()
        result = handle_bytes(contract, b'{"v": %b}' % body.encode())
        notes = result.get("_meta", {}).get("toolbooth", {})
        ours = described(received[0]) if received else REFUSED
        made.append(Case(kind, body, contract, ours, judged(reference, body), notes))
    return made


def kind_of_difference(case: Case) -> str | None:
    return next((each.__name__ for each in KINDS if each(case)), None)


@pytest.mark.filterwarnings("ignore")  # of `ipaddress`, which is given booleans
def test_the_branch_of_a_union_is_the_one_that_validate_json_chooses():
    compared, differences = 0, Counter[str]()
    for kind in unions(seed=13, count=240):
        if not can_be_made(kind.annotation(TYPES)):
            continue
        for case in cases(kind):
            compared += 1
            if case.ours != case.theirs:
                found = kind_of_difference(case)
                assert found is not None, (kind.annotation(TYPES), case.body, case.ours, case.theirs)
                differences[found] += 1
    assert compared >= 10_000
    assert len(KINDS) <= 10
