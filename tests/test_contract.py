"""Contract: the limits of one call."""

import pytest

from toolbooth import Limits, compile_function, handle_bytes


@pytest.mark.parametrize(
    "limits", [{"max_depth": 201}, {"max_digits": 4_301}], ids=["depth", "digits"]
)
def test_limits_above_those_of_the_reader_raise(limits):
    with pytest.raises(
        ValueError, match="200 levels deep and to 4,300 digits; limits can only be lower"
    ):
        Limits(**limits)


@pytest.mark.parametrize("body", [b'{"items": [[1]]}', b'{"items":[[1]]}'])
def test_a_lowered_limit_holds_for_its_own_tool_alone(body: bytes):
    def tool(items: list[list[int]]) -> int:
        return len(items)

    passed = {"content": [{"type": "text", "text": "1"}], "isError": False}
    assert handle_bytes(compile_function(tool), body) == passed
    assert handle_bytes(compile_function(tool, limits=Limits(max_depth=2)), body) == {
        "content": [
            {
                "type": "text",
                "text": "Refused: 1 problem in the arguments of 'tool'. Nothing was done.\n"
                "- $: nested deeper than 2 levels",
            }
        ],
        "isError": True,
        "_meta": {
            "toolbooth": {
                "code": -32602,
                "problems": [
                    {"code": "too-deep", "path": "$", "message": "nested deeper than 2 levels"}
                ],
            }
        },
    }
