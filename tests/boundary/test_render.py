"""The wire form of a result."""

import orjson

from toolbooth.boundary.render import as_fragment, refusal_text, text_result, value_result
from toolbooth.errors import Problem, ToolInputError


def test_structured_content_may_be_written_into_the_reply_as_it_is():
    result = value_result({"a": [1, None]}, [], as_fragment)
    text = '{"a":[1,null]}'
    assert orjson.loads(orjson.dumps(result)) == {
        "content": [{"type": "text", "text": text}],
        "isError": False,
        "structuredContent": {"a": [1, None]},
    }


def test_plain_text_is_a_result_good_or_bad():
    assert text_result("hello") == {
        "content": [{"type": "text", "text": "hello"}],
        "isError": False,
    }
    assert text_result("no", is_error=True) == {
        "content": [{"type": "text", "text": "no"}],
        "isError": True,
    }


def test_a_refusal_claims_that_nothing_was_done_only_where_that_is_known():
    problems = [Problem(code="invalid", path=("a",), message="no")]
    assert refusal_text(ToolInputError(problems), 500) == (
        "Refused: 1 problem in the arguments. Nothing was done.\n- $.a: no"
    )
    assert refusal_text(ToolInputError(problems, untouched=False), 500) == (
        "Refused: 1 problem in the arguments.\n- $.a: no"
    )
