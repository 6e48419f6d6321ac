"""Every typo of one slip in the field names of real tools, and the call that a literal agent makes
after the refusal. `--run SOURCE` prints the figures of one source as JSON, `--missed SOURCE` the
typos that are not corrected; without an option it names the sources.
"""

import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from advice_agent import correction, repaired
from real_tools import RealTool, real_tools

from toolbooth import Contract, compile_json_schema, handle_bytes
from toolbooth.boundary.refusals import holds_secret
from toolbooth.errors import ContractWarning
from toolbooth.jsonvalue import JsonPath, path_text, recased, resolve_pointer, same_json
from toolbooth.sample import sample_value
from toolbooth.spelling import NEIGHBOURS, is_listed, parts

LETTERS = 5
"""The length of a word in which a slip is corrected."""

MOST_LEVELS = 6
"""Objects and lists within each other; some schemas contain themselves."""

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

Kind = Literal["counted", "spells a word", "short word"]
Outcome = Literal[
    "corrected", "told as an edit", "to another field", "not corrected", "allowed by an open object"
]


@dataclass(frozen=True, slots=True)
class Typo:
    tool: str
    path: JsonPath
    sent: str
    """The misspelt name that was sent instead of the last step of the path."""
    word: str
    """The misspelt word of it, in lower case."""
    kind: Kind


# --- slips --------------------------------------------------------------------------------------


def slips(word: str) -> set[str]:
    """Return every text that one slip makes of a word in lower case."""
    made: set[str] = set()
    for index, letter in enumerate(word):
        before, after = word[:index], word[index + 1 :]
        made.add(before + after)
        made.add(before + letter + letter + after)
        made.update(before + other + after for other in NEIGHBOURS[letter])
        if after:
            made.add(before + after[0] + letter + after[1:])
    return made - {word, ""}


def misspelt(name: str) -> Iterator[tuple[str, str, int]]:
    """Yield every name that one slip makes of a name: it, its misspelt word, and the length of the
    word.
    """
    for found in WORD.finditer(name):
        word = found[0]
        for slip in sorted(slips(word.lower())):
            yield name[: found.start()] + _cased(slip, word) + name[found.end() :], slip, len(word)


def _cased(slip: str, word: str) -> str:
    """Return a slip in upper and lower case as the word has it."""
    if word.isupper() and len(word) > 1:
        return slip.upper()
    return slip.capitalize() if word[0].isupper() else slip


# --- places -------------------------------------------------------------------------------------


def places(schema: Any, root: Mapping[str, Any], level: int = 0) -> Iterator[tuple[JsonPath, Any]]:
    """Yield the path of every field, with a value for the schema in which it was sent."""
    for branch in _branches(schema, root):
        if level > MOST_LEVELS:
            return
        fields = branch.get("properties", {})
        others = sample_value({**branch, "anyOf": []}, root) if fields else {}
        for name, each in fields.items():
            yield (name,), {**others, name: others.get(name, sample_value(each, root))}
            for path, value in places(each, root, level + 1):
                yield (name, *path), {**others, name: value}
        for path, value in places(branch.get("items", {}), root, level + 1):
            yield (0, *path), [value]


def _branches(schema: Any, root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        yield from _branches(resolve_pointer(root, schema["$ref"]), root)
    elif "anyOf" in schema or "oneOf" in schema:
        for each in schema.get("anyOf") or schema["oneOf"]:
            yield from _branches(each, root)
    else:
        yield schema


def with_typo(value: Any, path: JsonPath, sent: str) -> Any:
    """Return the value with another name for the field at the path."""
    step, *rest = path
    if rest and isinstance(value, list):
        return [with_typo(value[0], rest, sent), *value[1:]]
    if rest:
        return {**value, step: with_typo(value[step], rest, sent)}
    return {(sent if key == step else key): each for key, each in value.items()}


# --- calls --------------------------------------------------------------------------------------


class Calls:
    """The calls of one tool."""

    def __init__(self, tool: RealTool) -> None:
        self.name = tool.name
        self.contract: Contract = compile_json_schema(tool.schema, function=dict, name="tool")
        every = dict(places(tool.schema, tool.schema))
        self.right = {path: call for path, call in every.items() if self._is_right(call)}
        self.without_example = len(every) - len(self.right)
        names = {str(path[-1]) for path in every}
        self.own = {part for name in names for part in parts(name)} | set(map(recased, names))

    def _is_right(self, call: Any) -> bool:
        result = self.send(call)
        return not result["isError"] and not repaired(result)

    def send(self, call: Any) -> dict[str, Any]:
        return handle_bytes(self.contract, json.dumps(call).encode())

    def typos(self) -> Iterator[Typo]:
        for path in self.right:
            for sent, word, letters in misspelt(str(path[-1])):
                yield Typo(self.name, path, sent, word, self._kind(sent, word, letters))

    def _kind(self, sent: str, word: str, letters: int) -> Kind:
        if word in self.own or recased(sent) in self.own or is_listed(word):
            return "spells a word"
        return "counted" if letters >= LETTERS else "short word"

    def outcome(self, typo: Typo) -> Outcome:
        right = self.right[typo.path]
        result = self.send(with_typo(right, typo.path, typo.sent))
        if not result["isError"]:
            return "allowed by an open object"
        again = correction(result)
        if again is None and holds_secret(self.contract.shape, right):
            return "told as an edit" if _edits(result) == [_rename(typo)] else "not corrected"
        if again is None:
            return "not corrected"
        second = self.send(again)
        is_right = same_json(again, right) and not second["isError"] and not repaired(second)
        return "corrected" if is_right else "to another field"


def _edits(result: dict[str, Any]) -> list[str]:
    return result["_meta"]["toolbooth"].get("edits", [])


def _rename(typo: Typo) -> str:
    return f'rename {path_text((*typo.path[:-1], typo.sent))} to "{typo.path[-1]}"'


def outcomes(source: str, step: int = 1) -> Iterator[tuple[Typo, Outcome]]:
    """Yield the outcome of every typo, or of every `step`-th. A name is misspelt once at each
    depth: in the first tool that has it.
    """
    seen: set[tuple[str, int]] = set()
    for tool in real_tools():
        if tool.source == source:
            calls = Calls(tool)
            new = [typo for typo in calls.typos() if (typo.path[-1], len(typo.path)) not in seen]
            seen |= {(typo.path[-1], len(typo.path)) for typo in new}
            yield from ((typo, calls.outcome(typo)) for typo in new[::step])


def sources() -> list[str]:
    return list(dict.fromkeys(tool.source for tool in real_tools()))


def figures(source: str) -> dict[str, Any]:
    tools = [tool for tool in real_tools() if tool.source == source]
    found = Counter((typo.kind, became) for typo, became in outcomes(source))

    def count(kind: Kind | None = None, *becomes: Outcome) -> int:
        chosen = (found[key] for key in found if kind in (None, key[0]) and key[1] in becomes)
        return sum(chosen)

    refused: tuple[Outcome, ...] = ("corrected", "to another field", "not corrected")
    return {
        "version": tools[0].version,
        "tools": len(tools),
        "typos": found.total(),
        "allowed": count(None, "allowed by an open object"),
        "words": count("spells a word", *refused, "told as an edit"),
        "short": count("short word", *refused, "told as an edit"),
        "with a secret": count("counted", "told as an edit"),
        "counted": count("counted", *refused),
        "corrected": count("counted", "corrected"),
        "to another field": count("counted", "to another field")
        + count("short word", "to another field"),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore", ContractWarning)
    match sys.argv[1:]:
        case ["--run", source]:
            print(json.dumps(figures(source)))
        case ["--missed", source]:
            for typo, became in outcomes(source):
                if became == "to another field" or (typo.kind, became) == (
                    "counted",
                    "not corrected",
                ):
                    print(became, typo.tool, typo.path, typo.sent)
        case _:
            print("\n".join(sources()))
