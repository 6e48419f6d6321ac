"""The wire form of a result."""

import orjson

from toolbooth.boundary.render import as_fragment, text_result, value_result


def test_structured_content_may_be_written_into_the_reply_as_it_is():
    result = value_result({"a": [1, None]}, [], as_fragment)
    text = '{"a":[1,null]}'
    assert orjson.loads(orjson.dumps(result)) == {
        "content": [{"type": "text", "text": text}],
        "isError": False,
        "structuredContent": {"a": [1, None]},
    }


def test_plain_text_is_a_result_good_or_bad():
    assert text_result("hello") == {"content": [{"type": "text", "text": "hello"}], "isError": False}
    assert text_result("no", is_error=True) == {"content": [{"type": "text", "text": "no"}], "isError": True}
