"""How much an account may store in buckets: the engine is told, and there are no more buckets."""

from roost.app.roost import Roost
from roost.core.limits.queries import set_limit
from roost.resources.object_storage import watch_jobs
from roost.resources.object_storage.engine import Share
from tests.api.conftest import Account
from tests.support.client import Client, until
from tests.support.object_storage import BUCKETS, bucket_body, made_bucket, object_engine

GB = 10**9


async def counted(roost: Roost, label: str) -> Share | None:
    """What the engine is told of the bucket's account by the next count."""
    engine = object_engine(roost)
    engine.shares = before = [Share((), 0)]
    async with roost.store.transaction() as db:
        await roost.queue.enqueue(db, watch_jobs.COUNT, watch_jobs.COUNTED.args)

    async def told() -> bool:
        return engine.shares is not before

    await until(told, bool)
    return next((each for each in engine.shares if label in each.buckets), None)


async def test_the_engine_is_told_what_is_left(
    client: Client, roost: Roost, account: Account
) -> None:
    """Of all buckets, also of other regions; and only where the limit is within reach."""
    first, second = await made_bucket(client), await made_bucket(client)
    far = await made_bucket(client, cluster="br-south-1")
    label = first["label"]
    assert await counted(roost, label) is None
    await set_limit(roost.store, account.id, "object_storage", 20)
    await object_engine(roost).write(label, "a", 3 * GB)
    await object_engine(roost, "br-south").write(far["label"], "a", 2 * GB)
    await counted(roost, label)
    labels = tuple(sorted((label, second["label"])))
    assert await counted(roost, label) == Share(labels, 15 * GB)
    await set_limit(roost.store, account.id, "object_storage", None)
    assert await counted(roost, label) is None


async def test_who_has_too_much_makes_no_more_buckets(
    client: Client, roost: Roost, account: Account
) -> None:
    bucket = await made_bucket(client)
    await set_limit(roost.store, account.id, "object_storage", 2)
    await object_engine(roost).write(bucket["label"], "a", 3 * GB)
    share = await counted(roost, bucket["label"])
    assert share == Share((bucket["label"],), -GB)
    answer = await client.send("POST", BUCKETS, bucket_body())
    assert answer.status == 400
    assert "It may have at most 2 GB in buckets." in answer.problems[0][1]
