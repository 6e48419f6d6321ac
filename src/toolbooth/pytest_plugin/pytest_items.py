"""The tests that `pytest --toolbooth` collects: one for each tool and each kind of malformed call,
and one for each stored schema.
"""

from __future__ import annotations

import asyncio
import importlib
import shlex
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolbooth.adapters.connect import Served, TargetError, served
from toolbooth.errors import ContractError
from toolbooth.jsonvalue import Json, is_array, near_name
from toolbooth.pytest_plugin.snapshots import Snapshot, folder_of, snapshots
from toolbooth.pytest_plugin.targets import Target, target_of
from toolbooth.testing.check.boundary import Case, Checker, Report, remedy
from toolbooth.testing.check.verdict import GRADES, Deviation

ACCEPTS = "toolbooth_accepts"

_HERE = str(Path(__file__).parent.parent)
_IMPORTLIB = str(Path(importlib.__file__).parent)

Accepted = dict[tuple[str, str], str]
"""Maps a tool and a shape to the reason why a deviation is accepted."""


class Servers:
    """Adds the tests of the named servers to the collected tests. If ids were given, only these
    tests are added.
    """

    def __init__(self, config: pytest.Config, named: Sequence[str], ids: Sequence[str]) -> None:
        # An empty set of ids means all tests of the server.
        self.chosen: dict[Target, set[str]] = {target_of(config, each): set() for each in named}
        for each in ids:
            written, _, name = each.partition("::")
            self.chosen.setdefault(target_of(config, written), set()).add(name)
        self.collected: list[Server] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        report = yield
        # pytest only collects files and folders, and a server is neither. So the servers are added
        # to the results of the session itself.
        if isinstance(collector, pytest.Session) and report.passed:
            self.collected = [
                _server(collector, target, ids) for target, ids in self.chosen.items()
            ]
            report.result = [*report.result, *self.collected]
        return report

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if item.get_closest_marker(ACCEPTS):
                raise pytest.UsageError(
                    f"{item.nodeid}: the marker {ACCEPTS} has no effect on a test; "
                    f"it belongs in a conftest.py, as pytestmark = pytest.mark.{ACCEPTS}(...)"
                )

    def pytest_report_collectionfinish(self) -> list[str]:
        return [f"toolbooth: {server.summary}" for server in self.collected if server.summary]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for server in self.collected:
            if server.updated:
                terminalreporter.write_line(f"toolbooth: schemas kept: {', '.join(server.updated)}")
            # With chosen ids, the table would cover only a part of the server, and look complete.
            if server.deviations and not server.ids:
                terminalreporter.section(f"toolbooth {server.name}", "-")
                terminalreporter.write_line(str(server.report(server.deviations)))


class Server(pytest.Collector):
    """Collects the tests of one server, and keeps their outcomes."""

    there: Served
    checker: Checker
    running: Running

    def __init__(self, *, target: Target, ids: set[str], **node: Any) -> None:
        super().__init__(**node)
        self.target = target
        self.ids = ids
        self.summary = ""
        self.called: list[Case] = []
        self.deviations: list[Deviation] = []
        self.updated: list[str] = []
        self.add_marker("toolbooth")

    def collect(self) -> list[pytest.Item]:
        try:
            server = self.target.load()
        except TargetError as error:
            raise self.CollectError(str(error)) from None
        given: list[Any] = self.config.hook.pytest_toolbooth_examples(
            target=self.name, server=server
        )
        # The nearest conftest.py comes first and overrides the others.
        examples = {tool: call for each in reversed(given) for tool, call in each.items()}
        self.there = served(server)
        self.checker = Checker(self.there, examples)
        try:
            cases, listed = asyncio.run(self._cases_and_tools())
        except ContractError as error:
            raise self.CollectError(str(error)) from None
        self.summary = self._summary(cases, listed)
        every = dict([*self._calls(cases), *self._uncalled_tools(), *self._schemas(listed)])
        unknown = sorted(self.ids - every.keys())
        if unknown:
            raise self.CollectError(
                "\n".join(f"there is no test {_and_near(each, every)}" for each in unknown)
            )
        return [
            _item(self, name, check)
            for name, check in every.items()
            if not self.ids or name in self.ids
        ]

    async def _cases_and_tools(self) -> tuple[list[Case], list[Json]]:
        async with self.there:
            return await self.checker.cases(), await self.there.tools()

    def _calls(self, cases: Sequence[Case]) -> Iterator[tuple[str, Check]]:
        left = accepted_deviations(self.config)
        shapes: dict[str, list[str]] = {}
        for case in cases:
            tool, shape = case.tool.label, case.shape.id
            shapes.setdefault(tool, []).append(shape)
            yield _name(tool, shape), partial(check_call, self, case, left.pop((tool, shape), None))
        for tool, shape in left:
            if tool in shapes:  # a tool that is not here may be on another server
                named = _and_near(shape, shapes[tool])
                text = f"{tool} is called in no shape {named}\n{_to_remove(tool, shape)}"
                yield _name(tool, shape), partial(complain, text)

    def _uncalled_tools(self) -> Iterator[tuple[str, Check]]:
        for line in self.checker.without:
            tool = line.partition(":")[0]
            yield _name(tool, "example"), partial(complain, f"{line}\n\n{_to_give(tool)}")

    def _schemas(self, listed: Sequence[Json]) -> Iterator[tuple[str, Check]]:
        folder = folder_of(self.config, self.name)
        if folder.is_dir() or self.config.getoption("toolbooth_update"):
            for each in snapshots(folder, listed):
                yield _name(each.tool, "schema"), partial(check_schema, self, each)

    def _summary(self, cases: Sequence[Case], listed: Sequence[Json]) -> str:
        said = f"{self.name} (tools: {len(listed)}, calls: {len(cases)})"
        folder = folder_of(self.config, self.name)
        if folder.is_dir() or self.config.getoption("toolbooth_update"):
            return said
        return f"{said}; --toolbooth-update keeps its schemas in {_short_path(self.config, folder)}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
        if isinstance(excinfo.value, self.CollectError):
            return str(excinfo.value)
        return excinfo.getrepr(style="short", tbfilter=_of_the_author)

    def setup(self) -> None:
        # pytest calls `setup` before the first test of this server, and `teardown` after the last.
        self.running = Running()
        self.running.start(self.there)

    def teardown(self) -> None:
        self.running.stop()

    def report(self, deviations: Sequence[Deviation]) -> Report:
        """Return the report of all calls so far."""
        return Report(
            server=self.there.name,
            kind=self.there.kind,
            protected=self.there.protected,
            cases=tuple(self.called),
            deviations=tuple(deviations),
        )


class Running:
    """Keeps a server running from one test to the next. One task starts the server and stops it."""

    def __init__(self) -> None:
        # It has a loop of its own, because tests may use the default one.
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._over = asyncio.Event()
        self._life: asyncio.Task[None] | None = None

    def start(self, there: Served) -> None:
        """Start the server. If its lifespan raises an exception, raise that."""
        self._life = self.run(self._start(there))

    async def _start(self, there: Served) -> asyncio.Task[None]:
        started = asyncio.Event()

        # The cancel scopes of anyio, which MCP servers use, must be left by the task that entered
        # them. Each `run` makes a new task, so this one lives as long as the server.
        async def live() -> None:
            async with there:
                started.set()
                await self._over.wait()

        life = asyncio.create_task(live())
        waiting = asyncio.create_task(started.wait())
        # If the lifespan fails, `started` is never set. Waiting for it alone would never end.
        await asyncio.wait({life, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if life.done():
            life.result()
        return life

    def run(self, work: Any) -> Any:
        """Run a coroutine while the server is running."""
        return self._runner.run(work)

    def stop(self) -> None:
        """Stop the server. If its lifespan raises an exception, raise that."""
        with self._runner:
            if self._life is not None:
                self.run(self._end(self._life))

    async def _end(self, life: asyncio.Task[None]) -> None:
        self._over.set()
        await life


# --- the tests ----------------------------------------------------------------------------------


class Failure(Exception):
    """Raised if a test fails. The author sees the message without a traceback."""


Check = Callable[["Generated"], None]


class Generated(pytest.Item):
    """A generated test, which is in no file."""

    check: Check

    def runtest(self) -> None:
        self.check(self)

    def reportinfo(self) -> tuple[str, None, str]:
        return self.nodeid.partition("::")[0], None, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Failure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


def check_call(server: Server, case: Case, reason: str | None, _: Generated) -> None:
    """Call one tool in one shape. If a deviation is accepted, `reason` says why."""
    server.called.append(case)
    deviation: Deviation | None = server.running.run(server.checker.verdict(case))
    if reason is not None:
        if deviation is not None:
            pytest.xfail(reason)
        # A declaration without a deviation fails, too. If it were left there, it would hide the
        # next regression.
        removed = _to_remove(case.tool.label, case.shape.id)
        raise Failure(f"accepted as a deviation ({reason}), but the law holds\n{removed}")
    if deviation is not None:
        server.deviations.append(deviation)
        raise Failure(_failure_text(deviation, remedy(server.report([deviation]))))


def check_schema(server: Server, snapshot: Snapshot, item: Generated) -> None:
    """Compare a published schema with the stored one. If none is stored, store it."""
    if snapshot.change is None:
        return
    if server.config.getoption("toolbooth_update"):
        snapshot.accept()
        server.updated.append(f"{snapshot.tool} ({snapshot.change})")
        return
    said = {
        "new": f"the tool {snapshot.tool} is new: its schema is not kept yet",
        "changed": f"the published schema of {snapshot.tool} has changed\n\n{snapshot.diff()}",
        "gone": f"the tool {snapshot.tool} is gone: agents that know it will go on calling it",
    }[snapshot.change]
    file = _short_path(server.config, snapshot.file)
    command = f"pytest {shlex.quote(f'{server.target.given_text}::{item.name}')} --toolbooth-update"
    raise Failure(f"{said}\n\nFile: {file}\nIf that is meant: {command}")


def complain(text: str, _: Generated) -> None:
    """Fail with this text. It is for something that cannot be tested."""
    raise Failure(text)


def _server(session: pytest.Session, target: Target, ids: set[str]) -> Server:
    name = target.node_id
    return _new_node(Server, session, name=name, nodeid=name, target=target, ids=ids)


def _item(server: Server, name: str, check: Check) -> Generated:
    # The id is a text, so that pytest parses it as it does the ids of the last failures.
    made: Generated = _new_node(Generated, server, name=name, nodeid=f"{server.nodeid}::{name}")
    made.check = check
    return made


def _new_node(kind: Any, parent: pytest.Collector, **fields: Any) -> Any:
    """Return a node of this class. This function exists because the constructors of pytest have no
    types.
    """
    return kind.from_parent(parent, **fields)


def _of_the_author(excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
    """Return the traceback of a server that could not be loaded or listed. If it contains lines of
    the author, it is cut to these.
    """
    trace = excinfo.traceback
    # The frames of Python's import machinery, which are between the author's modules.
    others = (_HERE, "<frozen", _IMPORTLIB)
    return trace.filter(lambda entry: not str(entry.path).startswith(others)) or trace


# --- declarations in a conftest.py, and messages ------------------------------------------------


def accepted_deviations(config: pytest.Config) -> Accepted:
    """Return the deviations that conftest.py files accept in their `pytestmark`."""
    found: Accepted = {}
    # pytest ignores the `pytestmark` of a conftest.py, but registers the module as a plugin, where
    # it can be read.
    for module in config.pluginmanager.get_plugins():
        marks: Any = vars(module).get("pytestmark", []) if isinstance(module, ModuleType) else []
        for mark in marks if is_array(marks) else [marks]:
            if mark.name == ACCEPTS:
                found.update(_declarations(mark.args, mark.kwargs))
    return found


def _declarations(args: Sequence[Any], more: Json) -> Accepted:
    if (
        len(args) < 2
        or more.keys() != {"reason"}
        or not all(isinstance(each, str) for each in args)
    ):
        raise pytest.Collector.CollectError(
            f"conftest.py: {ACCEPTS} takes a tool, one or more shapes, and the reason:\n\n"
            f"    {_declaration('find_orders', 'true-for-number@$.limit')}"
        )
    return {(args[0], shape): more["reason"] for shape in args[1:]}


def _failure_text(deviation: Deviation, change: str) -> str:
    parts = [f"{deviation.grade}: {GRADES[deviation.grade]}", str(deviation)]
    parts += [change] if change else []
    parts += [_to_give(deviation.tool)] if deviation.shape.kind == "correct" else []
    declaration = _declaration(deviation.tool, deviation.shape.id)
    parts += [f"If it is meant, say why in conftest.py:\n\n    {declaration}"]
    return "\n\n".join(parts)


def _declaration(tool: str, shape: str) -> str:
    return f'pytestmark = pytest.mark.{ACCEPTS}("{tool}", "{shape}", reason="...")'


def _to_remove(tool: str, shape: str) -> str:
    return f'To change: take "{shape}" of "{tool}" out of {ACCEPTS} in conftest.py.'


def _to_give(tool: str) -> str:
    return (
        "A correct call of your own goes into conftest.py:\n\n"
        f'    def pytest_toolbooth_examples():\n        return {{"{tool}": {{...}}}}'
    )


def _name(tool: str, what: str) -> str:
    return f"toolbooth[{tool}-{what}]"


def _and_near(name: str, known: Iterable[str]) -> str:
    near = near_name(name, known)
    return f"{name}; there is {near}" if near else name


def _short_path(config: pytest.Config, path: Path) -> str:
    return (
        path.relative_to(config.rootpath).as_posix()
        if path.is_relative_to(config.rootpath)
        else str(path)
    )
