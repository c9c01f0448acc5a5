"""The reconciler: rows by pages against what an engine holds, and repairs that look again."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import pytest

from roost.core.engine import EngineError
from roost.core.fsck import Finding, Installation, UnrepairableError
from roost.core.reconcile import PAGE, ROUNDS, Case, ChangedError, Reconciler, check_regions
from roost.services import Services
from roost.store import Queries, Store

TABLE = "create table thing (id bigint primary key, size int not null, busy bool not null)"


@dataclass(slots=True)
class Engine:
    """Sizes by key. `asked` is called before each answer."""

    sizes: dict[int, int] = field(default_factory=dict)
    inspected: list[int] = field(default_factory=list)
    asked: Callable[[int], Awaitable[None]] | None = None

    async def inspect(self, key: int) -> int | None:
        self.inspected.append(key)
        if self.asked is not None:
            await self.asked(key)
        return self.sizes.get(key)


ThingCase: TypeAlias = Case[int, int | None, int, str]


@dataclass(frozen=True, slots=True)
class Things(Reconciler[int, int | None, int, str]):
    engine: Engine
    pages: list[int] = field(default_factory=list)
    """How many rows each page had."""

    async def held(self) -> Mapping[int, int | None]:
        return self.engine.sizes

    async def page(
        self, held: Mapping[int, int | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        rows = await self.installation.store.fetch(
            "select id, size from thing where id > $1 order by id limit $2", after or 0, limit
        )
        self.pages.append(len(rows))
        return {row["id"]: row["size"] != held.get(row["id"]) for row in rows}

    async def read(self, db: Queries, key: int) -> int | None:
        row = await db.fetchrow("select size, busy from thing where id = $1 for update", key)
        if row is not None and row["busy"]:
            raise ChangedError
        return None if row is None else int(row["size"])

    async def look(self, key: int, rows: int | None) -> ThingCase | None:
        seen = await self.engine.inspect(key)
        return None if seen == rows else Case(key, rows, seen, f"is {seen} instead of {rows}")

    def describe(self, case: ThingCase) -> str:
        return f"thing {case.key} {case.drift}"

    async def mend(self, case: ThingCase) -> str:
        """The row follows the engine, one by one; what has no row goes."""
        if case.rows is None:
            del self.engine.sizes[case.key]
            return "deleted it"
        if case.seen is None:
            raise UnrepairableError("put it back")
        async with self.holding(case) as db:
            size = case.rows + (1 if case.seen > case.rows else -1)
            await db.execute("update thing set size = $2 where id = $1", case.key, size)
        return f"made it {size}"


@pytest.fixture
async def things(store: Store) -> Things:
    await store.execute(TABLE)
    return Things(Installation(store, Services()), Engine())


async def add(things: Things, count: int) -> None:
    """Rows 1 to `count` of size 5, which the engine has too."""
    await things.installation.store.execute(
        "insert into thing select id, 5, false from generate_series(1, $1) id", count
    )
    things.engine.sizes.update(dict.fromkeys(range(1, count + 1), 5))


async def change(things: Things, assignment: str, key: int) -> None:
    await things.installation.store.execute(f"update thing set {assignment} where id = $1", key)


async def found(findings: AsyncIterator[Finding]) -> list[Finding]:
    return [finding async for finding in findings]


async def texts(things: Things) -> list[str]:
    return [finding.text for finding in await found(things.findings("things"))]


async def test_many_rows_are_read_by_pages(things: Things) -> None:
    """A page at a time, and a closer look at no more than what differs."""
    count = 100 * PAGE
    await add(things, count)
    sizes = things.engine.sizes
    sizes[PAGE], sizes[PAGE + 1], sizes[count + 7] = 6, 7, 8
    del sizes[count]
    assert await texts(things) == [
        f"thing {PAGE} is 6 instead of 5",
        f"thing {PAGE + 1} is 7 instead of 5",
        f"thing {count} is None instead of 5",
        f"thing {count + 7} is 8 instead of None",
    ]
    assert things.pages == [PAGE] * 100 + [0]
    assert things.engine.inspected == [PAGE, PAGE + 1, count, count + 7]


async def test_the_engine_is_asked_while_nothing_is_locked(things: Things) -> None:
    async def lock(key: int) -> None:
        sql = "select from thing where id = $1 for update nowait"
        await things.installation.store.execute(sql, key)

    await add(things, 3)
    things.engine.sizes[2], things.engine.asked = 6, lock
    [finding] = await found(things.findings("things"))
    assert await finding.repair() == "made it 6"


async def test_what_changes_meanwhile_is_no_difference(things: Things) -> None:
    async def follow(key: int) -> None:
        await change(things, "size = size + 1", key)

    await add(things, 3)
    things.engine.sizes[2], things.engine.asked = 7, follow
    assert await texts(things) == []
    things.engine.asked = None
    assert await texts(things) == ["thing 2 is 7 instead of 6"]


async def test_what_a_job_works_on_is_left_alone(things: Things) -> None:
    await add(things, 3)
    things.engine.sizes[2] = 7
    [finding] = await found(things.findings("things"))
    await change(things, "busy = true", 2)
    assert await texts(things) == []
    assert await finding.repair() == "it is well by now"
    with pytest.raises(ChangedError):
        await things.examine(2)


async def test_a_case_holds_only_while_its_rows_stay(things: Things) -> None:
    await add(things, 3)
    things.engine.sizes[2] = 7
    case = await things.confirmed(2)
    assert case == Case(2, 5, 7, "is 7 instead of 5")
    await change(things, "size = 6", 2)
    with pytest.raises(ChangedError):
        await things.mend(case)
    assert await things.installation.store.fetchval("select size from thing where id = 2") == 6


async def test_an_engine_that_fails_in_the_middle(things: Things) -> None:
    """What was found until then is told of, and can be repaired."""

    async def fail(key: int) -> None:
        if key == 3:
            raise EngineError("no power")

    await add(things, 5)
    things.engine.sizes.update({1: 6, 3: 6, 5: 6})
    things.engine.asked = fail
    first, fault = await found(things.findings("region here: its things"))
    assert (first.text, fault.text) == (
        "thing 1 is 6 instead of 5",
        "region here: its things cannot be seen",
    )
    assert await first.repair() == "made it 6"
    with pytest.raises(UnrepairableError, match="no power"):
        await fault.repair()


async def test_one_repair_goes_on_with_the_next_difference(things: Things) -> None:
    await add(things, 3)
    things.engine.sizes[2] = 8
    [finding] = await found(things.findings("things"))
    assert await finding.repair() == "made it 6, made it 7, made it 8"
    assert await finding.repair() == "it is well by now"
    things.engine.sizes[3] = 5 + 2 * ROUNDS
    [finding] = await found(things.findings("things"))
    assert (await finding.repair()).endswith(f"made it {5 + ROUNDS}")


async def test_what_only_a_person_can_mend(things: Things) -> None:
    await add(things, 1)
    things.engine.sizes.clear()
    [finding] = await found(things.findings("things"))
    with pytest.raises(UnrepairableError, match="put it back"):
        await finding.repair()


async def test_regions(things: Things) -> None:
    things.engine.sizes[7] = 5
    there, gone = await found(check_regions({"here": things}, "things", ["here", "gone"]))
    assert there.text == "thing 7 is 5 instead of None"
    assert gone.text == "region gone: it has things, but is not in the catalogue"
    assert await there.repair() == "deleted it"
