"""Every tool of the hostile corpus, for `toolbooth serve servers.hostile:registry`.

A tool is named by the place of its contract among those of the corpus.
"""

from __future__ import annotations

from dataclasses import replace

from hostile_cases import Hostile, corpus

from toolbooth import Contract, ToolRegistry


def bodies() -> list[tuple[str, Hostile]]:
    """Each body with the name of its tool."""
    names: dict[int, str] = {}
    found: list[tuple[str, Hostile]] = []
    for each in corpus():
        name = names.setdefault(id(each.contract), f"tool_{len(names)}")
        found.append((name, each))
    return found


def _registry() -> ToolRegistry:
    registry = ToolRegistry("hostile")
    contracts: dict[str, Contract] = {name: each.contract for name, each in bodies()}
    for name, contract in contracts.items():
        registry.add(replace(contract, name=name), contract.function)
    return registry


registry = _registry()
