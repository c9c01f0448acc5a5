"""Work on firewalls: rows become what engines filter by.

kind            done                            failed
firewall_apply  engines have what the row says  the watch brings it to them every minute

A row says what is wanted, so there is nothing to undo: until an engine has it, the former rules
are in force there.
"""

from roost.core.context import Context
from roost.core.entities.records import Entity
from roost.core.events import log
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, next_step, writing
from roost.resources.firewalls import queries
from roost.resources.firewalls.apply_service import put_in_force
from roost.resources.firewalls.locks import resource_of
from roost.resources.firewalls.queries import FIREWALL


class FirewallArgs(JobArgs):
    """Which firewall."""

    firewall_id: int


def _on_firewall(args: FirewallArgs) -> str:
    return resource_of(args.firewall_id)


async def apply(run: Run[FirewallArgs]) -> Verdict:
    """Bring a firewall to all engines; one that is deleted is forgotten then."""
    await put_in_force(run.store, run.tools.services, run.args.firewall_id)
    return next_step(writing(queries.forget, run.args.firewall_id))


APPLY = JobKind(
    "firewall_apply",
    FirewallArgs,
    resource=_on_firewall,
    steps=(Step("apply", apply),),
    retry=Retry(attempts=4),
)


async def start(
    by: Context | log.Starter,
    action: str,
    firewall_id: int,
    label: str,
    secondary: Entity | None = None,
) -> None:
    """Bring a firewall as it is from now on to its engines; the event `action` tells when."""
    args, entity = FirewallArgs(firewall_id=firewall_id), FIREWALL.entity(firewall_id, label)
    await log.start(by, APPLY, args, entity, secondary, action=action)
