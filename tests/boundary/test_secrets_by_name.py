"""Fields that are secret by their name: nothing of them is in a refusal."""

import json
from typing import Annotated, Any

import pytest
from pydantic import Field, Secret

from toolbooth import compile_function, handle_bytes


def log_in(
    user: str,
    password: Annotated[str, Field(min_length=12, examples=["hunter2-example"])],
    max_tokens: int = 5,
) -> str:
    raise AssertionError("called")


@pytest.mark.parametrize(
    "arguments",
    [
        {"user": "ann", "password": "hunter2"},
        {"user": "ann", "password": ["hunter2"]},
        {"user": "ann", "Password": "hunter2-long-enough"},
        {"data": {"user": "ann", "password": "hunter2-long-enough"}},
        {"user": ["ann"], "password": "hunter2-long-enough"},
        {"user": "ann", "pass word": "hunter2"},
    ],
)
def test_a_value_of_a_field_with_a_secret_name_is_nowhere_in_the_refusal(arguments: Any):
    result = handle_bytes(compile_function(log_in), json.dumps(arguments).encode())
    assert result["isError"] is True
    assert "hunter2" not in json.dumps(result)


def test_a_count_of_tokens_is_told_as_it_was_sent():
    body = b'{"user": "ann", "password": "0123456789ab", "max_tokens": "many"}'
    result = handle_bytes(compile_function(log_in), body)
    assert result["content"][0]["text"].splitlines()[1:] == [
        '- $.max_tokens: must be an integer, got text "many"; e.g. 5; leave it out if unknown'
    ]


def test_a_repair_inside_a_secret_is_not_named():
    def tool(codes: Secret[dict[str, int]], count: int = 1): ...

    body = json.dumps({"codes": {"hunter2": "20261115"}, "count": "many"}).encode()
    assert "hunter2" not in json.dumps(handle_bytes(compile_function(tool), body))
