"""Times in bodies; records show them in UTC, without an offset."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator

from roost.web.fields import Pattern, ShortText, refuse

_PATTERN = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_REASON = "Must be a date-time such as 2030-12-31T23:59:59, in UTC"


def _real(text: str) -> str:
    """As records show it: in UTC, without zone and fractions; a date is its midnight."""
    try:
        time = datetime.fromisoformat(text)
        utc = time if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise refuse(_REASON) from None
    return utc.replace(tzinfo=None, microsecond=0).isoformat()


Time = Annotated[ShortText, Pattern(_PATTERN, _REASON), AfterValidator(_real)]
