"""What an operator sets for accounts that do not pay."""

from dataclasses import dataclass
from datetime import timedelta

from roost.settings import Settings

WARNED_BEFORE = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Grace:
    """How long an account may be past due; None: for ever."""

    time: timedelta | None

    @classmethod
    def of(cls, settings: Settings) -> "Grace":
        days = settings.suspend_days
        return cls(None if days is None else timedelta(days=days))
