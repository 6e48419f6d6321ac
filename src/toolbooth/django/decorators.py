"""What authors write: `@mcp_ignore` on what is not to be published, `@mcp_tool` on tools of their own making."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast, overload

from asgiref.sync import async_to_sync
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from toolbooth.contract import Contract
from toolbooth.django.caller import caller
from toolbooth.django.discovery import IGNORED, Action
from toolbooth.django.replies import value_of
from toolbooth.django.requests import inner_request
from toolbooth.sources.signature import compile_function

F = TypeVar("F", bound=Callable[..., Any])
V = TypeVar("V")

_handler = BaseHandler()


def mcp_ignore(view: V) -> V:
    """Do not publish a view, or one action of a view set."""
    setattr(view, IGNORED, True)
    return view


@dataclass(frozen=True, slots=True, kw_only=True)
class HandWritten:
    """A tool that an author wrote as a function."""

    contract: Contract
    function: Callable[..., Any]
    action: Action
    title: str | None
    annotations: Mapping[str, Any] | None


declared: dict[str, HandWritten] = {}
"""Every hand-written tool that was imported, by its function: a module that is imported anew replaces its own."""


@overload
def mcp_tool(function: F, /) -> F: ...
@overload
def mcp_tool(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    annotations: Mapping[str, Any] | None = None,
    permission_classes: Sequence[Any] | None = None,
    authentication_classes: Sequence[Any] | None = None,
    throttle_classes: Sequence[Any] | None = None,
) -> Callable[[F], F]: ...
def mcp_tool(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    annotations: Mapping[str, Any] | None = None,
    **classes: Sequence[Any] | None,
) -> Any:
    """Publish a function; a parameter annotated `Request` or `HttpRequest` gets the caller's request.

    It runs as a view of REST framework does: authentication, permissions and throttles are the project's own unless
    given here, and with ATOMIC_REQUESTS a failure is rolled back. Functions are found in each app's `mcp_tools.py`.

    Raises:
        ContractError: with every mistake in the signature, each with its remedy.
    """

    def register(found: Any) -> Any:
        asked: dict[str, type] = {}

        def is_request(param: inspect.Parameter, hint: Any) -> bool:
            if isinstance(hint, type) and issubclass(hint, HttpRequest | Request):
                asked[param.name] = hint
            return param.name in asked

        contract = compile_function(found, name=name, description=description, injected=is_request)
        attributes = {key: list(each) for key, each in classes.items() if each is not None}
        view = type(f"{found.__name__}_view", (_View,), attributes)
        action = Action(
            callback=cast("Any", view).as_view(), method="POST", name=found.__name__, path="/", regex="", base=""
        )
        declared[f"{found.__module__}.{found.__qualname__}"] = HandWritten(
            contract=contract,
            function=_running(found, contract.name, action, asked),
            action=action,
            title=title,
            annotations=annotations,
        )
        return found

    return register if function is None else register(function)


class _View(APIView):
    """Runs a function where REST framework runs a view's method."""

    def post(self, request: Any) -> Response:
        request._request.toolbooth_run(request)
        return Response()


def _running(function: Any, name: str, action: Action, asked: Mapping[str, type]) -> Callable[..., Any]:
    """The function, run for the caller that is being answered."""

    @functools.wraps(function)
    def run(*args: Any, **values: Any) -> Any:
        returned: list[Any] = []

        def inside(request: Any) -> None:
            for param, hint in asked.items():
                values[param] = request if issubclass(hint, Request) else request._request
            call = async_to_sync(function) if inspect.iscoroutinefunction(function) else function
            returned.append(call(*args, **values))

        who = caller()
        request: Any = inner_request(who.request, "POST", who.request.path_info, run=True)
        vars(request)["toolbooth_run"] = inside
        who.introduce(request, action)
        response: Any = _handler.make_view_atomic(action.callback)(request)
        if not returned:  # not let in
            value_of(response, name)
        return returned[0]

    return run
