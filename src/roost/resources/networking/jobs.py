"""Work on the addresses of instances: rows become what guests may send and get.

kind           done                             failed
address_apply  the guest has what the rows say  `roost fsck` and the watch bring it

A row says what is wanted, so there is nothing to undo. Until an engine has it, the guest may use
what it has lost, which nobody else gets meanwhile.
"""

from roost.core import instance_queries
from roost.core.addresses.share_queries import has_left
from roost.core.context import Context
from roost.core.entities.records import Entity
from roost.core.events import log
from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, next_step, writing
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.filter_service import bring
from roost.resources.compute.locks import InstanceArgs, on_instance
from roost.resources.reverse_dns.entity import IP_ADDRESS


async def apply(run: Run[InstanceArgs]) -> Verdict:
    """Bring the guest its addresses; what it has let go of is free then."""
    facts = await instance_queries.find(run.store, run.args.compute_id)
    if facts is None or facts.status == "deleting":
        return next_step()
    left = await bring(run.store, run.tools.services, facts)
    return next_step(writing(has_left, left))


APPLY = JobKind(
    "address_apply",
    InstanceArgs,
    resource=on_instance,
    steps=(Step("apply", apply),),
    retry=Retry(attempts=4),
)


async def start(
    by: Context | log.Starter, action: str, compute_id: int, label: str, address: str | None = None
) -> None:
    """Bring an instance its addresses as they are from now on; the event `action` tells when."""
    second: Entity | None = None if address is None else IP_ADDRESS.entity(None, address)
    entity = COMPUTE.entity(compute_id, label)
    await log.start(by, APPLY, InstanceArgs(compute_id=compute_id), entity, second, action=action)
