"""Edits of a zone beside its jobs: no deadlocks, no more jobs than needed, no edit forgotten."""

import asyncio
from dataclasses import replace
from typing import Literal

import pytest

from roost.core.events import log
from roost.jobs import lease_queries
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.resources.account import queries as accounts
from roost.resources.domains import jobs, queries, record_queries, rules
from roost.resources.domains.jobs import resource_of
from roost.resources.domains.queries import DomainFacts, NewDomain
from roost.resources.domains.record_rules import Draft
from roost.resources.domains.zone_rules import place
from roost.store import Queries, Store
from tests.jobs.bench import Bench, until
from tests.support.blocking import BLOCKED

_LEASE = 60


@pytest.fixture
def queue(noted: Store) -> JobQueue:
    bench = Bench(noted, *jobs.KINDS)
    return JobQueue(jobs.KINDS, bench.clock, log.EventListener(bench.clock))


@pytest.fixture
async def domain(noted: Store, queue: JobQueue) -> DomainFacts:
    now = queue.clock.seconds()
    account_id = await accounts.create_account(noted, "00000000-0000-0000-0000-000000000001", now)
    new = NewDomain(
        account_id=account_id,
        domain="example.com",
        type="master",
        status="active",
        soa_email="me@example.com",
        description="",
        group="",
        master_ips=[],
        axfr_ips=[],
        refresh_sec=0,
        retry_sec=0,
        expire_sec=0,
        ttl_sec=0,
        tags=[],
        dnssec=False,
        serial=rules.next_serial(0, now),
    )
    return await queries.insert(noted, new, now)


async def edit(db: Queries, queue: JobQueue, domain: DomainFacts, number: int) -> None:
    """As a request does."""
    held = await queries.lock(db, domain.account_id, domain.id)
    assert held is not None
    new = place(Draft("A", f"n{number}", target="192.0.2.1"), held.zone)
    await record_queries.insert(db, held.id, new, held.serial + 1, queue.clock.now())
    by = log.Starter(queue, db, held.account_id, "somebody")
    await jobs.start(by, jobs.RECORD_SYNC, held, "dns_record_create")


async def claimed(store: Store, queue: JobQueue) -> Job:
    first = await store.fetchval("select min(id) from job where status = 'queued'")
    now = queue.clock.now()
    async with store.transaction() as db:
        (job,) = await lease_queries.claim(db, "w", _LEASE, queue.kinds, now, [first])
        await queue.listener.started(db, [job])
    return job


async def end(store: Store, queue: JobQueue, job: Job, status: Literal["done", "failed"]) -> None:
    now = queue.clock.now()
    new = replace(job, status=status, error="planned", finished=now)
    ending = queue.listener.ending if status == "done" else ""
    async with store.transaction() as db:
        assert await lease_queries.save(db, job, new, _LEASE, ending)
        if status == "failed":
            await queue.listener.failed(db, new)


async def statuses(store: Store) -> list[str]:
    rows = await store.fetch("select status from event order by id")
    return [row["status"] for row in rows]


async def unfinished(store: Store) -> int:
    count: int = await store.fetchval("select count(*) from job where finished is null")
    return count


@pytest.mark.parametrize("status", ["done", "failed"])
async def test_edits_share_the_job_that_waits(
    noted: Store, queue: JobQueue, domain: DomainFacts, status: Literal["done", "failed"]
) -> None:
    """Not the one that runs, which may have looked already; each event ends with its job."""
    for number in range(3):
        async with noted.transaction() as db:
            await edit(db, queue, domain, number)
    assert await unfinished(noted) == 1
    job = await claimed(noted, queue)
    assert await statuses(noted) == ["started"] * 3
    for number in range(3, 5):
        async with noted.transaction() as db:
            await edit(db, queue, domain, number)
    assert await unfinished(noted) == 2
    await end(noted, queue, job, status)
    over = "finished" if status == "done" else "failed"
    assert await statuses(noted) == [over] * 3 + ["scheduled"] * 2
    await end(noted, queue, await claimed(noted, queue), "done")
    assert await statuses(noted) == [over] * 3 + ["finished"] * 2
    assert await noted.fetchval("select count(*) from job_event") == 0


async def test_a_deletion_ends_all_events(
    noted: Store, queue: JobQueue, domain: DomainFacts
) -> None:
    for number in range(3):
        async with noted.transaction() as db:
            await edit(db, queue, domain, number)
    async with noted.transaction() as db:
        await queue.preempt(db, resource_of(domain.zone), "The domain was deleted.")
    assert await statuses(noted) == ["failed"] * 3


async def test_a_job_of_another_domain_of_this_name_is_not_joined(
    noted: Store, queue: JobQueue, domain: DomainFacts
) -> None:
    async with noted.transaction() as db:
        await edit(db, queue, domain, 0)
        by, other = log.Starter(queue, db, domain.account_id), replace(domain, id=domain.id + 1)
        await jobs.start(by, jobs.RECORD_SYNC, other, "dns_record_create")
    assert await unfinished(noted) == 2


async def test_a_job_waits_for_edits_that_have_joined_it(
    noted: Store, queue: JobQueue, domain: DomainFacts
) -> None:
    """It is claimed between an edit's look at the queue and its commit."""
    async with noted.transaction() as db:
        await edit(db, queue, domain, 0)

    async def look() -> int:
        await record_queries.settle(noted, domain.id)
        pending = await record_queries.pending(noted, domain.id, 300)
        assert pending is not None
        return len(pending.keys)

    async with noted.transaction() as db:
        await edit(db, queue, domain, 1)
        await claimed(noted, queue)
        step = asyncio.create_task(look())
        await until(lambda: blocked(noted))
    assert await step == 2
    assert await unfinished(noted) == 1


async def blocked(store: Store) -> bool:
    found: bool = await store.fetchval(BLOCKED)
    return found


async def test_a_deletion_and_the_end_of_a_job_take_their_locks_in_one_order(
    noted: Store, queue: JobQueue, domain: DomainFacts
) -> None:
    async with noted.transaction() as db:
        await edit(db, queue, domain, 0)
    job = await claimed(noted, queue)

    async def end_job() -> bool:
        async with noted.transaction() as db:
            await record_queries.forget_changes(db, domain.id, domain.serial + 1)
            return await lease_queries.save(db, job, replace(job, status="done"), _LEASE)

    async with noted.transaction() as db:
        await queries.lock(db, domain.account_id, domain.id)
        ending = asyncio.create_task(end_job())
        await until(lambda: blocked(noted))
        await queue.preempt(db, resource_of(domain.zone), "The domain was deleted.")
        await queries.delete(db, domain.id)
    assert not await ending, "it was stopped"
