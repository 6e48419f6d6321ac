"""`toolbooth explain`: shows how the boundary judges a call, stage by stage. No tool is called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from toolbooth.cli import messages
from toolbooth.cli.command import Command
from toolbooth.cli.mistakes import DONE, REFUSED, Mistake
from toolbooth.cli.rules import messages as words
from toolbooth.cli.target import Target, ask, open_target, takes_target
from toolbooth.cli.terminal import paint

if TYPE_CHECKING:
    from toolbooth.contract import Contract
    from toolbooth.errors import ToolInputError

Stage = Literal["read", "examine", "validate"]
Verdict = Literal["passed", "repaired", "refused"]

_STAGES: tuple[Stage, ...] = ("read", "examine", "validate")
_OF_READING = frozenset(
    ("not-json", "duplicate-key", "too-large", "too-deep", "lossy-number", "not-an-object")
)
_OF_VALIDATION = frozenset(("invalid", "key-reused"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One repair or one problem."""

    stage: Stage
    code: str
    path: str
    message: str
    is_repair: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The outcome of a call at the boundary."""

    tool: str
    size: int
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    corrected: Any = None
    edits: tuple[str, ...] = ()
    by_listing: bool = field(default=False)
    """True if only the published schema was known."""

    @property
    def last_stage(self) -> Stage:
        """Return the stage that refused the call. If the call was accepted, return the last
        stage.
        """
        refused = {each.stage for each in self.findings if not each.is_repair}
        for stage in _STAGES:
            if stage in refused:
                return stage
        return "validate"


@click.command(cls=Command, epilog=messages.EXIT_CODES)
@takes_target(required=False)
@click.argument("tool", metavar="[TOOL]", required=False)
@click.argument("arguments", metavar="[ARGUMENTS]", required=False)
@click.option("--schema", metavar="FILE", help=words.SCHEMA)
@click.option("--json", "as_json", is_flag=True, help=words.JSON)
def explain(
    target: Target | None,
    tool: str | None,
    arguments: str | None,
    schema: str | None,
    as_json: bool,
) -> int:
    """Explain how the boundary judges a call: each stage, the verdict, the rule with its
    evidence, and the corrected call. No tool is called; the author's validators run.

    \b
    Examples:
      toolbooth explain server.py:mcp add '{"data": {"a": 1}}'
      toolbooth explain '{"a": "1"}' --schema schema.json

    Exit code 1 means that the call would be refused.
    """
    from toolbooth.cli.call import payload

    if target is None:
        raise Mistake(words.NO_PAYLOAD)
    if schema is not None:
        if tool is not None or target.kind != "object":
            raise Mistake(words.SCHEMA_OR_TOOL)
        # With --schema there is only one word, the ARGUMENTS, and click reads the first word as
        # TARGET.
        found = explained(_schema_contract(schema), payload(target.text))
    else:
        if tool is None:
            raise Mistake(words.NO_TOOL)
        contract, by_listing = _contract(target, tool)
        found = explained(contract, payload(arguments or "{}"), by_listing=by_listing)
    click.echo(_as_json(found) if as_json else "\n".join(_lines(found)))
    return REFUSED if found.verdict == "refused" else DONE


# --- the contract -------------------------------------------------------------------------------


def _schema_contract(given: str) -> Contract:
    import json

    try:
        is_text = given.lstrip().startswith("{")
        text = given if is_text else Path(given).read_text(encoding="utf-8")
        schema = json.loads(text)
    except OSError as error:
        raise Mistake(words.schema_unreadable(given, error.strerror)) from None
    except ValueError as error:
        raise Mistake(words.schema_unreadable(given, error)) from None
    # A tool in the form of `tools/list` is accepted too.
    return _compiled(schema.get("inputSchema", schema), schema.get("name", "the tool"))


def _compiled(schema: Any, name: str) -> Contract:
    from toolbooth.compile.json_schema import compile_json_schema
    from toolbooth.errors import ContractError

    try:
        return compile_json_schema(schema, name=name)
    except ContractError as error:
        raise Mistake(words.schema_not_compiled("; ".join(error.mistakes))) from error


def _contract(target: Target, tool: str) -> tuple[Contract, bool]:
    """Return the contract of a tool, and True if the contract was made from the listed schema
    alone.
    """
    from toolbooth.server.listed_tools import UnknownTool
    from toolbooth.server.registry import ToolRegistry

    there = open_target(target)
    if target.kind == "object" and isinstance(there.server, ToolRegistry):
        try:
            # A registry also finds tools behind its dispatchers. These tools are not in its list.
            return there.server.find(tool).contract, False
        except UnknownTool:
            raise Mistake(messages.no_tool(tool, [*there.server.tools])) from None

    async def question() -> tuple[dict[str, Contract], dict[str, Any]]:
        async with there:
            listed = {each["name"]: each for each in await there.tools()}
            return await there.contracts(), listed

    contracts, listed = ask(target, question, messages.asking(target.name))
    # The contract of a protected tool comes from its function. It has more than the listed schema,
    # such as the author's validators.
    if tool in contracts:
        return contracts[tool], False
    if tool not in listed:
        raise Mistake(messages.no_tool(tool, list(listed)))
    return _compiled(listed[tool]["inputSchema"], tool), True


# --- the explanation ----------------------------------------------------------------------------


def explained(contract: Contract, body: bytes, *, by_listing: bool = False) -> Explanation:
    """Return how the boundary judges these arguments."""
    from toolbooth.boundary.accept import accept_bytes
    from toolbooth.errors import ToolInputError

    try:
        _, remarks = accept_bytes(contract, body)
    except ToolInputError as error:
        return _refused(contract, body, error, by_listing=by_listing)
    findings = [
        Finding(stage="examine", code=each.code, path=each.where, message="", is_repair=True)
        for each in remarks
    ]
    return Explanation(
        tool=contract.name,
        size=len(body),
        verdict="repaired" if findings else "passed",
        findings=tuple(findings),
        by_listing=by_listing,
    )


def _refused(
    contract: Contract, body: bytes, error: ToolInputError, *, by_listing: bool
) -> Explanation:
    from toolbooth.boundary.messages import edit_text
    from toolbooth.jsonvalue import path_text

    # A refused call may also have repairs at other places.
    repairs = [
        Finding(stage="examine", code=code, path=path_text(path), message="", is_repair=True)
        for code, path in error.repairs
    ]
    problems = [
        Finding(stage=_stage(each.code), code=each.code, path=each.where, message=each.message)
        for each in error.problems
    ]
    return Explanation(
        tool=contract.name,
        size=len(body),
        verdict="refused",
        findings=(*repairs, *problems),
        corrected=error.corrected,
        edits=tuple(map(edit_text, error.edits)),
        by_listing=by_listing,
    )


def _stage(code: str) -> Stage:
    if code in _OF_READING:
        return "read"
    return "validate" if code in _OF_VALIDATION else "examine"


# --- what is printed ----------------------------------------------------------------------------


def _lines(found: Explanation) -> Iterator[str]:
    for stage, outcome in _outcomes(found):
        yield f"{stage:9} {outcome}"
        for each in found.findings:
            if each.stage == stage:
                yield from _finding_lines(each)
    yield f"{'run':9} {words.NOT_RUN}"
    style = "error" if found.verdict == "refused" else "ok"
    yield f"{'verdict':9} {paint(found.verdict, style)}"
    for code in dict.fromkeys(each.code for each in found.findings):
        rule = words.RULES.get(code)
        if rule is not None:
            yield ""
            yield f"{paint(code, 'tool')}: {rule.says}"
            if rule.seen:
                yield f"  {words.seen_in(rule.seen)}"
    if found.verdict == "refused":
        yield ""
        yield _remedy(found)
    if found.by_listing:
        yield ""
        yield words.BY_LISTING


def _outcomes(found: Explanation) -> Iterator[tuple[Stage, str]]:
    """Yield each stage, with a sentence about its outcome."""
    fine = {"read": words.bytes_read(found.size), "examine": words.FITS, "validate": words.VALID}
    for stage in _STAGES:
        at = [each for each in found.findings if each.stage == stage]
        if at:
            yield stage, words.NOT_READ if stage == "read" else words.changed(len(at))
        elif _STAGES.index(stage) > _STAGES.index(found.last_stage):
            yield stage, words.NOT_REACHED
        else:
            yield stage, fine[stage]


def _finding_lines(each: Finding) -> Iterator[str]:
    kind = paint("repaired", "warning") if each.is_repair else paint("refused", "error")
    message = f": {each.message}" if each.message else ""
    yield f"{'':9} {kind}  {each.path}{message} ({each.code})"


def _remedy(found: Explanation) -> str:
    import json

    # If a secret is involved, the explanation has only edits. So no value of the call is printed.
    if found.corrected is not None:
        return words.send_instead(json.dumps(found.corrected, ensure_ascii=False, default=str))
    return words.send_instead("; ".join(found.edits)) if found.edits else words.CANNOT_DERIVE


def _as_json(found: Explanation) -> str:
    import orjson

    repairs = [_code_json(each) for each in found.findings if each.is_repair]
    problems = [_code_json(each) for each in found.findings if not each.is_repair]
    codes = dict.fromkeys(each.code for each in found.findings)
    rules = {code: _rule_json(code) for code in codes if code in words.RULES}
    document = {
        "tool": found.tool,
        "verdict": found.verdict,
        "stage": found.last_stage,
        "repairs": repairs,
        "problems": problems,
        "rules": rules,
        "corrected": found.corrected,
        "edits": found.edits,
        "by_listing": found.by_listing,
    }
    return orjson.dumps(document, default=str, option=orjson.OPT_INDENT_2).decode()


def _code_json(each: Finding) -> dict[str, str]:
    shown = {"stage": each.stage, "code": each.code, "path": each.path}
    return {**shown, "message": each.message} if each.message else shown


def _rule_json(code: str) -> dict[str, Any]:
    rule = words.RULES[code]
    return {"rule": rule.says, "seen": rule.seen}
