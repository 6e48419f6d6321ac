"""A tool with a foreign schema, called with bytes."""

from typing import Any

from toolbooth import compile_json_schema, handle_bytes


class ForeignTool:
    """Records the arguments it receives."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.received: list[Any] = []
        self.contract = compile_json_schema(schema, self.received.append, name="foreign")

    def outcome(self, body: bytes) -> Any:
        """Return the arguments that the tool received, with the repairs, or the problems."""
        result = handle_bytes(self.contract, body)
        meta = result.get("_meta", {}).get("toolbooth", {})
        if result["isError"]:
            return [(each["code"], each["path"], each["message"]) for each in meta["problems"]]
        repairs = [(each["code"], each["path"]) for each in meta.get("repairs", [])]
        return self.received.pop(), repairs


def outcome(schema: dict[str, Any], body: bytes) -> Any:
    """Return the outcome of one call."""
    return ForeignTool(schema).outcome(body)


def codes(schema: dict[str, Any], body: bytes) -> Any:
    """Return the problems without their messages."""
    return [(code, path) for code, path, _ in outcome(schema, body)]


def of(schema: Any, **more: Any) -> dict[str, Any]:
    """Return the schema of a tool with one property `p`."""
    return {"type": "object", "properties": {"p": schema}, **more}
