"""The causes of findings: why tools are left out, and why drf-spectacular complains. Many findings
may have the same cause.
"""

from __future__ import annotations

from toolbooth.django.describe import messages as reasons
from toolbooth.django.management.doctor import messages
from toolbooth.django.management.doctor.findings import Cause, Level

Known = tuple[tuple[str, ...], Level, Cause]
"""A known cause: phrases, the level, and the cause. A sentence that contains one of the phrases has
this cause.
"""

# A note is about tools that are left out on purpose, a warning about tools that agents may miss.
_LEFT_OUT: tuple[Known, ...] = (
    (
        (reasons.TAKES_A_FILE,),
        "note",
        Cause("files", messages.TAKE_FILES, messages.SEND_FILES_OVER_REST),
    ),
    (
        (reasons.ONLY_HTML,),
        "note",
        Cause("html-views", messages.RENDER_ONLY_HTML, ""),
    ),
    (
        reasons.CHOSEN_BY_AUTHOR,
        "note",
        Cause("left-out-by-author", messages.CHOSEN_BY_AUTHOR, ""),
    ),
    (
        (reasons.LEFT_OUT_BY_HOOK,),
        "note",
        Cause("left-out-by-hook", messages.LEFT_OUT_BY_HOOK, messages.LOOK_AT_HOOKS),
    ),
    (
        (reasons.ONLY_PARTIAL_UPDATES,),
        "note",
        Cause("full-updates", messages.ONLY_PARTIAL_UPDATES, ""),
    ),
    (
        (reasons.LOGIN_VIEW,),
        "note",
        Cause("login-views", messages.LOGIN_VIEWS, ""),
    ),
    (
        (reasons.HAS_NO_SERIALIZER, reasons.FINDING_SERIALIZER_FAILED, reasons.BODY_WITHOUT_FIELDS),
        "warning",
        Cause("unknown-body", messages.UNKNOWN_BODIES, messages.GIVE_A_SERIALIZER),
    ),
    (
        (reasons.TAKES_JSON_API,),
        "warning",
        Cause("json-api", messages.TAKE_JSON_API, messages.DESCRIBE_JSON_API),
    ),
    (
        (reasons.DESCRIBING_FAILED,),
        "warning",
        Cause("not-described", messages.DESCRIBING_FAILED, messages.CORRECT_WHAT_RAISES),
    ),
)

OTHER_REASON = Cause("left-out", messages.LEFT_OUT_FOR_OTHER_REASONS, messages.ALL_REASONS)

_COMPLAINTS: tuple[Known, ...] = (
    (
        ("getting serializer", "obtain model through view", reasons.FROM_CLASS),
        "warning",
        Cause("needs-request", messages.NEED_A_REQUEST, messages.SET_DESCRIBE),
    ),
    (
        (
            "path parameter",
            "filter",
            "resolve serializer field",
            "field on model",
            "type hint",
            reasons.ANY_VALUE,
        ),
        "note",
        Cause("untyped", messages.UNTYPED, ""),
    ),
)
"""The causes of complaints. The phrases are from the sentences of drf-spectacular, and from our own
sentences that are reported with them.
"""

_ABOUT_ANSWERS = ("guess serializer",)
"""Phrases of complaints about views without a serializer. They concern the response schemas, which
the gateway does not need. Request bodies that are not declared are found elsewhere.
"""

OTHER_COMPLAINT = Cause("complaints", messages.COMPLAINTS, messages.DESCRIBE_WITH_EXTEND_SCHEMA)


def cause_of_left_out(why: str) -> tuple[Level, Cause]:
    """Return the level and the cause of a finding about a tool or a field that is not published.
    `why` is the sentence with the reason.
    """
    return _known(_LEFT_OUT, why) or ("warning", OTHER_REASON)


def cause_of_complaint(why: str) -> tuple[Level, Cause] | None:
    """Return the level and the cause of a finding about a complaint by drf-spectacular. Return None
    if the complaint is not about the input of a tool.
    """
    if any(each in why for each in _ABOUT_ANSWERS):
        return None
    return _known(_COMPLAINTS, why) or ("note", OTHER_COMPLAINT)


def _known(table: tuple[Known, ...], why: str) -> tuple[Level, Cause] | None:
    # The phrases are compared, because the complaints of drf-spectacular have no codes.
    for words, level, cause in table:
        if any(each in why for each in words):
            return level, cause
    return None
