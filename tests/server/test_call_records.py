"""One record per call: the contents that observers and logs receive, and the arguments that are
withheld from them.
"""

import asyncio
import json
import logging
from decimal import Decimal
from time import process_time
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, SecretStr

from registry_calls import several
from toolbooth import (
    Context,
    JsonText,
    ToolError,
    ToolRegistry,
    Unpack,
    compile_json_schema,
    handle_arguments,
)
from toolbooth.content import Audio, Image, Text
from toolbooth.server.credentials import without_credentials
from toolbooth.server.observe import CallRecord, log_calls

# --- observers ----------------------------------------------------------------------------------------------------


def observed(registry: ToolRegistry) -> list[CallRecord]:
    records: list[CallRecord] = []
    assert registry.observe(records.append) == records.append
    return records


def told(record: CallRecord) -> tuple[Any, ...]:
    assert record.seconds >= 0
    return (record.tool, record.outcome, record.problems, record.repairs, record.client)


OUTCOMES = [
    ("order", {"item": "tea"}, ("order", "passed", (), (), "me")),
    ("order", {"item": "tea", "count": "2"}, ("order", "repaired", (), ("scalar-text",), "me")),
    ("order", {"data": {"item": "tea"}}, ("order", "refused", ("nested-wrapper",), (), "me")),
    ("order", [], ("order", "refused", ("not-an-object",), (), "me")),
    ("fail", {"line": {"item": "tea"}}, ("fail", "failed", (), (), "me")),
    (
        "order_later",
        {"line": '{"item": "tea"}'},
        ("order_later", "repaired", (), ("json-text",), "me"),
    ),
]


@pytest.mark.parametrize(("name", "arguments", "record"), OUTCOMES, ids=str)
def test_every_call_yields_one_record(name, arguments, record):
    registry = several()
    records = observed(registry)
    registry.dispatch(name, arguments, context=Context(client="me"))
    asyncio.run(registry.dispatch_async(name, arguments, context=Context(client="me")))
    assert [told(each) for each in records] == [record, record]


def test_raising_observer_breaks_neither_the_call_nor_other_observers(caplog):
    registry = several()

    @registry.observe
    def broken(record: CallRecord) -> None:
        raise RuntimeError("no disk")

    records = observed(registry)
    assert registry.dispatch("order", {"item": "tea"})["isError"] is False
    assert [record.outcome for record in records] == ["passed"]
    assert [record.getMessage() for record in caplog.records] == ["an observer failed"]


LOGGED = [
    ("order", {"item": "tea"}, None, logging.INFO, "order passed in T ms"),
    (
        "order",
        {"item": "tea", "count": "2"},
        "me",
        logging.INFO,
        "order repaired in T ms (scalar-text) for me",
    ),
    (
        "order",
        {"item": "tea", "x": 1},
        None,
        logging.WARNING,
        "order refused in T ms (unknown-key)",
    ),
    ("fail", {"line": {"item": "tea"}}, "me", logging.WARNING, "fail failed in T ms for me"),
]


@pytest.mark.parametrize(
    ("name", "arguments", "client", "level", "line"), LOGGED, ids=lambda value: str(value)
)
def test_the_logging_observer_writes_one_line_per_call(
    name, arguments, client, level, line, caplog
):
    registry = several()
    registry.observe(log_calls)
    caplog.set_level(logging.INFO, logger="toolbooth.calls")
    registry.dispatch(name, arguments, context=Context(client=client))
    (record,) = caplog.records
    seconds = f"{record.args[2]:.1f}"
    assert (record.name, record.levelno, record.getMessage()) == (
        "toolbooth.calls",
        level,
        line.replace(" T ", f" {seconds} "),
    )


def test_the_served_result_equals_the_boundarys_result():
    registry = several()
    contract = registry.tools["order"].contract
    for arguments in (
        {"item": "tea"},
        {"item": "tea", "count": "2"},
        {"line": {"item": "tea"}},
        {},
    ):
        assert registry.dispatch("order", arguments) == handle_arguments(contract, arguments)


def test_a_header_parameter_is_found_by_its_path():
    registry = ToolRegistry("shop")

    @registry.tool
    def find(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
        return region

    assert registry.tools["find"].header_params == {("region",): ("Region", "string")}


# --- arguments in records -----------------------------------------------------------------------------------------


class Login(BaseModel):
    user: str
    password: SecretStr
    note: str = ""


def accounts() -> ToolRegistry:
    registry = ToolRegistry("accounts")

    @registry.tool
    def log_in(login: Annotated[Login, Unpack()]) -> str:
        return login.user

    @registry.tool
    def log_in_all(logins: list[Login]) -> int:
        return len(logins)

    @registry.tool
    def pay(
        amount: Decimal,
        headers: Annotated[dict[str, str] | None, JsonText(example={"a": "b"})] = None,
    ) -> str:
        return str(amount)

    @registry.tool
    def change(table: Annotated[dict[str, Any], Field(description="e.g. {}")]) -> int:
        table.clear()
        return 0

    return registry


RECORDED = {
    "nothing to hide": ("pay", '{"amount": 1.50}', '{"amount":1.5}'),
    "every digit": (
        "pay",
        '{"amount":12345678901234567890.50}',
        '{"amount":12345678901234567890.50}',
    ),
    "a declared secret": (
        "log_in",
        '{"user":"ann","password":"hunter2"}',
        '{"user":"ann","password":"[redacted]"}',
    ),
    "a secret under a misspelt key": (
        "log_in",
        '{"user":"ann","passwort":"hunter2"}',
        '{"user":"ann","passwort":"[redacted]"}',
    ),
    "a secret in a wrapper": (
        "log_in",
        '{"data":{"user":"ann","password":"hunter2"}}',
        '{"data":"[redacted]"}',
    ),
    "a null secret": ("log_in", '{"user":"ann","password":null}', '{"user":"ann","password":null}'),
    "secrets in a list": (
        "log_in_all",
        '{"logins":[{"user":"ann","password":"hunter2"},{"user":"bob","password":7}]}',
        '{"logins":[{"user":"ann","password":"[redacted]"},{"user":"bob","password":"[redacted]"}]}',
    ),
    "secrets in JSON text": (
        "log_in_all",
        r'{"logins":"[{\"user\":\"ann\",\"password\":\"hunter2\"}]"}',
        r'{"logins":"[{\"user\":\"ann\",\"password\":\"[redacted]\"}]"}',
    ),
    "text that cannot be read where a secret may stand": (
        "log_in_all",
        r'{"logins":"[{password: hunter2}]"}',
        '{"logins":"[redacted]"}',
    ),
    "a number where an object with a secret belongs": (
        "log_in_all",
        '{"logins":[7]}',
        '{"logins":["[redacted]"]}',
    ),
    "a secret by its name": (
        "pay",
        r'{"amount":1,"headers":"{\"Authorization\":\"Bearer x\",\"Accept\":\"*/*\"}"}',
        r'{"amount":1,"headers":"{\"Authorization\":\"[redacted]\",\"Accept\":\"*/*\"}"}',
    ),
    "a secret by its name, deep in what nobody declared": (
        "pay",
        '{"amount":1,"x":{"y":[{"api_key":"k","z":1}]}}',
        '{"amount":1,"x":{"y":[{"api_key":"[redacted]","z":1}]}}',
    ),
    "headers": (
        "change",
        '{"table":{"X-Api-Key":"k","X-Auth-Token":"k","Proxy-Authorization":"k","Accept":"*/*"}}',
        '{"table":{"X-Api-Key":"[redacted]","X-Auth-Token":"[redacted]",'
        '"Proxy-Authorization":"[redacted]","Accept":"*/*"}}',
    ),
    "headers as objects, pairs and lines": (
        "change",
        '{"table":{"a":[{"name":"X-Api-Key","value":"k"},{"name":"Accept","value":"*/*"}],'
        '"b":[["Cookie","k"],["Accept","*/*"]],"c":["X-Api-Key: k","Accept: */*"]}}',
        '{"table":{"a":[{"name":"X-Api-Key","value":"[redacted]"},{"name":"Accept","value":"*/*"}],'
        '"b":[["Cookie","[redacted]"],["Accept","*/*"]],"c":["X-Api-Key: [redacted]","Accept: */*"]}}',
    ),
    "credentials in a URL": (
        "log_in",
        '{"user":"https://ann:hunter2@example.com/?page=2&token=k","password":"p"}',
        '{"user":"https://[redacted]@example.com/?page=2&token=[redacted]","password":"[redacted]"}',
    ),
    "JSON text where any type is declared": (
        "change",
        r'{"table":{"opts":"{\"client_secret\":\"k\",\"n\":1.50}"}}',
        r'{"table":{"opts":"{\"client_secret\":\"[redacted]\",\"n\":1.50}"}}',
    ),
    "JSON text where text is declared": (
        "log_in",
        r'{"user":"{\"pwd\":\"k\"}","password":"p"}',
        r'{"user":"{\"pwd\":\"[redacted]\"}","password":"[redacted]"}',
    ),
    "JSON text with a key twice": (
        "change",
        r'{"table":{"opts":"{\"pwd\":\"k\",\"n\":1,\"n\":2}"}}',
        r'{"table":{"opts":"{\"pwd\":\"[redacted]\",\"n\":1,\"n\":2}"}}',
    ),
    "no secret, though its name is one": (
        "change",
        '{"table":{"password":true,"token":null,"max_tokens":5,"primary_key":"id"}}',
        '{"table":{"password":true,"token":null,"max_tokens":5,"primary_key":"id"}}',
    ),
    "text that cannot be read where no secret is declared": (
        "pay",
        '{"amount":1,"headers":"Authorization: Bearer k"}',
        '{"amount":1,"headers":"Authorization: [redacted]"}',
    ),
    "before the tool changes it": (
        "change",
        '{"table":{"a":[1,true,null]}}',
        '{"table":{"a":[1,true,null]}}',
    ),
    "arguments that are JSON text": (
        "log_in",
        r'"{\"user\":\"ann\",\"password\":\"hunter2\"}"',
        r'"{\"user\":\"ann\",\"password\":\"[redacted]\"}"',
    ),
}


@pytest.mark.parametrize(("name", "sent", "redacted"), RECORDED.values(), ids=RECORDED)
def test_observers_receive_the_arguments_they_ask_for(name, sent, redacted):
    registry = accounts()
    plain, kept, whole = [], [], []
    registry.observe(plain.append)
    registry.observe(kept.append, arguments="redacted")

    @registry.observe(arguments="whole")
    def see(record: CallRecord) -> None:
        whole.append(record)

    registry.dispatch_bytes(name, sent.encode())
    assert [record.arguments for record in (*plain, *kept)] == [None, redacted]
    assert whole[0].arguments == sent.replace(": 1.50", ":1.5")


CREDENTIALS = {
    "header in a command": ("curl -H 'X-Api-Key: k' url", "curl -H 'X-Api-Key: [redacted]' url"),
    "variable": ("PGPASSWORD=k psql", "PGPASSWORD=[redacted] psql"),
    "option": ("mysql --password k -u ann", "mysql --password [redacted] -u ann"),
    "option without a value": ("login --password --user ann", "login --password --user ann"),
    "connection string": ("Server=a;Password=k,k;User=b", "Server=a;Password=[redacted];User=b"),
    "broken JSON": ('{"pwd":"k\\"k","a":1', '{"pwd":"[redacted]","a":1'),
    "JSON in text": ('{\\"pwd\\":\\"k\\",\\"a\\":1}', '{\\"pwd\\":\\"[redacted]",\\"a\\":1}'),
    "bearer": ("send Bearer abcdefgh.k", "send Bearer [redacted]"),
    "password with an @": ("ftp://ann:k@k@example.com", "ftp://[redacted]@example.com"),
    "private key": (
        "-----BEGIN RSA PRIVATE KEY-----\nk\n-----END RSA PRIVATE KEY-----\n",
        "[redacted]\n",
    ),
    "private key that is cut": ("-----BEGIN PRIVATE KEY-----\nk", "[redacted]"),
    "no value": ("password: null", "password: null"),
    "prose": ("the token is in the vault", "the token is in the vault"),
    "counts": ("max_tokens=5 author: ann", "max_tokens=5 author: ann"),
    "a name inside a value": ("note: password: k", "note: password: [redacted]"),
    "two on a line": ("token: a password: b", "token: [redacted]"),
    "bearer after bearer": ("Bearer abcdefgh-bearer abcdefgh", "Bearer [redacted] [redacted]"),
    "option with a sign": ("mysql --password = k", "mysql --password = [redacted]"),
    "option inside of a word": ("a--password k", "a--password k"),
    "short option": ("mysql -password=k", "mysql -password=k"),
    "name that is too long": (f"{'a' * 90}_password=k", f"{'a' * 90}_password=k"),
    "letters that are two in lower case": ("İİ password=k", "İİ password=[redacted]"),
    "too short": ("pwd=", "pwd="),
}


@pytest.mark.parametrize(("text", "kept"), CREDENTIALS.values(), ids=CREDENTIALS)
def test_credentials_inside_text_are_left_out(text, kept):
    assert without_credentials(text) == kept


@pytest.mark.parametrize(
    "part",
    [
        "a=",
        "token:\\",
        "://a",
        "--a ",
        '"',
        "-----BEGIN ",
        "{",
        "[",
        "bearer ",
        "key",
        "key ",
        "--key",
    ],
)
def test_the_time_for_text_grows_with_its_length_only(part):
    def seconds(count: int) -> float:
        start = process_time()
        without_credentials(part * count)
        return process_time() - start

    # Ten times the text would take a hundred times the time, were it quadratic.
    assert seconds(200_000) < 30 * seconds(20_000) + 0.1


def test_arguments_that_cannot_be_read_are_not_recorded():
    registry = accounts()
    records = []
    registry.observe(records.append, arguments="whole")
    registry.dispatch_bytes("log_in", b'{"user": "a", "user": "b"}')
    assert [(record.outcome, record.arguments) for record in records] == [("refused", None)]


def test_dispatched_record_redacts_the_secrets_of_the_chosen_action():
    registry = accounts()
    registry.dispatcher("accounts", {"in": "log_in", "pay": "pay"})
    records = []
    registry.observe(records.append, arguments="redacted")
    registry.dispatch("accounts", {"action": "in", "user": "ann", "password": "hunter2"})
    registry.dispatch("accounts", {"action": "out", "user": "ann", "password": "hunter2"})
    registry.dispatch("accounts", {"action": "pay", "params": {"amount": 1}})
    assert [(record.tool, record.dispatcher, record.arguments) for record in records] == [
        ("log_in", "accounts", '{"user":"ann","password":"[redacted]"}'),
        ("accounts", None, '"[redacted]"'),
        ("pay", "accounts", '{"amount":1}'),
    ]


def test_an_observer_that_asks_for_an_unknown_form_is_a_mistake():
    with pytest.raises(
        ValueError, match="arguments='all': must be one of 'none', 'redacted', 'whole'"
    ):
        accounts().observe(print, arguments="all")


@pytest.mark.parametrize("errors", ["result", "protocol"])
def test_denied_caller_learns_no_field_of_the_tool(errors):
    registry = ToolRegistry("shop", errors=errors)
    contract = compile_json_schema(
        {"type": "object", "properties": {"secret_field": {}}}, dict, name="open_safe"
    )
    registry.add(contract, access_check=lambda: ToolError("open_safe", "you may not"))
    assert registry.dispatch("open_safe", {"data": {}}) == {
        "content": [{"type": "text", "text": "Tool 'open_safe' failed: you may not"}],
        "isError": True,
    }
    assert registry.dispatch("open_safe", {"secret_field": 1})["isError"] is False


def test_permitted_caller_gets_the_reasons_of_a_refusal():
    registry = ToolRegistry("shop")
    contract = compile_json_schema(
        {"type": "object", "properties": {"code": {}}}, dict, name="open_safe"
    )
    registry.add(contract, access_check=lambda: None)
    assert (
        'Declared fields: "code"'
        in registry.dispatch("open_safe", {"cod": 1})["content"][0]["text"]
    )


def test_an_unknown_form_of_refusals_is_a_mistake():
    with pytest.raises(ValueError, match="must be one of 'result', 'protocol'"):
        ToolRegistry("shop", errors="nope")


def test_dispatch_of_an_async_tool_inside_a_running_loop_raises():
    registry = several()

    async def inside() -> None:
        with pytest.raises(
            RuntimeError, match="'order_later' cannot run here, because an event loop is running"
        ):
            registry.dispatch("order_later", {"line": {"item": "tea"}})

    asyncio.run(inside())


@pytest.mark.parametrize(
    "piece",
    [Text(text="hello"), Image(data=b"png"), Audio(data=b"wav")],
    ids=lambda each: type(each).__name__,
)
def test_a_tool_that_declares_content_gives_content(piece):
    def draw():
        return piece

    draw.__annotations__["return"] = type(piece)
    registry = ToolRegistry("shop")
    registry.tool(draw)
    assert "outputSchema" not in registry.tools["draw"].listing()
    assert registry.dispatch("draw")["isError"] is False


def recorded(value: Any) -> Any:
    """Return the redacted record of a call with one argument of no declared type."""
    registry = ToolRegistry("shop")
    kept: list[str | None] = []

    @registry.tool
    def note(value: Any) -> None: ...

    registry.observe(lambda record: kept.append(record.arguments), arguments="redacted")
    registry.dispatch("note", {"value": value})
    return json.loads(kept[0] or "")["value"]


def test_text_is_cut_after_50_000_possible_names_of_secrets():
    # The limit is on the work for the whole record.
    assert recorded(["key=a " * 50_000, "b key=a c"]) == ["key=a " * 50_000, "b key=[redacted]"]
    assert recorded("key=a " * 50_001) == "key=a " * 50_000 + "key=[redacted]"


def test_json_text_with_more_values_than_a_call_may_have_is_left_out():
    most, more = json.dumps([0] * 99_999), json.dumps([0] * 100_000)
    assert recorded([most]) == [most]
    assert recorded([more, "a"]) == ["[redacted]", "a"]


def test_long_log_in_brackets_is_not_parsed_as_json_text():
    log = "[1] a, b\n" * 200_000
    assert recorded(log) == log


def test_after_10_000_different_names_every_possible_secret_name_is_treated_as_one():
    names = [f"a{number:05}_key" for number in range(12_000)]
    kept = recorded(dict.fromkeys(names, "x"))
    assert [kept[name] for name in names[:10_000]] == ["x"] * 10_000
    assert [kept[name] for name in names[10_000:]] == ["[redacted]"] * 2_000
    # A name that was read before is cached, and a name that cannot be a secret's is not read.
    assert recorded([dict.fromkeys(names, "x"), {"a00001_key": 1, "other": 1}])[1] == {
        "a00001_key": 1,
        "other": 1,
    }
