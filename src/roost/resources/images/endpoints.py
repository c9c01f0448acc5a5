"""What the API offers: public images for everyone, private ones with a token (spec A images)."""

from roost.resources.images import queries
from roost.resources.images.records import ImageRow
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.registry import Page, endpoint

_SCOPE = ("images:read_only",)


def _account(call: Call) -> int | None:
    """Whose private images are seen; nobody's with a token that may not read images."""
    if call.caller is None or not call.caller.scopes.allow(_SCOPE):
        return None
    return call.caller.account_id


@endpoint(
    "GET",
    "/images",
    scopes=_SCOPE,
    public=True,
    returns=Page(ImageRow),
    filters=queries.IMAGES.columns,
)
async def list_images(call: Call) -> bytes:
    """List public images and, with a token, the account's own.

    An image is what the first disk of an instance is copied from.
    """
    return await call.collection(queries.IMAGES, _account(call))


@endpoint("GET", "/images/{imageId:path}", scopes=_SCOPE, public=True, returns=ImageRow)
async def view_image(call: Call) -> bytes:
    """View an image.

    Private images need a token of their account.
    """
    return await fetch_record(call.db, queries.EVERY_IMAGE, (_account(call),), call.text("imageId"))
