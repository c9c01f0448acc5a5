"""`roost fsck` of payments: what was accepted is what accounts owe less."""

from collections.abc import AsyncIterator

from roost.core.fsck import Finding, Installation, unrepairable
from roost.jobs.queue import JobQueue
from roost.resources.payments import queries
from roost.resources.payments.jobs import resource_of


async def check_payments(installation: Installation) -> AsyncIterator[Finding]:
    """Payments of which the balance of their account says something else, and pending ones that no
    job carries out."""
    for payment_id in await queries.unbooked(installation.store):
        yield unrepairable(
            f"payment {payment_id} is not what the balance of its account says",
            "Somebody has to look what was changed by hand.",
        )
    queue = installation.get(JobQueue)
    for payment in await queries.all_pending(installation.store):
        if not await queue.busy(installation.store, resource_of(payment.account_id)):
            yield unrepairable(
                f"nobody knows whether payment {payment.id} was charged",
                "Look at the gateway, then `roost payment settle`.",
            )
