"""What the API offers: public images for everyone, private ones with a token (spec A images)."""

import orjson

from roost.core.public_url import PublicUrl
from roost.resources.compute.disk_engine import private_image
from roost.resources.images import queries, service, upload_service
from roost.resources.images.bodies import CreateImage, UpdateImage, UploadImage
from roost.resources.images.records import ImageRow, ImageUpload
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Global, Write
from roost.web.registry import DryRun, Page, endpoint

_READ = ("images:read_only",)
_WRITE = ("images:read_write",)
_CREATE = ("images:read_write", "computes:read_only")
_ONE = "/images/{imageId:path}"


def _scope(call: Call) -> tuple[int | None, int | None]:
    """Whose private images are seen; nobody's with a token that may not read images."""
    if call.caller is None or not call.caller.scopes.allow(_READ):
        return None, None
    return call.caller.account_id, call.grantee


@endpoint(
    "GET",
    "/images",
    scopes=_READ,
    public=True,
    returns=Page(ImageRow),
    filters=queries.IMAGES.columns,
)
async def list_images(call: Call) -> bytes:
    """List public images and, with a token, the account's own.

    An image is what the first disk of an instance is copied from. Restricted users see those of
    the account that are granted to them.
    """
    # A token that may name certain entities alone sees what everybody sees.
    scope = _scope(call) if call.names_only is None else (None, None)
    return await call.collection(queries.IMAGES, *scope)


@endpoint(
    "POST",
    "/images",
    scopes=_CREATE,
    grant=Global("add_images"),
    body=CreateImage,
    returns=ImageRow,
    events=("disk_imagize",),
    dry_run=DryRun(),
)
async def create_image(call: Call, body: CreateImage) -> bytes:
    """Create a private image of a disk.

    Of what is on it at one moment, also while its instance runs. It is `available` once it is
    made, for instances in any region of the same engine.
    """
    return await _view(call, private_image(await service.create(call, body)))


@endpoint(
    "POST",
    "/images/upload",
    scopes=_WRITE,
    grant=Global("add_images"),
    body=UploadImage,
    returns=ImageUpload,
    events=("image_upload",),
    dry_run=DryRun(),
)
async def upload_image(call: Call, body: UploadImage) -> bytes:
    """Upload an image.

    Answers the record of a private image and the URL to which its data go: a raw disk of at most
    6144 MB, or what the operator says, compressed by gzip to at most 5 GB. When none come within
    24 hours, the image is deleted. The event tells whether the data have become one.
    """
    number, path = await upload_service.create(call, body)
    row = await _view(call, private_image(number))
    url = orjson.dumps((call.get(PublicUrl).base or call.base) + path)
    return b'{"upload_to":%b,"image":%b}' % (url, row)


@endpoint("GET", _ONE, scopes=_READ, public=True, returns=ImageRow)
async def view_image(call: Call) -> bytes:
    """View an image.

    Private images need a token of their account, and of a restricted user a grant.
    """
    return await _view(call, call.text("imageId"))


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=Write("image"),
    body=UpdateImage,
    of=view_image,
    returns=ImageRow,
    events=("image_update",),
)
async def update_image(call: Call, body: UpdateImage) -> bytes:
    """Update a private image.

    Its label and what is said of it; what it holds stays.
    """
    await service.update(call, call.text("imageId"), body)
    return await _view(call, call.text("imageId"))


@endpoint(
    "DELETE",
    _ONE,
    scopes=_WRITE,
    grant=Write("image"),
    events=("image_delete",),
    dry_run=DryRun(),
)
async def delete_image(call: Call) -> None:
    """Delete a private image.

    This cannot be taken back. Disks that were copied from it stay.
    """
    await service.delete(call, call.text("imageId"))


async def _view(call: Call, image_id: str) -> bytes:
    return await fetch_record(call.db, queries.EVERY_IMAGE, _scope(call), image_id)
