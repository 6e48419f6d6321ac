"""Cases -> rows of figures: calls, imports and registrations against floors of the same run."""

from __future__ import annotations

from typing import Any, Literal

from cases import EVERY, FLAT, NESTED, Case
from figures import Panel, Row, Suite, Tell, at_most
from measure import Task, against, compare, process_clock, readings
from pydantic import TypeAdapter
from pydantic_core import to_json

from toolbooth import compile_function, handle_bytes, input_schema

Outcome = Literal["exact", "refused", "repaired"]

IMPORT_ROUNDS = 12
IMPORT_GOAL = 1.5


def measured(tell: Tell) -> list[Row]:
    """Every figure of the suite."""
    rows: list[Row] = []
    for case in EVERY:
        tell(case.name)
        rows += _calls(case)
    for case in (FLAT, NESTED):
        tell(f"registration of {case.name}")
        rows += _registration(case)
    tell("import")
    return rows + _imports()


def floor_of(case: Case) -> Task:
    """The cost for Pydantic alone to validate, call and dump."""
    function, body = case.plain or (case.function, case.exact)
    adapter = TypeAdapter(function)
    return lambda: to_json(adapter.validate_json(body))


def calls_of(case: Case) -> dict[tuple[Outcome, str], bytes]:
    """Every call of a case, by its required outcome."""
    made: dict[tuple[Outcome, str], bytes] = {("exact", ""): case.exact}
    made |= {("refused", kind): body for kind, body in case.refused.items()}
    return made | {("repaired", kind): body for kind, body in case.repaired.items()}


def _calls(case: Case) -> list[Row]:
    contract = compile_function(case.function)
    tasks: dict[Any, Task] = {"floor": floor_of(case)}
    for (group, kind), body in calls_of(case).items():
        came_of_it = outcome(handle_bytes(contract, body))
        if came_of_it != group:
            raise AssertionError(
                f"{case.name}, {kind}: {came_of_it}, not {group}; the figure would mean nothing"
            )
        tasks[group, kind] = lambda body=body: handle_bytes(contract, body)
    timings = compare(tasks, "floor")
    floor = timings.pop("floor")
    goals = {"exact": case.goal, "refused": case.refusal_goal}
    return [
        at_most(
            group, f"{case.name}: {kind}" if kind else case.name, goals.get(group), timing, floor
        )
        for (group, kind), timing in timings.items()
    ]


def outcome(result: dict[str, Any]) -> Outcome:
    """The outcome of a call."""
    if result["isError"]:
        return "refused"
    return "repaired" if "_meta" in result else "exact"


def _registration(case: Case) -> list[Row]:
    """A tool compiled and published; and the same including the first call, which compiles the
    gate.
    """

    def published() -> object:
        return input_schema(compile_function(case.function))

    def ready() -> object:
        contract = compile_function(case.function)
        return input_schema(contract), handle_bytes(contract, case.exact)

    def floor() -> object:
        adapter = TypeAdapter(case.function)
        return adapter.json_schema()

    names = {
        "published": f"{case.name}: compiled and published",
        "ready": f"{case.name}: and called once",
    }
    timings = compare({"floor": floor, "published": published, "ready": ready}, "floor")
    return [
        at_most("registration", name, None, timings[task], timings["floor"])
        for task, name in names.items()
    ]


def _imports() -> list[Row]:
    """Whole processes, and their cost without that of the bare interpreter."""
    tool = "\ndef tool(title: str, quantity: int) -> str: return title\n"
    codes = {
        "bare": "pass",
        "pydantic": "import pydantic",
        "toolbooth": "import toolbooth",
        "pydantic names": "from pydantic import BaseModel, TypeAdapter",
        "toolbooth names": "from toolbooth import compile_function, handle_bytes",
        "pydantic tool": f"from pydantic import TypeAdapter{tool}TypeAdapter(tool).json_schema()",
        "toolbooth tool": f"from toolbooth import *{tool}input_schema(compile_function(tool))",
    }
    whole = readings({name: process_clock(code) for name, code in codes.items()}, IMPORT_ROUNDS)
    # The best of the bare ones, because subtracting a noisy one would add noise to the result.
    alone = {name: [each - min(whole["bare"]) for each in times] for name, times in whole.items()}
    pairs = {
        "import toolbooth": ("toolbooth", "pydantic", IMPORT_GOAL),
        "compile_function, handle_bytes": ("toolbooth names", "pydantic names", None),
        "up to the first tool": ("toolbooth tool", "pydantic tool", None),
    }
    made: list[Row] = []
    for name, (mine, floor, goal) in pairs.items():
        for what, found in (("whole process", whole), ("import alone", alone)):
            timings = against({each: found[each] for each in (mine, floor)}, floor)
            made.append(at_most("import", f"{name}: {what}", goal, timings[mine], timings[floor]))
    return made


SUITE = Suite(
    name="core",
    title="CPU time with Toolbooth, as a multiple of Pydantic alone",
    groups={
        "exact": "Exact calls",
        "refused": "Refused calls",
        "repaired": "Repaired calls",
        "registration": "Registration of one tool (against TypeAdapter + json_schema)",
        "import": "Import (against pydantic)",
    },
    panels=(
        Panel(
            title="Exact calls ÷ to_json(TypeAdapter(tool).validate_json(body))", groups=("exact",)
        ),
        Panel(
            title="Refused and repaired calls ÷ the exact call's floor (logarithmic)",
            groups=("refused", "repaired"),
            logarithmic=True,
        ),
        Panel(
            title="Registration ÷ TypeAdapter(tool) + json_schema(), and import ÷ pydantic's",
            groups=("registration", "import"),
        ),
    ),
    packages=("toolbooth", "pydantic", "pydantic-core", "jiter", "orjson", "jsonschema-rs"),
    measured=measured,
    shows_picture=True,
)
