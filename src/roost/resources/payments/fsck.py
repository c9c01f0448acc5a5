"""`roost fsck` of payments: what was accepted is what accounts owe less."""

from collections.abc import AsyncIterator

from roost.core.fsck import Finding, Installation, unrepairable
from roost.resources.payments import queries


async def check_payments(installation: Installation) -> AsyncIterator[Finding]:
    """Payments that the balance of their account does not know of, or knows of wrongly."""
    for payment_id in await queries.unbooked(installation.store):
        yield unrepairable(
            f"payment {payment_id} is not what the balance of its account says",
            "Somebody has to look what was changed by hand.",
        )
