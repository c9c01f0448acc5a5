"""What workers do all the time stays cheap, however long the history."""

from datetime import timedelta

from roost.jobs import lease_queries, queries, upkeep_queries
from roost.store import Store
from tests.jobs.bench import Bench
from tests.jobs.gates import FREE

_FILL = """
insert into job (
    kind, args, step, status, resource, run_at, deadline, created, finished, behind)
select 'free', '{}', 'a', case when n % 100 = 0 then 'queued' else 'done' end, 'x:' || n % 1000,
    '-infinity', now() + interval '1 day', now(), case when n % 100 > 0 then now() end,
    n % 100 = 0 and n > 1000
from generate_series(1, 50000) as n
"""


async def test_no_statement_of_a_worker_reads_the_history(noted: Store) -> None:
    bench = Bench(noted, FREE)
    await noted.execute(_FILL)
    await noted.execute("analyze job")
    before = await noted.fetchval(_SCANS)
    now = bench.clock.now()
    async with noted.pool.acquire() as conn:
        kinds, first = bench.queue.kinds, lease_queries.FIRST
        waiting = await lease_queries.find_waiting(conn, kinds, now, first, (256, 5))
        chosen = [each.id for each in waiting.candidates]
        jobs = await lease_queries.claim(conn, "me", 10, kinds, now, chosen)
        assert len(jobs) == 5
        assert await lease_queries.claim(conn, "me", 10, kinds, now, chosen) == []
        queues = await upkeep_queries.find_queues(conn, "", 1000)
        assert len(queues) == 10
        await queries.free(conn, queues, now)
        held = await lease_queries.renew(conn, "me", [job.id for job in jobs], 10)
        assert {row.id for row in held} == {job.id for job in jobs}
        assert await lease_queries.recover(conn, []) == []
        assert await upkeep_queries.mark_overdue(conn, now) == []
        assert sum(row.jobs for row in await upkeep_queries.count(conn, now)) == 500
        assert await upkeep_queries.delete_finished(conn, now - timedelta(days=30), 10) == 0
        assert len(await queries.lock_resource(conn, "x:900")) == 50
        assert await queries.is_busy(conn, ["x:900"], now)
        await conn.execute("select pg_stat_force_next_flush()")
        await conn.execute("select 1")
    assert await noted.fetchval(_SCANS) == before


_SCANS = "select seq_scan from pg_stat_user_tables where relname = 'job'"
