"""What maintenance is to the instances that it is about."""

from roost.core.context import Context
from roost.core.events.log import Starter
from roost.core.instance_queries import InstanceFacts
from roost.core.neighbours import Neighbour
from roost.resources.compute.neighbours import InstanceMaintenance
from roost.resources.maintenance import jobs, queries
from roost.store import Queries


class PlannedMaintenance(InstanceMaintenance, Neighbour):
    async def ties(self, db: Queries, compute_id: int) -> list[str]:
        planned = await queries.is_planned(db, compute_id)
        return ["is to have maintenance"] if planned else []

    async def begin_migration(self, context: Context, instance: InstanceFacts) -> bool:
        row = await queries.lock_migration(context.db, instance.id)
        if row is not None:
            await jobs.start_run(Starter.of(context), row, instance)
        return row is not None
