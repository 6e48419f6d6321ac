"""The pytest plugin, run on small projects: what it collects, and what it tells their authors."""

import asyncio
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from mcp.server.mcpserver import MCPServer

import toolbooth.testing.generated  # noqa: F401  each run below forgets what it loads, and should not load all of it
from toolbooth import ToolRegistry
from toolbooth.adapters import mcp_sdk
from toolbooth.testing.boundary import check_boundary

pytest_plugins = "pytester"

Run = Callable[..., pytest.RunResult]

REGISTRY = """
from toolbooth import ToolRegistry

server = ToolRegistry("shop")
"""

UNPROTECTED = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("shop", log_level="CRITICAL")
server_tool, server.tool = server.tool, lambda function: server_tool()(function)
"""

FIND_ORDERS = '''
@server.tool
def find_orders(query: str = "", limit: int = 20) -> str:
    """Find orders."""
    return f"{limit} of {query!r}"
'''

RESIZE = '''
from typing import Annotated
from pydantic import AfterValidator

def exists(size: int) -> int:
    if size != 1_999_966:
        raise ValueError("no such size")
    return size

@server.tool
def resize(size: Annotated[int, AfterValidator(exists)]) -> str:
    """Change the size."""
    return "done"
'''


def find_orders(query: str = "", limit: int = 20) -> str:
    return ""


def calls_on_toolbooth() -> int:
    """In how many shapes that tool is called."""
    registry = ToolRegistry("shop")
    registry.tool(find_orders)
    return len(asyncio.run(check_boundary(registry)).cases)


def calls_on_mcp_sdk() -> int:
    """The same, but without those of which the host's parser decides."""
    server = mcp_sdk.protect(MCPServer("shop", log_level="CRITICAL"))
    server.add_tool(find_orders)
    return len(asyncio.run(check_boundary(server)).cases)


CALLS = calls_on_toolbooth()
SDK_CALLS = calls_on_mcp_sdk()

OTHER_PLUGINS = ("inline_snapshot", "hypothesispytest", "anyio", "unraisableexception")


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """pytest on the project, without what would only cost time."""
    without = [word for plugin in OTHER_PLUGINS for word in ("-p", f"no:{plugin}")]
    return lambda *options: pytester.runpytest(*without, *options)


def outcomes(result: pytest.RunResult) -> dict[str, int]:
    return result.parseoutcomes()


def failure(result: pytest.RunResult, title: str) -> str:
    """What stands below the title of a failure, or of an error."""
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if line.strip("_ ") == title)
    ends = (index for index, line in enumerate(lines) if index > start and line[:5] in ("=" * 5, "_" * 5, "-" * 5))
    return "\n".join(lines[start + 1 : next(ends)]).strip("\n")


def ids(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]


# --- wire_call --------------------------------------------------------------------------------------------------


WIRE_TEST = """
def test_over_the_wire(wire_call):
    result = wire_call("find_orders", {"limit": "5"})
    assert (result.text, [each.code for each in result.repairs]) == ("5 of ''", ["scalar-text"])
    assert wire_call("find_orders").text == "20 of ''"
    assert wire_call("find_orders", {"limit": 1.0}, host="js").text == "1 of ''"
"""


def test_wire_call_calls_the_server_that_an_option_names(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS, test_shop=WIRE_TEST)
    assert outcomes(run("--toolbooth", "shop:server", "-m", "not toolbooth"))["passed"] == 1


def test_wire_call_calls_the_server_that_an_ini_file_names_wherever_pytest_runs(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
):
    pytester.makeini("[pytest]\ntoolbooth = shop.py:server")
    pytester.makepyfile(**{"shop": REGISTRY + FIND_ORDERS, "tests/test_shop": WIRE_TEST})
    monkeypatch.chdir(pytester.path / "tests")
    assert outcomes(run("test_shop.py")) == {"passed": 1}


def test_wire_call_calls_the_server_of_a_fixture(pytester: pytest.Pytester, run: Run):
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
        (["--toolbooth=shop:other"], "shop:other: 'other' in 'shop' is missing; there is server"),
    ],
    ids=["none", "several", "bad"],
)
def test_wire_call_says_what_it_needs(options: list[str], told: str, pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS, test_shop=WIRE_TEST)
    result = run(*options, "--continue-on-collection-errors", "-m", "not toolbooth")
    said = failure(result, "ERROR at setup of test_over_the_wire")
    assert said.startswith(told)
    assert len(said.splitlines()) == 1


# --- a test per tool and shape ----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["shop:server", "shop.py:server"])
def test_every_tool_is_tested_in_every_shape_without_a_test_file(target: str, pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    result = run("--toolbooth", target)
    assert result.ret == 0
    assert outcomes(result) == {"passed": CALLS}
    listed = ids(run("--toolbooth", target, "--collect-only", "-q"))
    assert len(listed) == CALLS
    assert f"{target}::toolbooth[find_orders-wrapper/data]" in listed
    assert f"{target}::toolbooth[find_orders-true-for-number@$.limit]" in listed


def test_generated_tests_stand_beside_others_and_are_chosen_as_others_are(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS, test_shop="def test_one(): pass")

    def passed(*options: str) -> int:
        return outcomes(run("--toolbooth", "shop:server", *options))["passed"]

    assert passed() == CALLS + 1
    assert passed("-m", "toolbooth") == CALLS
    assert passed("-m", "not toolbooth") == 1
    assert passed("-k", "wrapper and half") == 1
    assert passed("test_shop.py") == CALLS + 1


def test_several_servers_are_told_apart(pytester: pytest.Pytester, run: Run):
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
    pytester.makeini("[pytest]\ntestpaths = tests\ntoolbooth =\n    shop.py:server\n    package.stall:server")
    pytester.makepyfile(
        **{
            "shop": REGISTRY + FIND_ORDERS,
            "package/stall": REGISTRY + FIND_ORDERS,
            "tests/test_shop": "def test_one(): pass",
        }
    )
    assert outcomes(run()) == {"passed": 2 * CALLS + 1}
    assert outcomes(run("tests/test_shop.py")) == {"passed": 1}
    monkeypatch.chdir(pytester.path / "tests")
    assert outcomes(run()) == {"passed": 2 * CALLS + 1}
    assert outcomes(run("shop.py:server::toolbooth[find_orders-correct]")) == {"passed": 1}
    assert outcomes(run("../shop.py:server::toolbooth[find_orders-correct]")) == {"passed": 1}
    one = "../package.stall:server::toolbooth[find_orders-correct]"
    assert outcomes(run("--toolbooth", "package.stall:server", one)) == {"passed": 1}


def test_a_generated_test_is_run_again_by_its_id_or_as_the_one_that_failed(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=UNPROTECTED + FIND_ORDERS, test_shop="def test_one(): assert False")
    failed = "shop:server::toolbooth[find_orders-wrapper/data]"
    result = run(failed)
    assert outcomes(result) == {"failed": 1}
    result.stdout.no_fnmatch_line("*correct  json text*")  # the matrix of one call says nothing
    assert outcomes(run("--toolbooth", "shop:server", failed, "test_shop.py")) == {"failed": 2}
    again = run("--toolbooth", "shop:server", "--lf")
    assert outcomes(again) == {"failed": 2, "deselected": SDK_CALLS - 1}
    result = run(failed.replace("data", "dta"))
    assert failure(result, "ERROR collecting shop:server") == snapshot(
        "there is no test toolbooth[find_orders-wrapper/dta]; there is toolbooth[find_orders-wrapper/data]"
    )


# --- what an author is told -------------------------------------------------------------------------------------


def test_a_loss_is_told_with_what_to_change(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=UNPROTECTED + FIND_ORDERS)
    result = run("--toolbooth", "shop:server")
    assert failure(result, "toolbooth[find_orders-wrapper/data]") == snapshot("""\
lost: the tool ran, and something that was sent got lost

find_orders  wrapper/data: all fields inside one more object (seed 000, 2026-11-15)
    sent      {"data": {"query": "text", "limit": 21}}
    the law   refused: nested-wrapper at $.data; send instead {"query": "text", "limit": 21}
    happened  the tool ran and 2 keys were lost ($.data.query, $.data.limit); it answered 20 of ''

To change: toolbooth.adapters.mcp_sdk.protect(server) puts every tool behind the boundary.

If it is meant, say why in conftest.py:

    pytestmark = pytest.mark.toolbooth_accepts("find_orders", "wrapper/data", reason="...")\
""")
    told = result.outlines
    start = next(index for index, line in enumerate(told) if line.strip("- ") == "toolbooth shop:server")
    assert "\n".join(told[start + 1 : start + 9]) == snapshot("""\
shop (mcp_sdk, not protected): 37 of 42 calls broke the law of the boundary
     21 lost: the tool ran, and something that was sent got lost
      1 guessed: the tool ran on what should have been refused
      4 refused: a call with one meaning was refused
      6 unexplained: refused, but the agent is not told how to send it again
      5 unrecorded: read as meant, but not as the law has it recorded

             correct  json text  scalar text  left out  client keys  wrappers  names  levels  types  numbers\
""")
    result.stdout.fnmatch_lines(["FAILED shop:server::toolbooth[[]find_orders-wrapper/data[]] - lost: the tool ran*"])


def test_once_protected_the_same_server_passes(pytester: pytest.Pytester, run: Run):
    protect = "\nfrom toolbooth.adapters.mcp_sdk import protect\nprotect(server)\n"
    pytester.makepyfile(shop=UNPROTECTED + FIND_ORDERS + protect)
    assert outcomes(run("--toolbooth", "shop:server")) == {"passed": SDK_CALLS}


def test_a_tool_that_expects_what_no_client_sends_is_told_so(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(
        shop=REGISTRY
        + """
from pydantic import BaseModel

class Payload(BaseModel):
    subject: str

@server.tool
def send(payload: Payload) -> str:
    return payload["subject"].upper()
"""
    )
    result = run("--toolbooth", "shop:server")
    assert failure(result, "toolbooth[send-correct]") == snapshot("""\
broken: the tool was run, and broke

send  correct: the correct call, as the wire delivers it (ruby-sdk#412, 2026-06-15)
    sent      {"payload": {"subject": "text"}}
    the law   passed as it is
    happened  the tool breaks on what the wire delivers: Tool 'send' failed unexpectedly.

To change: where the correct call breaks, the tool expects what is never delivered. Values arrive as the parameter's
  annotation says: a model as that model, not as a dict; without one, dates and the keys of objects as text. So
  annotate (datetime, dict[int, str], a model) and test with call_over_wire. If the call makes no sense to the tool,
  give one that does: examples=.

A correct call of your own goes into conftest.py:

    def pytest_toolbooth_examples():
        return {"send": {...}}

If it is meant, say why in conftest.py:

    pytestmark = pytest.mark.toolbooth_accepts("send", "correct", reason="...")\
""")


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("shop", snapshot("shop: 'shop' should be module:server or file.py:server, e.g. server.py:server")),
        ("stall:server", snapshot("stall:server: there is no module 'stall' here or on the path")),
        ("shop:mcp", snapshot("shop:mcp: 'mcp' in 'shop' is missing; there is server")),
        (
            "shop:FIND",
            snapshot(
                "shop:FIND: 'FIND' in 'shop' is of type int, not ToolRegistry or FastMCP or MCPServer; there is server"
            ),
        ),
        (
            "stall.py:server",
            snapshot("stall.py:server: there is no file '{folder}/stall.py'"),
        ),
    ],
    ids=["no-name", "no-module", "no-server", "no-kind", "no-file"],
)
def test_a_target_that_is_none_is_a_collection_error(target: str, told: str, pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS + "FIND = 1", test_shop="def test_one(): pass")
    result = run("--toolbooth", target)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    said = failure(result, f"ERROR collecting {target}")
    assert said.replace(str(pytester.path), "{folder}") == told


def test_a_server_that_cannot_be_loaded_shows_where(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + "import json\njson.loads('{')")
    result = run("--toolbooth", "shop:server")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    told = failure(result, "ERROR collecting shop:server")
    assert "shop.py:5: in <module>" in told
    assert "JSONDecodeError" in told


def test_two_files_of_one_name_are_not_taken_for_each_other(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(**{"a/shop": REGISTRY + FIND_ORDERS, "b/shop": REGISTRY + FIND_ORDERS})
    result = run("--toolbooth=a/shop.py:server", "--toolbooth=b/shop.py:server")
    told = failure(result, "ERROR collecting b/shop.py:server")
    assert told.startswith("b/shop.py:server: another module 'shop' comes first")


def test_without_hypothesis_it_says_what_to_install(pytester: pytest.Pytester, run: Run):
    pytester.makeconftest("import sys\nsys.modules['hypothesis'] = None")
    result = run("--toolbooth", "shop:server")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --toolbooth needs Hypothesis: pip install 'toolbooth[[]testing[]]'"])


# --- correct calls ----------------------------------------------------------------------------------------------


def test_a_tool_without_an_example_is_told_how_to_get_one(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS + RESIZE)
    result = run("--toolbooth", "shop:server")
    assert outcomes(result) == {"failed": 1, "passed": CALLS}
    told = failure(result, "toolbooth[resize-example]")
    assert told.replace("; give one: ", ";\ngive one: ") == snapshot("""\
resize: no correct call could be made from the schema;
give one: examples={'resize': {...}} (refused of the last one made: $.size: no such size; got 2)

A correct call of your own goes into conftest.py:

    def pytest_toolbooth_examples():
        return {"resize": {...}}\
""")


def test_the_nearest_conftest_has_the_last_word_on_examples(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + RESIZE)
    pytester.makeconftest("def pytest_toolbooth_examples(): return {'resize': {'size': 2}}")
    pytester.makepyfile(
        **{
            "tests/conftest": """
            def pytest_toolbooth_examples(target, server):
                return {"resize": {"size": 1_999_966}} if (target, server.name) == ("shop:server", "shop") else None
            """
        }
    )
    result = run("--toolbooth", "shop:server")
    assert result.ret == 0
    assert "failed" not in outcomes(result)


def test_an_example_that_is_no_correct_call_is_refused(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    pytester.makeconftest("def pytest_toolbooth_examples(): return {'find_orders': {'limit': '5'}, 'other': {}}")
    result = run("--toolbooth", "shop:server")
    assert outcomes(result) == {"failed": 2}
    assert failure(result, "toolbooth[find_orders-example]").startswith(
        "find_orders: the example is no correct call: $.limit: would have to be repaired (scalar-text)"
    )
    assert failure(result, "toolbooth[other-example]").startswith("other: there is an example, but no such tool")


# --- accepted deviations ----------------------------------------------------------------------------------------


def accepting(*marks: str) -> str:
    listed = ", ".join(f"pytest.mark.toolbooth_accepts({each})" for each in marks)
    return f"import pytest\n\npytestmark = [pytest.mark.usefixtures('tmp_path'), {listed}]"


def test_an_accepted_deviation_is_an_expected_failure_with_its_reason(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=UNPROTECTED + FIND_ORDERS)
    pytester.makeconftest(accepting('"find_orders", "wrapper/data", "misspelt", reason="protected next week"'))
    result = run("--toolbooth", "shop:server", "-rx", "-k", "misspelt")
    assert outcomes(result) == {"xfailed": 1, "deselected": SDK_CALLS - 1}
    result.stdout.fnmatch_lines(["XFAIL shop:server::toolbooth[[]find_orders-misspelt[]] - *protected next week"])


def test_one_that_no_longer_deviates_must_go(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    pytester.makeconftest(accepting('"find_orders", "misspelt", reason="protected next week"'))
    result = run("--toolbooth", "shop:server")
    assert outcomes(result) == {"failed": 1, "passed": CALLS - 1}
    assert failure(result, "toolbooth[find_orders-misspelt]") == snapshot("""\
accepted as a deviation (protected next week), but the law holds
To change: take "misspelt" of "find_orders" out of toolbooth_accepts in conftest.py.\
""")


def test_one_of_a_shape_that_is_not_sent_must_go_too(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    marks = ('"find_orders", "mispelt", reason="a slip"', '"other_tool", "misspelt", reason="of another server"')
    pytester.makeconftest(accepting(*marks))
    result = run("--toolbooth", "shop:server")
    assert outcomes(result) == {"failed": 1, "passed": CALLS}
    assert failure(result, "toolbooth[find_orders-mispelt]") == snapshot("""\
find_orders is called in no shape mispelt; there is misspelt
To change: take "mispelt" of "find_orders" out of toolbooth_accepts in conftest.py.\
""")


@pytest.mark.parametrize(
    "mark",
    ['"find_orders", reason="all"', '"find_orders", "misspelt"', '"find_orders", 5, reason="five"'],
    ids=["no-shape", "no-reason", "no-text"],
)
def test_a_declaration_that_is_incomplete_is_a_collection_error(mark: str, pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    pytester.makeconftest(accepting(mark).replace("[pytest.mark.usefixtures('tmp_path'), ", "").removesuffix("]"))
    result = run("--toolbooth", "shop:server")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert failure(result, "ERROR collecting shop:server") == snapshot("""\
conftest.py: toolbooth_accepts takes a tool, one or more shapes, and the reason:

    pytestmark = pytest.mark.toolbooth_accepts("find_orders", "true-for-number@$.limit", reason="...")\
""")


def test_a_declaration_on_a_test_is_not_ignored(pytester: pytest.Pytester, run: Run):
    decorated = '@pytest.mark.toolbooth_accepts("find_orders", "misspelt", reason="")\ndef test_one(): pass'
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS, test_shop=f"import pytest\n{decorated}")
    result = run("--toolbooth", "shop:server", "--strict-markers")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[0].split("; ") == snapshot(
        [
            "ERROR: test_shop.py::test_one: the marker toolbooth_accepts has no effect on a test",
            "it belongs in a conftest.py, as pytestmark = pytest.mark.toolbooth_accepts(...)",
        ]
    )


# --- published schemas ------------------------------------------------------------------------------------------


SCHEMA = ("--toolbooth", "shop:server", "-k", "schema")


def test_schemas_are_kept_on_request_and_only_then_compared(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(**{"shop": REGISTRY + FIND_ORDERS, "tests/test_shop": ""})
    result = run(*SCHEMA)
    assert outcomes(result) == {"deselected": CALLS}
    result.stdout.fnmatch_lines(
        [
            f"toolbooth: shop:server (tools: 1, calls: {CALLS}); --toolbooth-update keeps its schemas in "
            "tests/toolbooth_schemas/shop.server"
        ]
    )
    result = run(*SCHEMA, "--toolbooth-update")
    assert outcomes(result) == {"passed": 1, "deselected": CALLS}
    result.stdout.fnmatch_lines(["toolbooth: schemas kept: find_orders (new)"])
    kept = pytester.path / "tests" / "toolbooth_schemas" / "shop.server" / "find_orders.json"
    assert json.loads(kept.read_text()) == snapshot(
        {
            "inputSchema": {
                "type": "object",
                "properties": {"query": {"type": "string", "default": ""}, "limit": {"type": "integer", "default": 20}},
            }
        }
    )
    result = run(*SCHEMA)
    assert outcomes(result) == {"passed": 1, "deselected": CALLS}
    result.stdout.no_fnmatch_line("*--toolbooth-update*")


def test_a_schema_that_changed_is_shown_and_accepted_by_the_command_that_is_told(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    run(*SCHEMA, "--toolbooth-update")
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS.replace("limit: int = 20", "limit: int = 50, page: int = 1"))
    result = run(*SCHEMA)
    told = failure(result, "toolbooth[find_orders-schema]")
    assert told == snapshot("""\
the published schema of find_orders has changed

--- as kept
+++ as published now
@@ -8,7 +8,11 @@
       },
       "limit": {
         "type": "integer",
-        "default": 20
+        "default": 50
+      },
+      "page": {
+        "type": "integer",
+        "default": 1
       }
     }
   }

File: toolbooth_schemas/shop.server/find_orders.json
If that is meant: pytest 'shop:server::toolbooth[find_orders-schema]' --toolbooth-update\
""")
    assert outcomes(run(*shlex.split(told.partition("If that is meant: pytest ")[2]))) == {"passed": 1}
    assert outcomes(run(*SCHEMA))["passed"] == 1


def test_the_command_that_is_told_fits_where_pytest_runs(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
):
    pytester.makeini("[pytest]")
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    monkeypatch.chdir(pytester.mkdir("elsewhere"))
    (pytester.path / "toolbooth_schemas" / "shop.py.server").mkdir(parents=True)
    result = run("--toolbooth", "../shop.py:server", "-k", "schema")
    command = shlex.split(failure(result, "toolbooth[find_orders-schema]").partition("pytest ")[2])
    assert command == ["../shop.py:server::toolbooth[find_orders-schema]", "--toolbooth-update"]
    assert outcomes(run(*command)) == {"passed": 1}


def test_tools_that_are_new_or_gone_are_noticed(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    run(*SCHEMA, "--toolbooth-update")
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS.replace("find_orders", "find_all"))
    result = run(*SCHEMA)
    assert outcomes(result) == {"failed": 2, "deselected": CALLS}
    assert failure(result, "toolbooth[find_all-schema]") == snapshot("""\
the tool find_all is new: its schema is not kept yet

File: toolbooth_schemas/shop.server/find_all.json
If that is meant: pytest 'shop:server::toolbooth[find_all-schema]' --toolbooth-update\
""")
    assert failure(result, "toolbooth[find_orders-schema]") == snapshot("""\
the tool find_orders is gone: agents that know it will go on calling it

File: toolbooth_schemas/shop.server/find_orders.json
If that is meant: pytest 'shop:server::toolbooth[find_orders-schema]' --toolbooth-update\
""")
    result = run(*SCHEMA, "--toolbooth-update")
    result.stdout.fnmatch_lines(["toolbooth: schemas kept: find_all (new), find_orders (gone)"])
    assert [file.name for file in pytester.path.glob("toolbooth_schemas/*/*")] == ["find_all.json"]


def test_an_ini_file_may_say_where_schemas_are_kept(pytester: pytest.Pytester, run: Run):
    pytester.makeini("[pytest]\ntoolbooth_schemas = published")
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS.replace("@server.tool", "@server.tool(name='orders.find')"))
    run("--toolbooth", "shop.py:server", "--toolbooth-update")
    assert [file.name for file in pytester.path.glob("published/shop.py.server/*")] == ["orders.find.json"]
    assert outcomes(run("--toolbooth", "shop.py:server", "-k", "schema"))["passed"] == 1


# --- the server's life ------------------------------------------------------------------------------------------


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
    # Once to see what there is to test, once to test it.
    assert (pytester.path / "life.txt").read_text() == "started ended started ended "


def test_a_server_that_does_not_start_is_a_collection_error(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=LIFE.replace('write("started ")', "1 / 0"))
    result = run("--toolbooth", "shop:server")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "ZeroDivisionError" in failure(result, "ERROR collecting shop:server")


@pytest.mark.parametrize(("word", "when"), [("started", "setup"), ("ended", "teardown")], ids=["start", "end"])
def test_a_server_that_fails_when_it_is_started_again_is_an_error(
    word: str, when: str, pytester: pytest.Pytester, run: Run
):
    pytester.makepyfile(shop=LIFE.replace(f'write("{word} ")', f'{TWICE}\n        write("{word} ")'))
    result = run("--toolbooth", "shop:server", "-k", "correct")
    assert "ZeroDivisionError" in failure(result, f"ERROR at {when} of toolbooth[find_orders-correct]")
    assert outcomes(result)["errors"] == 1


# --- the docs ---------------------------------------------------------------------------------------------------


PAGE = Path(__file__).resolve().parents[2] / "docs" / "testing.md"
BLOCKS = re.compile(r"^```(python|console).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_docs_show_what_is_really_printed(pytester: pytest.Pytester, run: Run):
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
    assert outcomes(run(target, "--toolbooth-update")) == {"passed": 77 + 2}
    pytester.makepyfile(shop=protected.replace("quantity: int = 1", 'quantity: int = 1\n    note: str = ""'))
    told = run(target).stdout.str()
    assert [part for part in changed if part not in told] == []


# --- a run that does not use it ---------------------------------------------------------------------------------


def test_a_run_that_does_not_use_it_loads_none_of_it(tmp_path: Path):
    (tmp_path / "test_loaded.py").write_text(
        "import sys\n"
        "def test_loaded():\n"
        "    loaded = sorted(name for name in sys.modules if name.startswith('toolbooth'))\n"
        "    assert loaded == ['toolbooth', 'toolbooth.testing', 'toolbooth.testing.plugin']\n"
    )
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
