"""`roost fsck` of invoices: each computed again from the ledger."""

from collections.abc import AsyncIterator

from roost.core.fsck import Finding, Installation, unrepairable
from roost.resources.billing import service


async def check_invoices(installation: Installation) -> AsyncIterator[Finding]:
    """Invoices and balances that are not what the ledger comes to."""
    async for text in service.differences(installation.store):
        yield unrepairable(text, "Somebody has to look what was changed by hand.")
