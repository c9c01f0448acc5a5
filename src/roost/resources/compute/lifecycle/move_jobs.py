"""An instance goes to another host of its region, as a table of steps.

kind           while it runs    done                                  failed
compute_move   migrating        there: offline, then booted if it ran   as before, where it was

Its disks, backups and volumes are sent while it is off, and stay until the rows say that it is
there; then, or when it has failed, the host that does not have it drops what it holds.

Only workers of the former host work on the move, so that one that dies goes on when it is back, and
a new host that dies does not keep the guest off.
"""

from roost.core import instance_queries
from roost.core.hosts import queries as hosts
from roost.core.hosts.links import Links, Parcel
from roost.core.instance_queries import InstanceFacts, InstanceStatus
from roost.core.neighbours import Neighbours
from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Next, Verdict, next_step, writing
from roost.resources.compute import queries as instances
from roost.resources.compute.jobs import becomes, settle
from roost.resources.compute.leftover_jobs import call_off, drop_from
from roost.resources.compute.locks import CreateArgs, engine_of, facts_of, on_instance, resource_of
from roost.resources.compute.steps import GRACE, start_again, stop
from roost.store import Queries

_SEND_SECONDS = 24 * 3600.0


class MoveArgs(CreateArgs):
    """From where to where. `booted`: whether it ran."""

    source: str
    host: str


async def send(run: Run[MoveArgs]) -> Verdict:
    """The other host has all of it when this ends."""
    facts, target = await facts_of(run), await hosts.find(run.store, run.args.host)
    if target is None or target.state == "fenced":
        raise Fatal("The other host is gone.")
    if target.address is None:
        raise Fatal("The other host takes no instances.")
    await send_parcel(run, facts, target.address)
    await run.get(Neighbours).convey(run.store, run.tools.services, facts.id, target.address)
    return next_step()


async def send_parcel(
    run: Run[MoveArgs], facts: InstanceFacts, address: str, *, guest: bool = True
) -> None:
    """The guest and its backups, or these alone."""
    backups = tuple(await instances.backup_ids(run.store, facts.id))
    parcel = Parcel(
        plane="instances", region=facts.region, id=facts.id, compute_id=facts.id, backups=backups
    )
    content = engine_of(run, facts).pack(facts.id, backups, guest=guest)
    await run.get(Links).send(address, parcel, content)


async def arrive(run: Run[MoveArgs]) -> Verdict:
    """It is there from one moment to the next, and its boot is the work of that host."""
    settled = await settle(run, shown="offline")

    async def write(db: Queries) -> None:
        await rehost(db, run)
        if isinstance(settled, Next) and settled.write is not None:
            await settled.write(db)

    return next_step(write)


async def rehost(db: Queries, run: Run[MoveArgs]) -> None:
    """The instance, what hangs on it and its jobs are on the other host when the transaction ends;
    the former one drops its copies."""
    facts = await instance_queries.lock_any(db, run.args.compute_id)
    if facts is None:
        raise Fatal("The instance is gone.")
    await drop_from(db, run.tools.services, facts, run.args.source)
    await instances.set_host(db, facts.id, run.args.host)
    await run.get(Neighbours).rehosted(db, run.tools.services, facts.id, run.args.host)
    for resource in (resource_of(facts.id), f"power:{facts.id}"):
        await run.get(JobQueue).move(db, resource, run.args.host)


async def give_up(run: Run[MoveArgs]) -> Verdict:
    """What has arrived there is of no use, unless that counts already."""
    return next_step(writing(call_off, run.tools.services, run.args.compute_id))


async def _back_on(run: Run[MoveArgs]) -> Verdict:
    """Unless it has arrived."""
    facts = await facts_of(run)
    return await start_again(run) if facts.host == run.args.source else next_step()


async def _stays(db: Queries, job: Job, args: MoveArgs) -> None:
    facts = await instance_queries.find(db, args.compute_id)
    here = facts is not None and facts.host == args.source
    status: InstanceStatus = "running" if args.booted and here else "offline"
    await instances.set_target_host(db, args.compute_id, None)
    await instance_queries.set_status(db, args.compute_id, status, job.finished or job.created)


MOVE = JobKind(
    "compute_move",
    MoveArgs,
    resource=on_instance,
    event="compute_migrate",
    steps=(
        Step("stop", stop, undo=_back_on, timeout=2 * GRACE),
        Step("send", send, undo=give_up, timeout=_SEND_SECONDS),
        Step("arrive", arrive),
    ),
    deadline=_SEND_SECONDS,
    retry=Retry(attempts=3),
    on_enqueued=becomes("migrating"),
    on_failed=_stays,
)
