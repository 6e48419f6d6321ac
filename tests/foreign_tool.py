"""A tool with a foreign schema, called with bytes."""

from typing import Any

from toolbooth import compile_json_schema, handle_bytes


class ForeignTool:
    """Notes what it receives."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.received: list[Any] = []
        self.contract = compile_json_schema(schema, self.received.append, name="foreign")

    def outcome(self, body: bytes) -> Any:
        """What the tool received, with the repairs; or the problems."""
        result = handle_bytes(self.contract, body)
        meta = result.get("_meta", {}).get("toolbooth", {})
        if result["isError"]:
            return [(each["code"], each["path"], each["message"]) for each in meta["problems"]]
        repairs = [(each["code"], each["path"]) for each in meta.get("repairs", [])]
        return self.received.pop(), repairs


def outcome(schema: dict[str, Any], body: bytes) -> Any:
    """The outcome of one call."""
    return ForeignTool(schema).outcome(body)


def codes(schema: dict[str, Any], body: bytes) -> Any:
    """The problems without their sentences."""
    return [(code, path) for code, path, _ in outcome(schema, body)]


def of(schema: Any, **more: Any) -> dict[str, Any]:
    """The schema of a tool with one property `p`."""
    return {"type": "object", "properties": {"p": schema}, **more}
