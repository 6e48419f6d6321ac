"""The wire form of a result."""

import orjson

from toolbooth.boundary.render import as_fragment, refusal_text, text_result, value_result
from toolbooth.errors import Problem, ToolInputError


def test_structured_content_is_copied_into_the_reply_unchanged():
    result = value_result({"a": [1, None]}, [], as_fragment)
    text = '{"a":[1,null]}'
    assert orjson.loads(orjson.dumps(result)) == {
        "content": [{"type": "text", "text": text}],
        "isError": False,
        "structuredContent": {"a": [1, None]},
    }


def test_text_content_is_a_result_or_an_error_result():
    assert text_result("hello") == {
        "content": [{"type": "text", "text": "hello"}],
        "isError": False,
    }
    assert text_result("no", is_error=True) == {
        "content": [{"type": "text", "text": "no"}],
        "isError": True,
    }


def test_a_refusal_states_that_nothing_was_done_only_if_that_is_certain():
    problems = [Problem(code="invalid", path=("a",), message="no")]
    assert refusal_text(ToolInputError(problems), 500) == (
        "Refused: 1 problem in the arguments. Nothing was done.\n- $.a: no"
    )
    assert refusal_text(ToolInputError(problems, untouched=False), 500) == (
        "Refused: 1 problem in the arguments.\n- $.a: no"
    )
