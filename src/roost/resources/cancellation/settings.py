"""What an operator sets for accounts that are canceled."""

from dataclasses import dataclass
from datetime import timedelta

from roost.settings import Settings


@dataclass(frozen=True, slots=True)
class Cancellation:
    survey_link: str
    """Empty: none."""
    kept: timedelta
    """How long users and contact data stay."""

    @classmethod
    def of(cls, settings: Settings) -> "Cancellation":
        return cls(settings.cancel_survey, timedelta(days=settings.canceled_days))
