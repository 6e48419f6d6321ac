"""Accepts a call only if it needs no repair, for tools whose calls somebody approves as they were
sent. A call that needs one is refused, with the call to send instead.
"""

from __future__ import annotations

from collections.abc import Collection

from toolbooth.boundary import messages
from toolbooth.boundary.accept import Accepted, accept_reading, examined
from toolbooth.boundary.read import Reading, Unreadable, read_json
from toolbooth.boundary.refusals import holds_secret
from toolbooth.boundary.repairs import Repair
from toolbooth.boundary.trial import as_published
from toolbooth.contract import Contract
from toolbooth.errors import Problem, ToolInputError


def accept_unrepaired(
    contract: Contract,
    body: bytes,
    *,
    from_floats: bool = False,
    passing: Collection[str] = (),
) -> Accepted:
    """`accept_bytes` for a call that has been approved, or will be. Repairs with a code in
    `passing` are made nevertheless. Raises ToolInputError.
    """
    try:
        exact = contract.has_decimals
        reading = read_json(body or b"{}", contract.limits, exact=exact, from_floats=from_floats)
    except Unreadable as error:
        raise ToolInputError([error.problem], tool=contract.name) from None
    values, remarks = accept_reading(contract, reading)
    repairs = [each for each in remarks if isinstance(each, Repair) and each.code not in passing]
    if repairs:
        raise _refusal(contract, reading, repairs)
    return values, remarks


def _refusal(contract: Contract, reading: Reading, repairs: list[Repair]) -> ToolInputError:
    corrected = as_published(contract.shape, examined(contract, reading))
    problems = [
        Problem(code="needs-repair", path=each.path, message=messages.NEEDS_REPAIR[each.code])
        for each in repairs
    ]
    shown = not holds_secret(contract.shape, corrected)
    return ToolInputError(problems, tool=contract.name, corrected=corrected if shown else None)
