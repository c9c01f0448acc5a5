"""What the API offers: certificates of buckets (spec A object storage ssl create)."""

from roost.resources.object_storage import certificate_service as service
from roost.resources.object_storage import endpoints
from roost.resources.object_storage.bodies import UploadCertificate
from roost.resources.object_storage.records import BucketSslRow
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import Rate, endpoint

_ONE = "/object-storage/buckets/{clusterId}/{bucket}/ssl"
_READ, _WRITE = ("object_storage:read_only",), ("object_storage:read_write",)
_MAY_READ, _MAY_WRITE = AccountAccess("read_only"), AccountAccess("read_write")
_RATE = Rate(30, 60)


@endpoint(
    "GET", _ONE, scopes=_READ, grant=_MAY_READ, of=endpoints.view_bucket, returns=BucketSslRow
)
async def view_bucket_ssl(call: Call) -> BucketSslRow:
    """View whether a bucket has a certificate.

    It is shown to clients that call the bucket by its `hostname`.
    """
    return {"ssl": (await service.find(call, *_named(call))).has_certificate}


async def _check(call: Call, body: UploadCertificate) -> UploadCertificate:
    await service.check(call, *_named(call), body)
    return body


@endpoint(
    "POST",
    _ONE,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=UploadCertificate,
    prepare=_check,
    of=endpoints.view_bucket,
    returns=BucketSslRow,
    events=("obj_bucket_ssl_upload",),
    rate=_RATE,
)
async def upload_bucket_ssl(call: Call, body: UploadCertificate) -> BucketSslRow:
    """Upload a certificate for a bucket.

    It must be for the `hostname` of the bucket, which has none yet: to replace one, delete it
    first.
    """
    await service.upload(call, *_named(call), body)
    return {"ssl": True}


@endpoint(
    "DELETE",
    _ONE,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    of=endpoints.view_bucket,
    events=("obj_bucket_ssl_delete",),
    rate=_RATE,
)
async def delete_bucket_ssl(call: Call) -> None:
    """Delete the certificate of a bucket.

    Clients that call it by TLS are refused from then on.
    """
    await service.delete(call, *_named(call))


def _named(call: Call) -> tuple[str, str]:
    return call.text("clusterId"), call.text("bucket")
