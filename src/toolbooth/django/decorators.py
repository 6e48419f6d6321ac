"""Decorators for authors:

- `@mcp_ignore` for views that are not published
- `@mcp_bulk` for views that take lists
- `@mcp_preview` for views that write only to the database
- `@mcp_idempotent` for views that may be called twice
- `@mcp_tool` for the project's own tools

`@mcp_dispatcher` on a class makes one tool of its methods that are marked `@mcp_action`.
"""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar, Unpack, overload

from asgiref.sync import async_to_sync
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from toolbooth.compile.signature import compile_function
from toolbooth.contract import Contract
from toolbooth.django import messages as messages_of_calls
from toolbooth.django.call.caller import caller
from toolbooth.django.call.inner_request import inner_request
from toolbooth.django.call.replies import value_of
from toolbooth.django.describe import messages
from toolbooth.django.describe.discovery import BULK, IDEMPOTENT, IGNORED, PREVIEW, Action
from toolbooth.errors import ContractError, ToolError
from toolbooth.server.dispatch import build as dispatchers
from toolbooth.server.key_argument import refuse_key

F = TypeVar("F", bound=Callable[..., Any])
V = TypeVar("V")
C = TypeVar("C", bound=type)

_handler = BaseHandler()


def mcp_ignore(view: V) -> V:
    """Do not publish a view, or one action of a view set."""
    setattr(view, IGNORED, True)
    return view


@overload
def mcp_bulk(view: V, /) -> V: ...
@overload
def mcp_bulk() -> Callable[[V], V]: ...
def mcp_bulk(view: Any = None, /) -> Any:
    """Pass the rows of `{"objects": [...]}` to a view as one list. Without the mark, the view is
    called once for each row.

    Mark a view, or its `create` method, that accepts a JSON list as well as a single object. A view
    whose schema declares a list needs no mark.
    """
    # The decorator was written with parentheses, `@mcp_bulk()`.
    if view is None:
        return mcp_bulk
    setattr(view, BULK, True)
    return view


@overload
def mcp_preview(view: V, /) -> V: ...
@overload
def mcp_preview() -> Callable[[V], V]: ...
def mcp_preview(view: Any = None, /) -> Any:
    """Promise that a view, or one action of it, changes nothing outside the database. Then
    `preview: true` runs it in a transaction that is rolled back.

    You need not mark a view if the view, its serializer and its model use only the methods of REST
    framework and Django.
    """
    if view is None:
        return mcp_preview
    setattr(view, PREVIEW, True)
    return view


@overload
def mcp_idempotent(view: V, /) -> V: ...
@overload
def mcp_idempotent() -> Callable[[V], V]: ...
def mcp_idempotent(view: Any = None, /) -> Any:
    """Declare that calling a view (or one action of it) twice has the same effect as calling it
    once. Clients see this as `idempotentHint`, and may repeat such calls.
    """
    if view is None:
        return mcp_idempotent
    setattr(view, IDEMPOTENT, True)
    return view


class Options(TypedDict, total=False):
    """The options of a tool. The default of an option comes from the function, or from the settings
    of the project.
    """

    name: str | None
    title: str | None
    description: str | None
    annotations: Mapping[str, Any] | None
    permission_classes: Sequence[Any] | None
    authentication_classes: Sequence[Any] | None
    throttle_classes: Sequence[Any] | None
    idempotent: bool
    """Whether a second call with the same arguments has no further effect."""
    idempotency_key: bool
    """Whether callers may send an idempotency key. The function then runs once for each key, in a
    transaction.
    """


def _view_attributes(options: Options) -> dict[str, Any]:
    """Return the given permission, authentication and throttle classes as attributes of a view."""
    given = {
        "permission_classes": options.get("permission_classes"),
        "authentication_classes": options.get("authentication_classes"),
        "throttle_classes": options.get("throttle_classes"),
    }
    return {name: list(classes) for name, classes in given.items() if classes is not None}


def _check(options: Options) -> None:
    """Raise TypeError if there is a keyword that is not an option."""
    for name in options:
        if name not in Options.__annotations__:
            raise TypeError(messages.unknown_option(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatcher:
    """A class that is published as one tool. The marked methods of the class are the actions of the
    tool.
    """

    name: str
    title: str | None
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandWritten:
    """A tool that an author wrote as a function."""

    contract: Contract
    function: Callable[..., Any]
    action: Action
    title: str | None
    annotations: Mapping[str, Any] | None
    dispatcher: Dispatcher | None
    """The dispatcher whose action this tool is. None if the tool is not an action."""
    takes_key: bool = False
    """Whether callers may send an idempotency key."""


declared: dict[str, HandWritten] = {}
"""Every hand-written tool that was imported, by the import path of its function. If a module is
imported again, its tools are replaced.
"""


@overload
def mcp_tool(function: F, /) -> F: ...
@overload
def mcp_tool(**options: Unpack[Options]) -> Callable[[F], F]: ...
def mcp_tool(function: Any = None, /, **options: Unpack[Options]) -> Any:
    """Publish a function as a tool. A parameter annotated with `Request` or `HttpRequest` gets the
    caller's request.

    The function runs like a view of REST framework. Authentication, permissions and throttles are
    the project's own, and you can replace them here. With ATOMIC_REQUESTS, a failure is rolled
    back. Functions are found in each app's `mcp_tools.py`.

    Raises:
        ContractError: with every mistake in the signature, each with its remedy.
    """
    _check(options)

    def register(function: Any) -> Any:
        declared[_import_path(function)] = _hand_written(function, function.__name__, options)
        return function

    return register if function is None else register(function)


@overload
def mcp_action(function: F, /) -> F: ...
@overload
def mcp_action(**options: Unpack[Options]) -> Callable[[F], F]: ...
def mcp_action(function: Any = None, /, **options: Unpack[Options]) -> Any:
    """Mark a method of an `@mcp_dispatcher` class as one of its actions. The options are those of
    `mcp_tool`.
    """
    _check(options)  # checked here, so that the traceback shows this line
    mark: Any = dispatchers.mcp_action(**options)
    return mark if function is None else mark(function)


@overload
def mcp_dispatcher(cls: C, /) -> C: ...
@overload
def mcp_dispatcher(**options: Unpack[Options]) -> Callable[[C], C]: ...
def mcp_dispatcher(cls: Any = None, /, **options: Unpack[Options]) -> Any:
    """Publish a class as one tool. The actions of the tool are the methods that are marked
    `@mcp_action`.

    Each action runs like a function with `@mcp_tool`. The annotations, permissions, authentication
    and throttles of the class apply to every action that does not set its own. Classes are found in
    each app's `mcp_tools.py`. One instance of the class answers every call.

    Raises:
        ContractError: with every mistake in the class, each with its remedy.
    """
    _check(options)

    def register(cls: type) -> type:
        description = options.get("description")
        if description is None:
            description = inspect.cleandoc(cls.__doc__ or "")
        dispatcher = Dispatcher(
            name=options.get("name") or dispatchers.name_of(cls),
            title=options.get("title"),
            description=description,
        )
        for tool in _actions(cls, dispatcher, options):
            declared[f"{_import_path(cls)}.{tool.action.name}"] = tool
        return cls

    return register if cls is None else register(cls)


def _actions(cls: type, dispatcher: Dispatcher, options: Options) -> list[HandWritten]:
    """Return one tool for each action of a class. Raises ContractError."""
    made: dict[str, HandWritten] = {}
    every = list(dispatchers.actions_in(cls))
    counts = Counter(action for action, _, _ in every)
    mistakes = [messages.same_action(name, count) for name, count in counts.items() if count > 1]
    inherited: dict[str, Any] = {
        "annotations": options.get("annotations"),
        **_view_attributes(options),
    }
    for action, method, given in every:
        named: dict[str, Any] = {"name": f"{dispatcher.name}__{action}"}
        # The options of an action come after those of its class, and replace them.
        own: Any = {**inherited, **given, **named}
        try:
            made[action] = _hand_written(method, action, own, dispatcher)
        except ContractError as error:
            mistakes += [f"{action}: {each}" for each in error.mistakes]
    if mistakes:
        raise ContractError(dispatcher.name, mistakes)
    return list(made.values())


def _import_path(found: Any) -> str:
    return f"{found.__module__}.{found.__qualname__}"


def _hand_written(
    function: Any, action_name: str, options: Options, dispatcher: Dispatcher | None = None
) -> HandWritten:
    """Return the tool that runs this function. Raises ContractError."""
    requests: dict[str, type] = {}

    def is_request(param: inspect.Parameter, hint: Any) -> bool:
        if isinstance(hint, type) and issubclass(hint, HttpRequest | Request):
            # `compile_function` calls this for every parameter. The types are kept because
            # `_running` needs them for each call.
            requests[param.name] = hint
        return param.name in requests

    contract = compile_function(
        function,
        name=options.get("name"),
        description=options.get("description"),
        injected=is_request,
    )
    # Without `__module__`, the class would seem to come from this file, in logs and in the names of
    # views.
    attributes = {**_view_attributes(options), "__module__": function.__module__}
    view: Any = type(f"{function.__name__}_view", (_View,), attributes)
    # An empty path marks a tool without a URL, for example in `mcp_doctor`.
    action = Action(
        callback=view.as_view(), method="POST", name=action_name, path="", regex="", base=""
    )
    takes_key = options.get("idempotency_key", False)
    annotations = options.get("annotations")
    if options.get("idempotent"):
        annotations = {**(annotations or {}), "idempotentHint": True}
    # Callers rely on a key that they send. So a tool that writes, but takes no key, refuses it.
    refuses_key = not takes_key and not (annotations or {}).get("readOnlyHint")
    return HandWritten(
        contract=contract,
        function=_running(function, contract.name, action, requests, refuses_key=refuses_key),
        action=action,
        title=options.get("title"),
        annotations=annotations,
        dispatcher=dispatcher,
        takes_key=takes_key,
    )


class _View(APIView):
    """A REST framework view that runs an author's function in place of a method."""

    def post(self, request: Any) -> Response:
        # REST framework's request wraps Django's, to which `_running` has attached the function.
        request._request.toolbooth_run(request)
        return Response()


def _running(
    function: Any,
    name: str,
    action: Action,
    requests: Mapping[str, type],
    *,
    refuses_key: bool,
) -> Callable[..., Any]:
    """Return the function, wrapped so that it runs inside a view for the current caller."""

    @functools.wraps(function)
    def run(*args: Any, **values: Any) -> Any:
        # A list, because None is a valid return value of a function.
        returned: list[Any] = []

        def inside(request: Any) -> None:
            for param, hint in requests.items():
                values[param] = request if issubclass(hint, Request) else request._request
            # The view around the function is synchronous, as all of REST framework's are.
            call = async_to_sync(function) if inspect.iscoroutinefunction(function) else function
            returned.append(call(*args, **values))

        who = caller()
        if refuses_key:
            refuse_key(name, who.own_meta)
        if who.login is not None and not who.may_run(action):
            raise ToolError(name, messages_of_calls.SEND_CREDENTIALS)
        request: Any = inner_request(who.request, "POST", who.request.path_info, run=True)
        vars(request)["toolbooth_run"] = inside
        if who.loans:
            who.starts(action, {}, request)
        # Django does this only for views that it finds by their URL, and this one has none.
        response: Any = _handler.make_view_atomic(action.callback)(request)
        who.last_run = (action, response, None)
        if not returned:  # the view has refused the caller
            value_of(response, name)
        return returned[0]

    return run
