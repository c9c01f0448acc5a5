"""Samples of object storage."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value, standing
from tests.support.client import Client
from tests.support.object_storage import (
    BUCKETS,
    CLUSTER,
    KEYS,
    bucket_body,
    made_bucket,
    object_engine,
)

OBJECT = "a"


async def _bucket(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """With an object, which goes as soon as the bucket does."""
    row = await made_bucket(client)
    await object_engine(roost).write(row["label"], OBJECT)
    return str(row["label"])


async def _row(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return str((await client.post(BUCKETS, bucket_body()))["label"])


async def _cluster(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """With a bucket of the account."""
    await client.post(BUCKETS, bucket_body())
    return CLUSTER


async def _key(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await client.post(KEYS, {}))["id"])


SAMPLES = Samples(
    {
        "view_object_cluster": standing(CLUSTER, "none"),
        "list_buckets_of_cluster": Sample(_cluster, "none", shared=True),
        "view_bucket": Sample(_bucket, "none"),
        "view_object_key": Sample(_key),
    },
    rows={"list_buckets": _row},
    queries={"view_object_acl": f"name={OBJECT}", "list_objects": "prefix=a"},
)
