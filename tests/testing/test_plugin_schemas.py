"""The pytest plugin's snapshots of published schemas."""

import json
import shlex

import pytest
from inline_snapshot import snapshot

from plugin_projects import CALLS, FIND_ORDERS, REGISTRY, Run, failure, outcomes

pytest_plugins = "pytester"


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
                "properties": {
                    "query": {"type": "string", "default": ""},
                    "limit": {"type": "integer", "default": 20},
                },
            }
        }
    )
    result = run(*SCHEMA)
    assert outcomes(result) == {"passed": 1, "deselected": CALLS}
    result.stdout.no_fnmatch_line("*--toolbooth-update*")


def test_changed_schema_is_shown_and_accepted_by_the_printed_command(
    pytester: pytest.Pytester, run: Run
):
    pytester.makepyfile(shop=REGISTRY + FIND_ORDERS)
    run(*SCHEMA, "--toolbooth-update")
    pytester.makepyfile(
        shop=REGISTRY + FIND_ORDERS.replace("limit: int = 20", "limit: int = 50, page: int = 1")
    )
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
    assert outcomes(run(*shlex.split(told.partition("If that is meant: pytest ")[2]))) == {
        "passed": 1
    }
    assert outcomes(run(*SCHEMA))["passed"] == 1


def test_printed_update_command_works_from_the_current_folder(
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


def test_new_and_removed_tools_are_reported(pytester: pytest.Pytester, run: Run):
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


def test_the_ini_file_can_set_the_folder_of_schemas(pytester: pytest.Pytester, run: Run):
    pytester.makeini("[pytest]\ntoolbooth_schemas = published")
    pytester.makepyfile(
        shop=REGISTRY + FIND_ORDERS.replace("@server.tool", "@server.tool(name='orders.find')")
    )
    run("--toolbooth", "shop.py:server", "--toolbooth-update")
    assert [file.name for file in pytester.path.glob("published/shop.py.server/*")] == [
        "orders.find.json"
    ]
    assert outcomes(run("--toolbooth", "shop.py:server", "-k", "schema"))["passed"] == 1
