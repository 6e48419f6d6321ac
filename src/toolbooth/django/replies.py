"""What a view answered -> what the agent is told: a value, or problems in the names that it sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import orjson
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from toolbooth.django.caller import challenge
from toolbooth.errors import Problem, ToolError, ToolInputError

_MISSING = frozenset(("required",))
_WHOLE = frozenset(("non_field_errors", "detail", "__all__"))
_encoder = JSONEncoder()


def value_of(response: Any, tool: str) -> dict[str, Any]:
    """The result of a call: always an object. Raises what the agent is told instead."""
    if response.status_code >= 400:
        raise refusal(response, tool)
    if not isinstance(response, Response):  # a plain Django response: a page, a file, a redirect
        return _plain(response)
    data: Any = response.data
    if data is None:
        return {"status": response.status_code}
    made = as_json(data)
    if isinstance(made, dict):
        return cast("dict[str, Any]", made)
    return {"results" if isinstance(made, list) else "value": made}


def as_json(data: Any) -> Any:
    """What the view gave, as REST would have sent it."""
    options = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_NON_STR_KEYS
    return orjson.loads(orjson.dumps(data, default=_encoder.default, option=options))


def _plain(response: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"status": response.status_code}
    if response.get("Location"):
        made["location"] = response["Location"]
    if not response.streaming and response.content:
        made["text"] = response.content.decode(response.charset or "utf-8", errors="replace")
    return made


def refusal(response: Any, tool: str) -> Exception:
    """What a view refused, in the boundary's own form."""
    status: int = response.status_code
    if status == 401:
        challenge(response.get("WWW-Authenticate", ""))
    data: Any = getattr(response, "data", None)
    if status in (400, 422) and (problems := list(problems_in(data))):
        return ToolInputError(problems, tool=tool)
    return ToolError(tool, _words(data) or f"the API answered {status}", {"status": status})


def problems_in(data: Any, path: str = "$") -> Iterator[Problem]:
    """Every problem that REST framework names, at the place that was sent."""
    if isinstance(data, Mapping):
        for key, each in cast("Mapping[Any, Any]", data).items():
            here = path if key in _WHOLE else f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}"
            yield from problems_in(each, here)
    elif isinstance(data, list | tuple):
        for index, each in enumerate(cast("list[Any]", data)):
            nested = isinstance(each, Mapping | list)
            yield from problems_in(each, f"{path}[{index}]" if nested else path)
    elif data is not None:
        code = "missing" if getattr(data, "code", None) in _MISSING else "invalid"
        yield Problem(code=code, path=path, message=str(data))


def _words(data: Any) -> str:
    return "; ".join(problem.message for problem in problems_in(data))
