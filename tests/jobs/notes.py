"""A table in which steps and listeners leave notes, for tests to read."""

from collections.abc import Sequence

from roost.jobs import Job, Write, writing
from roost.store import Queries

TABLE = """
create table note (
    id bigint generated always as identity primary key,
    job_id bigint not null,
    text text not null,
    at timestamptz not null default clock_timestamp()
)
"""


async def note(db: Queries, job_id: int, text: str) -> None:
    await db.execute("insert into note (job_id, text) values ($1, $2)", job_id, text)


def noting(job: Job, text: str) -> Write:
    """A write that commits together with a step."""
    return writing(note, job.id, text)


async def notes(db: Queries, job_id: int) -> list[str]:
    rows = await db.fetch("select text from note where job_id = $1 order by id", job_id)
    return [row["text"] for row in rows]


class NotingListener:
    """Notes what it is told, in the transaction in which it is told."""

    ending = ", told as (insert into note (job_id, text) select id, 'finished' from saved)"

    async def enqueued(self, conn: Queries, job: Job) -> None:
        await note(conn, job.id, "enqueued")

    async def started(self, conn: Queries, jobs: Sequence[Job]) -> None:
        for job in jobs:
            await note(conn, job.id, "started")

    async def retried(self, conn: Queries, job: Job) -> None:
        await note(conn, job.id, f"error: {job.error}")

    async def progressed(self, conn: Queries, job: Job) -> None:
        await note(conn, job.id, f"at {job.percent} %")

    async def failed(self, conn: Queries, job: Job) -> None:
        await note(conn, job.id, f"{job.status}: {job.error}")
