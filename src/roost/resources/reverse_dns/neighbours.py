"""What the names of addresses are to the instances that have these."""

from roost.core.neighbours import Neighbour
from roost.jobs.queue import JobQueue
from roost.resources.reverse_dns import queries
from roost.resources.reverse_dns.jobs import NAMES, RESOURCE, ReverseArgs
from roost.resources.reverse_dns.rules import zone_of
from roost.resources.reverse_dns.settings import ReverseDns
from roost.services import Services
from roost.store import Queries


class NamesOfAddresses(Neighbour):
    async def moved(self, db: Queries, services: Services, compute_id: int, region: str) -> None:
        await self.left(db, services, compute_id)

    async def left(self, db: Queries, services: Services, compute_id: int) -> None:
        """Who has an address next finds its default name."""
        await queries.begin_change(db)
        pools, told = services.get(ReverseDns).pools, False
        for address in await queries.drop_names(db, compute_id):
            zone = zone_of(address, pools)
            if zone is not None:
                await queries.set_changed(db, zone)
                told = True
        if told:
            queue = services.get(JobQueue)
            await queue.enqueue(db, NAMES, ReverseArgs(), resource=RESOURCE)
