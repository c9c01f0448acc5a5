"""Managed databases put in place by hand, where no worker sets them right."""

from dataclasses import dataclass

from roost.engines.simulated.databases import SimulatedDatabases
from roost.ids import new_uuid
from roost.resources.databases import backup_queries, queries, state_queries
from roost.resources.databases.engine import DatabaseShape, DatabaseState, Fork
from roost.resources.databases.queries import DatabaseFacts, NewDatabase
from roost.resources.databases.records import DatabaseStatus
from roost.secrets import Box
from tests.support.databases import database_engine
from tests.support.stage import REGION, Stage

PASSWORD = "abcDEF123456"
SHAPE = DatabaseShape("mysql", "8.0.30", 1, "none", False, True)


@dataclass(frozen=True, slots=True)
class DatabaseStage:
    stage: Stage

    @property
    def engine(self) -> SimulatedDatabases:
        return database_engine(self.stage.roost, REGION)

    @property
    def box(self) -> Box:
        return self.stage.roost.services.get(Box)

    async def database(
        self, status: DatabaseStatus = "active", *, made: bool = True, fork: Fork | None = None
    ) -> int:
        """A row; when it is made, also a server with `first` in it."""
        roost = self.stage.roost
        new = NewDatabase(
            account_id=await roost.store.fetchval("select min(id) from account"),
            label=f"d-{new_uuid()[:18]}",
            region=REGION,
            engine=SimulatedDatabases.name,
            type="g1-nano-1",
            shape=SHAPE,
            vcpus=1,
            memory=1024,
            disk=25600,
            allow_list=["192.0.2.1/32"],
            updates='{"frequency":"weekly","duration":3,"hour_of_day":0,"day_of_week":1,'
            '"week_of_month":null}',
            password=self.box.seal(PASSWORD.encode()),
            fork=fork,
            now=roost.clock.seconds(),
        )
        inserted = await queries.insert(roost.store, new)
        assert inserted is not None
        database_id = inserted[0]
        if made:
            access = await self.engine.create((await self.known(database_id)).spec(self.box))
            await self.engine.write(database_id, "first")
            await state_queries.set_access(roost.store, database_id, access)
        await state_queries.set_status(roost.store, database_id, status, roost.clock.now())
        return database_id

    async def backup(self, database_id: int, *, made: bool = True) -> int:
        """A row; when it is made, also a copy."""
        store, now = self.stage.roost.store, self.stage.roost.clock.now()
        label = f"b_{new_uuid()[:8]}"
        backup_id = await backup_queries.insert(store, database_id, label, "snapshot", now)
        assert backup_id is not None
        if made:
            await self.engine.back_up(database_id, backup_id, replica=False)
            await backup_queries.set_made(store, backup_id)
            state = await self.held(database_id)
            assert state is not None
            await state_queries.set_oldest_moment(store, database_id, state.oldest_moment)
        return backup_id

    async def row(self, database_id: int) -> DatabaseFacts | None:
        return await queries.find(self.stage.roost.store, database_id)

    async def known(self, database_id: int) -> DatabaseFacts:
        row = await self.row(database_id)
        assert row is not None
        return row

    async def held(self, database_id: int) -> DatabaseState | None:
        return await self.engine.inspect(database_id)
