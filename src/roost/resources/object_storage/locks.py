"""Finding and locking a bucket or a key of the account."""

from roost.core.context import Context
from roost.errors import ApiError, Problem, not_found
from roost.resources.object_storage import key_queries, queries
from roost.resources.object_storage.key_queries import KeyFacts
from roost.resources.object_storage.queries import BucketFacts

KEY_NOT_FOUND = "The specified access key was not found."


def resource_of(account_id: int) -> str:
    """The name under which jobs on buckets and keys of an account run one at a time: what a key may
    do depends on all of its buckets."""
    return f"object_storage:{account_id}"


async def find(context: Context, cluster: str, label: str) -> BucketFacts:
    """404 unless the account has it."""
    bucket = await queries.find_own(context.db, context.account_id, cluster, label)
    if bucket is None:
        raise not_found()
    return bucket


async def lock(context: Context, cluster: str, label: str) -> BucketFacts:
    """The caller's bucket, which nobody else changes until the end of the transaction."""
    bucket = await queries.lock(context.db, context.account_id, cluster, label)
    if bucket is None:
        raise not_found()
    return bucket


async def lock_key(context: Context, key_id: int) -> KeyFacts:
    """A key of the account, which nobody else changes until the end of the transaction; 404."""
    key = await key_queries.lock(context.db, context.account_id, key_id)
    if key is None:
        raise key_not_found()
    return key


def key_not_found() -> ApiError:
    return ApiError(404, [Problem(KEY_NOT_FOUND)])
