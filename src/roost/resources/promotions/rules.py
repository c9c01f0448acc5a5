"""The rules of promo codes as pure functions."""

import re
from datetime import datetime, timedelta

from roost.core.billing.promotions import ALL
from roost.resources.promotions.queries import PromoCode

NEW = timedelta(days=90)
"""Older accounts redeem no codes (reference: operations)."""

SERVICE_TYPES = (
    *(ALL, "backup", "blockstorage", "db_mysql", "ip_v4", "compute", "compute_disk"),
    *("compute_memory", "longview", "managed", "nodebalancer", "objectstorage", "transfer_tx"),
)
"""What promotions may pay for (reference: Promotion)."""

CODE = re.compile(r"[A-Z0-9_-]{1,32}", re.ASCII)

NOT_VALID = "This promo code is not valid"
TOO_OLD = "Only accounts younger than 90 days can redeem promo codes"
TAKEN = "This promo code has been redeemed already"


def usable(code: PromoCode | None, now: datetime) -> bool:
    """Whether anybody may redeem it."""
    if code is None:
        return False
    return (code.ends is None or now < code.ends) and code.uses_left != 0


def expiry(code: PromoCode, now: datetime) -> datetime | None:
    """When a promotion ends that begins now; None: never."""
    return None if code.days is None else now + timedelta(days=code.days)
