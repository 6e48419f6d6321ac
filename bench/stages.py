"""Profiles one call: an exact one by stage, any call by function."""

from __future__ import annotations

import cProfile
import pstats

from cases import EVERY
from core import calls_of, floor_of
from measure import Task, compare

from toolbooth import Contract, compile_function, handle_bytes
from toolbooth.boundary import render, run
from toolbooth.boundary.read import read_json
from toolbooth.boundary.validate import values_of
from toolbooth.shape_check import fits

PROFILED_SECONDS = 0.5


def profile(name: str, kind: str) -> None:
    """Print how a call of the case `name` spends its time; `kind` is one of its wrong calls, or
    empty.
    """
    case = next((each for each in EVERY if each.name == name), None)
    if case is None:
        raise SystemExit("no such case; there are: " + ", ".join(repr(each.name) for each in EVERY))
    bodies = {kind: body for (_, kind), body in calls_of(case).items()}
    if kind not in bodies:
        raise SystemExit(
            "no such call; there are: " + ", ".join(repr(each) for each in bodies if each)
        )
    contract = compile_function(case.function)
    handle_bytes(contract, bodies[kind])
    if not kind:
        _by_stage(contract, case.exact, floor_of(case))
    _by_function(contract, bodies[kind])


def _by_stage(contract: Contract, body: bytes, floor: Task) -> None:
    """Each stage alone, with the result of the previous stage."""
    arguments, *_ = read_json(body, contract.limits)
    values = values_of(contract, arguments)
    value = run.run(contract, None, values, None, None)
    stages: dict[str, Task] = {
        "read": lambda: read_json(body, contract.limits),
        "gate": lambda: fits(contract.shape, arguments),
        "validate": lambda: values_of(contract, arguments),
        "call": lambda: run.run(contract, None, values, None, None),
        "render": lambda: render.value_result(value, []),
    }
    whole: dict[str, Task] = {"floor": floor, "handle_bytes": lambda: handle_bytes(contract, body)}
    timings = compare({**whole, **stages}, "floor")
    between = timings["handle_bytes"].seconds - sum(timings[stage].seconds for stage in stages)
    print(f"{'stage':<14}{'µs':>9}{'× floor':>10}")
    for name in ("floor", *stages):
        print(f"{name:<14}{timings[name].seconds * 1e6:>9.2f}{timings[name].ratio:>10.2f}")
    print(f"{'between them':<14}{between * 1e6:>9.2f}{between / timings['floor'].seconds:>10.2f}")
    whole = timings["handle_bytes"]
    print(f"{'handle_bytes':<14}{whole.seconds * 1e6:>9.2f}{whole.ratio:>10.2f}\n")


def _by_function(contract: Contract, body: bytes) -> None:
    """The report of cProfile, which overstates the cost of small Python functions."""
    task: Task = lambda: handle_bytes(contract, body)  # noqa: E731
    loops = max(1, round(PROFILED_SECONDS / compare({"call": task}, "call")["call"].seconds))
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(loops):
        task()
    profiler.disable()
    print(f"{loops} calls")
    pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(18)
