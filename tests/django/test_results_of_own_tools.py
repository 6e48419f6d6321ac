"""Long results of hand-written tools."""

import json

import pytest
from pydantic import BaseModel

from odd.models import Log
from results_api import joined, pages_of, serving
from toolbooth.content import Text
from toolbooth.django.decorators import mcp_tool


@pytest.fixture
def serve(settings_of, ann, monkeypatch):
    return serving(settings_of, ann, monkeypatch)


def test_read_only_function_runs_again_for_each_page(serve):
    @mcp_tool(annotations={"readOnlyHint": True})
    def numbers(upto: int, step: float = 1.0):
        Log.objects.create(line="ran")
        return {"upto": upto, "numbers": [number * step for number in range(upto)]}

    call = serve()
    assert call("numbers", upto=2).value == {"upto": 2, "numbers": [0.0, 1.0]}
    pages = pages_of(call, "numbers", call("numbers", upto="3000", step=0.5))
    assert joined(pages) == call("numbers", upto=3000, step=0.5, mode="full").text
    assert Log.objects.count() == len(pages) + 2


def test_result_of_a_writing_function_is_kept(serve):
    @mcp_tool
    def numbers(upto: int):
        Log.objects.create(line="ran")
        yield from range(upto)

    call = serve()
    first = call("numbers", upto=3000)
    assert list(first.value) == ["results", "continuation"]
    pages = pages_of(call, "numbers", first)
    assert [number for page in pages for number in page["results"]] == list(range(3000))
    assert Log.objects.count() == 1
    assert call("numbers", upto=3000, mode="summary").value["count"] == 3000


def test_text_that_a_function_returns_is_sent_in_pieces(serve):
    @mcp_tool
    def poem() -> str:
        return "Rosen, Tulpen, Nelken. Grüße!\n" * 400

    call = serve()
    first = call("poem")
    assert first.value["continuation"]["note"].endswith(
        "To continue, call the same tool with only continuation_token."
    )
    assert joined(pages_of(call, "poem", first)) == poem()
    assert call("poem", mode="full").text == poem()
    assert call("poem", mode="summary").value["sample"].startswith("Rosen")
    assert "- $.mode: must be one of summary, page, full" in call("poem", mode="all").text


class Report(BaseModel):
    title: str
    rows: list[int]


class Closed(BaseModel, extra="forbid"):
    rows: list[int]


def test_paged_result_fits_the_output_schema_or_is_sent_whole(serve):
    @mcp_tool
    def report() -> Report:
        return Report(title="all", rows=list(range(3000)))

    @mcp_tool
    def odd_report(words: int) -> Report:
        return Report(title="x" * words, rows=[1])

    @mcp_tool
    def closed() -> Closed:
        return Closed(rows=list(range(3000)))

    @mcp_tool
    def table() -> dict[str, str]:
        return {str(number): "x" for number in range(3000)}

    call = serve()
    assert joined(pages_of(call, "report", call("report"))) == report().model_dump_json()
    assert call("odd_report", words=9000).value == odd_report(9000).model_dump()
    assert call("closed").value == closed().model_dump()
    assert call("table").value == table()
    assert "there is no field" in call("closed", mode="full").text.replace("argument", "field")


def test_content_objects_of_a_tool_are_not_paged(serve):
    @mcp_tool
    def pieces():
        return [Text(text="x" * 9000), "y"]

    @mcp_tool
    def nothing():
        return None

    @mcp_tool
    async def later():
        yield "x" * 9000

    call = serve()
    assert call("pieces").text == "x" * 9000 + "\ny"
    assert call("nothing").text == "null"
    assert call("later").text == json.dumps(["x" * 9000])


def test_a_tools_own_argument_is_not_treated_as_a_protocol_argument(serve):
    @mcp_tool
    def paint(mode: str, continuation_token: str = "none"):
        return {"mode": mode, "token": continuation_token, "rows": list(range(3000))}

    call = serve()
    made = call("paint", mode="summary", continuation_token="own").value
    assert (made["mode"], made["token"], len(made["rows"])) == ("summary", "own", 3000)


def test_unserialisable_result_of_an_own_tool_is_an_error(serve):
    @mcp_tool
    def broken():
        return {"what": object()}

    assert serve()("broken").is_error


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("\ud800" * 20_000, ""),
        ({"rows": ["\ud800"] * 20_000}, ""),
        ({"rows": [{1: 1, "1": 2}] * 2_000}, ": 1 and '1' are the same key in JSON: \"1\""),
    ],
    ids=["text", "rows", "keys"],
)
def test_long_unserialisable_result_states_that_the_tool_ran(serve, value, why):
    @mcp_tool
    def odd():
        Log.objects.create(line="ran")
        return value

    result = serve()("odd")
    assert result.is_error is True
    assert "ran, but its result cannot be sent" in result.text
    assert why in result.text
    assert Log.objects.count() == 1
