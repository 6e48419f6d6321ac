"""Fields that are secret by their name: no part of them is in a refusal."""

import json
from typing import Annotated, Any

import pytest
from pydantic import Field, Secret

from toolbooth import JsonText, compile_function, handle_bytes


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


def test_max_tokens_is_not_treated_as_a_secret():
    body = b'{"user": "ann", "password": "0123456789ab", "max_tokens": "many"}'
    result = handle_bytes(compile_function(log_in), body)
    assert result["content"][0]["text"].splitlines()[1:] == [
        '- $.max_tokens: must be an integer, got text "many"; e.g. 5; leave it out if unknown'
    ]


def test_a_repair_inside_a_secret_is_not_named():
    def tool(codes: Secret[dict[str, int]], count: int = 1): ...

    body = json.dumps({"codes": {"hunter2": "20261115"}, "count": "many"}).encode()
    assert "hunter2" not in json.dumps(handle_bytes(compile_function(tool), body))


def request(
    url: str,
    headers: dict[str, str] = {},  # noqa: B006
    body: dict[str, Any] = {},  # noqa: B006
    document: Annotated[dict[str, str], JsonText()] = {},  # noqa: B006
    anything: Any = None,
    pin: int | None = None,
    tokens: list[str] = [],  # noqa: B006
    retries: int = 1,
) -> str:
    raise AssertionError("called")


@pytest.mark.parametrize(
    "arguments",
    [
        {"Url": "x", "headers": {"api_key": "hunter2"}},
        {"Url": "x", "body": {"rows": [{"password": "hunter2"}]}},
        {"Url": "x", "anything": {"login": {"password": "hunter2"}}},
        {"Url": "x", "document": '{"api_key": "hunter2"}'},
        {"url": "x", "headers": {"X-Api-Key": ["hunter2"]}},
        {"url": "x", "headers": {"Authorization": {"value": "hunter2"}}},
        {"url": "x", "headers": [["X-Api-Key", "hunter2"]]},
        {"url": "x", "headers": "Authorization: hunter2"},
        {"url": "x", "headers": "{'api_key': 'hunter2'}"},
        {"url": "x", "headers": {"api_key": "hunter2"}, "retries": "many"},
        {"data": {"url": "x", "headers": {"api_key": "hunter2"}}},
        {"url": "x", "tokens": "hunter2"},
        {"url": "x", "tokens": {"item": ["hunter2"]}},
    ],
)
def test_a_value_under_the_name_of_a_secret_is_hidden_in_open_objects(arguments: Any):
    result = handle_bytes(compile_function(request), json.dumps(arguments).encode())
    assert result["isError"] is True
    assert "hunter2" not in json.dumps(result)


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "x", "pin": "12,345"},
        {"url": "x", "pin": [12345.5]},
        {"url": "x", "headers": {"api_key": 12345}},
        {"url": "x", "Headers": {"api_key": 12345}},
        {"url": "x", "headers": {"x": 1, "api_key": "12345"}},
    ],
)
def test_a_number_under_the_name_of_a_secret_is_hidden(arguments: Any):
    told = json.dumps(handle_bytes(compile_function(request), json.dumps(arguments).encode()))
    assert "isError" in told
    assert "12345" not in told
    assert "12,345" not in told


def test_type_of_a_hidden_value_is_reported():
    body = b'{"url": "x", "headers": {"api_key": 12345}}'
    result = handle_bytes(compile_function(request), body)
    [problem] = result["_meta"]["toolbooth"]["problems"]
    assert problem == {
        "code": "wrong-type",
        "path": "$.headers.api_key",
        "message": "must be text, got an integer",
    }


@pytest.mark.parametrize(
    "headers", [{"accept": "x"}, {"token_count": "5"}, {"password": ""}, {"max-tokens": "5"}]
)
def test_other_keys_of_open_objects_are_in_the_corrected_call(headers: Any):
    body = json.dumps({"Url": "x", "headers": headers}).encode()
    told = handle_bytes(compile_function(request), body)["_meta"]["toolbooth"]
    assert told["corrected"] == {"url": "x", "headers": headers}


def test_key_names_inside_an_unknown_object_are_reported():
    def tool(password: str) -> None: ...

    body = b'{"credentials": {"user": "ann", "pass": "hunter2"}}'
    result = handle_bytes(compile_function(tool), body)
    assert '"user", "pass" are not declared fields either' in result["content"][0]["text"]
    assert "hunter2" not in json.dumps(result)
