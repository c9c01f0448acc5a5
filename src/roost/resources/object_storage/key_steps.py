"""Keys on the servers of regions."""

from roost.core.engine import EngineError
from roost.resources.object_storage import key_queries
from roost.resources.object_storage.engine import KeySpec, ObjectEngine
from roost.resources.object_storage.key_queries import KeyFacts
from roost.secrets import Box
from roost.store import FAULTS, Queries, Store


async def is_wanted(db: Queries, region: str, engine: ObjectEngine, account_id: int) -> bool:
    """Whether keys of the account are to be there: where they cost no server, and where they open
    something. What is started later gets them by `bring_missing`."""
    return await engine.takes_keys() or await key_queries.is_wanted_in(db, region, account_id)


async def bring_to(db: Queries, box: Box, key: KeyFacts, region: str, engine: ObjectEngine) -> None:
    """Let the engine have the key as it should be, or not at all."""
    if key.deleting or not await is_wanted(db, region, engine, key.account_id):
        await engine.delete_key(key.name)
    else:
        await engine.put_key(await _spec(db, box, key, region))


async def missing(db: Queries, engine: ObjectEngine) -> list[int]:
    """Ids of keys that should be there and are not."""
    held = frozenset(await engine.keys())
    names = {key_queries.name_of(key_id): key_id for key_id in await key_queries.ids(db)}
    return sorted(names[name] for name in names.keys() - held)


async def remove_orphans(db: Queries, engine: ObjectEngine) -> None:
    """Keys that a former row had: nobody could revoke them any more."""
    held = [key_queries.id_of(name) for name in await engine.keys()]
    ids = [key_id for key_id in held if key_id is not None]
    for key_id in await key_queries.over(db, ids):
        await engine.delete_key(key_queries.name_of(key_id))


async def _spec(db: Queries, box: Box, key: KeyFacts, region: str) -> KeySpec:
    grants = await key_queries.grants(db, key, region)
    return key.spec(box, grants, await key_queries.lists(db, key, region))


class RegionDoor:
    """A Door of a region."""

    def __init__(self, store: Store, box: Box, region: str, engine: ObjectEngine) -> None:
        self._store = store
        self._box = box
        self._region = region
        self._engine = engine

    async def knows(self, access_key: str) -> bool:
        try:
            return await key_queries.is_known(self._store, access_key)
        except FAULTS as error:
            raise EngineError("The keys cannot be read") from error

    async def bring_keys(self) -> None:
        try:
            for key_id in await missing(self._store, self._engine):
                await self._bring(key_id)
        except FAULTS as error:
            raise EngineError("The keys cannot be read") from error

    async def _bring(self, key_id: int) -> None:
        """Beside jobs on the same account. Each of them tells the engine what the database says
        already, so that what it still says when the engine has it is no older than that."""
        put: KeySpec | None = None
        while (wanted := await self._wanted(key_id)) != put:
            if wanted is None:
                await self._engine.delete_key(key_queries.name_of(key_id))
            else:
                await self._engine.put_key(wanted)
            put = wanted

    async def _wanted(self, key_id: int) -> KeySpec | None:
        key = await key_queries.find(self._store, key_id)
        if key is None or key.deleting:
            return None
        return await _spec(self._store, self._box, key, self._region)
