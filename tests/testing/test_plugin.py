"""The pytest plugin, run on small projects: the tests it collects, and when the server is started
and stopped.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from plugin_projects import (
    CALLS,
    FIND_ORDERS,
    REGISTRY,
    SDK_CALLS,
    UNPROTECTED,
    Run,
    failure,
    ids,
    outcomes,
)

pytest_plugins = "pytester"


# --- wire_call --------------------------------------------------------------------------------------------------


WIRE_TEST = """
def test_over_the_wire(wire_call):
    result = wire_call("find_orders", {"limit": "5"})
    assert (result.text, [each.code for each in result.repairs]) == ("5 of ''", ["scalar-text"])
    assert wire_call("find_orders").text == "20 of ''"
    assert wire_call("find_orders", {"limit": 1.0}, host="js").text == "1 of ''"
"""


def test_wire_call_uses_the_server_of_the_command_line_option(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS, test_shop=WIRE_TEST)
    assert outcomes(run("--toolbooth", "shop:server", "-m", "not toolbooth"))["passed"] == 1


def test_wire_call_uses_the_server_of_the_ini_file_from_any_folder(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
):
    pytester.makeini("[pytest]\ntoolbooth = shop.py:server")
    pytester.makepyfile(**{"shop": REGISTRY + FIND_ORDERS, "tests/test_shop": WIRE_TEST})
    monkeypatch.chdir(pytester.path / "tests")
    assert outcomes(run("test_shop.py")) == {"passed": 1}


def test_wire_call_uses_the_server_of_a_fixture(pytester: pytest.Pytester, run: Run):
    server = REGISTRY + FIND_ORDERS
    pytester.makeconftest(
        f"import pytest\n{server}\n@pytest.fixture\ndef toolbooth_server(tmp_path):\n    return server"
    )
    pytester.makepyfile(WIRE_TEST)
    assert outcomes(run()) == {"passed": 1}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "wire_call needs one server, and there is none."),
        (
            ["--toolbooth=shop:server", "--toolbooth=shop:other"],
            "wire_call needs one server, and there are several: shop:server, shop:other.",
        ),
        (["--toolbooth=shop:other"], "shop:other: there is no 'other' in 'shop'; use shop:server"),
    ],
    ids=["none", "several", "bad"],
)
def test_wire_call_without_exactly_one_server_fails_with_a_reason(
    options: list[str], told: str, pytester: pytest.Pytester, run: Run
):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS, test_shop=WIRE_TEST)
    result = run(*options, "--continue-on-collection-errors", "-m", "not toolbooth")
    said = failure(result, "ERROR at setup of test_over_the_wire")
    assert said.startswith(told)
    assert len(said.splitlines()) == 1


# --- a test per tool and shape ----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["shop:server", "shop.py:server"])
def test_every_tool_is_tested_in_every_shape_without_a_test_file(
    target: str, pytester: pytest.Pytester, run: Run
):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    result = run("--toolbooth", target)
    assert result.ret == 0
    assert outcomes(result) == {"passed": CALLS}
    listed = ids(run("--toolbooth", target, "--collect-only", "-q"))
    assert len(listed) == CALLS
    assert f"{target}::toolbooth[find_orders-wrapper/data]" in listed
    assert f"{target}::toolbooth[find_orders-true-for-number@$.limit]" in listed


def test_generated_tests_run_beside_others_and_are_selected_like_them(
    pytester: pytest.Pytester, run: Run
):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS, test_shop="def test_one(): pass")

    def passed(*options: str) -> int:
        return outcomes(run("--toolbooth", "shop:server", *options))["passed"]

    assert passed() == CALLS + 1
    assert passed("-m", "toolbooth") == CALLS
    assert passed("-m", "not toolbooth") == 1
    assert passed("-k", "wrapper and half") == 1
    assert passed("test_shop.py") == CALLS + 1


def test_several_servers_have_distinct_node_ids(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS, stall=REGISTRY + FIND_ORDERS)
    result = run("--toolbooth=shop:server", "--toolbooth=stall:server", "-v", "-k", "misspelt")
    result.stdout.fnmatch_lines(
        [
            "shop:server::toolbooth[[]find_orders-misspelt[]] PASSED *",
            "stall:server::toolbooth[[]find_orders-misspelt[]] PASSED *",
        ]
    )


def test_an_ini_file_names_servers_for_runs_of_the_whole_suite(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
):
    pytester.makeini(
        "[pytest]\ntestpaths = tests\ntoolbooth =\n    shop.py:server\n    market.stall:server"
    )
    pytester.makepyfile(
        **{
            "shop": REGISTRY + FIND_ORDERS,
            "market/stall": REGISTRY + FIND_ORDERS,
            "tests/test_shop": "def test_one(): pass",
        }
    )
    assert outcomes(run()) == {"passed": 2 * CALLS + 1}
    assert outcomes(run("tests/test_shop.py")) == {"passed": 1}
    monkeypatch.chdir(pytester.path / "tests")
    assert outcomes(run()) == {"passed": 2 * CALLS + 1}
    assert outcomes(run("shop.py:server::toolbooth[find_orders-correct]")) == {"passed": 1}
    assert outcomes(run("../shop.py:server::toolbooth[find_orders-correct]")) == {"passed": 1}
    one = "../market.stall:server::toolbooth[find_orders-correct]"
    assert outcomes(run("--toolbooth", "market.stall:server", one)) == {"passed": 1}


def test_a_generated_test_can_be_rerun_by_its_id_or_with_last_failed(
    pytester: pytest.Pytester, run: Run
):
    pytester.makepyfile(shop=UNPROTECTED + FIND_ORDERS, test_shop="def test_one(): assert False")
    failed = "shop:server::toolbooth[find_orders-wrapper/data]"
    result = run(failed)
    assert outcomes(result) == {"failed": 1}
    result.stdout.no_fnmatch_line("*correct  json text*")  # the matrix of one call shows nothing
    assert outcomes(run("--toolbooth", "shop:server", failed, "test_shop.py")) == {"failed": 2}
    again = run("--toolbooth", "shop:server", "--lf")
    assert outcomes(again) == {"failed": 2, "deselected": SDK_CALLS - 1}
    result = run(failed.replace("data", "dta"))
    assert failure(result, "ERROR collecting shop:server") == snapshot(
        "there is no test toolbooth[find_orders-wrapper/dta]; there is toolbooth[find_orders-wrapper/data]"
    )


# --- start and stop of the server
# -----------------------------------------------------------------------------------


LIFE = """
from contextlib import asynccontextmanager
from pathlib import Path
import anyio
from mcp.server.mcpserver import MCPServer

life = Path("life.txt")
life.touch()

def write(word):
    life.write_text(life.read_text() + word)

@asynccontextmanager
async def lifespan(server):
    async with anyio.create_task_group():
        write("started ")
        yield
        write("ended ")

server = MCPServer("shop", lifespan=lifespan, log_level="CRITICAL")

@server.tool()
def find_orders(query: str = "") -> str:
    return query
"""
TWICE = 'if life.read_text().count("ended"): 1 / 0'


def test_a_server_is_started_once_for_all_its_tests(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=LIFE)
    run("--toolbooth", "shop:server")
    # Once to collect the tests, once to run them.
    assert (pytester.path / "life.txt").read_text() == "started ended started ended "


def test_a_server_that_does_not_start_is_a_collection_error(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=LIFE.replace('write("started ")', "1 / 0"))
    result = run("--toolbooth", "shop:server")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "ZeroDivisionError" in failure(result, "ERROR collecting shop:server")


@pytest.mark.parametrize(
    ("word", "when"), [("started", "setup"), ("ended", "teardown")], ids=["start", "end"]
)
def test_a_server_that_fails_on_its_second_start_is_an_error(
    word: str, when: str, pytester: pytest.Pytester, run: Run
):
    pytester.makepyfile(
        shop=LIFE.replace(f'write("{word} ")', f'{TWICE}\n        write("{word} ")')
    )
    result = run("--toolbooth", "shop:server", "-k", "correct")
    assert "ZeroDivisionError" in failure(
        result, f"ERROR at {when} of toolbooth[find_orders-correct]"
    )
    assert outcomes(result)["errors"] == 1


# --- the docs ---------------------------------------------------------------------------------------------------


PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "testing.md"
BLOCKS = re.compile(r"^```(python|console).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_docs_show_the_printed_output(pytester: pytest.Pytester, run: Run):
    blocks = BLOCKS.findall(PAGE.read_text(encoding="utf-8").partition("\n## In pytest\n")[2])
    code: dict[str, str] = {}
    for kind, text in blocks:
        name = text.partition("\n")[0].removeprefix("# ")
        code[name] = code.get(name, "") + text if kind == "python" else ""
    losing, changed = (text.split("...\n")[1:] for kind, text in blocks if kind == "console")
    target = "--toolbooth=shop:server"

    pytester.makepyfile(shop=code["shop.py"])
    told = run(target).stdout.str()
    assert [part for part in losing if part not in told] == []
    pytester.makeconftest(code["conftest.py"])
    assert outcomes(run(target, "-k", "true-for-number"))["xfailed"] == 1
    (pytester.path / "conftest.py").unlink()

    protected = code["shop.py"].replace('MCPServer("shop")', 'protect(MCPServer("shop"))')
    protected = f"from toolbooth.adapters.mcp_sdk import protect\n{protected}"
    pytester.makepyfile(**{"shop": protected, "tests/test_shop": code["tests/test_shop.py"]})
    assert outcomes(run(target, "--toolbooth-update")) == {"passed": 78 + 2}
    pytester.makepyfile(
        shop=protected.replace("quantity: int = 1", 'quantity: int = 1\n    note: str = ""')
    )
    told = run(target).stdout.str()
    assert [part for part in changed if part not in told] == []


# --- a run that does not use it ---------------------------------------------------------------------------------


def test_pytest_run_without_the_plugin_option_loads_no_toolbooth_module(tmp_path: Path):
    (tmp_path / "test_loaded.py").write_text(
        "import sys\n"
        "def test_loaded():\n"
        "    loaded = sorted(name for name in sys.modules if name.startswith('toolbooth'))\n"
        "    plugin = ['toolbooth.pytest_plugin', 'toolbooth.pytest_plugin.plugin']\n"
        "    assert loaded == ['toolbooth', 'toolbooth.extras', *plugin]\n"
    )
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
