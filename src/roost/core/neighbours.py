"""What hangs on an instance: groups that compute knows nothing of say here what it means to them.

Every method but `settle`, `carry`, `convey` and `expect` is called in the transaction of the
change, which holds the instance's row. What a group does not say means nothing to it.
"""

from collections.abc import Sequence

from roost.core.catalog.entries import RegionEntry
from roost.jobs.queue import JobQueue
from roost.services import Services
from roost.store import Queries


class Neighbour:
    """One group's part."""

    async def resources(self, db: Queries, compute_id: int) -> list[str]:
        """Under which names jobs work on what hangs on the instance."""
        return []

    async def objection(self, db: Queries, compute_id: int, memory: int) -> str | None:
        """Why the instance cannot have a plan with so many MB of memory."""
        return None

    async def ties(self, db: Queries, compute_id: int) -> list[str]:
        """Why the instance cannot go to another account, as what follows its name."""
        return []

    async def anchors(
        self, db: Queries, services: Services, compute_id: int, region: RegionEntry
    ) -> list[str]:
        """Why the instance cannot go to another region, as what follows its name."""
        return []

    async def carry(
        self, db: Queries, services: Services, compute_id: int, source: str, target: str
    ) -> None:
        """Bring what data planes hold for the instance from one region to another.

        While no transaction is open; what is there already stays. Raises EngineError.
        """

    async def convey(self, db: Queries, services: Services, compute_id: int, address: str) -> None:
        """Send what data planes hold for the instance to the host at `address`; it stays here too.

        While no transaction is open. Raises EngineError.
        """

    async def expect(self, db: Queries, services: Services, compute_id: int) -> None:
        """Make ready on this host what the guest fills that comes while it runs.

        While no transaction is open. Raises EngineError.
        """

    async def rehosted(self, db: Queries, services: Services, compute_id: int, host: str) -> None:
        """The instance is on another host of the region when the transaction ends."""

    async def clear(
        self, db: Queries, services: Services, compute_id: int, host: str, left: str
    ) -> None:
        """Have a host drop what it holds for the instance, which is on another one when the
        transaction ends: jobs of the resource `left`, where one drops the guest before them."""

    async def moved(self, db: Queries, services: Services, compute_id: int, region: str) -> None:
        """The instance is in another region when the transaction ends; its addresses are still
        those that it had before."""

    async def settle(self, db: Queries, services: Services, compute_id: int) -> None:
        """Bring what data planes hold for the instance in line with its rows.

        While no transaction is open: before its guest starts, after its addresses have changed,
        and when it is being deleted, before others get its addresses. Raises EngineError.
        """

    async def went_off(self, db: Queries, services: Services, compute_id: int) -> None:
        """The instance's guest is off."""

    async def left(self, db: Queries, services: Services, compute_id: int) -> None:
        """The instance is gone when the transaction ends; its addresses are still its own."""


class Neighbours(Neighbour):
    """All of them."""

    def __init__(self, neighbours: Sequence[Neighbour]) -> None:
        self._all = neighbours

    async def resources(self, db: Queries, compute_id: int) -> list[str]:
        return [name for each in self._all for name in await each.resources(db, compute_id)]

    async def busy(self, db: Queries, queue: JobQueue, compute_id: int) -> bool:
        """Whether a job works on what hangs on the instance: its power stays as it is."""
        names = await self.resources(db, compute_id)
        return bool(names) and await queue.busy(db, *names)

    async def objection(self, db: Queries, compute_id: int, memory: int) -> str | None:
        for each in self._all:
            reason = await each.objection(db, compute_id, memory)
            if reason is not None:
                return reason
        return None

    async def ties(self, db: Queries, compute_id: int) -> list[str]:
        return [reason for each in self._all for reason in await each.ties(db, compute_id)]

    async def anchors(
        self, db: Queries, services: Services, compute_id: int, region: RegionEntry
    ) -> list[str]:
        found = [await each.anchors(db, services, compute_id, region) for each in self._all]
        return [reason for reasons in found for reason in reasons]

    async def carry(
        self, db: Queries, services: Services, compute_id: int, source: str, target: str
    ) -> None:
        for each in self._all:
            await each.carry(db, services, compute_id, source, target)

    async def convey(self, db: Queries, services: Services, compute_id: int, address: str) -> None:
        for each in self._all:
            await each.convey(db, services, compute_id, address)

    async def expect(self, db: Queries, services: Services, compute_id: int) -> None:
        for each in self._all:
            await each.expect(db, services, compute_id)

    async def rehosted(self, db: Queries, services: Services, compute_id: int, host: str) -> None:
        for each in self._all:
            await each.rehosted(db, services, compute_id, host)

    async def clear(
        self, db: Queries, services: Services, compute_id: int, host: str, left: str
    ) -> None:
        for each in self._all:
            await each.clear(db, services, compute_id, host, left)

    async def moved(self, db: Queries, services: Services, compute_id: int, region: str) -> None:
        for each in self._all:
            await each.moved(db, services, compute_id, region)

    async def settle(self, db: Queries, services: Services, compute_id: int) -> None:
        for each in self._all:
            await each.settle(db, services, compute_id)

    async def went_off(self, db: Queries, services: Services, compute_id: int) -> None:
        for each in self._all:
            await each.went_off(db, services, compute_id)

    async def left(self, db: Queries, services: Services, compute_id: int) -> None:
        for each in self._all:
            await each.left(db, services, compute_id)
