"""Tags that two transactions are about at the same time: no tag dangles, nobody is refused."""

import asyncio
import random

import pytest

from roost.app.roost import Roost
from roost.core.addresses.queries import release
from roost.core.planes import Engines
from roost.resources.compute import queries as computes
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.tags import queries
from roost.store import Queries
from tests.api.conftest import Account
from tests.support.blocking import blocks
from tests.support.client import Answer, Client, Json, until
from tests.support.instances import INSTANCES, made
from tests.support.tags import TAGS, labels, one, tagged

pytestmark = pytest.mark.spec("B tags create", "B tags delete")

_GIVE = "update compute_instance set tags = array['gold'] where id = $1"


@pytest.fixture
async def row(client: Client) -> Json:
    return await made(client)


class Sender:
    """Sends requests that wait for a transaction of the test."""

    def __init__(self, client: Client, roost: Roost) -> None:
        self._client = client
        self._roost = roost

    async def begin(
        self, db: Queries, method: str, path: str, body: Json = None
    ) -> asyncio.Task[Answer]:
        """The request, when it waits for that transaction."""
        task = asyncio.create_task(self._client.send(method, path, body))
        await until(lambda: blocks(self._roost, db), bool)
        assert not task.done()
        return task


@pytest.fixture
def sender(client: Client, roost: Roost) -> Sender:
    return Sender(client, roost)


async def test_an_entity_is_gone_when_it_would_get_the_tag(
    client: Client, roost: Roost, sender: Sender, row: Json
) -> None:
    await roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake").delete(row["id"])
    async with roost.store.transaction() as db:
        await release(db, row["id"], roost.clock.now())
        await computes.delete(db, row["id"])
        task = await sender.begin(db, "POST", TAGS, {"label": "gold", "computes": [row["id"]]})
    answer = await task
    assert (answer.status, answer.problems) == (400, [("computes[0]", "Not found")])
    assert await labels(client) == []


async def test_an_entity_got_the_tag_when_it_goes(
    client: Client, roost: Roost, account: Account, sender: Sender, row: Json
) -> None:
    path = f"{INSTANCES}/{row['id']}"
    async with roost.store.transaction() as db:
        await queries.claim(db, account.id, ["gold"])
        await db.execute(_GIVE, row["id"])
        task = await sender.begin(db, "DELETE", path)
    assert (await task).status == 200
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    assert await labels(client) == ["gold"]
    assert await tagged(client, "gold") == []


async def test_a_tag_is_deleted_that_an_entity_has_just_got(
    client: Client, roost: Roost, account: Account, sender: Sender, row: Json
) -> None:
    await client.post(TAGS, {"label": "gold"})
    async with roost.store.transaction() as db:
        await queries.claim(db, account.id, ["gold", "kept"])
        await db.execute(_GIVE, row["id"])
        task = await sender.begin(db, "DELETE", one("gold"))
    assert (await task).status == 200
    assert await client.get(f"{INSTANCES}/{row['id']}") == row
    assert await labels(client) == ["kept"]


@pytest.mark.parametrize("given", ["PUT", "POST"])
async def test_an_entity_gets_a_tag_that_was_just_deleted(
    client: Client, roost: Roost, account: Account, sender: Sender, row: Json, given: str
) -> None:
    await client.post(TAGS, {"label": "gold"})
    path, body = f"{INSTANCES}/{row['id']}", {"tags": ["gold"]}
    async with roost.store.transaction() as db:
        assert await queries.delete(db, account.id, "gold")
        if given == "PUT":
            task = await sender.begin(db, "PUT", path, body)
        else:
            task = await sender.begin(db, "POST", TAGS, {"label": "gold", "computes": [row["id"]]})
    assert (await task).status == 200
    assert (await client.get(path))["tags"] == ["gold"]
    assert await tagged(client, "gold") == [("compute", row["id"])]


async def test_two_who_make_the_same_tag(
    client: Client, roost: Roost, account: Account, sender: Sender
) -> None:
    async with roost.store.transaction() as db:
        await queries.claim(db, account.id, ["gold"])
        task = await sender.begin(db, "POST", TAGS, {"label": "gold"})
    assert (await task).status == 200
    assert await labels(client) == ["gold"]


async def test_many_at_once(client: Client) -> None:
    """Whatever tags the entities have in the end exist, and no request failed."""
    ids = sorted([int((await made(client))["id"]) for _ in range(3)])
    chance, names = random.Random(6), ("gold", "blue", "red")

    def request() -> tuple[str, str, Json]:
        some = chance.sample(names, 2)
        match chance.randrange(3):
            case 0:
                return "POST", TAGS, {"label": some[0], "computes": chance.sample(ids, 3)}
            case 1:
                return "PUT", f"{INSTANCES}/{chance.choice(ids)}", {"tags": some}
            case _:
                return "DELETE", one(some[0]), None

    for _ in range(4):
        sent = [request() for _ in range(30)]
        answers = await asyncio.gather(*(client.send(*each) for each in sent))
        for (method, _, _), answer in zip(sent, answers, strict=True):
            assert answer.status in ((200, 404) if method == "DELETE" else (200,)), answer.body
        rows = (await client.get(INSTANCES))["data"]
        for name in names:
            having = [("compute", row["id"]) for row in rows if name in row["tags"]]
            if name in await labels(client):
                assert await tagged(client, name) == having
            else:
                assert having == []
