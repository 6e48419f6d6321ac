"""A dispatcher's call -> the sub-tool it is for, with everything that was sent but the way there.

`{action, …fields}`, `{action, params: {…fields}}` and both at once are understood; `resource`
stands beside `action` where there are several. What is plainly meant is followed to its end, so
that one refusal tells every problem, and the corrected call is the dispatcher's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from toolbooth.boundary.accept import accept_reading
from toolbooth.boundary.messages import echo
from toolbooth.boundary.read import NOTHING, Reading, read_json, text_as_object
from toolbooth.boundary.refusals import holds_secret
from toolbooth.boundary.repairs import Repair
from toolbooth.contract import Limits
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import Json, JsonPath, listed, near_name, path_text, quoted, same_name
from toolbooth.server.dispatch.help import help_tool
from toolbooth.server.tool import PARAMS, ActionTable, Shows, Tool

_AS_PUBLISHED = Repair(code="json-text", path=(PARAMS,))
"""`params` are declared as JSON text, and taken as an object as well."""

_LONGEST = 128
"""Characters of a name that is compared: nothing useful is near a longer one."""


@dataclass(
    slots=True
)  # frozen and by keyword would cost more than all else that a right call needs here
class Routed:
    """One call on its way through a dispatcher."""

    table: ActionTable
    tool: Tool
    """The sub-tool."""
    reading: Reading
    """What is for it."""
    way: Mapping[str, Any]
    """The arguments that led there."""
    inside: Mapping[str, JsonPath] = field(default_factory=dict[str, JsonPath])
    """The keys that were not sent flat, and the path of the object that held them: `("params",)`.
    """
    repairs: tuple[Repair, ...] = ()
    """Of the dispatcher's own arguments."""
    slips: tuple[Problem, ...] = ()
    """What was wrong with the dispatcher's own arguments, though it is plain what was meant."""

    def refusal(self) -> ToolInputError:
        """For a call of which the sub-tool has nothing to say."""
        arguments: Json = self.reading[0]
        shown = not holds_secret(self.tool.contract.shape, arguments)
        return ToolInputError((), tool=self.tool.name, corrected=arguments if shown else None)

    def refusal_of_call(self, error: ToolInputError) -> ToolInputError:
        """A refusal of the sub-tool's, as one of the dispatcher's call."""
        moved = error.moved(partial(sent_at, self.inside))
        declared = moved.declared
        if declared and self.way["action"] == self.table.help_action:
            declared = {(): (*self.table.keys, PARAMS, "page")}
        corrected = moved.corrected
        if corrected is not None:
            corrected = self.table.call(self.way, corrected)
        return moved.replaced(
            problems=(*self.slips, *moved.problems),
            tool=moved.tool or self.tool.name,
            declared=declared,
            corrected=corrected,
        )

    def repaired(self, repairs: list[Repair]) -> list[Repair]:
        """All repairs, where they were made."""
        if not repairs and not self.repairs:
            return repairs
        return [
            *self.repairs,
            *(replace(each, path=sent_at(self.inside, each.path)) for each in repairs),
        ]


def sent_at(inside: Mapping[str, JsonPath], path: JsonPath) -> JsonPath:
    """The path of a sub-tool's argument in the dispatcher's call."""
    if path and path[0] in inside:
        return (*inside[cast("str", path[0])], *path)
    return path


def route(dispatcher: Tool, reading: Reading, shows: Shows | None) -> Routed:
    """Where a call leads. Raises ToolInputError where that cannot be said."""
    table = cast("ActionTable", dispatcher.table)
    found = (
        _directly(table, cast("Json", reading[0]), reading) if type(reading[0]) is dict else None
    )
    return found or _Search(dispatcher, table, shows).routed(reading)


def _directly(table: ActionTable, sent: Json, reading: Reading) -> Routed | None:
    """The short way, for a call that simply says where it leads."""
    tool = _exactly(table, sent)
    inner: Any = sent.get(PARAMS, _NO_PARAMS)
    if (
        tool is None
        or table.help in sent
        or type(inner) is not dict
        or (table.only and "resource" in sent)
    ):
        return None
    own = table.own
    beside = {key: value for key, value in sent.items() if key not in own}
    inside = cast("Json", inner)
    if not beside.keys().isdisjoint(inside) or table.help in inside:
        return None
    if inside is not _NO_PARAMS and _is_field(tool, inside):
        return None
    fields = {**beside, **inside} if inside else beside
    way = {key: sent[key] for key in table.keys}
    return Routed(
        table, tool, (fields, reading[1], reading[2]), way, dict.fromkeys(inside, (PARAMS,))
    )


_NO_PARAMS: Json = {}


def _is_field(tool: Tool, params: Any) -> bool:
    """Whether `params` is rather the tool's own field of that name: it holds nothing that is
    another one.
    """
    if not tool.owns(PARAMS):
        return False
    inner = cast("Json", params) if isinstance(params, dict) else {}
    return not any(key in form.fields for form in tool.contract.shape.objects for key in inner)


def _exactly(table: ActionTable, sent: Mapping[str, Any]) -> Tool | None:
    action = sent.get("action")
    resource = "" if "" in table.resources else sent.get("resource")
    if type(action) is not str or type(resource) is not str:
        return None
    return table.resources.get(resource, {}).get(action)


class _Search:
    """Finds out what a call means that does not simply say it."""

    def __init__(self, dispatcher: Tool, table: ActionTable, shows: Shows | None) -> None:
        self.dispatcher = dispatcher
        self.table = table
        self.shows = shows
        self.slips: list[Problem] = []
        self.wrapped: dict[str, JsonPath] = {}
        """The keys that a wrapper around the whole call held, and the path of the wrapper."""

    def routed(self, reading: Reading) -> Routed:
        self._let_in()
        contract = self.dispatcher.contract
        opened = _opened(reading, contract.limits)
        if opened is None:
            accept_reading(contract, reading)  # says what it is instead of an object
            raise AssertionError(reading)
        sent = self._located(self._spelt(self._unwrapped(opened[0], contract.limits)))
        strays = self._strays(sent)
        sent = {key: value for key, value in sent.items() if key not in strays}
        try:
            own = {key: value for key, value in sent.items() if key in self.table.own}
            arguments, repairs = accept_reading(contract, (own, *opened[1:]))
        except ToolInputError as error:
            moved = error.moved(partial(sent_at, self.wrapped))
            raise moved.replaced(problems=(*self.slips, *moved.problems)) from None
        way, tool = self._way(arguments)
        fields, inside = self._fields((sent, *opened[1:]), arguments, strays)
        whole = [Repair(code="json-text", path=())] if isinstance(reading[0], str) else []
        return Routed(
            table=self.table,
            tool=tool,
            reading=fields,
            way=way,
            inside=inside,
            repairs=(*whole, *(each for each in repairs if each != _AS_PUBLISHED)),
            slips=tuple(self.slips),
        )

    def _let_in(self) -> None:
        """Tell a caller who is shown nothing behind the dispatcher what the first of its sub-tools
        would tell them.
        """
        every = [tool for _, tool in self.table.subs()]
        if any(map(self._is_shown, every)) or every[0].access_check is None:
            return
        refused = every[0].access_check()
        if refused is not None:
            raise refused

    # --- the dispatcher's own keys ---

    def _unwrapped(self, sent: Json, limits: Limits) -> Json:
        """The call without a wrapper around all of it: an object under one key that holds the
        action too.
        """
        if "action" in sent:
            return sent
        found = {
            key: inner
            for key, value in sent.items()
            if (inner := text_as_object(value, limits)) and "action" in inner
        }
        if len(found) != 1:
            return sent
        ((key, inner),) = found.items()
        rest = {name: value for name, value in sent.items() if name != key}
        if not rest.keys().isdisjoint(inner):
            return sent
        names = listed(tuple(inner), 12)
        message = f"{quoted(key)} holds the whole call; send {names} at the top level, not inside {quoted(key)}"
        self.slips.append(Problem(code="nested-wrapper", path=(key,), message=message))
        self.wrapped = dict.fromkeys(inner, (key,))
        return {**rest, **inner}

    def _spelt(self, sent: Json) -> Json:
        """The call with `action` and `resource` in the dispatcher's own spelling."""
        for name in self.table.keys:
            near = (
                []
                if name in sent
                else [key for key, value in sent.items() if self._stands_for(name, key, value)]
            )
            if len(near) == 1:
                (key,) = near
                message = f"there is no argument {quoted(key)}; did you mean {quoted(name)}?"
                self.slips.append(Problem(code="unknown-key", path=self._at(key), message=message))
                if same_name(key, [name]) is not None:
                    sent = {name if each == key else each: value for each, value in sent.items()}
        return sent

    def _located(self, sent: Json) -> Json:
        """The call without the name of the only resource there is."""
        only, tool = self.table.only, _exactly(self.table, sent)
        if not only or "resource" not in sent or (tool is not None and tool.owns("resource")):
            return sent
        given = sent["resource"]
        if given != only:
            message = f"there is no resource {echo(given)} here, only {quoted(only)}, which need not be said"
            self.slips.append(Problem(code="invalid", path=self._at("resource"), message=message))
            if not isinstance(given, str) or same_name(given[:_LONGEST], [only]) is None:
                raise ToolInputError(self.slips, tool=self.dispatcher.name)
        return {key: value for key, value in sent.items() if key != "resource"}

    def _at(self, key: str) -> JsonPath:
        """Where a key of the call was sent."""
        return sent_at(self.wrapped, (key,))

    def _stands_for(self, name: str, key: str, value: Any) -> bool:
        """Whether a key is similar to `action` or `resource`, and holds one."""
        if type(value) is not str or len(key) > _LONGEST or near_name(key, [name]) is None:
            return False
        known = (
            self.table.resources
            if name == "resource"
            else {**self._actions, self.table.help_action: None}
        )
        return value in known

    def _strays(self, sent: Json) -> Json:
        """Fields of the sub-tool's that have a name of the call's own, and can be nothing else."""
        tool = _exactly(self.table, sent)
        found: Json = {}
        if (
            tool is not None
            and sent.get(self.table.help, True) not in (True, "true")
            and tool.owns(self.table.help)
        ):
            found[self.table.help] = sent[self.table.help]
        if tool is not None and PARAMS in sent:
            params = text_as_object(sent[PARAMS], self.dispatcher.contract.limits)
            if _is_field(tool, params):
                found[PARAMS] = sent[PARAMS]
        for key in found:
            message = f"{quoted(key)} is a word of the call's own here; the field {quoted(key)} goes inside {quoted(PARAMS)}"
            self.slips.append(Problem(code="invalid", path=self._at(key), message=message))
        return found

    @property
    def _actions(self) -> dict[str, Tool]:
        """Every action, of whichever resource."""
        return {
            action: tool
            for actions in self.table.resources.values()
            for action, tool in actions.items()
        }

    # --- their values ---

    def _way(self, arguments: Json) -> tuple[Mapping[str, Any], Tool]:
        arguments = self._asked(arguments)
        action, asks = arguments.get("action"), arguments.get(self.table.help) is True
        several = "" not in self.table.resources
        if (asks and action is None) or self._means_help(action):
            return self._to_help(arguments)
        if (tool := _exactly(self.table, arguments)) is not None:
            way = {key: arguments[key] for key in self.table.keys}
        elif (full := self._full_name(arguments)) is not None:
            way, tool = full
        else:
            resource = self._chosen("resource", arguments, self.table.resources) if several else ""
            if resource is None and action not in self._actions:
                self._chosen("action", arguments, self._actions)
            actions: Mapping[str, Tool] = {} if resource is None else self.table.resources[resource]
            action = self._chosen("action", arguments, actions, resource or "") if actions else None
            if resource is None or action is None:
                raise ToolInputError(self.slips, tool=self.dispatcher.name)
            way = {"resource": resource, "action": action} if several else {"action": action}
            tool = actions[action]
        word = self.table.help
        if not asks and not (arguments.get(PARAMS, {}).get(word) is True and word in tool.controls):
            return way, tool
        return {**way, word: True}, help_tool(self.dispatcher, self.shows, way, tool)

    def _asked(self, arguments: Json) -> Json:
        """The call with a question that stands in its action, `help create`, asked as it should be."""
        action, word = arguments.get("action"), self.table.help
        if (
            not isinstance(action, str)
            or action in self._actions
            or action == self.table.help_action
        ):
            return arguments
        words = re.findall(r"[a-z0-9]+", action[:_LONGEST].lower())
        about = "_".join(each for each in words if each != word)
        if word not in words or not about:
            return arguments
        message = f"there is no action {echo(action)}; ask by {quoted(word)}: true beside an action"
        self.slips.append(Problem(code="invalid", path=self._at("action"), message=message))
        if about in self.table.resources:
            return {**arguments, "action": self.table.help_action, "resource": about}
        return {**arguments, "action": about, word: True}

    def _means_help(self, action: Any) -> bool:
        word = self.table.help_action
        if action == word or not isinstance(action, str) or action in self._actions:
            return action == word
        if same_name(action[:_LONGEST], [word, *self._actions]) != word:
            return False
        message = f"there is no action {echo(action)}; did you mean {quoted(word)}?"
        self.slips.append(Problem(code="invalid", path=self._at("action"), message=message))
        return True

    def _to_help(self, arguments: Json) -> tuple[dict[str, str], Tool]:
        way = {"action": self.table.help_action}
        if "resource" in arguments and "" not in self.table.resources:
            resource = self._chosen("resource", arguments, self.table.resources)
            if resource is None:
                raise ToolInputError(self.slips, tool=self.dispatcher.name)
            way = {"resource": resource, **way}
        return way, help_tool(self.dispatcher, self.shows, way)

    def _full_name(self, arguments: Json) -> tuple[dict[str, str], Tool] | None:
        """Where a call leads whose action is the whole name of a tool: `contacts__create`."""
        action = arguments.get("action")
        for way, tool in self.table.subs() if action not in self._actions else ():
            given = arguments.get("resource", way.get("resource"))
            if tool.name == action and given == way.get("resource") and self._is_shown(tool):
                message = (
                    f"there is no action {quoted(tool.name)}; did you mean {quoted(way['action'])}?"
                )
                self.slips.append(Problem(code="invalid", path=self._at("action"), message=message))
                return way, tool
        return None

    def _chosen(
        self, key: str, arguments: Json, table: Mapping[str, Any], of: str = ""
    ) -> str | None:
        """The name that a call gives, or gives in another case; None, and a slip that says what is
        wrong.
        """
        given: Any = arguments.get(key)
        if given in table and self._any_shown(table[given]):
            return given
        names = [name for name, below in table.items() if self._any_shown(below)]
        if key == "resource" and given is None:  # those that have such an action
            names = [name for name in names if arguments.get("action") in table[name]] or names
        alone = names[0] if given is None and len(names) == 1 and len(table) > 1 else None
        near = alone if given is None else near_name(given[:_LONGEST], names)
        where = f" of {quoted(of)}" if of else ""
        said = "is required" if given is None else f"there is no {key} {echo(given)}{where}"
        said += f"; did you mean {quoted(near)}?" if near else ""
        said += (
            ""
            if near
            else f"; there are {listed(tuple(names))}"
            if names
            else "; there is none for you"
        )
        said += "" if near else f'. {{"action": "{self.table.help_action}"}} tells more'
        self.slips.append(
            Problem(
                code="missing" if given is None else "invalid", path=self._at(key), message=said
            )
        )
        return alone if given is None else same_name(given[:_LONGEST], names)

    def _any_shown(self, below: Tool | Mapping[str, Tool]) -> bool:
        return (
            self._is_shown(below)
            if isinstance(below, Tool)
            else any(map(self._is_shown, below.values()))
        )

    def _is_shown(self, tool: Tool) -> bool:
        return self.shows is None or self.shows(tool)

    # --- everything else ---

    def _fields(
        self, sent: Reading, arguments: Json, strays: Json
    ) -> tuple[Reading, dict[str, JsonPath]]:
        """What is for the sub-tool, with every digit that was sent, and where it did not stand
        flat.
        """
        inner = NOTHING
        if PARAMS in arguments:
            limits = self.dispatcher.contract.limits
            inner = cast("Reading", _opened((sent[0][PARAMS], *sent[1:]), limits))
        beside = {
            key: value for key, value in sent[0].items() if key not in self.table.own
        } | strays
        place = (*self.wrapped.get(PARAMS, ()), PARAMS)
        twice = [key for key in inner[0] if key in beside]
        if twice:
            message = f"stands in {path_text(place)} too; send it once"
            found = [
                Problem(code="conflicting-keys", path=(key,), message=message) for key in twice
            ]
            raise ToolInputError([*self.slips, *found], tool=self.dispatcher.name)
        fields = ({**beside, **inner[0]}, sent[1] or inner[1], sent[2] or inner[2])
        return fields, {**self.wrapped, **dict.fromkeys(inner[0], place)}


def _opened(reading: Reading, limits: Limits) -> Reading | None:
    """The object that was sent, where it came as JSON text read once more: accepting it may have
    rounded numbers.
    """
    if text_as_object(reading[0], limits) is None:
        return NOTHING if reading[0] is None else None
    while isinstance(reading[0], str):
        reading = read_json(reading[0].encode(), limits)
    return reading
