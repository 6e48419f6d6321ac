"""Texts that contain the tags of arguments which were not sent: bytes in, whole result out."""

import json
from typing import Annotated, Any, Literal

import pytest
from inline_snapshot import snapshot
from pydantic import AliasChoices, BaseModel, Field, SecretStr, field_validator

from toolbooth import (
    JsonText,
    Unpack,
    Verbatim,
    compile_function,
    compile_json_schema,
    compile_model,
    handle_arguments,
    handle_bytes,
)
from toolbooth.contract import Contract
from toolbooth.publish import input_schema


def remember(
    content: str,
    reason: str | None = None,
    evidence: list[str] | None = None,
    tags: str = "",
    metadata: dict[str, str] | None = None,
    first_name: str = "",
) -> str:
    return "saved"


REMEMBER = compile_function(remember)


def anything(*_: Any, **__: Any) -> str:
    return "ok"


def meta_of(contract: Contract, arguments: dict[str, Any]) -> dict[str, Any]:
    function = contract.function or anything
    return handle_arguments(contract, arguments, function).get("_meta", {}).get("toolbooth", {})


def problems(contract: Contract, **arguments: Any) -> list[tuple[str, str]]:
    """Return the code and the path of each problem of a call."""
    found = meta_of(contract, arguments).get("problems", ())
    return [(each["code"], each["path"]) for each in found]


SWALLOWED = [("swallowed-argument", "$.content")]

SPELLINGS = {
    # --- as reported in the issue threads ---
    "claude-code#44826: the field's own name closes it": (
        'Uses uv.</content>\n<parameter name="reason">Fast.</parameter>\n'
        '<parameter name="evidence">["README"]',
        ("reason", "evidence"),
    ),
    "claude-code#53186: the next tag is glued on": (
        'Fix it.</parameter>\n<parameter name="reason">',
        ("reason",),
    ),
    "claude-code#53186: a fragment of the next tag": (
        'Fix it.</parameter>\n<parameter name="reason"',
        ("reason",),
    ),
    "claude-code#61375: another wrong closing tag": (
        'Fix it.</param>\n<parameter name="reason">Fast.',
        ("reason",),
    ),
    "claude-code#62171: each argument in a tag of its name": (
        'Prose.</content>\n<metadata>{"key1": "value1"}</metadata>',
        ("metadata",),
    ),
    "claude-code#72228: a long value takes all others along": (
        "long " * 2_000
        + '</content>\n<parameter name="reason">r</parameter>\n<parameter name="tags">t</parameter>\n'
        + '<parameter name="evidence">[]',
        ("reason", "tags", "evidence"),
    ),
    "claude-code#83088: before a structured argument": (
        'Long text</content>\n<parameter name="metadata">{"tags": "a,b"}',
        ("metadata",),
    ),
    "claude-code#84362: the bare tag": (
        "Long text</content>\n<reason>Fast.</reason>\n<tags>a</tags>",
        ("reason", "tags"),
    ),
    "claude-code#84362: the bare tag after the right closing tag": (
        "Long text</parameter>\n<reason>Fast.",
        ("reason",),
    ),
    "claude-code#84362: another prefix": (
        'Long text</content>\n<ns:parameter name="reason">Fast.',
        ("reason",),
    ),
    "claude-code#84362: a prefix without its colon": (
        'Long text</content>\n<nsparameter name="reason">Fast.',
        ("reason",),
    ),
    "claude-code#84362: a prefix on every tag": (
        "Long text</ns:parameter>\n<ns:reason>Fast.</ns:reason>",
        ("reason",),
    ),
    "claude-code#84405: the tag alone": ('One <parameter name="reason"> two', ("reason",)),
    "muninndb#868: in the middle of the record": (
        'One.</content>\n<parameter name="tags">a, b</parameter>\n</invoke>',
        ("tags",),
    ),
    # --- variants ---
    "single quotes": ("x<parameter name='reason'>y", ("reason",)),
    "no quotes": ("x<parameter name=reason>y", ("reason",)),
    "curly quotes": ("x<parameter name=\u201creason\u201d>y", ("reason",)),
    "escaped quotes": (r"x<parameter name=\"reason\">y", ("reason",)),
    "spaces": ('x< parameter  name = "reason" >y', ("reason",)),
    "a line break in the tag": ('x<parameter\n name="reason">y', ("reason",)),
    "a prefix of signs": ('x<\uff5cDSML\uff5cparameter name="reason">y', ("reason",)),
    "a closing tag with a name": ('x</parameter name="reason">', ("reason",)),
    "nothing before the tag": ('<parameter name="reason">y', ("reason",)),
    "another case": ('x<parameter name="Reason">y', ("reason",)),
    "camel case": ('x<parameter name="firstName">y', ("first_name",)),
    "bare after both closing tags": ("x</content></parameter><reason>y", ("reason",)),
    "a second closing tag that nothing opens": (
        "<content>x</content>y</content>\n<reason>z",
        ("reason",),
    ),
    "twice": ('x<parameter name="tags">a<parameter name="tags">b', ("tags",)),
    "the attribute of a host": ('x<parameter name="reason" string="true">y', ("reason",)),
    "the attribute without quotes": ("x<parameter name=reason string=false>y", ("reason",)),
    "the attribute before the name": ('x<parameter string="true" name="reason">y', ("reason",)),
    "the attribute and a prefix": ("x<ns:parameter name='reason' string='false'>y", ("reason",)),
    "the attribute in a tag that was cut off": (
        'x</content>\n<parameter name="reason" string="true"',
        ("reason",),
    ),
    "the attribute and spaces": ('x<parameter name="reason"  string = "true" >y', ("reason",)),
    "beside a field that does not exist": (
        'x</content>\n<parameter name="nothing">1</parameter>\n<parameter name="tags">a',
        ("tags",),
    ),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_swallowed_argument_is_refused_and_named(spelling: str):
    text, names = SPELLINGS[spelling]
    assert problems(REMEMBER, content=text) == SWALLOWED
    (problem,) = meta_of(REMEMBER, {"content": text})["problems"]
    listed = ", ".join(f'"{name}"' for name in names)
    assert f"Send {listed} as " in problem["message"]


PASSING = {
    "HTML": "<!doctype html><title>x</title><body><p>a</p><reason>b</reason></body>",
    "the field's own tag, opened": "<content>x</content>\n<reason>y</reason>",
    "the field's own tag, opened later": "x</content>\n<reason>y</reason>\n<content>z",
    "a bare tag after another closing tag": "x</p>\n<reason>y",
    "a bare tag after words": "x</content> and <reason>y",
    "a bare tag with attributes": 'x</content>\n<reason class="a">y',
    "a bare tag in another case": "x</content>\n<Reason>y",
    "a tag of its own name": 'x<parameter name="content">y',
    "a name that is not declared": 'x<parameter name="priority">y',
    "a tag with another attribute": 'x<parameter name="reason" type="string">y',
    "another attribute beside the one of a host": 'x<parameter name="reason" id="1" string="true">y',
    "another value of this attribute": 'x<parameter name="reason" string="yes">y',
    "an empty element with this attribute": 'x<parameter name="reason" string="true"/>y',
    "an attribute that ends like it": 'x<parameter name="reason" substring="true">y',
    "this attribute without a value": 'x<parameter name="reason" string>y',
    "an element of the same kind": '<parameter name="reason" value="y"/>',
    "another element": '<param name="reason">y</param>',
    "a parameter of an entity": "x &lt;parameter name=&quot;reason&quot;&gt;",
    "a comparison": "a < parameter and name = reason > b",
    "a generic type": "List<parameter> name=reason",
    "words": "if a < b, the parameter name=reason> c",
}


@pytest.mark.parametrize("text", PASSING.values(), ids=list(PASSING))
def test_markup_of_its_own_passes_unchanged(text: str):
    received: list[str] = []
    result = handle_arguments(
        REMEMBER, {"content": text}, lambda **values: received.append(values["content"])
    )
    assert (result["isError"], received) == (False, [text])
    assert "_meta" not in result


def test_a_field_that_was_sent_is_not_swallowed():
    text = 'x</content>\n<parameter name="reason">y'
    assert problems(REMEMBER, content=text, reason="z") == []
    assert problems(REMEMBER, content=text, reason=None) == []
    assert problems(REMEMBER, content=text, tags="z") == SWALLOWED


def test_null_that_means_not_sent_does_not_count_as_sent():
    text = 'x</content>\n<parameter name="tags">y'
    assert problems(REMEMBER, content=text, tags=None) == SWALLOWED


# --- the text of the refusal
# ------------------------------------------------------------------------


def test_the_whole_result_of_a_swallowed_argument():
    text = 'Uses uv.</content>\n<parameter name="reason">S3CRET</parameter>\n<parameter name="tags">S3CRET'
    assert handle_arguments(REMEMBER, {"content": text}) == snapshot(
        {
            "content": [
                {
                    "type": "text",
                    "text": """\
Refused: 1 problem in the arguments of 'remember'. Nothing was done.
- $.content: contains the tags of "reason", "tags", which were not sent. The text probably ends after 8 characters, before "</content>\\n<parameter name=\\"reason\\">". Send "reason", "tags" as arguments of their own\
""",
                }
            ],
            "isError": True,
            "_meta": {
                "toolbooth": {
                    "code": -32602,
                    "problems": [
                        {
                            "code": "swallowed-argument",
                            "path": "$.content",
                            "message": 'contains the tags of "reason", "tags", which were not sent. The text probably ends after 8 characters, before "</content>\\n<parameter name=\\"reason\\">". Send "reason", "tags" as arguments of their own',
                        }
                    ],
                }
            },
        }
    )


def test_swallowed_field_without_a_closing_tag_is_reported_with_its_place():
    (problem,) = meta_of(REMEMBER, {"content": 'A <b>b</b> <parameter name="tags">c'})["problems"]
    assert problem["message"] == snapshot(
        'contains the tags of "tags", which was not sent. The text probably ends after 11 characters, before "<parameter name=\\"tags\\">". Send "tags" as its own argument'
    )


def test_the_place_is_before_all_closing_tags_that_nothing_opens():
    text = f'1234{"</a>" * 6}\n<parameter name="tags">c'
    (problem,) = meta_of(REMEMBER, {"content": text})["problems"]
    # Only four are looked at.
    assert "after 12 characters" in problem["message"]


def test_swallowed_text_is_never_repeated_in_a_refusal():
    def plan(
        order: int,
        level: Literal["low", "high"] = "low",
        items: list[int] | None = None,
        note: Annotated[str, Field(max_length=5)] = "",
        title: str = "",
        count: int = 0,
    ) -> None: ...

    tool = compile_function(plan)
    tail = 'S3CRET</x>\n<parameter name="title">S3CRET'
    for arguments in (
        {"order": tail},
        {"order": 1, "level": tail},
        {"order": 1, "items": f"[1]{tail}"},
        {"order": 1, "note": tail},
        {"order": 1, "items": tail, "level": tail, "note": tail, "count": "many"},
        {"order": 1, "note": tail, "Count": 2},
        {"order": 1, "Note": tail},
        {"order": 1, "nothing": tail},
        {"data": {"order": 1, "note": tail}},
        {"data": {"order": 1}, "note": tail},
        {"order": 1, "note": tail, "a.b": {"c": 1}},
    ):
        result = handle_arguments(tool, arguments)
        assert result["isError"]
        assert "S3CRET" not in json.dumps(result)
        assert "corrected" not in result["_meta"]["toolbooth"]


def test_other_problems_are_reported_beside_a_swallowed_argument():
    def plan(
        order: int, owner: str, note: str = "", title: str = "", level: Literal["low"] = "low"
    ) -> None: ...

    tool = compile_function(plan)
    tail = 'x<parameter name="title">y'
    assert problems(tool, note=tail, Level="low", order=True) == [
        ("swallowed-argument", "$.note"),
        ("unknown-key", "$.Level"),
        ("wrong-type", "$.order"),
        ("missing", "$.owner"),
    ]
    # The field is missing because it was swallowed.
    assert problems(tool, order=1, note='x<parameter name="owner">y') == [
        ("swallowed-argument", "$.note")
    ]


def test_a_wrapped_call_gets_edits_but_no_corrected_call():
    text = 'x<parameter name="tags">S3CRET'
    found = meta_of(REMEMBER, {"data": {"content": text, "reason": "r"}})
    assert found == snapshot(
        {
            "code": -32602,
            "problems": [
                {
                    "code": "nested-wrapper",
                    "path": "$.data",
                    "message": '"data" is not a declared field and its value is a nested object. Likely cause: a REST-style wrapper. Send "content", "reason" at the top level, not inside "data"',
                }
            ],
            "declared": {
                "$": {
                    "content": "text, required",
                    "reason": "text or null",
                    "evidence": "array of text or null",
                    "tags": "text",
                    "metadata": "object or null",
                    "first_name": "text",
                }
            },
            "edits": ["move $.data.* to $"],
        }
    )
    assert "S3CRET" not in json.dumps(found)
    # Once the field is there, the corrected call is right.
    whole = {"content": text, "tags": "t"}
    assert meta_of(REMEMBER, {"data": whole})["corrected"] == whole


def test_at_most_forty_swallowed_arguments_are_listed():
    tool = compile_json_schema(
        {
            "type": "object",
            "properties": {"title": {"type": "string"}},
            "additionalProperties": {"type": "string"},
        }
    )
    arguments = {f"k{index}": '<parameter name="title">' for index in range(100)}
    result = handle_arguments(tool, arguments)
    assert len(result["_meta"]["toolbooth"]["problems"]) == 40
    assert "Refused: 100 problems" in result["content"][0]["text"]


# --- the texts and fields that are examined
# ---------------------------------------------------------


def test_only_texts_at_the_top_level_are_examined():
    class Note(BaseModel):
        content: str
        tags: str = ""

    def save(note: Note, tags: str = "", rows: list[str] | None = None) -> None: ...

    text = 'x</content>\n<parameter name="tags">y'
    tool = compile_function(save)
    assert problems(tool, note={"content": text}) == []
    assert problems(tool, note={"content": "x"}, rows=[text]) == []


def test_the_fields_of_an_unpacked_model_are_at_the_top_level():
    class Address(BaseModel):
        city: str = ""
        street: str = ""

    def move(note: str, address: Annotated[Address, Unpack(prefix="to_")]) -> None: ...

    tool = compile_function(move)
    assert problems(tool, note='x<parameter name="to_city">y') == [("swallowed-argument", "$.note")]
    # The refusal must not reveal that there is a "city".
    assert problems(tool, note='x<parameter name="city">y') == []
    assert problems(tool, note="x", to_city='y<parameter name="to_street">z') == [
        ("swallowed-argument", "$.to_city")
    ]


def test_a_swallowed_argument_is_found_under_every_name_of_its_field():
    class Note(BaseModel):
        content: str
        tags: str = Field("", validation_alias=AliasChoices("tags", "labels"))

    tool = compile_model(Note)
    for name in ("tags", "labels"):
        text = f'x<parameter name="{name}">y'
        (problem,) = meta_of(tool, {"content": text})["problems"]
        assert 'Send "tags" as its own argument' in problem["message"]
        assert problems(tool, content=text, tags="t") == []
        assert problems(tool, content=text, labels="t") == []


def test_names_that_differ_in_case_only_are_two_fields():
    tool = compile_json_schema(
        {
            "type": "object",
            "properties": {key: {"type": "string"} for key in ("a", "userName", "user_name")},
        }
    )
    text = 'x<parameter name="user_name">y'
    assert problems(tool, a=text, userName="z") == [("swallowed-argument", "$.a")]
    assert problems(tool, a=text, user_name="z") == []
    assert problems(tool, a='x<parameter name="USER_NAME">y', user_name="z") == [
        ("swallowed-argument", "$.a")
    ]


def test_every_form_of_a_union_declares_its_fields():
    text = {"type": "string"}
    forms = [
        {"type": "object", "properties": {"kind": {"const": kind}, "body": text, kind: text}}
        for kind in ("page", "mail")
    ]
    tool = compile_json_schema({"type": "object", "anyOf": forms})
    found = [("swallowed-argument", "$.body")]
    assert problems(tool, kind="page", body='x<parameter name="page">y') == found
    assert problems(tool, kind="page", body='x<parameter name="mail">y') == found
    assert problems(tool, kind="page", body='x<parameter name="kind">y') == []


def test_valid_json_text_is_not_searched_for_tags():
    text = json.dumps({"a": '<parameter name="tags">b'})
    assert problems(REMEMBER, content="x", metadata=text) == []
    assert problems(
        REMEMBER, content="x", metadata=f'{text}</metadata>\n<parameter name="tags">b'
    ) == [("swallowed-argument", "$.metadata")]

    def save(
        data: Annotated[dict[str, str], JsonText(example={"a": "b"})], tags: str = ""
    ) -> None: ...

    tool = compile_function(save)
    assert problems(tool, data=text) == []
    assert problems(tool, data=f'{text}<parameter name="tags">b') == [
        ("swallowed-argument", "$.data")
    ]


def test_a_number_with_a_tail_is_a_swallowed_argument():
    def count(limit: int, offset: int = 0) -> None: ...

    assert problems(compile_function(count), limit='5</limit>\n<parameter name="offset">2') == [
        ("swallowed-argument", "$.limit")
    ]


def test_swallowed_arguments_are_found_before_author_validators_run():
    class Note(BaseModel):
        content: str
        tags: str = ""

        @field_validator("content", mode="before")
        @classmethod
        def never(cls, value: Any) -> Any:
            raise AssertionError(value)

    def save(content: Annotated[Any, Field(description="Such as [1]")], tags: str = "") -> None: ...

    text = 'x<parameter name="tags">y'
    assert problems(compile_function(save), content=text) == SWALLOWED
    assert problems(compile_model(Note), content=text) == SWALLOWED


def test_text_under_a_key_of_the_client_is_examined():
    text = 'Saves it.<parameter name="content">x'
    assert problems(REMEMBER, tool_call_description=text) == [
        ("swallowed-argument", "$.tool_call_description")
    ]


def test_the_angle_bracket_may_be_escaped_in_the_json():
    body = rb'{"content": "x\u003c/content\u003e\u003cparameter name=\"tags\"\u003ey"}'
    result = handle_bytes(REMEMBER, body)
    assert [each["code"] for each in result["_meta"]["toolbooth"]["problems"]] == [
        "swallowed-argument"
    ]


def test_arguments_as_json_text_are_examined():
    body = json.dumps(json.dumps({"content": 'x<parameter name="tags">y'})).encode()
    result = handle_bytes(REMEMBER, body)
    assert [each["code"] for each in result["_meta"]["toolbooth"]["problems"]] == [
        "swallowed-argument"
    ]


# --- Verbatim -----------------------------------------------------------------------------------


def test_verbatim_fields_get_null_empty_text_and_tags_as_sent():
    class Login(BaseModel):
        content: Annotated[str, Verbatim()]
        password: Annotated[SecretStr, Verbatim()] = SecretStr("")
        count: Annotated[int, Verbatim()] = 0
        reason: Annotated[str | None, Verbatim()] = "r"
        tags: str = ""

    received: list[Login] = []

    def save(login: Annotated[Login, Unpack()]) -> None:
        received.append(login)

    tool = compile_function(save)
    text = 'x</content>\n<parameter name="tags">y</invoke>'
    assert meta_of(tool, {"content": text, "reason": None, "password": ""}) == {}
    assert received[0].model_dump() == {
        "content": text, "password": SecretStr(""), "count": 0, "reason": None, "tags": "",
    }  # fmt: skip
    assert problems(tool, content=text, count=None) == [("wrong-type", "$.count")]
    assert problems(tool, content=text, count="") == [("wrong-type", "$.count")]
    # Only the marked fields.
    assert problems(tool, content="x", tags='y<parameter name="reason">z') == [
        ("swallowed-argument", "$.tags")
    ]


def test_verbatim_in_a_json_schema():
    schema = {
        "type": "object",
        "properties": {
            "body": {"type": "string", "x-toolbooth-verbatim": True, "x-other": 1},
            "count": {"type": "integer", "x-toolbooth-verbatim": True},
            "note": {"type": "string", "x-toolbooth-verbatim": False},
            "any": True,
        },
    }
    tool = compile_json_schema(schema, lambda arguments: arguments)
    text = 'x<parameter name="note">y'
    assert handle_arguments(tool, {"body": text})["structuredContent"] == {"body": text}
    assert problems(tool, body=text, count=None) == [("wrong-type", "$.count")]
    assert problems(tool, body=text, count="") == [("wrong-type", "$.count")]
    assert problems(tool, note='x<parameter name="body">y') == [("swallowed-argument", "$.note")]
    # For the server alone; other keywords are published as before.
    published = input_schema(tool)["properties"]
    assert published["body"] == {"type": "string", "x-other": 1}
    assert input_schema(tool, "exact") == schema


# --- tags of a call at the end of a text --------------------------------------------------------

TAILS = (
    "</x></invoke>",
    "</content>\n</invoke>",
    "</content>",
    "</parameter>\n</invoke>\n</function_calls>\n",
    "</ns:invoke>",
    "</invoke></x>",
)


@pytest.mark.parametrize("tail", TAILS)
def test_tags_of_a_call_at_the_end_pass_with_a_note(tail: str):
    received: list[str] = []
    arguments = {"content": f"Have a look.{tail}", "evidence": '["a"]'}
    result = handle_arguments(
        REMEMBER, arguments, lambda **values: received.append(values["content"])
    )
    assert received == [arguments["content"]]
    assert result["_meta"]["toolbooth"] == {
        "repairs": [{"code": "json-text", "path": "$.evidence"}],
        "notes": [{"code": "call-tags", "path": "$.content"}],
    }
    alone = handle_arguments(REMEMBER, {"content": arguments["content"]})
    assert alone["_meta"]["toolbooth"] == {"notes": [{"code": "call-tags", "path": "$.content"}]}


@pytest.mark.parametrize(
    "text",
    [
        "<b>x</b>",
        "<invoke>x</invoke>",
        "x</invoke> and more",
        "<content>x</content>",
        "x</reason>",
        "<",
    ],
)
def test_text_without_call_tags_passes_without_a_note(text: str):
    assert meta_of(REMEMBER, {"content": text}) == {}
