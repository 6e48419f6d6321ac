"""The part `scale` of `make long`: the costs of a generated project of 10 to 5,000 actions.

`python scripts/scale.py` prints the figures of every step; `python scripts/scale.py workers` those
of one. Linux only: CPU time and memory of a process are read from /proc.
"""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measured import Figures, Part, Step, StepFailed

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
PROCESS = Path(__file__).with_name("scale_process.py")

RESOURCES = {10: 0, 100: 15, 1_000: 165, 1_700: 282, 5_000: 832}
"""How many resources of six actions are generated beside those of ten actions."""
FULL = 1_700
"""The size for which there are bars."""
SMALLEST, *_ = RESOURCES

FIRST = ("start", "discover", "call", "list", "list from a file")
FIRST_ROUNDS = 3
WARM = {"call": (40, 30), "REST": (40, 30), "help": (40, 12), "list": (1, 8)}
"""The requests in one reading of a process that has described all actions, and the rounds."""
WORKERS = (1, 2, 4)
WORKER_ROUNDS = 12
WORKER_CALLS = 200
PATIENCE = 300


# --- the project --------------------------------------------------------------------------------


def environment(home: Path, actions: int, warm_file: str = "") -> dict[str, str]:
    """The generated project with so many actions. Its users may call all tools but one."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "servers.django_project.settings",
        "BENCH_DATABASE": str(home / f"{actions}.sqlite3"),
        "BENCH_GATEWAY": "toolbooth",
        "BENCH_SERVER": "gunicorn",
        "BENCH_RESOURCES": str(RESOURCES[actions]),
        "BENCH_PERMISSIONS": "of models",
        "BENCH_WARM_FILE": warm_file,
    }


def output_of(command: list[str], chosen: Mapping[str, str]) -> str:
    """Return the output of a Python process in the folder of the project."""
    done = subprocess.run(
        [sys.executable, *command], cwd=BENCH, env=chosen, capture_output=True, text=True
    )
    if done.returncode:
        raise StepFailed(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


@contextmanager
def projects(sizes: Mapping[int, int] = RESOURCES) -> Iterator[Path]:
    """A folder with a database for each size."""
    with TemporaryDirectory() as folder:
        home = Path(folder)
        for actions in sizes:
            output_of(["-m", "django", "seed"], environment(home, actions))
        yield home


def interleaved(clocks: Mapping[Any, Callable[[], Any]], rounds: int) -> dict[Any, list[Any]]:
    """Read every clock once per round, in a new order each time."""
    found: dict[Any, list[Any]] = {key: [] for key in clocks}
    order = list(clocks)
    for _ in range(rounds):
        random.shuffle(order)
        for key in order:
            found[key].append(clocks[key]())
    return found


def with_load(figures: Figures) -> Figures:
    """The figures, with the load of the machine at the end of their step."""
    return {"figures": figures, "load": [round(each, 1) for each in os.getloadavg()]}


# --- the first request of a process -------------------------------------------------------------


def first() -> Figures:
    """CPU seconds and memory of the first request that a new process gets, by number of actions."""
    with projects() as home:
        clocks = {
            (actions, name): partial(_first, home, actions, name)
            for actions in RESOURCES
            for name in FIRST
        }
        found = interleaved(clocks, FIRST_ROUNDS)
    figures: Figures = {}
    for (actions, name), times in found.items():
        best = min(times, key=lambda each: each["seconds"])
        memory = round(min(each["mb"] for each in times), 1)
        row = {"seconds": round(best["seconds"], 4), "mb": memory, "listed": best["listed"]}
        figures.setdefault(str(actions), {})[name] = row
    return with_load(figures)


def _first(home: Path, actions: int, name: str) -> Any:
    warm_file = home / f"{actions}.json"
    is_from_file = name == "list from a file"
    chosen = environment(home, actions, str(warm_file) if is_from_file else "")
    if is_from_file and not warm_file.exists():
        output_of(["-m", "django", "mcp_warm"], chosen)
    printed = output_of([str(PROCESS), "first", name.partition(" ")[0]], chosen)
    found = json.loads(printed)
    # All but the one that the user may not call.
    if found["listed"] not in (None, len_of(actions) - 1):
        raise StepFailed(f"{found['listed']} tools of {len_of(actions)} are listed")
    if is_from_file and found["described"]:
        raise StepFailed("the list does not come from the file")
    return found


def len_of(actions: int) -> int:
    """The exact number of actions."""
    return 10 + 6 * RESOURCES[actions]


# --- a process that has described all -----------------------------------------------------------


class Warm:
    """A process that takes readings on request."""

    def __init__(self, chosen: Mapping[str, str]) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        command = [sys.executable, str(PROCESS), "serve"]
        self.process: Any = subprocess.Popen(command, cwd=BENCH, env=chosen, **pipes)

    def wait(self) -> None:
        if self.process.stdout.readline() != "ready\n":
            raise StepFailed("the process did not start")

    def read(self, name: str, count: int) -> float:
        self.process.stdin.write(f"{name} {count}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def warm() -> Figures:
    """CPU seconds of one request to a process that has described all actions."""
    with projects() as home, ExitStack() as stack:
        servers = {
            actions: stack.enter_context(closing(Warm(environment(home, actions))))
            for actions in RESOURCES
        }
        for each in servers.values():
            each.wait()
        figures: Figures = {str(actions): {} for actions in RESOURCES}
        for name, (count, rounds) in WARM.items():
            clocks = {key: partial(each.read, name, count) for key, each in servers.items()}
            for actions, times in interleaved(clocks, rounds).items():
                figures[str(actions)][name] = min(times)
    return with_load(figures)


# --- workers ------------------------------------------------------------------------------------


class Gunicorn:
    """gunicorn with sync workers. The project is loaded before they are forked."""

    def __init__(self, chosen: Mapping[str, str], workers: int) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self.port: int = listening.getsockname()[1]
            options = [f"--workers={workers}", f"--timeout={PATIENCE}", "--log-level=error"]
            bind = f"--bind=fd://{listening.fileno()}"
            application = "django.core.wsgi:get_wsgi_application()"
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gunicorn", "--preload", *options, bind, application],
                cwd=BENCH,
                env=chosen,
                pass_fds=[listening.fileno()],
            )
        self.workers = workers

    @property
    def children(self) -> list[int]:
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(each) for each in path.read_text(encoding="ascii").split()]

    def cpu(self) -> float:
        """Seconds of all workers."""
        time.sleep(0.01)  # the work that runs now is not counted yet
        return sum(time.clock_gettime((~each << 3) | 2) for each in self.children)

    def read(self, sent: Any, calls: int) -> float:
        """CPU seconds of a call, with two callers for each worker."""
        before = self.cpu()
        with ThreadPoolExecutor(2 * self.workers) as threads:
            list(threads.map(lambda _: self.call(sent), range(calls)))
        return (self.cpu() - before) / calls

    def call(self, sent: Any) -> None:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request(sent["method"], sent["path"], sent["body"], sent["headers"])
            answer = connection.getresponse()
            body = answer.read()
        if answer.status != 200 or b'"isError":true' in body:
            raise StepFailed(f"answered {answer.status} {body[:2000]!r}")

    def close(self) -> None:
        self.process.terminate()  # its workers end with it
        self.process.wait()


def workers() -> Figures:
    """CPU seconds per call of all workers together."""
    sent = json.loads(output_of([str(PROCESS), "message"], environment(Path(), SMALLEST)))
    with projects({FULL: RESOURCES[FULL]}) as home, ExitStack() as stack:
        chosen = environment(home, FULL)
        servers = {
            count: stack.enter_context(closing(Gunicorn(chosen, count))) for count in WORKERS
        }
        for each in servers.values():
            each.read(sent, WORKER_CALLS)  # every worker describes the action
        clocks = {count: partial(each.read, sent, WORKER_CALLS) for count, each in servers.items()}
        found = interleaved(clocks, WORKER_ROUNDS)
    return with_load({str(count): min(times) for count, times in found.items()})


# --- the page -----------------------------------------------------------------------------------


def steps() -> dict[str, Step]:
    return {"first": first, "warm": warm, "workers": workers}


def table(figures: Mapping[str, Figures]) -> str:
    found = {name: each["figures"] for name, each in figures.items()}
    sections = [
        "![The figures of this page](scale.png)\n",
        _bars(found),
        "### The first request of a process\n\n" + _first_table(found["first"]),
        "### A process that has described all actions\n\n" + _warm_table(found["warm"]),
        "### Workers\n\n" + _workers_table(found["workers"]),
        _loads(figures),
    ]
    return "\n".join(sections)


def _bars(found: Mapping[str, Figures]) -> str:
    cold, warmed = found["first"][str(FULL)], found["warm"]
    calls = {int(actions): each["call"] for actions, each in warmed.items()}
    ratio = max(calls.values()) / calls[SMALLEST]
    listed = cold["list"]
    rows = [
        ("discovery and names", "1 s", _seconds, cold["start"]["seconds"], 1.0),
        ("first `server/discover`", "0.2 s", _seconds, cold["discover"]["seconds"], 0.2),
        ("first `tools/call`", "2 s", _seconds, cold["call"]["seconds"], 2.0),
        ("first whole list, all pages", "6 s", _seconds, listed["seconds"], 6.0),
        ("memory after it", "+60 MB", "+{:.0f} MB".format, listed["mb"], 60),
        ("later filtered list", "80 ms", _seconds, warmed[str(FULL)]["list"], 0.080),
        (f"a call, dearest size ÷ {SMALLEST} actions", "1.1", "{:.2f}".format, ratio, 1.1),
    ]
    lines = [f"| with {FULL:,} actions | measured | bar | |", "|---|---:|---:|---|"]
    for what, bar, shown, value, most in rows:
        verdict = "met" if value <= most else "missed"
        lines.append(f"| {what} | {shown(value)} | {bar} | {verdict} |")
    return "\n".join(lines) + "\n"


def _first_table(found: Mapping[str, Any]) -> str:
    heads = ("discovery", "`server/discover`", "`tools/call`", "whole list", "with `WARM_FILE`")
    lines = [
        f"| actions | {' | '.join(heads)} | memory | with `WARM_FILE` |",
        "|---:" * (len(heads) + 3) + "|",
    ]
    for actions, each in found.items():
        times = " | ".join(_seconds(each[name]["seconds"]) for name in FIRST)
        memory = f"+{each['list']['mb']:.0f} MB | +{each['list from a file']['mb']:.0f} MB"
        lines.append(f"| {int(actions):,} | {times} | {memory} |")
    return "\n".join(lines) + "\n"


def _warm_table(found: Mapping[str, Any]) -> str:
    # A result from before REST was measured has no such figures.
    names = [name for name in ("call", "REST") if name in found[str(SMALLEST)]]
    heads = {"call": "a call", "REST": "the same call over REST"}
    shown = " | ".join(f"{heads[name]} | ÷ the smallest" for name in names)
    lines = [f"| actions | {shown} | help | filtered list |", "|---:" * (3 + 2 * len(names)) + "|"]
    for actions, each in found.items():
        cells = [f"{int(actions):,}"]
        for name in names:
            cells += [_seconds(each[name]), f"{each[name] / found[str(SMALLEST)][name]:.2f}"]
        cells += [_seconds(each[name]) for name in ("help", "list")]
        lines.append(f"| {' | '.join(cells)} |")
    words = f"\n{_words_of_rest(found)}\n" if "REST" in names else ""
    return "\n".join(lines) + "\n" + words


def _words_of_rest(found: Mapping[str, Any]) -> str:
    largest = max(found, key=int)
    of_django = found[largest]["REST"] - found[str(SMALLEST)]["REST"]
    return f"""What the client spends on reading the answers is not counted. The same call over REST
grows with the routes of the project, because Django tries one after the other: with
{int(largest):,} actions, that takes {_seconds(of_django)} of it. The gateway leaves out those that
cannot match, and is called at a route of its own."""


def _workers_table(found: Mapping[str, float]) -> str:
    lines = [f"| workers, {FULL:,} actions | CPU of a call | ÷ one worker |", "|---:|---:|---:|"]
    for count, seconds in found.items():
        lines.append(f"| {count} | {_seconds(seconds)} | {seconds / found['1']:.2f} |")
    return "\n".join(lines) + "\n"


def _loads(figures: Mapping[str, Figures]) -> str:
    loads = ", ".join(f"{name} {each['load'][0]}" for name, each in figures.items())
    return f"Load of the machine (1 minute) at the end of each step: {loads}.\n"


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 0.1 else f"{value * 1000:.2f} ms"


def picture(figures: Mapping[str, Figures], path: Path) -> None:
    """Draw the figures by number of actions."""
    import matplotlib  # noqa: PLC0415  # only here: it takes a second

    matplotlib.use("Agg")
    from matplotlib.figure import Figure  # noqa: PLC0415

    cold, warmed = figures["first"]["figures"], figures["warm"]["figures"]
    sizes = [int(actions) for actions in cold]
    panels: list[tuple[str, str, dict[str, list[float]]]] = [
        (
            "First request of a process",
            "CPU seconds",
            {
                "discovery and names": [each["start"]["seconds"] for each in cold.values()],
                "server/discover": [each["discover"]["seconds"] for each in cold.values()],
                "tools/call": [each["call"]["seconds"] for each in cold.values()],
            },
        ),
        (
            "First tools/list, all pages",
            "CPU seconds",
            {
                "described": [each["list"]["seconds"] for each in cold.values()],
                "from WARM_FILE": [each["list from a file"]["seconds"] for each in cold.values()],
            },
        ),
        (
            "Memory after the whole list",
            "MB more",
            {
                "described": [each["list"]["mb"] for each in cold.values()],
                "from WARM_FILE": [each["list from a file"]["mb"] for each in cold.values()],
            },
        ),
        (
            "Later filtered list, all pages",
            "CPU ms",
            {"list": [each["list"] * 1000 for each in warmed.values()]},
        ),
        (
            "One request after that",
            "CPU ms",
            {
                name: [each[name] * 1000 for each in warmed.values()]
                for name in ("call", "REST", "help")
            },
        ),
    ]
    drawn = Figure(figsize=(11.5, 7), layout="constrained")
    axes: Any = drawn.subplots(2, 3).flatten()
    for each, (title, unit, lines) in zip(axes, panels, strict=False):
        for name, values in lines.items():
            each.plot(sizes, values, marker="o", label=name)
        each.set_xlabel("actions")
        _frame(each, title, unit)
    found = figures["workers"]["figures"]
    axes[5].bar(list(found), [each * 1000 for each in found.values()], label="call")
    axes[5].set_xlabel("workers")
    _frame(axes[5], f"A call, {FULL:,} actions", "CPU ms")
    drawn.savefig(path, dpi=110, metadata={"Software": None})


def _frame(axes: Any, title: str, unit: str) -> None:
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_ylabel(unit)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


PART = Part(
    name="scale",
    title="Many actions",
    about="""A generated project of 10 to 5,000 actions behind the gateway: models of eight fields
with a foreign key, six actions each, on SQLite, with REST framework's own `TokenAuthentication` and
`DjangoModelPermissions`. The caller may use all actions but one, so that every list is filtered.
All times are CPU time of the process, the best of several readings that are taken in turn with
those of all other sizes. "First" is the first MCP message that a new process gets, after one REST
request, so that Django itself is loaded; the message of `server/discover`, `tools/call` and
`tools/list` includes the discovery. Memory is the growth of the process after all pages of the
list. [Sizing](../guides/sizing.md) explains how to improve each figure.""",
    covers=(
        "scripts/scale*.py",
        "bench/servers/django_project/**/*.py",
        "src/toolbooth/*.py",
        "src/toolbooth/boundary/**/*.py",
        "src/toolbooth/compile/**/*.py",
        "src/toolbooth/django/**/*.py",
        "src/toolbooth/publish/**/*.py",
        "src/toolbooth/server/**/*.py",
    ),
    packages=("Django", "djangorestframework", "drf-spectacular", "pydantic", "gunicorn"),
    steps=steps,
    table=table,
    picture=picture,
)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or steps():
        print(wanted, json.dumps(steps()[wanted](), indent=2), flush=True)
