"""The output: for a terminal of any width, as JSON, as Markdown."""

from typing import Any

from inline_snapshot import snapshot

from toolbooth.lint.check import lint
from toolbooth.lint.report import as_json, as_markdown, as_text

TOOLS: list[dict[str, Any]] = [
    {
        "name": "search",
        "description": "Find products.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "tags": {"type": "array", "description": 'e.g. ["tea"]'},
                "from": {"type": ["string", "null"], "description": "a | b"},
                "to": {"type": ["string", "null"], "description": "until"},
                "limit": {"type": "integer", "maximum": 50, "description": "How many"},
            },
        },
    },
    {"name": "ping", "description": "Answer.", "inputSchema": {"type": "object", "properties": {}}},
]


def text(report: Any, width: int = 10_000, least: Any = "warning") -> str:
    return as_text(report, width=width, paint=lambda words, style: words, least=least)


def test_findings_are_grouped_by_tool_and_equal_ones_share_a_line():
    assert text(lint(TOOLS, server="shop", only=["cursor", "vscode"])) == snapshot("""\
shop: 2 tools, about 102 tokens (bytes ÷ 4)

search
  error   array-without-items  $.tags
          an array without items; refused by VS Code Copilot
  warning type-list  $.from, $.to
          type is a list (string, null); misread by Cursor (correct calls are refused)

       cur vsc
search  !   x
x refused   ! misread   . constraint dropped
cur Cursor, vsc VS Code Copilot

1 error, 2 warnings, 1 note in 1 of 2 tools.
Not shown: 1; --notes shows them.
With a mechanical fix: 4; --fix FILE writes the fixed tools/list.
Details and evidence of a rule: toolbooth lint --explain RULE\
""")


def test_a_narrow_terminal_is_wrapped_and_the_matrix_cut_into_pieces():
    wrapped = text(lint(TOOLS), width=40, least="note")
    assert max(map(len, wrapped.splitlines())) <= 40
    assert wrapped == snapshot("""\
tools/list: 2 tools, about 102 tokens
(bytes ÷ 4)

search
  error   type-list  $.from, $.to
          type is a list (string, null);
          refused by Gemini API, Vertex
          AI, Amazon Bedrock, llama.cpp
          and Ollama; misread by Claude
          Code, Cursor (correct calls
          are refused)
  error   array-without-items  $.tags
          an array without items;
          refused by OpenAI API, OpenAI
          strict mode, Gemini API,
          Vertex AI, VS Code Copilot
  note    unstated-constraint  $.limit
          maximum is not in the
          description; dropped by VS
          Code Copilot (with gpt-4
          models), llama.cpp and Ollama,
          other clients (Codex)

       cla oai str gem ver cur vsc bed
search  !   x   x   x   x   !   x   x

       lla oth
search  x   .
x refused   ! misread   . constraint
dropped
cla Claude Code, oai OpenAI API, str
OpenAI strict mode, gem Gemini API, ver
Vertex AI, cur Cursor, vsc VS Code
Copilot, bed Amazon Bedrock, lla
llama.cpp and Ollama, oth other clients
No complaint known from: MCP
specification and official SDKs,
Anthropic API, Claude Desktop and
Cowork, Mistral API, LangChain.

3 errors, 1 note in 1 of 2 tools.
With a mechanical fix: 4; --fix FILE
writes the fixed tools/list.
Details and evidence of a rule:
toolbooth lint --explain RULE\
""")


def test_report_without_findings_has_its_own_sentence():
    assert text(lint(TOOLS[1:])) == snapshot("""\
tools/list: 1 tool, about 21 tokens (bytes ÷ 4)

Nothing found.\
""")


def test_every_part_has_its_own_style():
    painted = as_text(
        lint(TOOLS, only=["cursor", "vscode"]),
        width=200,
        paint=lambda words, style: f"<{style}>{words}</>",
        least="note",
    )
    assert painted == snapshot("""\
<title>tools/list: 2 tools, about 102 tokens (bytes ÷ 4)</>

<tool>search</>
  <error>error</>   array-without-items  $.tags
          an array without items; refused by VS Code Copilot
  <warning>warning</> type-list  $.from, $.to
          type is a list (string, null); misread by Cursor (correct calls are refused)
  <note>note</>    unstated-constraint  $.limit
          maximum is not in the description; dropped by VS Code Copilot (with gpt-4 models)

       cur vsc
search  <misreads>!</>   <refuses>x</>
x refused   ! misread   . constraint dropped
cur Cursor, vsc VS Code Copilot

1 error, 2 warnings, 1 note in 1 of 2 tools.
With a mechanical fix: 4; --fix FILE writes the fixed tools/list.
Details and evidence of a rule: toolbooth lint --explain RULE\
""")


def test_a_hostile_name_reaches_neither_the_terminal_nor_a_table():
    bad = {
        "name": "a\x1b[31m|`b`\ud800",
        "inputSchema": {"type": "object", "properties": {"\x07": {}}},
    }
    shown = text(lint([bad]), least="note")
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert shown.encode()
    table = as_markdown(lint([bad]))
    assert "\x1b" not in table
    assert table.encode()
    assert {line.count(" | ") for line in table.splitlines() if line.startswith("| error")} == {4}


def test_json_report_contains_all_findings():
    assert as_json(lint(TOOLS, server="shop", only=["vscode"])) == snapshot(
        {
            "server": "shop",
            "tools": 2,
            "tokens": 102,
            "clients": ["vscode"],
            "counts": {"error": 1, "warning": 0, "note": 1},
            "findings": [
                {
                    "rule": "array-without-items",
                    "severity": "error",
                    "tool": "search",
                    "path": "$.tags",
                    "message": "an array without items",
                    "clients": {"vscode": "refuses"},
                    "fixable": True,
                },
                {
                    "rule": "unstated-constraint",
                    "severity": "note",
                    "tool": "search",
                    "path": "$.limit",
                    "message": "maximum is not in the description",
                    "clients": {"vscode": "drops"},
                    "fixable": True,
                },
            ],
            "matrix": {"search": {"vscode": "refuses"}},
        }
    )


def test_markdown_has_the_findings_and_the_matrix():
    assert as_markdown(lint(TOOLS, only=["openai", "bedrock"])) == snapshot("""\
# tools/list: 2 tools, about 102 tokens (bytes ÷ 4)

3 errors

|  | rule | tool | where | what |
| --- | --- | --- | --- | --- |
| error | `type-list` | search | $.from, $.to | type is a list (string, null); refused by Amazon Bedrock |
| error | `array-without-items` | search | $.tags | an array without items; refused by OpenAI API |

| tool | OpenAI API | Amazon Bedrock |
| --- | --- | --- |
| search | refuses | refuses |
""")
    assert as_markdown(lint(TOOLS[1:])) == snapshot("""\
# tools/list: 1 tool, about 21 tokens (bytes ÷ 4)

Nothing found.
""")


def test_long_matrix_is_cut_with_a_note():
    tools = [{**TOOLS[0], "name": f"search_{index}"} for index in range(50)]
    shown = text(lint(tools, only=["cursor"]))
    assert "… and 10 more tools; --format markdown lists them all" in shown
    assert "search_49" not in shown.splitlines()[-10:]
