"""Refusals never repeat a secret."""

import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, BeforeValidator, Field, SecretStr, model_validator
from wire_depths import holding

from toolbooth import (
    Contract,
    Unpack,
    compile_function,
    compile_json_schema,
    handle_bytes,
)


class Login(BaseModel):
    user: str
    password: SecretStr = Field(min_length=12)


class CheckedLogin(BaseModel):
    user: str
    password: Annotated[SecretStr, BeforeValidator(lambda value: value), Field(min_length=12)]


class RewrittenLogin(BaseModel):
    user: str
    password: SecretStr = Field(min_length=12)

    @model_validator(mode="before")
    @classmethod
    def as_sent(cls, value: Any) -> Any:
        return value


class Marked(BaseModel):
    password: str = Field(min_length=12, json_schema_extra={"format": "password"})


def login(login: Login, n: int = 0): ...


def checked_login(login: CheckedLogin, n: int = 0): ...


def rewritten_login(login: RewrittenLogin, n: int = 0): ...


def unpacked_login(login: Annotated[Login, Unpack()], n: int = 0): ...


def secrets_by_key(tokens: dict[str, SecretStr], n: int = 0): ...


def secret_list(tokens: list[SecretStr], n: int = 0): ...


def marked_parameter(
    password: Annotated[str, Field(min_length=12, json_schema_extra={"format": "password"})],
    n: int = 0,
): ...


def marked_model(login: Marked, n: int = 0): ...


PASSWORD = {"type": "string", "format": "password", "minLength": 12}
LOGIN_SCHEMA = holding(
    "login", {"type": "object", "properties": {"user": {"type": "string"}, "password": PASSWORD}}
)
TOKENS_SCHEMA = {
    "type": "object",
    "properties": {
        "tokens": {"type": "object", "additionalProperties": PASSWORD},
        "n": {"type": "integer"},
    },
}
SECRET_CALLS: dict[str, tuple[Callable[[], Contract], list[str]]] = {
    **{
        tool.__name__: (
            lambda tool=tool: compile_function(tool),
            [
                '{"login": {"user": "a", "password": "s3cr3t"}}',
                '{"login": {"user": "a", "password": "s3cr3t and more"}, "N": 1}',
                '{"login": {"user": 5, "password": "s3cr3t and more"}}',
                '{"login": {"user": "a", "pasword": "s3cr3t and more"}}',
                '{"login": {"user": "a", "password": ["s3cr3t"]}}',
                '{"login": {"user": "a", "password": {"value": "s3cr3t"}}}',
                '{"data": {"login": {"user": "a", "password": "s3cr3t and more"}}}',
                '{"login": "{\\"user\\": \\"a\\", \\"password\\": \\"s3cr3t and more\\""}',
                '{"login": "[\\"s3cr3t\\"]"}',
                '{"login": "s3cr3t"}',
                '{"login.password": "s3cr3t and more", "login.user": "a"}',
                '{"user": "a", "password": "s3cr3t and more"}',
            ],
        )
        for tool in (login, checked_login, rewritten_login, marked_model)
    },
    "unpacked_login": (
        lambda: compile_function(unpacked_login),
        [
            '{"user": "a", "password": "s3cr3t"}',
            '{"data": {"user": "a", "password": "s3cr3t and more"}}',
        ],
    ),
    "secrets_by_key": (
        lambda: compile_function(secrets_by_key),
        [
            '{"tokens": {"a": "s3cr3t"}, "N": 1}',
            '{"tokens": "s3cr3t"}',
            '{"data": {"tokens": {"a": "s3cr3t"}}}',
        ],
    ),
    "secret_list": (
        lambda: compile_function(secret_list),
        [
            '{"tokens": ["s3cr3t"], "N": 1}',
            '{"tokens": "s3cr3t"}',
            '{"tokens": "[\\"s3cr3t\\"", "n": 1}',
        ],
    ),
    "marked_parameter": (
        lambda: compile_function(marked_parameter),
        [
            '{"password": "s3cr3t"}',
            '{"password": ["s3cr3t"]}',
            '{"password": "s3cr3t and more", "N": 1}',
        ],
    ),
    "login_schema": (
        lambda: compile_json_schema(LOGIN_SCHEMA),
        [
            '{"login": {"password": "s3cr3t"}}',
            '{"login": "s3cr3t"}',
            '{"login": {"Password": "s3cr3t and more"}}',
        ],
    ),
    "tokens_schema": (
        lambda: compile_json_schema(TOKENS_SCHEMA),
        ['{"tokens": {"a": "s3cr3t"}}', '{"tokens": {"a": "s3cr3t and more"}, "N": 1}'],
    ),
}


@pytest.mark.parametrize("name", SECRET_CALLS)
def test_a_refusal_does_not_contain_the_secret(name: str):
    compiled, texts = SECRET_CALLS[name]
    results = {
        text: json.dumps(handle_bytes(compiled(), text.encode(), lambda *_, **__: None))
        for text in texts
    }
    assert all('"isError": true' in result for result in results.values())
    assert {text: result for text, result in results.items() if "s3cr3t" in result} == {}
