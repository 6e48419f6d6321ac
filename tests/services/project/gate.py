"""A place in a view where it waits for the test: see `Gate` in tests/services/service_server.py."""

import os
import socket

from rest_framework.exceptions import ValidationError


class Crashed(Exception):
    """The order that the test has given."""


def pass_gate(name: str) -> None:
    """Notifies the test that the view is here, and waits for its order."""
    address = ("127.0.0.1", int(os.environ["SERVICES_GATE"]))
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(name.encode() + b"\n")
        word = connection.makefile().readline().strip()
    if word == "refuse":
        raise ValidationError({"label": ["refused at the gate"]})
    if word != "pass":
        raise Crashed(word)
