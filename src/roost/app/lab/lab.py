"""The lab of a process: who may use it, and quiet for changes of the whole state."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from roost.app.groups import GROUPS
from roost.app.lab import queries
from roost.app.lab.clock import LabClock
from roost.app.lab.engines import LabEngines
from roost.app.lab.gate import Gate
from roost.app.restarting_worker import RestartingWorker
from roost.app.roost import Roost
from roost.errors import forbidden, invalid, out_of_scope, unauthenticated
from roost.jobs import upkeep_queries
from roost.resources.account.queries import first_account
from roost.store import Queries
from roost.web.revocation import Revocations


@dataclass(frozen=True, slots=True)
class Lab:
    roost: Roost
    clock: LabClock
    revocations: Revocations
    engines: LabEngines
    gate: Gate
    """In front of the API."""
    worker: RestartingWorker | None
    """None when this process runs no jobs."""
    changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def admit(self, authorization: str | None) -> None:
        """ApiError 401 or 403 unless it is the operator's: a personal token for everything, of an
        unrestricted user of the first account."""
        identity = await self.revocations.authenticator.identify(authorization)
        if identity is None:
            raise unauthenticated()
        if identity.scopes.text != "*" or identity.narrowing is not None:
            raise out_of_scope()
        is_personal = identity.token_kind not in ("oauth", "proxy")
        operators = await first_account(self.roost.store)
        if identity.restricted or not is_personal or identity.account_id != operators:
            raise forbidden()

    @asynccontextmanager
    async def quiet(self) -> AsyncIterator[None]:
        """No request and no job of this process meets the state inside the block.

        ApiError 400 while other processes run jobs, as nothing here could stop them.
        """
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.changing)
            await self._refuse_others()
            await stack.enter_async_context(self.gate.shut())
            if self.worker is not None:
                await stack.enter_async_context(self.worker.rest())
            yield

    async def _refuse_others(self) -> None:
        owner = self.worker.owner if self.worker is not None else None
        lease = self.roost.settings.job_lease
        if await queries.count_other_workers(self.roost.store, owner, lease):
            raise invalid(f"Another process runs jobs, or did {lease:g} seconds ago: stop it first")


async def begin_schedules(db: Queries, now: datetime) -> None:
    """Count the ticks of new schedules from `now` on, before anybody can move the clock."""
    for schedule in GROUPS.schedules:
        await upkeep_queries.add_schedule(db, schedule.name, now)


async def open_lab(
    roost: Roost, revocations: Revocations, worker: RestartingWorker | None
) -> Lab | None:
    """None where time cannot be moved: the process was started without a lab."""
    if not isinstance(roost.clock, LabClock):
        return None
    await begin_schedules(roost.store, roost.clock.now())
    engines = LabEngines(roost.engines.bindings)
    return Lab(roost, roost.clock, revocations, engines, Gate(), worker)
