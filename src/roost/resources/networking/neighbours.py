"""What shared addresses are to the instances that have them."""

from roost.core import instance_queries
from roost.core.addresses import range_queries, share_queries
from roost.core.catalog.entries import RegionEntry
from roost.core.neighbours import Neighbour
from roost.resources.compute.filter_service import bring
from roost.services import Services
from roost.store import Queries


class SharedAddresses(Neighbour):
    """Shared addresses: those of an instance that goes are nobody's before others get them."""

    async def ties(self, db: Queries, compute_id: int) -> list[str]:
        shared = await share_queries.shared_with(db, [compute_id])
        reasons = ["shares addresses with others"] if shared else []
        used = await range_queries.used_by(db, [compute_id])
        if used.own(compute_id) or used.shared(compute_id):
            reasons.append("has an IPv6 range")
        return reasons

    async def anchors(
        self, db: Queries, services: Services, compute_id: int, region: RegionEntry
    ) -> list[str]:
        return await self.ties(db, compute_id)

    async def settle(self, db: Queries, services: Services, compute_id: int) -> None:
        facts = await instance_queries.find(db, compute_id)
        if facts is None or facts.status != "deleting":
            return
        others = {
            *await share_queries.stop_sharing(db, compute_id),
            *await range_queries.stop_sharing(db, compute_id),
        }
        for other in sorted(others):
            found = await instance_queries.find(db, other)
            if found is not None and found.status != "deleting":
                await share_queries.has_left(db, await bring(db, services, found))
