"""No account's queue holds up another's."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable
from datetime import datetime

import pytest

from roost.jobs import Job, JobKind, Kinds, Run, Step, Verdict, next_step, queries
from roost.jobs.claims import Claimer
from roost.jobs.fairness import Candidate, Line, Slots
from roost.jobs.lease_queries import FIRST, find_waiting
from roost.store import Store
from tests.jobs.bench import LAZY, Bench, until
from tests.jobs.gates import Gate, Nothing, wait

QUEUE = 20_000


class _Slow:
    """Its jobs hold their slots until they are let go, and say who runs."""

    def __init__(self) -> None:
        self.accounts: Counter[int] = Counter()
        self.most: Counter[int] = Counter()
        self.opened = asyncio.Event()


async def _hold(run: Run[Nothing]) -> Verdict:
    slow, account = run.get(_Slow), run.job.account_id or 0
    slow.accounts[account] += 1
    slow.most[account] = max(slow.most[account], slow.accounts[account])
    await slow.opened.wait()
    slow.accounts[account] -= 1
    return next_step()


SHORT = JobKind("short", Nothing, (Step("hold", _hold),))
LONG = JobKind("long", Nothing, (Step("hold", _hold, timeout=3600),))
LIMITED = JobKind("limited", Nothing, (Step("hold", _hold),), per_account=2)
KINDS = Kinds((SHORT, LONG, LIMITED))
NOW = datetime(2026, 1, 1)


def candidates(tenant: int, kind: str, ids: Iterable[int], begun: bool = False) -> list[Candidate]:
    return [Candidate(number, Line(tenant, kind), begun, NOW) for number in ids]


def choose(*some: list[Candidate], slots: int = 16, held: Iterable[Line] = ()) -> list[int]:
    return Slots(slots, KINDS, held).choose([one for each in some for one in each], {})


def test_one_account_leaves_slots_to_newcomers() -> None:
    assert choose(candidates(1, "short", range(50))) == list(range(12))
    assert choose(candidates(1, "long", range(50))) == list(range(9))


def test_a_newcomer_begins_at_once_and_newcomers_only() -> None:
    held = [Line(1, "short")] * 12
    mine, new = candidates(1, "short", range(50)), candidates(2, "short", range(100, 150))
    assert choose(mine, new, held=held) == [100]
    others = [candidates(tenant, "short", [tenant]) for tenant in range(2, 9)]
    assert choose(mine, *others, held=held) == [2, 3, 4, 5]


def test_long_jobs_leave_slots_to_short_ones() -> None:
    long = [candidates(tenant, "long", [tenant]) for tenant in range(1, 30)]
    assert len(choose(*long)) == 12
    held = [Line(tenant, "long") for tenant in range(1, 13)]
    assert choose(*long, candidates(1, "short", [99]), held=held) == [99]


def test_accounts_take_turns() -> None:
    chosen = choose(candidates(1, "short", range(50)), candidates(2, "short", range(50, 99)))
    assert chosen[:4] == [0, 50, 1, 51]
    assert len(chosen) == 12


def test_what_has_begun_goes_before_what_has_not() -> None:
    begun = candidates(1, "short", [9], begun=True)
    assert choose(candidates(1, "short", [1, 2]), begun) == [9, 1, 2]


def test_a_kind_may_be_limited_for_each_account() -> None:
    mine, other = candidates(1, "limited", range(9)), candidates(2, "limited", range(10, 19))
    assert sorted(choose(mine, other)) == [0, 1, 10, 11]
    slots = Slots(16, KINDS, ())
    assert sorted(slots.choose(mine + other, {Line(1, "limited"): 1})) == [0, 10, 11]
    assert choose(mine, candidates(1, "short", [20])) == [0, 1, 20]


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_few_slots_are_used(slots: int) -> None:
    assert len(choose(candidates(1, "long", range(9)), slots=slots)) == slots
    assert len(choose(candidates(1, "short", range(9)), slots=slots)) == slots


async def _enqueue(bench: Bench, kind: JobKind[Nothing], account: int, resource: str) -> int:
    async with bench.store.transaction() as conn:
        job = await bench.queue.enqueue(
            conn, kind, Nothing(), account_id=account, resource=resource
        )
    return job.id


async def _fill(store: Store, resource: str, account: int = 1, kind: str = "short") -> None:
    """A long queue of one account, of which PostgreSQL's planner does not yet know; `resource` is
    SQL over `n`."""
    await store.execute("analyze job")
    await store.execute(
        f"""
        insert into job (kind, args, step, account_id, resource, run_at, deadline, created, behind)
        select $1, '{{}}', 'hold', $2, name, '-infinity', now() + interval '1 day', now(),
            row_number() over (partition by name order by n) > 1
        from generate_series(1, {QUEUE}) as n, lateral (select {resource} as name) as named
        order by n
        """,
        kind,
        account,
    )


@pytest.mark.parametrize("resource", ["'one:1'", "'own:' || n", "'few:' || n % 20"])
async def test_a_long_queue_does_not_delay_the_first_job_of_another_account(
    noted: Store, resource: str
) -> None:
    slow = _Slow()
    bench = Bench(noted, SHORT, services=[slow])
    await _fill(noted, resource)
    async with bench.worker():
        await until(lambda: _some_run(slow, 1))
        for account in (2, 3, 4):
            job_id = await _enqueue(bench, SHORT, account, f"other:{account}")
            await bench.reached(job_id, "running")
        assert slow.most[1] <= 12
        await noted.execute("delete from job where status = 'queued'")
        slow.opened.set()


async def _some_run(slow: _Slow, account: int) -> bool:
    return slow.accounts[account] > 0


async def test_long_jobs_of_many_accounts_do_not_delay_a_short_one(noted: Store) -> None:
    slow = _Slow()
    bench = Bench(noted, SHORT, LONG, services=[slow])
    for account in range(1, 21):
        await _enqueue(bench, LONG, account, f"x:{account}")
    async with bench.worker():

        async def all_begun() -> bool:
            return slow.accounts.total() == 12

        await until(all_begun)
        await bench.reached(await _enqueue(bench, SHORT, 1, "short:1"), "running")
        slow.opened.set()


async def test_an_account_runs_no_more_of_a_kind_than_it_may(noted: Store) -> None:
    slow = _Slow()
    bench = Bench(noted, SHORT, LIMITED, services=[slow])
    limited = [await _enqueue(bench, LIMITED, 1, f"x:{n}") for n in range(9)]
    async with bench.worker():
        other = await _enqueue(bench, LIMITED, 2, "y:1")
        await bench.reached(other, "running")
        await bench.reached(await _enqueue(bench, SHORT, 1, "z:1"), "running")
        assert slow.most[1] <= 3
        states = [(await bench.job(job_id)).status for job_id in limited]
        assert Counter(states) == {"running": 2, "queued": 7}
        slow.opened.set()
        for job_id in limited:
            await bench.ended(job_id)


@pytest.mark.parametrize("resource", ["'one:1'", "'own:' || n"])
async def test_a_claim_costs_the_same_however_long_the_queue_is(
    noted: Store, resource: str
) -> None:
    bench = Bench(noted, SHORT)
    first = await _claim_seconds(bench)
    await _fill(noted, resource)
    assert await _claim_seconds(bench) < 3 * first + 0.002


async def _claim_seconds(bench: Bench) -> float:
    seconds = []
    for _ in range(30):
        began = time.perf_counter()
        await find_waiting(
            bench.store.reserved, bench.queue.kinds, bench.clock.now(), FIRST, (256, 16)
        )
        seconds.append(time.perf_counter() - began)
    return min(seconds)


async def test_more_lines_than_one_look_takes_in(
    noted: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost.jobs.claims._LINES", 3)
    slow = _Slow()
    slow.opened.set()
    bench = Bench(noted, SHORT, LONG, services=[slow])
    job_ids = [
        await _enqueue(bench, kind, account, f"x:{kind.name}:{account}")
        for account in range(1, 21)
        for kind in (SHORT, LONG)
    ]
    async with bench.worker():
        for job_id in job_ids:
            assert (await bench.ended(job_id)).status == "done"


async def test_jobs_of_a_resource_go_on_when_a_worker_dies_between_two(noted: Store) -> None:
    """Nobody has told that the one before it has ended."""
    slow = _Slow()
    slow.opened.set()
    bench = Bench(noted, SHORT, services=[slow])
    job_id = await _enqueue(bench, SHORT, 1, "x:1")
    await noted.execute("update job set behind = true")
    async with bench.worker():
        assert (await bench.ended(job_id)).status == "done"


async def test_a_job_enqueued_while_the_one_before_it_ends_begins_at_once(noted: Store) -> None:
    gate = Gate()
    kind = JobKind("wait", Nothing, (Step("wait", wait),))
    bench = Bench(noted, kind, services=[gate], settings=LAZY)
    first = await bench.enqueue(kind, Nothing(), "x:1")
    async with bench.worker():
        await bench.reached(first, "running")
        async with noted.transaction() as conn:
            second = (await bench.queue.enqueue(conn, kind, Nothing(), resource="x:1")).id
            gate.opened.set()
            await bench.ended(first)
            await noted.execute("delete from job where id = $1", first)
        committed = time.monotonic()
        await bench.ended(second)
        assert time.monotonic() - committed < LAZY.poll / 2


async def test_a_job_that_still_runs_here_is_not_claimed_again(noted: Store) -> None:
    """As when the database came back without its last moments, or the lease was lost."""
    gate = Gate()
    kind = JobKind("wait", Nothing, (Step("wait", wait),))
    bench = Bench(noted, kind, services=[gate])
    job_id = await bench.enqueue(kind, Nothing(), "x:1")
    claimer = Claimer(bench.environment, "me")
    begun = list[Job]()
    assert await claimer.claim([], [], begun.append) == 1
    (job,) = begun
    back = "update job set status = 'queued', fence = fence - 1, owner = null"
    await noted.execute(back)
    assert await claimer.claim([job], [], begun.append) == 0
    assert await claimer.claim([], [], begun.append) == 1
    (_, again) = begun
    assert (again.id, again.fence) == (job_id, job.fence)


async def test_the_end_of_a_job_clears_the_way_for_the_next(noted: Store) -> None:
    slow = _Slow()
    bench = Bench(noted, SHORT, services=[slow])
    job_ids = [await _enqueue(bench, SHORT, 1, "x:1") for _ in range(4)]
    behind = "select array_agg(behind order by id) from job"
    assert await noted.fetchval(behind) == [False, True, True, True]
    async with noted.transaction() as conn:
        assert await bench.queue.cancel(conn, job_ids[0], "no")
    assert await noted.fetchval(behind) == [False, False, True, True]
    await queries.free(noted, ["x:1"], bench.clock.now())
    assert await noted.fetchval(behind) == [False, False, True, True]
    slow.opened.set()
    async with bench.worker():
        for job_id in job_ids[1:]:
            assert (await bench.ended(job_id)).status == "done"
