"""A toy group: lamps that have a row, a body and power in an engine."""

from dataclasses import dataclass

from roost.jobs import (
    Environment,
    Fatal,
    Job,
    JobArgs,
    JobKind,
    Run,
    Step,
    Verdict,
    again,
    next_step,
)
from roost.store import Queries, Store

TABLE = """
create table lamp (id int primary key, status text not null, brightness int);
create table use (lamp_id int not null, what text not null)
"""


class LampEngine:
    """Idempotent, as engines are."""

    def __init__(self) -> None:
        self.bodies: set[int] = set()
        self.lit: set[int] = set()
        self.warm: set[int] = set()

    async def make(self, lamp_id: int) -> None:
        self.bodies.add(lamp_id)

    async def light(self, lamp_id: int) -> bool:
        """False while it warms up."""
        if lamp_id not in self.bodies:
            raise Fatal("no such lamp")
        was_warm = lamp_id in self.warm
        self.warm.add(lamp_id)
        if was_warm:
            self.lit.add(lamp_id)
        return was_warm

    async def darken(self, lamp_id: int) -> None:
        self.lit.discard(lamp_id)
        self.warm.discard(lamp_id)

    async def destroy(self, lamp_id: int) -> None:
        self.bodies.discard(lamp_id)


class LampArgs(JobArgs):
    lamp_id: int


async def _set_status(db: Queries, lamp_id: int, status: str) -> None:
    await db.execute("update lamp set status = $2 where id = $1", lamp_id, status)


async def make(run: Run[LampArgs]) -> Verdict:
    await run.get(LampEngine).make(run.args.lamp_id)

    async def write(db: Queries) -> None:
        await db.execute("insert into use values ($1, 'made')", run.args.lamp_id)

    return next_step(write, result={"brightness": 7})


async def undo_make(run: Run[LampArgs]) -> Verdict:
    await run.get(LampEngine).destroy(run.args.lamp_id)

    async def write(db: Queries) -> None:
        await db.execute("delete from use where lamp_id = $1", run.args.lamp_id)

    return next_step(write)


async def light(run: Run[LampArgs]) -> Verdict:
    return next_step() if await run.get(LampEngine).light(run.args.lamp_id) else again(0.001)


async def darken(run: Run[LampArgs]) -> Verdict:
    await run.get(LampEngine).darken(run.args.lamp_id)
    return next_step()


async def measure(run: Run[LampArgs]) -> Verdict:
    brightness = run.result("make")["brightness"]

    async def write(db: Queries) -> None:
        query = "update lamp set brightness = $2 where id = $1"
        await db.execute(query, run.args.lamp_id, brightness)

    return next_step(write)


async def _on_enqueued(db: Queries, job: Job, args: LampArgs) -> None:
    await db.execute("insert into lamp values ($1, 'lighting')", args.lamp_id)


async def _on_done(db: Queries, job: Job, args: LampArgs) -> None:
    await _set_status(db, args.lamp_id, "lit")


async def _on_failed(db: Queries, job: Job, args: LampArgs) -> None:
    await _set_status(db, args.lamp_id, "failed")


LIGHT = JobKind(
    "lamp_light",
    LampArgs,
    (
        Step("make", make, undo=undo_make),
        Step("light", light, undo=darken),
        Step("measure", measure),
    ),
    on_enqueued=_on_enqueued,
    on_done=_on_done,
    on_failed=_on_failed,
)


@dataclass
class LampCase:
    store: Store
    engine: LampEngine
    lamp_id: int
    job_id: int

    async def check_done(self) -> None:
        assert await self._row() == ("lit", 7)
        assert await self._uses() == ["made"]
        assert self.lamp_id in self.engine.bodies & self.engine.lit

    async def check_failed(self) -> None:
        assert await self._row() == ("failed", None)
        assert await self._uses() == []
        assert self.lamp_id not in self.engine.bodies | self.engine.lit | self.engine.warm

    async def _row(self) -> tuple[str, int | None]:
        row = await self.store.fetchrow("select * from lamp where id = $1", self.lamp_id)
        assert row is not None
        return row["status"], row["brightness"]

    async def _uses(self) -> list[str]:
        rows = await self.store.fetch("select what from use where lamp_id = $1", self.lamp_id)
        return [row["what"] for row in rows]


async def begin(environment: Environment) -> LampCase:
    store, lamp_id = environment.store, 1
    async with store.transaction() as conn:
        job = await environment.queue.enqueue(
            conn, LIGHT, LampArgs(lamp_id=lamp_id), resource="lamp:1"
        )
    return LampCase(store, environment.services.get(LampEngine), lamp_id, job.id)
