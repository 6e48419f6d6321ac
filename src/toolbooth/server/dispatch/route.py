"""Finds the sub-tool that a dispatcher's call is for. Removes the arguments that name the sub-tool.

Three notations are accepted: `{action, …fields}`, `{action, params: {…fields}}`, and both together.
If the dispatcher has several resources, `resource` is sent beside `action`. If a call names its
action exactly, it is handled here. For all other calls, `search.py` finds the action.
"""

from __future__ import annotations

from toolbooth.boundary.read import Reading
from toolbooth.jsonvalue import Json
from toolbooth.server.dispatch.routed_call import RoutedCall, is_own_params, named_tool
from toolbooth.server.dispatch.search import Search
from toolbooth.server.dispatch.whole_call import may_repeat_the_call
from toolbooth.server.tool import PARAMS, ActionTable, Shows, Tool

_NO_PARAMS: Json = {}


def route(
    dispatcher: Tool, table: ActionTable, reading: Reading, shows: Shows | None
) -> RoutedCall:
    """Return the sub-tool and the arguments of a call.

    Raises:
        ToolInputError: if the call does not name a sub-tool.
    """
    sent: Json = reading[0]
    # `type(...) is dict`: if `params` is JSON text, the search reads it and reports the repair.
    found = _directly(table, sent, reading) if type(sent) is dict else None
    return found or Search(dispatcher, table, shows).routed(reading)


def _directly(table: ActionTable, sent: Json, reading: Reading) -> RoutedCall | None:
    """Return the routed call if the call names its action exactly. Otherwise return None. This is
    the fast path.
    """
    tool = named_tool(table, sent)
    inside: Json = sent.get(PARAMS, _NO_PARAMS)
    # `params` as JSON text is the declared form, but parsing it is left to the search.
    if tool is None or type(inside) is not dict:
        return None
    # The name of the only resource is not a field of the tool. The search removes it.
    if table.help in sent or (table.only and "resource" in sent):
        return None
    own = table.own
    flat = {key: value for key, value in sent.items() if key not in own}
    # The search refuses a field that was sent twice, flat and in `params`, because one value would
    # be lost.
    if not flat.keys().isdisjoint(inside) or table.help in inside:
        return None
    # The tool may itself have a field called `params`, and `{"params": {...}}` may mean that one.
    if inside is not _NO_PARAMS and is_own_params(tool, inside):
        return None
    # The whole call may have been sent a second time, inside `params` or inside another object.
    if any(may_repeat_the_call(each) for each in (inside, *flat.values())):
        return None
    fields = {**flat, **inside} if inside else flat
    target = {key: sent[key] for key in table.keys}
    # The second and third part describe the whole message: the form of its numbers, and its length.
    moved = (fields, reading[1], reading[2])
    return RoutedCall(table, tool, moved, target, dict.fromkeys(inside, (PARAMS,)))
