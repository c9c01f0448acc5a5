"""Jobs that bring volumes to another host, for the harness: that host is a second engine."""

from dataclasses import dataclass

from roost.core.events import log
from roost.core.hosts.links import Links
from roost.jobs import Environment
from roost.resources.compute import queries as instances
from roost.resources.volumes.bring_jobs import BRING, BringArgs
from roost.resources.volumes.queries import VOLUME
from roost.settings import MAIN_HOST
from tests.jobs.harness import Scenario
from tests.jobs.move_scenarios import OTHER, There, know
from tests.support.stage import Stage
from tests.support.volume_stage import VolumeStage


@dataclass(frozen=True)
class BringCase:
    """A volume of an instance on the other host; a Case of the harness."""

    volumes: VolumeStage
    there: There
    volume_id: int
    compute_id: int
    job_id: int

    async def check_done(self) -> None:
        """The row names the other host, which has the data; this one drops them."""
        assert await self.there.volumes.inspect(self.volume_id) is not None
        await self._check(OTHER, {MAIN_HOST})

    async def check_failed(self) -> None:
        await self._check(MAIN_HOST, {OTHER})

    async def _check(self, host: str, told: set[str]) -> None:
        row, data = await self.volumes.row(self.volume_id), await self.volumes.data(self.volume_id)
        assert row is not None
        assert (row.host, row.status, row.made) == (host, "active", True)
        assert data is not None or host == OTHER
        store = self.volumes.stage.roost.store
        clears = await store.fetch(
            "select host from job where kind = 'volume_clear' and resource like $1",
            f"left:volume:{self.volume_id}@%",
        )
        assert {clear["host"] for clear in clears} <= told
        assert host == MAIN_HOST or clears
        await self.there.close()
        await self.volumes.engine().delete(self.volume_id)
        await store.execute("delete from volume where id = $1", self.volume_id)
        await self.volumes.stage.engine().delete(self.compute_id)
        await store.execute("delete from compute_instance where id = $1", self.compute_id)


async def begin_bring(environment: Environment) -> BringCase:
    volumes, store = VolumeStage(environment.services.get(Stage)), environment.store
    there = There(environment.services.get(Links))
    await know(environment, OTHER, there.address)
    compute_id = await volumes.stage.instance("offline", "offline")
    volume_id = await volumes.volume()
    await volumes.attach(volume_id, compute_id, plugged=False)
    await instances.set_host(store, compute_id, OTHER)
    async with store.transaction() as db:
        account_id = await db.fetchval("select min(id) from account")
        by = log.Starter(environment.queue, db, account_id, "somebody")
        args = BringArgs(volume_id=volume_id, compute_id=compute_id, host=OTHER)
        await log.start(by, BRING, args, VOLUME.entity(volume_id, "label"))
        job_id: int = await db.fetchval("select max(id) from job where kind = $1", BRING.name)
    return BringCase(volumes, there, volume_id, compute_id, job_id)


SCENARIOS = (Scenario(BRING, begin_bring, "bring a volume to the host of its instance"),)
