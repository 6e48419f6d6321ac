"""The pytest plugin's messages to the authors of tools that fail, and the deviations that they
accept.
"""

import pytest
from inline_snapshot import snapshot

from plugin_projects import (
    CALLS,
    FIND_ORDERS,
    REGISTRY,
    RESIZE,
    SDK_CALLS,
    UNPROTECTED,
    Run,
    failure,
    outcomes,
)

pytest_plugins = "pytester"


# --- messages to the author
# -----------------------------------------------------------------------------------------


def test_loss_is_reported_with_a_remedy(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=UNPROTECTED + FIND_ORDERS)
    result = run("--toolbooth", "shop:server")
    assert failure(result, "toolbooth[find_orders-wrapper/data]") == snapshot("""\
lost: the tool ran, and something that was sent got lost

find_orders  wrapper/data: all fields inside one more object (nested-wrapper report, 2026-11-15)
    sent      {"data": {"query": "text", "limit": 21}}
    the law   refused: nested-wrapper at $.data; send instead {"query": "text", "limit": 21}
    happened  the tool ran and 2 keys were lost ($.data.query, $.data.limit); it answered 20 of ''

To change: toolbooth.protect(server) puts every tool behind the boundary.

If it is meant, say why in conftest.py:

    pytestmark = pytest.mark.toolbooth_accepts("find_orders", "wrapper/data", reason="...")\
""")
    told = result.outlines
    start = next(
        index for index, line in enumerate(told) if line.strip("- ") == "toolbooth shop:server"
    )
    assert "\n".join(told[start + 1 : start + 9]) == snapshot("""\
shop (mcp_sdk, not protected): 38 of 43 calls broke the law of the boundary
     21 lost: the tool ran, and something that was sent got lost
      2 guessed: the tool ran, but the call had to be refused
      4 refused: a call with one meaning was refused
      6 unexplained: refused, but without the call to send instead
      5 unrecorded: read correctly, but the result does not record the right repair

             correct  json text  scalar text  left out  client keys  wrappers  names  levels  types  numbers\
""")
    result.stdout.fnmatch_lines(
        ["FAILED shop:server::toolbooth[[]find_orders-wrapper/data[]] - lost: the tool ran*"]
    )


def test_the_same_server_passes_after_protect(pytester: pytest.Pytester, run: Run):
    protect = "\nfrom toolbooth.adapters.mcp_sdk import protect\nprotect(server)\n"
    pytester.makepyfile(shop=UNPROTECTED + FIND_ORDERS + protect)
    assert outcomes(run("--toolbooth", "shop:server")) == {"passed": SDK_CALLS}


def test_tool_that_expects_values_no_client_sends_is_reported(pytester: pytest.Pytester, run: Run):
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
broken: the tool ran and failed

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
        (
            "shop",
            snapshot(
                "shop: 'shop' does not name a server: write the file or module, a colon and the name of the variable, such as shop:server"
            ),
        ),
        ("stall:server", snapshot("stall:server: there is no module 'stall' here or on the path")),
        ("shop:mcp", snapshot("shop:mcp: there is no 'mcp' in 'shop'; use shop:server")),
        (
            "shop:FIND",
            snapshot(
                "shop:FIND: 'FIND' in 'shop' is of type int, not ToolRegistry or FastMCP or MCPServer or Server; use shop:server"
            ),
        ),
        (
            "stall.py:server",
            snapshot("stall.py:server: there is no file '{folder}/stall.py'"),
        ),
    ],
    ids=["no-name", "no-module", "no-server", "no-kind", "no-file"],
)
def test_invalid_target_is_a_collection_error(
    target: str, told: str, pytester: pytest.Pytester, run: Run
):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS + "FIND = 1", test_shop="def test_one(): pass")
    result = run("--toolbooth", target)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    said = failure(result, f"ERROR collecting {target}")
    assert said.replace(str(pytester.path), "{folder}") == told


def test_a_server_that_cannot_be_loaded_is_reported_with_its_line(
    pytester: pytest.Pytester, run: Run
):
    pytester.makepyfile(shop=REGISTRY + "import json\njson.loads('{')")
    result = run("--toolbooth", "shop:server")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    told = failure(result, "ERROR collecting shop:server")
    assert "shop.py:5: in <module>" in told
    assert "JSONDecodeError" in told


def test_a_schema_that_refers_to_a_file_is_a_collection_error(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(
        shop=REGISTRY
        + """
from dataclasses import replace
from toolbooth import compile_function

def find_orders(limit: int) -> str: ...

schema = {"type": "object", "properties": {"limit": {"$ref": "file:///limit.json"}}}
server.add(replace(compile_function(find_orders), describe=lambda: schema), find_orders)
"""
    )
    result = run("--toolbooth", "shop:server")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert failure(result, "ERROR collecting shop:server") == snapshot(
        "find_orders: $ref 'file:///limit.json' is outside the schema and is not read; "
        "copy the definition into $defs"
    )


def test_a_second_file_with_the_same_module_name_is_a_collection_error(
    pytester: pytest.Pytester, run: Run
):
    pytester.makepyfile(**{"a/shop": REGISTRY + FIND_ORDERS, "b/shop": REGISTRY + FIND_ORDERS})
    result = run("--toolbooth=a/shop.py:server", "--toolbooth=b/shop.py:server")
    told = failure(result, "ERROR collecting b/shop.py:server")
    assert told.startswith("b/shop.py:server: another module 'shop' comes first")


def test_plugin_without_hypothesis_asks_to_install_the_extra(pytester: pytest.Pytester, run: Run):
    pytester.makeconftest("import sys\nsys.modules['hypothesis'] = None")
    result = run("--toolbooth", "shop:server")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --toolbooth needs Hypothesis: pip install 'toolbooth[[]testing[]]'"]
    )


# --- correct calls ----------------------------------------------------------------------------------------------


def test_tool_without_an_example_is_reported_with_a_remedy(pytester: pytest.Pytester, run: Run):
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


def test_the_nearest_conftest_overrides_examples(pytester: pytest.Pytester, run: Run):
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


def test_incorrect_example_call_fails(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    pytester.makeconftest(
        "def pytest_toolbooth_examples(): return {'find_orders': {'limit': '5'}, 'other': {}}"
    )
    result = run("--toolbooth", "shop:server")
    assert outcomes(result) == {"failed": 2}
    assert failure(result, "toolbooth[find_orders-example]").startswith(
        "find_orders: the example is not a correct call: $.limit: would have to be repaired (scalar-text)"
    )
    assert failure(result, "toolbooth[other-example]").startswith(
        "other: there is an example, but no such tool"
    )


# --- accepted deviations ----------------------------------------------------------------------------------------


def accepting(*marks: str) -> str:
    listed = ", ".join(f"pytest.mark.toolbooth_accepts({each})" for each in marks)
    return f"import pytest\n\npytestmark = [pytest.mark.usefixtures('tmp_path'), {listed}]"


def test_an_accepted_deviation_is_an_expected_failure_with_its_reason(
    pytester: pytest.Pytester, run: Run
):
    pytester.makepyfile(shop=UNPROTECTED + FIND_ORDERS)
    pytester.makeconftest(
        accepting('"find_orders", "wrapper/data", "misspelt", reason="protected next week"')
    )
    result = run("--toolbooth", "shop:server", "-rx", "-k", "misspelt")
    assert outcomes(result) == {"xfailed": 1, "deselected": SDK_CALLS - 1}
    result.stdout.fnmatch_lines(
        ["XFAIL shop:server::toolbooth[[]find_orders-misspelt[]] - *protected next week"]
    )


def test_accepted_deviation_that_no_longer_occurs_fails(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    pytester.makeconftest(accepting('"find_orders", "misspelt", reason="protected next week"'))
    result = run("--toolbooth", "shop:server")
    assert outcomes(result) == {"failed": 1, "passed": CALLS - 1}
    assert failure(result, "toolbooth[find_orders-misspelt]") == snapshot("""\
accepted as a deviation (protected next week), but the law holds
To change: take "misspelt" of "find_orders" out of toolbooth_accepts in conftest.py.\
""")


def test_accepted_deviation_of_an_unknown_shape_fails(pytester: pytest.Pytester, run: Run):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    marks = (
        '"find_orders", "mispelt", reason="a slip"',
        '"other_tool", "misspelt", reason="of another server"',
    )
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
def test_a_declaration_that_is_incomplete_is_a_collection_error(
    mark: str, pytester: pytest.Pytester, run: Run
):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    pytester.makeconftest(
        accepting(mark).replace("[pytest.mark.usefixtures('tmp_path'), ", "").removesuffix("]")
    )
    result = run("--toolbooth", "shop:server")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert failure(result, "ERROR collecting shop:server") == snapshot("""\
conftest.py: toolbooth_accepts takes a tool, one or more shapes, and the reason:

    pytestmark = pytest.mark.toolbooth_accepts("find_orders", "true-for-number@$.limit", reason="...")\
""")


def test_a_declaration_on_a_test_is_not_ignored(pytester: pytest.Pytester, run: Run):
    decorated = (
        '@pytest.mark.toolbooth_accepts("find_orders", "misspelt", reason="")\ndef test_one(): pass'
    )
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS, test_shop=f"import pytest\n{decorated}")
    result = run("--toolbooth", "shop:server", "--strict-markers")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[0].split("; ") == snapshot(
        [
            "ERROR: test_shop.py::test_one: the marker toolbooth_accepts has no effect on a test",
            "it belongs in a conftest.py, as pytestmark = pytest.mark.toolbooth_accepts(...)",
        ]
    )
