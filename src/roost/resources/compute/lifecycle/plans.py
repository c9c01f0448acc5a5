"""What a plan gives an instance."""

from pydantic import BaseModel, ConfigDict

from roost.core.catalog import Catalog
from roost.core.catalog.entries import PlanEntry
from roost.core.context import Context
from roost.core.neighbours import Neighbours
from roost.errors import invalid
from roost.resources.compute.queries import InstanceFacts


class Specs(BaseModel):
    """disk and memory in MB, transfer in GB a month."""

    model_config = ConfigDict(frozen=True)

    type: str
    disk: int
    memory: int
    vcpus: int
    gpus: int
    transfer: int

    @classmethod
    def of(cls, plan: PlanEntry) -> "Specs":
        return cls(
            type=plan.id,
            disk=plan.disk,
            memory=plan.memory,
            vcpus=plan.vcpus,
            gpus=plan.gpus,
            transfer=plan.transfer,
        )


async def check_plan(context: Context, instance: InstanceFacts, type_id: str) -> Specs:
    """What the instance is going to have; 400 where the region or a neighbour forbids it."""
    catalog = context.get(Catalog)
    if not catalog.offers(instance.region, type_id):
        raise invalid("The region has no capacity for this plan type", "type")
    specs = Specs.of(catalog.type(type_id))
    if specs.memory < instance.memory:
        neighbours = context.get(Neighbours)
        reason = await neighbours.objection(context.db, instance.id, specs.memory)
        if reason is not None:
            raise invalid(reason)
    return specs
