"""Search: finds the action that a dispatcher's call means, even if it is not named exactly.

If the meaning is clear, the sub-tool checks its arguments too. Then one refusal lists all problems,
with a corrected call of the dispatcher.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from toolbooth.boundary.accept import accept_reading
from toolbooth.boundary.messages import echo
from toolbooth.boundary.read import NOTHING, Reading, read_json, settled, text_as_object
from toolbooth.boundary.repairs import Remark, Repair
from toolbooth.contract import Limits
from toolbooth.errors import Problem, ProblemCode, ToolError, ToolInputError
from toolbooth.jsonvalue import Json, JsonPath, near_name, quoted, same_name
from toolbooth.server import messages
from toolbooth.server.controls import is_true
from toolbooth.server.dispatch.help import help_of_action, help_of_dispatcher
from toolbooth.server.dispatch.routed_call import RoutedCall, is_own_params, named_tool, sent_at
from toolbooth.server.dispatch.whole_call import (
    declared_names,
    repeated_names,
    whole_call_inside,
)
from toolbooth.server.tool import PARAMS, ActionTable, Shows, Tool, target_of

Found = tuple[Mapping[str, Any], Tool]
"""The arguments that name the sub-tool, and the tool to run: that sub-tool, or one for help."""

_AS_PUBLISHED = Repair(code="json-text", path=(PARAMS,))
"""`params` is declared as JSON text but may be an object, so this repair is not reported."""

_LONGEST = 128
"""A longer name is not compared with other names, because a suggestion would not help."""


class Search:
    """Searches for the action that one call means."""

    def __init__(self, dispatcher: Tool, table: ActionTable, shows: Shows | None) -> None:
        self.dispatcher = dispatcher
        self.table = table
        self.shows = shows
        self.slips: list[Problem] = []
        self.wrapped: dict[str, JsonPath] = {}
        """The keys that were inside a wrapper around the whole call, with the wrapper's path."""
        self.asks_in_params = False
        """True if the call asks for help, and the action that it asks about is inside `params`."""
        self.beside: Json = {}
        """The only resource, if the call names it. The corrected call then names it too."""

    def routed(self, reading: Reading) -> RoutedCall:
        """Return the sub-tool and the arguments of a call.

        Raises:
            ToolInputError: if the call does not name a sub-tool.
        """
        contract = self.dispatcher.contract
        opened = _object_in(reading, contract.limits)
        self._check_access({} if opened is None else opened[0])
        if opened is None:
            accept_reading(contract, reading)  # refuses a value that is not an object
            raise AssertionError(reading)
        sent = self._located(self._spelt(self._unwrapped(opened[0], contract.limits)))
        strays = self._strays(sent)
        sent = {key: value for key, value in sent.items() if key not in strays}
        arguments, remarks = self._accept_own(sent, opened)
        target, tool = self._target(arguments)
        fields, inside = self._fields((sent, *opened[1:]), arguments, strays, tool)
        if isinstance(reading[0], str):
            remarks.insert(0, Repair(code="json-text", path=()))
        return RoutedCall(
            table=self.table,
            tool=tool,
            reading=fields,
            target=target,
            inside=inside,
            remarks=tuple(remarks),
            slips=tuple(self.slips),
            beside=self.beside,
        )

    def _check_access(self, sent: Json) -> None:
        """Raise an error if the caller may not see any sub-tool. The error comes from the sub-tool
        that the call names, or else from the first sub-tool.
        """
        every = [tool for _, tool in self.table.subs()]
        asked = named_tool(self.table, sent) or every[0]
        if any(map(self._is_shown, every)) or asked.access_check is None:
            return
        refused = asked.access_check()
        if isinstance(refused, ToolError):
            # The error is the same for every call, so it does not show which actions exist.
            raise ToolError(self.dispatcher.name, refused.message, refused.details)
        if refused is not None:
            raise refused

    def _accept_own(self, sent: Json, opened: Reading) -> tuple[Json, list[Remark]]:
        """Return the dispatcher's own arguments, and the repairs and notes on them. Raises
        ToolInputError.
        """
        own = {key: value for key, value in sent.items() if key in self.table.own}
        try:
            arguments, remarks = accept_reading(self.dispatcher.contract, (own, *opened[1:]))
        except ToolInputError as error:
            moved = error.moved(partial(sent_at, self.wrapped))
            problems = (*self.slips, *moved.problems)
            # A correction of these arguments alone would leave out the others.
            raise moved.replaced(
                problems=problems, corrected=None, edits=(), is_empty=not sent
            ) from None
        return arguments, [each for each in remarks if each != _AS_PUBLISHED]

    def _slip(self, code: ProblemCode, key: str, message: str) -> None:
        path = sent_at(self.wrapped, (key,))
        self.slips.append(Problem(code=code, path=path, message=message))

    def _refusal(self) -> ToolInputError:
        return ToolInputError(self.slips, tool=self.dispatcher.name)

    # --- the dispatcher's own keys ---

    def _unwrapped(self, sent: Json, limits: Limits) -> Json:
        """Return the call without a wrapper that contains or repeats the whole call."""
        found = whole_call_inside(self.table, sent, limits)
        if found is None:
            return sent
        key, inner = found
        rest = {name: value for name, value in sent.items() if name != key}
        new = [name for name in inner if name not in rest]
        message = messages.SENT_ALREADY
        if new:
            known = [name for name in declared_names(self.table, rest | inner) if name in new]
            message = messages.holds_the_whole_call(key, known)
        self._slip("nested-wrapper", key, message)
        self.wrapped = dict.fromkeys(new, (key,))
        return rest | inner

    def _spelt(self, sent: Json) -> Json:
        """Return the call with `action` and `resource` in their declared spelling."""
        for name in self.table.keys:
            if name in sent:
                continue
            near = [key for key, value in sent.items() if self._stands_for(name, key, value)]
            if len(near) == 1:
                (key,) = near
                self._slip("unknown-key", key, messages.no_such_argument(key, name))
                if same_name(key, [name]) is not None:
                    sent = _renamed(sent, key, name)
        return sent

    def _located(self, sent: Json) -> Json:
        """Return the call without `resource`, if the dispatcher has only one resource."""
        only, tool = self.table.only, named_tool(self.table, sent)
        if not only or "resource" not in sent or (tool is not None and tool.owns("resource")):
            return sent
        given = sent["resource"]
        self.beside = {"resource": only}
        if given != only:
            self._slip("invalid", "resource", messages.only_one_resource(given, only))
            if not isinstance(given, str) or same_name(given[:_LONGEST], [only]) is None:
                raise self._refusal()
        return {key: value for key, value in sent.items() if key != "resource"}

    def _stands_for(self, name: str, key: str, value: Any) -> bool:
        """Return True if a key is similar to `action` or `resource`, and its value names one."""
        if type(value) is not str or len(key) > _LONGEST or near_name(key, [name]) is None:
            return False
        if name == "resource":
            return value in self.table.resources
        return value in self._actions or value == self.table.help_action

    def _strays(self, sent: Json) -> Json:
        """Return arguments of the sub-tool that have the name of a dispatcher argument."""
        tool = named_tool(self.table, sent)
        if tool is None:
            return {}
        found = {key: sent[key] for key in self._stray_keys(sent, tool)}
        for key in found:
            self._slip("invalid", key, messages.goes_into_params(key, PARAMS))
        return found

    def _stray_keys(self, sent: Json, tool: Tool) -> Iterator[str]:
        word = self.table.help
        if word in sent and not is_true(sent[word]) and tool.owns(word):
            yield word
        if PARAMS in sent:
            params = text_as_object(sent[PARAMS], self.dispatcher.contract.limits)
            if is_own_params(tool, params or {}):
                yield PARAMS

    @property
    def _actions(self) -> dict[str, Tool]:
        """Return the actions of all resources by name."""
        found: dict[str, Tool] = {}
        for actions in self.table.resources.values():
            found.update(actions)
        return found

    @property
    def _owners(self) -> dict[str, dict[str, Tool]]:
        """Return, for each action, the resources that have it."""
        found: dict[str, dict[str, Tool]] = {}
        for resource, actions in self.table.resources.items():
            for action, tool in actions.items():
                found.setdefault(action, {})[resource] = tool
        return found

    # --- their values ---

    def _target(self, arguments: Json) -> Found:
        """Return the arguments that name the tool, and the tool: a sub-tool, or one for help."""
        arguments = self._as_question(arguments)
        word = self.table.help
        asks = arguments.get(word) is True
        if asks and any(key not in arguments for key in self.table.keys):
            return self._to_help(arguments)
        target, tool = self._chosen_tool(arguments)
        asks = asks or (arguments.get(PARAMS, {}).get(word) is True and word in tool.controls)
        if not asks:
            return target, tool
        name = self.dispatcher.name
        return {**target, word: True}, help_of_action(name, self.table, target, tool)

    def _as_question(self, arguments: Json) -> Json:
        """Convert an action such as `help` or `help create` to the argument `help`."""
        action, word = arguments.get("action"), self.table.help
        if self._means_help(action):
            return self._asked_by_argument(arguments)
        if not isinstance(action, str) or action in (*self._actions, self.table.help_action):
            return arguments
        words = re.findall(r"[a-z0-9]+", action[:_LONGEST].lower())
        subject = "_".join(each for each in words if each != word)
        if word not in words or not subject:
            return arguments
        self._slip("invalid", "action", messages.ask_by_help(action, word))
        if subject in self.table.resources:
            others = {key: each for key, each in arguments.items() if key != "action"}
            return {**others, "resource": subject, word: True}
        return {**arguments, "action": subject, word: True}

    def _asked_by_argument(self, arguments: Json) -> Json:
        """Convert `{"action": "help"}` to `{"help": true}`. `params` may name an action to
        explain.
        """
        made = {key: each for key, each in arguments.items() if key != "action"}
        made[self.table.help] = True
        about = arguments.get(PARAMS, {}).get("action")
        if isinstance(about, str):
            self.asks_in_params = True
            self.wrapped["action"] = (*self.wrapped.get(PARAMS, ()), PARAMS)
            made["action"] = about
        return made

    def _means_help(self, action: Any) -> bool:
        word = self.table.help_action
        if action == word or not isinstance(action, str) or action in self._actions:
            return action == word
        if same_name(action[:_LONGEST], [word, *self._actions]) != word:
            return False
        self._slip("invalid", "action", messages.did_you_mean_action(echo(action), word))
        return True

    def _to_help(self, arguments: Json) -> Found:
        """Return a tool that answers with help: on all resources, one resource or one action."""
        choices: dict[str, Mapping[str, Any]] = {
            "resource": self.table.resources,
            "action": self._owners,
        }
        subject: dict[str, str] = {}
        for key in self.table.keys:
            if key not in arguments:
                continue
            chosen = self._chosen(key, arguments, choices[key])
            if chosen is None:
                raise self._refusal()
            subject[key] = chosen
        tool = help_of_dispatcher(self.dispatcher.name, self.table, self.shows, subject)
        return {**subject, self.table.help: True}, tool

    def _chosen_tool(self, arguments: Json) -> Found:
        """Return the sub-tool that the call names, perhaps inexactly. Raises ToolInputError."""
        tool = named_tool(self.table, arguments)
        if tool is not None:
            return {key: arguments[key] for key in self.table.keys}, tool
        found = self._by_full_name(arguments)
        if found is not None:
            return found
        resource = ""
        if "" not in self.table.resources:
            chosen = self._chosen("resource", arguments, self.table.resources)
            if chosen is None:
                if arguments.get("action") not in self._actions:
                    self._chosen("action", arguments, self._actions)
                raise self._refusal()
            resource = chosen
        actions = self.table.resources[resource]
        action = self._chosen("action", arguments, actions, resource)
        if action is None:
            raise self._refusal()
        return target_of(resource, action), actions[action]

    def _by_full_name(self, arguments: Json) -> Found | None:
        """Return the sub-tool if the action is the full name of a tool: `contacts__create`."""
        action = arguments.get("action")
        if action in self._actions:
            return None
        for target, tool in self.table.subs():
            given = arguments.get("resource", target.get("resource"))
            if tool.name == action and given == target.get("resource") and self._is_shown(tool):
                message = messages.did_you_mean_action(quoted(tool.name), target["action"])
                self._slip("invalid", "action", message)
                return target, tool
        return None

    def _chosen(
        self, key: str, arguments: Json, choices: Mapping[str, Any], of: str = ""
    ) -> str | None:
        """Return the resource or the action that a call names. Return None if no name is close
        enough. If the name is not exact, a problem is added.
        """
        given: str | None = arguments.get(key)
        if given is not None and given in choices and self._any_shown(choices[given]):
            return given
        names = [name for name, below in choices.items() if self._any_shown(below)]
        if given is not None:
            near = near_name(given[:_LONGEST], names)
            chosen = same_name(given[:_LONGEST], names)
        else:
            if key == "resource":  # those with this action
                action = arguments.get("action")
                names = [name for name in names if action in choices[name]] or names
            near = chosen = names[0] if len(names) == 1 and len(choices) > 1 else None
        message = messages.choose_one(key, given, of, near, names, self.table.help)
        self._slip("missing" if given is None else "invalid", key, message)
        return chosen

    def _any_shown(self, below: Tool | Mapping[str, Tool]) -> bool:
        if isinstance(below, Tool):
            return self._is_shown(below)
        return any(map(self._is_shown, below.values()))

    def _is_shown(self, tool: Tool) -> bool:
        return self.shows is None or self.shows(tool.name)

    # --- everything else ---

    def _fields(
        self, sent: Reading, arguments: Json, strays: Json, tool: Tool
    ) -> tuple[Reading, dict[str, JsonPath]]:
        """Return two values: the arguments of the sub-tool with all their digits, and the paths of
        the arguments that were sent inside another object.
        """
        inner = NOTHING
        if PARAMS in arguments:
            limits = self.dispatcher.contract.limits
            inner = _object_in((sent[0][PARAMS], *sent[1:]), limits) or NOTHING
        if self.asks_in_params:
            others = {key: each for key, each in inner[0].items() if key != "action"}
            inner = (others, *inner[1:])
        flat = {key: value for key, value in sent[0].items() if key not in self.table.own}
        flat |= strays
        path = (*self.wrapped.get(PARAMS, ()), PARAMS)
        repeated = repeated_names(self.table, inner[0], arguments, tool)
        for key in repeated:
            problem = Problem(code="unknown-key", path=(*path, key), message=messages.SENT_ALREADY)
            self.slips.append(problem)
        inner = ({key: each for key, each in inner[0].items() if key not in repeated}, *inner[1:])
        twice = [key for key in inner[0] if key in flat]
        if twice:
            for key in twice:
                message = messages.sent_inside_too(path)
                problem = Problem(code="conflicting-keys", path=(key,), message=message)
                self.slips.append(problem)
            raise self._refusal()
        fields = ({**flat, **inner[0]}, sent[1] or inner[1], sent[2] or inner[2])
        return fields, {**self.wrapped, **dict.fromkeys(inner[0], path)}


def _renamed(sent: Json, key: str, name: str) -> Json:
    """Return a copy with one key renamed. The order of keys stays the same."""
    names = {key: name}
    return {names.get(each, each): value for each, value in sent.items()}


def _object_in(reading: Reading, limits: Limits) -> Reading | None:
    """Return the value as an object. JSON text is parsed again, because its numbers may have been
    rounded when it was accepted.
    """
    if text_as_object(reading[0], limits) is None:
        return NOTHING if reading[0] is None else None
    while isinstance(reading[0], str):
        reading = read_json(reading[0].encode(), limits)
    # The arguments are split and merged below, so their numbers must already be as written.
    return settled(reading, limits, exact=True)
