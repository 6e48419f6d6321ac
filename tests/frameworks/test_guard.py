"""The guard that all adapters of agent frameworks share."""

import copy
import pickle
from datetime import date

import pytest
from pydantic import BaseModel

from toolbooth import CallRecord, ToolInputError
from toolbooth.frameworks.guard import Choices, Refused, guard_function, guard_schema


class Contact(BaseModel):
    email: str
    age: int = 0


def create(contact: Contact, note: str = "", born: date | None = None) -> str:
    """Create a contact."""
    if note == "refuse":
        raise ToolInputError([])
    return f"{contact.email} {contact.age} {note} {born}"


def picky(code: str) -> str:
    raise ValueError(code)


SCHEMA = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}


def test_the_function_gets_validated_values():
    with guard_function(create).call({"contact": {"email": "a@x"}}) as call:
        assert call.bound()() == "a@x 0  None"
    assert call.meta == {}


def test_a_repair_is_made_and_reported():
    records: list[CallRecord] = []
    guard = guard_function(create, Choices(observer=records.append))
    with guard.call_with_text('{"contact": "{\\"email\\": \\"a@x\\"}"}') as call:
        assert call.bound()() == "a@x 0  None"
    assert call.meta == {"repairs": [{"code": "json-text", "path": "$.contact"}]}
    assert [(each.outcome, each.repairs) for each in records] == [("repaired", ("json-text",))]


def test_a_refusal_has_the_corrected_call():
    records: list[CallRecord] = []
    guard = guard_function(create, Choices(observer=records.append))
    with pytest.raises(Refused) as refused, guard.call({"data": {"contact": {"email": "a@x"}}}):
        pytest.fail("the tool ran")
    assert refused.value.data["corrected"] == {"contact": {"email": "a@x"}}
    assert 'Send instead: {"contact":{"email":"a@x"}}' in refused.value.text
    assert [(each.outcome, each.problems) for each in records] == [("refused", ("nested-wrapper",))]
    again = pickle.loads(pickle.dumps(refused.value))
    assert (again.text, again.data) == (refused.value.text, refused.value.data)


def test_a_refusal_of_the_tool_itself_is_one_for_the_model():
    guard = guard_function(create)
    with pytest.raises(Refused), guard.call({"contact": {"email": "a"}, "note": "refuse"}) as call:
        call.bound()()


def test_an_exception_of_the_tool_passes_and_is_recorded():
    records: list[CallRecord] = []
    guard = guard_function(picky, Choices(observer=records.append))
    with pytest.raises(ValueError, match="x"), guard.call({"code": "x"}) as call:
        call.bound()()
    assert [each.outcome for each in records] == ["failed"]


def test_an_observer_that_fails_hides_no_result():
    def observer(_: CallRecord) -> None:
        raise RuntimeError

    with guard_function(create, Choices(observer=observer)).call(
        {"contact": {"email": "a"}}
    ) as call:
        assert call.bound()() == "a 0  None"


@pytest.mark.parametrize(
    ("sent", "code", "corrected"),
    [
        pytest.param(
            '{"contact": "{\\"email\\": \\"a\\"}"}',
            "json-text",
            {"contact": {"email": "a"}},
            id="json-text",
        ),
        pytest.param(
            '{"contact": {"email": "a", "age": "5"}}',
            "scalar-text",
            {"contact": {"email": "a", "age": 5}},
            id="scalar-text",
        ),
        pytest.param(
            '{"contact": {"email": "a"}, "note": null}',
            "null-optional",
            {"contact": {"email": "a"}},
            id="null-optional",
        ),
        pytest.param(
            '{"contact": {"email": "a", "age": ""}}',
            "empty-optional",
            {"contact": {"email": "a"}},
            id="empty-optional",
        ),
        pytest.param(
            '{"contact": {"email": "a"}, "toolCallId": "1"}',
            "client-key",
            {"contact": {"email": "a"}},
            id="client-key",
        ),
        pytest.param(
            '"{\\"contact\\": {\\"email\\": \\"a\\"}}"',
            "json-text",
            {"contact": {"email": "a"}},
            id="arguments",
        ),
    ],
)
def test_with_approval_a_repair_is_refused_with_the_corrected_call(sent, code, corrected):
    guard = guard_function(create)
    with guard.call_with_text(sent) as call:
        assert [each["code"] for each in call.meta["repairs"]] == [code]
    with pytest.raises(Refused) as refused, guard.call_with_text(sent, approval=True):
        pytest.fail("the tool ran")
    assert [each["code"] for each in refused.value.data["problems"]] == ["needs-repair"]
    assert refused.value.data["corrected"] == corrected
    with guard.call(corrected, approval=True) as call:
        assert call.meta == {}


def test_with_approval_text_that_is_no_json_is_refused_as_always():
    with (
        pytest.raises(Refused) as refused,
        guard_function(create).call_with_text("{", approval=True),
    ):
        pytest.fail("the tool ran")
    assert [each["code"] for each in refused.value.data["problems"]] == ["not-json"]


def test_a_corrected_call_with_a_secret_is_not_shown():
    def login(password: str, attempts: int = 1) -> str:
        return password

    guard = guard_function(login, Choices(approval=True))
    with pytest.raises(Refused) as refused, guard.call({"password": "s3", "attempts": "2"}):
        pytest.fail("the tool ran")
    assert "s3" not in refused.value.text
    assert "corrected" not in refused.value.data


def test_where_null_means_not_sent_it_is_no_repair():
    guard = guard_function(create, null_is_absent=True)
    for approval in (False, True):
        sent = {"contact": {"email": "a", "age": None}, "note": None, "born": None}
        with guard.call(sent, approval=approval) as call:
            assert call.bound()() == "a 0  None"
        assert call.meta == {}


def test_parameters_that_the_framework_fills_are_not_published_and_cannot_be_sent():
    def tool(state: object, name: str) -> str:
        return f"{state} {name}"

    guard = guard_function(tool, injected=("state",))
    assert list(guard.schema["properties"]) == ["name"]
    with guard.call({"name": "a"}) as call:
        assert call.bound({"state": "mine"})() == "mine a"
    with pytest.raises(Refused), guard.call({"name": "a", "state": "theirs"}):
        pytest.fail("the tool ran")


def test_values_of_python_are_validated_as_they_are():
    guard = guard_function(create)
    with guard.call({"contact": {"email": "a"}, "born": date(2026, 1, 2)}) as call:
        assert call.bound()() == "a 0  2026-01-02"
    with pytest.raises(Refused), guard.call({"contact": {}, "born": date(2026, 1, 2)}):
        pytest.fail("the tool ran")


def test_a_tool_that_has_only_a_schema_gets_the_arguments_as_a_dict():
    guard = guard_schema(SCHEMA, name="picky")
    assert guard.schema == SCHEMA
    with guard.call({"code": "x"}) as call:
        assert call.values == {"code": "x"}
    with pytest.raises(Refused), guard.call({"data": {"code": "x"}}):
        pytest.fail("the tool ran")


def test_a_guard_is_shared_by_copies_and_made_again_by_pickle():
    for guard in (guard_function(create), guard_schema(SCHEMA, name="picky")):
        assert copy.deepcopy(guard) is guard
        again = pickle.loads(pickle.dumps(guard))
        assert again.schema == guard.schema
        assert again.contract.name == guard.contract.name
