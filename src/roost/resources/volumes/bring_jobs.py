"""A volume goes to the host of the instance that it is being attached to, as a table of steps.

kind             while it runs          done     failed
volume_migrate   attached, not in use   there    where it was; the attachment behind it fails

The worker of the host that has the volume sends it, as of a guest that moves. What is there counts
when the row says so; then, or when it has failed, the host that does not have it drops its copy.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from roost.core import instance_queries
from roost.core.hosts import queries as hosts
from roost.core.hosts.links import Content, Links, Parcel
from roost.core.planes import Engines
from roost.jobs.kinds import JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.turns import in_turn
from roost.jobs.verdicts import Fatal, Verdict, next_step, writing
from roost.resources.compute.disk_engine import Progress
from roost.resources.volumes import queries
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.resources.volumes.jobs import CLEAR
from roost.resources.volumes.locks import resource_of
from roost.resources.volumes.queries import VolumeFacts
from roost.resources.volumes.steps import AttachmentArgs, LeftArgs, on_volume
from roost.store import Queries

_SEND_SECONDS = 24 * 3600.0
_GIB = 1 << 30


class BringArgs(AttachmentArgs):
    """`host`: of the instance."""

    host: str


async def bring(run: Run[BringArgs]) -> Verdict:
    """The other host has all of it when this ends, and the row says so."""
    args, facts = run.args, await _facts(run)
    if facts.host == args.host:
        return next_step()
    target = await hosts.find(run.store, args.host)
    if target is None or target.state == "fenced" or target.address is None:
        raise Fatal("The host of the Compute takes no volumes.")
    engine = run.get(Engines).on_host(VOLUME_PLANE, facts)
    parcel = Parcel(plane="volumes", region=facts.region, id=facts.id, compute_id=args.compute_id)
    content = _counted(engine.pack(facts.id), facts.size * _GIB, run.progress)
    await run.get(Links).send(target.address, parcel, content)
    return next_step(writing(_arrive, run))


async def _facts(run: Run[BringArgs]) -> VolumeFacts:
    facts = await queries.find(run.store, run.args.volume_id)
    instance = await instance_queries.find(run.store, run.args.compute_id)
    if facts is None or not facts.made or instance is None or facts.compute_id != instance.id:
        raise Fatal("The volume was detached meanwhile, or the Compute was deleted.")
    if instance.host != run.args.host:
        raise Fatal("The Compute is on another host by now.")
    return facts


async def _counted(content: Content, size: int, progress: Progress) -> AsyncGenerator[bytes, None]:
    """The content as it is, telling what percentage of `size`, in bytes, has been sent."""
    sent = shown = 0
    async with aclosing(content):
        async for piece in content:
            yield piece
            sent += len(piece)
            percent = min(99, 100 * sent // size)
            if percent > shown:
                shown = percent
                await progress(percent)


async def _arrive(db: Queries, run: Run[BringArgs]) -> None:
    """It is there with its jobs when the transaction ends; the former host drops its copy."""
    facts = await queries.find(db, run.args.volume_id)
    if facts is None:
        raise Fatal("The volume is gone.")
    await _drop_from(db, run, facts.region, facts.host)
    await queries.set_host(db, facts.id, run.args.host)
    await run.get(JobQueue).move(db, resource_of(facts.id), run.args.host)


async def give_up(run: Run[BringArgs]) -> Verdict:
    """What has arrived there is of no use, unless that counts already."""
    facts = await queries.find(run.store, run.args.volume_id)
    if facts is None or facts.host == run.args.host:
        return next_step()
    return next_step(writing(_drop_from, run, facts.region, run.args.host))


async def _drop_from(db: Queries, run: Run[BringArgs], region: str, host: str) -> None:
    volume_id = run.args.volume_id
    left = f"left:{resource_of(volume_id)}@{host}"
    args = LeftArgs(volume_id=volume_id, region=region, host=host, left=left)
    await run.get(JobQueue).enqueue(db, CLEAR, args, host=host)


BRING = JobKind(
    "volume_migrate",
    BringArgs,
    resource=on_volume,
    steps=(Step("bring", in_turn(bring), undo=give_up, timeout=_SEND_SECONDS),),
    deadline=_SEND_SECONDS,
    retry=Retry(attempts=4),
)
