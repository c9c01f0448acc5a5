"""Certificates of buckets, which the TLS listener shows (spec A object storage ssl create)."""

from roost.core.context import Context
from roost.core.events import log
from roost.errors import invalid, not_found
from roost.resources.object_storage import certificate_queries as queries
from roost.resources.object_storage import certificate_rules as rules
from roost.resources.object_storage import locks
from roost.resources.object_storage.bodies import UploadCertificate
from roost.resources.object_storage.queries import BUCKET
from roost.secrets import Box
from roost.threads import COMPUTING

_TAKEN = "The bucket has a certificate; delete it before you upload another"


async def find(context: Context, cluster: str, label: str) -> queries.Named:
    """404 unless the account has the bucket."""
    found = await queries.find(context.db, context.account_id, cluster, label)
    if found is None:
        raise not_found()
    return found


async def check(context: Context, cluster: str, label: str, body: UploadCertificate) -> None:
    """Called while no transaction is open. Raises 400 for what cannot be served."""
    found = await find(context, cluster, label)
    if found.has_certificate:
        raise invalid(_TAKEN)
    now = context.clock.now()
    await COMPUTING.run(rules.check, body.certificate, body.private_key, found.hostname, now)


async def upload(context: Context, cluster: str, label: str, body: UploadCertificate) -> None:
    bucket = await locks.lock(context, cluster, label)
    sealed = context.get(Box).seal(body.private_key.encode())
    now = context.clock.seconds()
    if not await queries.insert(context.db, bucket.id, body.certificate, sealed, now):
        raise invalid(_TAKEN)
    await log.notify(context, "obj_bucket_ssl_upload", BUCKET.entity(cluster, label))


async def delete(context: Context, cluster: str, label: str) -> None:
    """Nothing happens where there is none."""
    bucket = await locks.lock(context, cluster, label)
    if await queries.delete(context.db, bucket.id):
        await log.notify(context, "obj_bucket_ssl_delete", BUCKET.entity(cluster, label))
