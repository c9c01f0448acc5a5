"""Volumes put in place by hand, in whatever state, where no worker sets them right."""

from dataclasses import dataclass

from roost.engines.simulated.volumes import SimulatedVolumes
from roost.ids import new_uuid
from roost.resources.compute.configs import device_queries as slots
from roost.resources.volumes import queries
from roost.resources.volumes.engine import VolumeSpec, VolumeState
from roost.resources.volumes.queries import NewVolume, VolumeFacts
from roost.resources.volumes.records import VolumeStatus
from roost.settings import MAIN_HOST
from tests.support.stage import REGION, Stage
from tests.support.volumes import volume_engine


@dataclass(frozen=True, slots=True)
class VolumeStage:
    stage: Stage

    def engine(self, region: str = REGION) -> SimulatedVolumes:
        return volume_engine(self.stage.roost, region)

    async def volume(
        self,
        status: VolumeStatus = "active",
        *,
        size: int = 20,
        made: bool = True,
        held: bool | None = None,
        source_id: int | None = None,
        region: str = REGION,
    ) -> int:
        """A row; unless `held` is false also its data, when the row says that they are made."""
        store = self.stage.roost.store
        new = NewVolume(
            account_id=await store.fetchval("select min(id) from account"),
            label=f"v-{new_uuid()[:18]}",
            region=region,
            engine=SimulatedVolumes.name,
            host=MAIN_HOST,
            size=size,
            tags=[],
            source_id=source_id,
            now=self.stage.roost.clock.seconds(),
        )
        inserted = await queries.insert(store, new)
        assert inserted is not None
        volume_id = inserted[0]
        await self.change(volume_id, "status = $2, made = $3", status, made)
        if made if held is None else held:
            await self.engine().create(VolumeSpec(volume_id, size))
        return volume_id

    async def attach(
        self, volume_id: int, compute_id: int, *, persists: bool = True, plugged: bool = True
    ) -> None:
        """Attach a volume, and plug it in where the instance's guest runs."""
        store = self.stage.roost.store
        now = self.stage.roost.clock.now()
        await queries.attach(store, volume_id, compute_id, persists, now)
        if persists:
            config_id = (await self.stage.row(compute_id)).config_id
            assert config_id is not None
            assert await slots.add_volume(store, config_id, volume_id)
        if plugged:
            row = await self.row(volume_id)
            assert row is not None
            await self.engine().plug(volume_id, row.label, compute_id)

    async def row(self, volume_id: int) -> VolumeFacts | None:
        return await queries.find(self.stage.roost.store, volume_id)

    async def data(self, volume_id: int) -> VolumeState | None:
        return await self.engine().inspect(volume_id)

    async def change(self, volume_id: int, assignment: str, *values: object) -> None:
        """Write to a row behind everybody's back."""
        sql = f"update volume set {assignment} where id = $1"
        await self.stage.roost.store.execute(sql, volume_id, *values)

    async def slots(self, volume_id: int) -> int:
        return len(await slots.volume_slots(self.stage.roost.store, [volume_id]))
