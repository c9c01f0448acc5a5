"""What an operator sets of managed databases for the whole deployment (docs/databases.md)."""

from dataclasses import dataclass
from datetime import timedelta

from roost.settings import Settings

_EVERY = {"off": None, "daily": timedelta(days=1), "weekly": timedelta(weeks=1)}


@dataclass(frozen=True, slots=True)
class DatabaseZone:
    """The platform's own zone, in which databases have their names."""

    name: str
    """Without the final period."""

    @classmethod
    def of(cls, settings: Settings) -> "DatabaseZone":
        return cls(settings.databases_domain)


@dataclass(frozen=True, slots=True)
class Verification:
    """How often each backup is restored to see that it can be; None: never."""

    every: timedelta | None

    @classmethod
    def of(cls, settings: Settings) -> "Verification":
        return cls(_EVERY[settings.databases_verify])
