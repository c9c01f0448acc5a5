"""What a host still has of an instance that is on another one, or gone.

kind           while it runs    done
compute_clear  (no status)      nothing is left of the instance on a host that it is not on
"""

from roost.core import instance_queries
from roost.core.instance_queries import InstanceFacts
from roost.core.neighbours import Neighbours
from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.compute import queries
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.locks import resource_of
from roost.services import Services
from roost.store import Queries


class ClearArgs(JobArgs):
    """What a host still has of an instance."""

    compute_id: int
    region: str
    host: str
    backups: tuple[int, ...]


def left_on(compute_id: int, host: str) -> str:
    """The resource of what a host is to drop; the instance may not come there meanwhile."""
    return f"left:{resource_of(compute_id)}@{host}"


def _left(args: ClearArgs) -> str:
    return left_on(args.compute_id, args.host)


async def clear(run: Run[ClearArgs]) -> Verdict:
    """Nothing happens where it is by now."""
    args, facts = run.args, await instance_queries.find(run.store, run.args.compute_id)
    if facts is not None and facts.host == args.host:
        return next_step()
    if facts is not None:  # Its firewalls filter nothing here any more.
        await run.get(Neighbours).settle(run.store, run.tools.services, facts.id)
    engine = run.get(Engines).of(INSTANCE_PLANE, args.region)
    await engine.delete(args.compute_id)
    for backup_id in args.backups:
        await engine.backups.delete(backup_id)
    return next_step()


async def drop_from(db: Queries, services: Services, facts: InstanceFacts, host: str) -> None:
    """Have a host drop what it has of the instance, whose row is locked: the guest, then what hangs
    on it."""
    args = ClearArgs(
        compute_id=facts.id,
        region=facts.region,
        host=host,
        backups=tuple(await queries.backup_ids(db, facts.id)),
    )
    await services.get(JobQueue).enqueue(db, CLEAR, args, host=host)
    left = left_on(facts.id, host)
    await services.get(Neighbours).clear(db, services, facts.id, host, left)


async def call_off(db: Queries, services: Services, compute_id: int) -> None:
    """It goes to no other host; one that it was to go to drops what has arrived."""
    facts = await instance_queries.lock_any(db, compute_id)
    if facts is not None and facts.target_host is not None:
        await drop_from(db, services, facts, facts.target_host)
        await queries.set_target_host(db, facts.id, None)


CLEAR = JobKind("compute_clear", ClearArgs, resource=_left, steps=(Step("clear", clear),))
