"""Uploads of images: making the record, and taking the data in (spec A images upload)."""

import secrets
from datetime import timedelta

from roost.clock import Clock
from roost.core.access import give_to_creator
from roost.core.context import Context
from roost.core.events import log
from roost.core.limits.check import check_limits
from roost.core.planes import Engines
from roost.core.spool import SparseFile
from roost.jobs.queue import JobQueue
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.images import queries, upload_queries
from roost.resources.images.bodies import UploadImage
from roost.resources.images.locks import entity_of
from roost.resources.images.queries import IMAGE, LIMIT
from roost.resources.images.upload_jobs import UPLOAD, UploadArgs
from roost.resources.images.upload_queries import NewUpload, Pending
from roost.resources.images.upload_rules import WINDOW, Unpacker
from roost.secrets import hash_token
from roost.store import Store

PATH = "/image-uploads/"
"""Where data are sent, before the secret."""
SECONDS = 6 * 3600
"""Of one attempt to send them."""


async def create(context: Context, body: UploadImage) -> tuple[int, str]:
    """The number of an image that waits for data, and the path to which they go."""
    secret = secrets.token_urlsafe(32)
    now = context.clock.seconds()
    new = NewUpload(
        account_id=context.account_id,
        created_by=context.identity.username,
        label=body.label,
        description=body.description,
        region=body.region,
        engine=context.get(Engines).of(INSTANCE_PLANE, body.region).name,
        capabilities=["cloud-init"] if body.cloud_init else [],
        now=now,
        hash=hash_token(secret),
        until=now + WINDOW,
    )
    number = await upload_queries.insert(context.db, new)
    await give_to_creator(context, IMAGE.name, number)
    await check_limits(context, LIMIT)
    return number, PATH + secret


async def begin(store: Store, clock: Clock, secret: str) -> Pending | None:
    """Whose data these are; None when nobody waits for them (spec A images 6)."""
    now = clock.now()
    until = now + timedelta(seconds=SECONDS)
    return await upload_queries.begin(store, hash_token(secret), now - WINDOW, until)


async def end(store: Store, queue: JobQueue, pending: Pending, refused: str | None) -> bool:
    """A job makes the image, or tells why it does not. False when nobody waits any more."""
    async with store.transaction() as db:
        image = await queries.lock(db, pending.number)
        if image is None or image.deleting or image.status != "pending_upload":
            return False
        await upload_queries.set_creating(db, image.number)
        by = log.Starter(queue, db, image.account_id, pending.created_by)
        args = UploadArgs(number=image.number, refused=refused)
        await log.start(by, UPLOAD, args, entity_of(image))
    return True


def take(file: SparseFile, unpacker: Unpacker, data: bytes) -> None:
    """Unpack what has come into the file. Blocks; raises RefusedError and OSError."""
    for piece in unpacker.feed(data):
        file.write(piece)


def finish(file: SparseFile, unpacker: Unpacker) -> None:
    """Unpack what is left at the end of the data."""
    file.write(unpacker.end())
    file.finish()
