"""Work on firewalls: rows become what engines filter by.

kind                    done                            failed
firewall_apply          engines have what the row says  the watch brings it to them every minute
firewall_apply_on_host  so do those of another host     the same

A row says what is wanted, so there is nothing to undo: until an engine has it, the former rules
are in force there.
"""

from roost.core.context import Context
from roost.core.entities.records import Entity
from roost.core.events import log
from roost.core.hosts import queries as hosts
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.run import Run
from roost.jobs.turns import TurnArgs, in_turn
from roost.jobs.verdicts import Verdict, next_step, writing
from roost.resources.firewalls import queries
from roost.resources.firewalls.apply_service import put_in_force
from roost.resources.firewalls.locks import resource_of
from roost.resources.firewalls.queries import FIREWALL


class FirewallArgs(TurnArgs):
    """Which firewall, and whether it is this job that forgets it, as the deletion has begun it."""

    firewall_id: int
    forgets: bool = False


def _on_firewall(args: FirewallArgs) -> str:
    return resource_of(args.firewall_id)


class HostArgs(JobArgs):
    """Which firewall, on which host."""

    firewall_id: int
    host: str


def _on_host(args: HostArgs) -> str:
    return f"{resource_of(args.firewall_id)}@{args.host}"


async def apply_on_host(run: Run[HostArgs]) -> Verdict:
    """Bring a firewall to the engines of another host."""
    await put_in_force(run.store, run.tools.services, run.args.firewall_id)
    return next_step()


APPLY_ON_HOST = JobKind(
    "firewall_apply_on_host",
    HostArgs,
    resource=_on_host,
    steps=(Step("apply", apply_on_host),),
    retry=Retry(attempts=4),
)


async def apply(run: Run[FirewallArgs]) -> Verdict:
    """Bring a firewall to this host's engines after all others; one that is deleted is forgotten
    then, but not by a job of before: what that one brought was still in force."""
    await put_in_force(run.store, run.tools.services, run.args.firewall_id)
    return next_step(writing(queries.forget, run.args.firewall_id) if run.args.forgets else None)


APPLY = JobKind(
    "firewall_apply",
    FirewallArgs,
    resource=_on_firewall,
    steps=(Step("apply", in_turn(apply)),),
    retry=Retry(attempts=4),
)


async def start(
    by: Context | log.Starter,
    action: str,
    firewall_id: int,
    label: str,
    secondary: Entity | None = None,
) -> None:
    """Bring a firewall as it is from now on to its engines; the event `action` tells when.

    A host that is dead gets it by its watch, when it lives again.
    """
    after, starter = list[int](), log.Starter.of(by)
    for host in await hosts.alive_beside_main(starter.db):
        there = HostArgs(firewall_id=firewall_id, host=host)
        job = await starter.queue.enqueue(
            starter.db, APPLY_ON_HOST, there, account_id=starter.account_id, host=host
        )
        after.append(job.id)
    args, entity = (
        FirewallArgs(
            firewall_id=firewall_id, after=tuple(after), forgets=action == "firewall_delete"
        ),
        FIREWALL.entity(firewall_id, label),
    )
    await log.start(by, APPLY, args, entity, secondary, action=action)
