"""Stores the guards of a toolset's tools, because the framework lists the tools many times."""

from __future__ import annotations

from toolbooth.adapters.agent_tools.guard import Guard, guard_schema
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.jsonvalue import Json


class SchemaGuards:
    """Compiles the guard of each tool once. Compiles it again if the schema of the tool changes, or
    if the tool now needs an approval.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._kept: dict[str, tuple[Json, Guard]] = {}

    def guard(
        self, name: str, schema: Json, *, approval: bool = False, keywords: bool = False
    ) -> Guard:
        """Return the guard of a tool. `approval` is true if the toolset asks for an approval before
        it calls this tool.

        Raises:
            ContractError: the schema is invalid, or its root does not describe an object.
        """
        options = self.options.asked(approval)
        kept = self._kept.get(name)
        if kept is None or kept[0] != schema or kept[1].options != options:
            guard = guard_schema(schema, options, name=name, keywords=keywords)
            kept = self._kept[name] = schema, guard
        return kept[1]
