"""What holds of private images."""

import re
from datetime import datetime, timedelta

KEPT_AFTER = timedelta(hours=12)
"""For so long an instance must have been there for its disk to be kept when it is deleted."""
MOST_KEPT = 25
"""Images of deleted instances that an account has at most."""

_PRIVATE = re.compile(r"private/([1-9][0-9]{0,17})")


def number_of(image_id: str) -> int | None:
    """The number in the id of a private image (spec A image private); None for all else."""
    found = _PRIVATE.fullmatch(image_id)
    return int(found[1]) if found else None


def kept_until(created: datetime, deleted: datetime, days: int) -> datetime | None:
    """When the image expires that is kept of an instance; None when none is kept.

    What is made and deleted again within a day, as by tests, leaves nothing.
    """
    if days == 0 or deleted - created < KEPT_AFTER:
        return None
    return deleted + timedelta(days=days)
