"""Thumbnails: whatever is sent is decoded within limits and written anew as a small PNG.

So a served thumbnail never holds a byte of the upload: no metadata, and nothing else to run.
"""

import io

from roost.core.context import Context
from roost.core.events import log
from roost.errors import ApiError, invalid, not_found
from roost.resources.oauth_clients import queries
from roost.resources.oauth_clients.entity import OAUTH_CLIENT
from roost.resources.oauth_clients.queries import OAuthClient
from roost.threads import COMPUTING

MAX_PIXELS = 2048
"""Width and height of an upload; decoded it takes 16 MiB at most."""
SIZE = 128
"""Width and height that a thumbnail has at most; larger images are scaled down."""

_FORMATS = {b"\x89PNG\r\n\x1a\n": "PNG", b"\xff\xd8\xff": "JPEG"}


async def make_thumbnail(_call: Context, raw: bytes) -> bytes:
    """A PNG; ApiError 400 for what is no sound PNG or JPEG, or too large."""
    return await COMPUTING.run(decode_thumbnail, raw)


def decode_thumbnail(raw: bytes) -> bytes:
    """Decode a thumbnail in the caller's own thread."""
    # Seldom needed, and slow to load.
    from PIL.Image import DecompressionBombError

    kind = next((kind for start, kind in _FORMATS.items() if raw.startswith(start)), None)
    if kind is None:
        raise _broken()
    try:
        return _encode(raw, kind)
    except ApiError:
        raise
    except DecompressionBombError:
        raise _too_large() from None
    except Exception:  # Decoders raise errors of many types for crafted files.
        raise _broken() from None


def _encode(raw: bytes, kind: str) -> bytes:
    from PIL import Image

    with Image.open(io.BytesIO(raw), formats=(kind,)) as image:
        if max(image.size) > MAX_PIXELS:
            raise _too_large()
        plain = image.convert("RGBA")
    plain.thumbnail((SIZE, SIZE))
    bare = Image.frombytes("RGBA", plain.size, plain.tobytes())
    file = io.BytesIO()
    bare.save(file, "PNG", optimize=True)
    return file.getvalue()


def _broken() -> ApiError:
    return invalid("The body must be a PNG or JPEG image")


def _too_large() -> ApiError:
    return invalid(f"The image must not be larger than {MAX_PIXELS}x{MAX_PIXELS} pixels")


async def lock(context: Context, client_id: str) -> OAuthClient:
    """One that nobody else changes until the end of the transaction; 404."""
    client = await queries.lock(context.db, context.account_id, client_id)
    if client is None:
        raise not_found()
    return client


async def delete(context: Context, client_id: str) -> None:
    """With all tokens issued to it. Raises 404."""
    client = await lock(context, client_id)
    await queries.delete(context.db, client.id)
    await context.revoke()
    await log.notify(context, "oauth_client_delete", OAUTH_CLIENT.entity(client.id, client.label))
