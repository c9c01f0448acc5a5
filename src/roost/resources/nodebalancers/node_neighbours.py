"""What NodeBalancers are to the instances that are their nodes."""

import asyncio
from collections.abc import Collection

from roost.core import instance_queries
from roost.core.catalog.entries import RegionEntry
from roost.core.engine import EngineError
from roost.core.events import log
from roost.core.neighbours import Neighbour
from roost.core.planes import Engines
from roost.jobs import queries as job_rows
from roost.jobs.queue import JobQueue
from roost.resources.compute.entity import COMPUTE
from roost.resources.nodebalancers import jobs, node_queries, queries
from roost.resources.nodebalancers.apply_service import put_in_force
from roost.resources.nodebalancers.entity import NODEBALANCER
from roost.resources.nodebalancers.queries import BalancerFacts
from roost.services import Services
from roost.store import Queries

_SECONDS = 30.0
_POLL_SECONDS = 0.1


class Nodes(Neighbour):
    """What an instance is a node of."""

    async def ties(self, db: Queries, compute_id: int) -> list[str]:
        held = await node_queries.balancers_of(db, compute_id)
        return ["is a node of a NodeBalancer"] if held else []

    async def anchors(
        self, db: Queries, services: Services, compute_id: int, region: RegionEntry
    ) -> list[str]:
        return await self.ties(db, compute_id)

    async def settle(self, db: Queries, services: Services, compute_id: int) -> None:
        """Of an instance that goes, nothing is sent to its address before that is another's, by
        whatever host."""
        instance = await instance_queries.find(db, compute_id)
        if instance is None or instance.status != "deleting":
            return
        found = await queries.find_many(db, await node_queries.balancers_of(db, compute_id))
        host, others = services.get(Engines).host, list[BalancerFacts]()
        for balancer in found:
            if (balancer.host, balancer.left_host) == (host, None):
                await put_in_force(db, services, balancer.id)
            else:
                others.append(balancer)
        await _ask_hosts(db, services.get(JobQueue), others)
        # Not before: while an engine fails, the rows say where it still has to go.
        await node_queries.drop_instance(db, compute_id)
        queue, second = services.get(JobQueue), COMPUTE.of(instance)
        for balancer in found:
            by = log.Starter(queue, db, balancer.account_id)
            await log.notify(by, "nodebalancer_node_delete", NODEBALANCER.of(balancer), second)


async def _ask_hosts(db: Queries, queue: JobQueue, balancers: Collection[BalancerFacts]) -> None:
    """Their hosts' workers bring them what rows say, and those that they have left drop them.
    Raises EngineError."""
    started = [
        await queue.enqueue(
            db,
            jobs.APPLY,
            jobs.BalancerArgs(nodebalancer_id=each.id),
            account_id=each.account_id,
        )
        for each in balancers
    ]
    try:
        async with asyncio.timeout(_SECONDS):
            for job in started:
                await _done(db, job.id)
            for each in balancers:
                await _left(db, each.id)
    except TimeoutError:
        raise EngineError("A host does not change its NodeBalancers") from None


async def _done(db: Queries, job_id: int) -> None:
    while True:
        job = await job_rows.find(db, job_id)
        if job is None or job.status == "done":
            return
        if job.finished is not None:
            raise EngineError(job.error or "The NodeBalancer could not be changed")
        await asyncio.sleep(_POLL_SECONDS)


async def _left(db: Queries, nodebalancer_id: int) -> None:
    while True:
        row = await queries.find(db, nodebalancer_id)
        if row is None or row.left_host is None:
            return
        await asyncio.sleep(_POLL_SECONDS)
