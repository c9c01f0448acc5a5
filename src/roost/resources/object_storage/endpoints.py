"""What the API offers: clusters, buckets and what is done with all (spec A object storage)."""

from roost.resources.object_storage import locks, queries, rules, service
from roost.resources.object_storage.bodies import ChangeAccess, CreateBucket, DeleteBucket
from roost.resources.object_storage.queries import (
    BUCKET_OF_CLUSTER,
    BUCKETS,
    BUCKETS_OF_CLUSTER,
    CLUSTERS,
    EVERY_CLUSTER,
)
from roost.resources.object_storage.records import (
    AccessRow,
    BucketRow,
    ClusterRow,
    ObjectTransferRow,
)
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import DryRun, Page, Rate, endpoint

_CACHE_SECONDS = 60
_READ = ("object_storage:read_only",)
_WRITE = ("object_storage:read_write",)
_MAY_READ = AccountAccess("read_only")
_MAY_WRITE = AccountAccess("read_write")
_RATE = Rate(60, 60)
_ALL = "/object-storage/buckets"
_ONE = f"{_ALL}/{{clusterId}}/{{bucket}}"


@endpoint(
    "GET",
    "/object-storage/clusters",
    public=True,
    returns=Page(ClusterRow),
    filters=CLUSTERS.columns,
    cache_seconds=_CACHE_SECONDS,
)
async def list_object_clusters(call: Call) -> bytes:
    """List clusters of object storage.

    Each is in a region.
    """
    return await call.collection(CLUSTERS)


@endpoint(
    "GET",
    "/object-storage/clusters/{clusterId}",
    public=True,
    returns=ClusterRow,
    cache_seconds=_CACHE_SECONDS,
)
async def view_object_cluster(call: Call) -> bytes:
    """View a cluster of object storage.

    Its buckets have names below its domain.
    """
    return await fetch_record(call.db, EVERY_CLUSTER, (), call.text("clusterId"))


@endpoint(
    "GET",
    _ALL,
    scopes=_READ,
    grant=_MAY_READ,
    returns=Page(BucketRow),
    filters=BUCKETS.columns,
)
async def list_buckets(call: Call) -> bytes:
    """List buckets.

    Those of the account, in all clusters.
    """
    return await call.collection(BUCKETS, call.account_id)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=CreateBucket,
    returns=BucketRow,
    events=("obj_bucket_create",),
    rate=_RATE,
    dry_run=DryRun(),
    after=service.in_force,
)
async def create_bucket(call: Call, body: CreateBucket) -> str:
    """Create a bucket.

    S3 clients can use it when the event is finished. Creating one that the account has already
    answers that one, unchanged.
    """
    return await service.create(call, body)


@endpoint(
    "GET",
    f"{_ALL}/{{clusterId}}",
    scopes=_READ,
    grant=_MAY_READ,
    returns=Page(BucketRow),
    filters=BUCKETS.columns,
)
async def list_buckets_of_cluster(call: Call) -> bytes:
    """List the buckets of a cluster.

    Those of the account.
    """
    cluster = call.text("clusterId")
    await fetch_record(call.db, EVERY_CLUSTER, (), cluster)
    return await call.collection(BUCKETS_OF_CLUSTER, call.account_id, cluster)


@endpoint("GET", _ONE, scopes=_READ, grant=_MAY_READ, returns=BucketRow)
async def view_bucket(call: Call) -> bytes:
    """View a bucket.

    Objects and bytes are counted every minute.
    """
    cluster, label = _named(call)
    return await call.record(label, BUCKET_OF_CLUSTER, call.account_id, cluster)


async def _check_empty(call: Call, body: DeleteBucket) -> DeleteBucket:
    await service.check_empty(call, *_named(call))
    return body


@endpoint(
    "DELETE",
    _ONE,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=DeleteBucket,
    prepare=_check_empty,
    of=view_bucket,
    events=("obj_bucket_delete",),
    rate=_RATE,
    dry_run=DryRun(),
    after=service.in_force,
)
async def delete_bucket(call: Call, _body: DeleteBucket) -> None:
    """Delete a bucket.

    It must be empty. Its label is free when the event is finished.
    """
    await service.delete(call, *_named(call))


@endpoint("GET", f"{_ONE}/access", scopes=_READ, grant=_MAY_READ, returns=AccessRow)
async def view_bucket_access(call: Call) -> AccessRow:
    """View who may use a bucket.

    Beside the keys of the account.
    """
    bucket = await locks.find(call, *_named(call))
    owner = await queries.owner(call.db, call.account_id)
    return {
        "acl": bucket.acl,
        "acl_xml": rules.acl_xml(bucket.acl, owner),
        "cors_enabled": bucket.cors_enabled,
        "cors_xml": rules.cors_xml(bucket.cors_enabled),
    }


@endpoint(
    "POST",
    f"{_ONE}/access",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=ChangeAccess,
    of=view_bucket,
    events=("obj_bucket_update",),
    rate=_RATE,
    after=service.in_force,
)
async def change_bucket_access(call: Call, body: ChangeAccess) -> None:
    """Change who may use a bucket.

    What is omitted stays as it is. It is in force when the event is finished, on objects without
    an ACL of their own.
    """
    await service.change_access(call, *_named(call), body)


@endpoint(
    "PUT",
    f"{_ONE}/access",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=ChangeAccess,
    of=view_bucket,
    events=("obj_bucket_update",),
    rate=_RATE,
    after=service.in_force,
)
async def update_bucket_access(call: Call, body: ChangeAccess) -> None:
    """Update who may use a bucket.

    The same as with `POST`.
    """
    await service.change_access(call, *_named(call), body)


@endpoint(
    "POST",
    "/object-storage/cancel",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    events=("object_storage_cancel",),
)
async def cancel_object_storage(call: Call) -> None:
    """Cancel object storage.

    All buckets with what they hold, and all keys, are deleted for good.
    """
    await service.cancel(call)


@endpoint(
    "GET",
    "/object-storage/transfer",
    scopes=_READ,
    grant=_MAY_READ,
    returns=ObjectTransferRow,
)
async def view_object_transfer(call: Call) -> ObjectTransferRow:
    """View what was sent out of object storage.

    Bytes that clients have got this month.
    """
    return {"used": await service.sent(call)}


def _named(call: Call) -> tuple[str, str]:
    return call.text("clusterId"), call.text("bucket")
