"""What servers have and no row knows: it belongs to nobody any more, and is removed.

Only what certainly was somebody's is: a database that was restored from a backup may know less than
the servers have, and their data are all that is left of those buckets.
"""

from collections.abc import Mapping

import structlog

from roost.resources.object_storage import key_queries, queries
from roost.resources.object_storage.engine import BucketSpec, HeldBucket, ObjectEngine, TakenError
from roost.store import Queries, Store

_log = structlog.get_logger(__name__)


async def put(store: Store, engine: ObjectEngine, bucket: BucketSpec) -> None:
    """Put a bucket; what a former one of its name has left goes before."""
    try:
        await engine.put_bucket(bucket)
    except TakenError:
        held = (await engine.buckets()).get(bucket.name)
        if held is None or not await _is_left(store, bucket, held):
            raise
        await engine.purge_bucket(bucket.name, held.mark)
        await engine.put_bucket(bucket)


async def _is_left(db: Queries, bucket: BucketSpec, held: HeldBucket) -> bool:
    if held.mark is None:
        return bucket.is_new
    return held.mark != bucket.mark and await queries.is_over(db, held.mark)


async def unknown(
    db: Queries, region: str, held: Mapping[str, HeldBucket]
) -> Mapping[str, HeldBucket]:
    """Those that belong to no row."""
    marks = await queries.marks(db, region, list(held))
    return {
        name: each
        for name, each in held.items()
        if name not in marks or each.mark not in (None, marks[name])
    }


async def remove(
    store: Store, region: str, engine: ObjectEngine, name: str, held: HeldBucket
) -> None:
    """Unless somebody may still want it: who has the key with which it was made, or an operator who
    has restored an older database than the servers have known."""
    wanted = (
        not await queries.is_over(store, held.mark) if held.mark else await _is_kept(store, held)
    )
    if wanted and held.mark is not None:
        _log.warning("object_bucket_unknown", region=region, bucket=name)
    if not wanted:
        await engine.purge_bucket(name, held.mark)
        _log.info("object_bucket_removed", region=region, bucket=name)


async def _is_kept(db: Queries, held: HeldBucket) -> bool:
    """Whether it is the operator's, or a key is there with which it was made."""
    if held.maker is None:
        return False
    key_id = key_queries.id_of(held.maker)
    key = None if key_id is None else await key_queries.find(db, key_id)
    return key_id is None or (key is not None and not key.deleting)
