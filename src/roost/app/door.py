"""Sockets at which requests come in."""

import socket
from dataclasses import dataclass

from roost.dialect.table import Dialect


@dataclass(frozen=True, slots=True)
class Door:
    """Where requests come in, and in which words."""

    listening: socket.socket
    dialect: Dialect | None = None
    """None for the API of the specification."""
