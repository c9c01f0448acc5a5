"""Who is told about jobs, in the very transactions that change them."""

from collections.abc import Sequence
from typing import Protocol

from roost.jobs.model import Job
from roost.store import Queries


class JobListener(Protocol):
    """What users are told of jobs with an event. What a method writes commits together with the
    job's row."""

    async def enqueued(self, conn: Queries, job: Job) -> None: ...

    async def started(self, conn: Queries, jobs: Sequence[Job]) -> None:
        """A worker takes these jobs for the first time."""

    async def retried(self, conn: Queries, job: Job) -> None:
        """`job.error` has changed: why the last attempt failed, or None as one went well."""

    async def progressed(self, conn: Queries, job: Job) -> None:
        """`job.percent` has changed."""

    @property
    def ending(self) -> str:
        """What follows when a job has gone well, in the statement that saves its end: parts of a
        WITH, each with a comma before it, that do nothing where `saved` has no row. The job's
        columns are named parameters (`:event_id`); "" where nothing follows."""

    async def failed(self, conn: Queries, job: Job) -> None:
        """The job ended `failed` or `cancelled`; `job.error` is the reason."""


class NullListener:
    """Tells nobody."""

    ending = ""

    async def enqueued(self, conn: Queries, job: Job) -> None:
        pass

    async def started(self, conn: Queries, jobs: Sequence[Job]) -> None:
        pass

    async def retried(self, conn: Queries, job: Job) -> None:
        pass

    async def progressed(self, conn: Queries, job: Job) -> None:
        pass

    async def failed(self, conn: Queries, job: Job) -> None:
        pass
