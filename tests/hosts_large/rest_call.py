"""What is sent over REST. Apart from twins.py, so that a host's own files can import it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RestCall:
    """What is sent over REST."""

    method: str
    path: str
    body: Any = None
    content_type: str = "application/json"
