"""Reads one line of the upstream server."""

from __future__ import annotations

import logging

from toolbooth.jsonvalue import shorten
from toolbooth.proxy import message as wire
from toolbooth.proxy import messages
from toolbooth.proxy.message import Message, NotAMessage

logger = logging.getLogger("toolbooth.proxy")


def read_server_line(line: bytes) -> Message | None:
    """Return the message in a line. Log a line that is no message, and return None."""
    try:
        return wire.read(line)
    except NotAMessage:
        logger.warning(messages.NOT_A_MESSAGE, shorten(repr(line[:200]), 120))
        return None
