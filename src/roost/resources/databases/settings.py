"""What an operator sets of managed databases for the whole deployment (docs/databases.md)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DatabaseZone:
    """The platform's own zone, in which databases have their names."""

    name: str
    """Without the final period."""
