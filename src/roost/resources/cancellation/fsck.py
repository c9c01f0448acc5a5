"""`roost fsck` of canceled accounts: what they had has ended, or a job ends it."""

from collections.abc import AsyncIterator

from roost.core.fsck import Finding, Installation
from roost.jobs.queue import JobQueue
from roost.resources.cancellation import service


async def check_canceled(installation: Installation) -> AsyncIterator[Finding]:
    """Canceled accounts that have something, and no job that ends it."""

    def finding(account_id: int, held: list[str]) -> Finding:
        async def repair() -> str:
            await service.start(installation.store, installation.get(JobQueue), account_id)
            return "a job ends it"

        has = f"has {', '.join(held)}" if held else "was not closed"
        return Finding(
            f"account {account_id} is canceled, but {has}, and no job works on it", repair
        )

    for account_id, held in (
        await service.unended(installation.store, installation.services)
    ).items():
        yield finding(account_id, held)
