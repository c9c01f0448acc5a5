"""What maintenance is to the instances that it is about."""

from roost.core.neighbours import Neighbour
from roost.resources.maintenance import queries
from roost.store import Queries


class PlannedMaintenance(Neighbour):
    async def ties(self, db: Queries, compute_id: int) -> list[str]:
        planned = await queries.is_planned(db, compute_id)
        return ["is to have maintenance"] if planned else []
