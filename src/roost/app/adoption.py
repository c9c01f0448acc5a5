"""Private images out of the days before each cloud had a folder of its own for them."""

from collections.abc import Collection, Mapping

import structlog

from roost.core.catalog.catalog import PRIVATE
from roost.engines.qemu.images.adopting import adopt, adopt_uploads, made
from roost.engines.qemu.images.store import GuestImage, ImageStore
from roost.resources.images import queries
from roost.resources.images.queries import Made
from roost.store import Queries
from roost.threads import DISK

_log = structlog.get_logger(__name__)


async def adopt_images(
    store: ImageStore, db: Queries, engines: Collection[str], *, shared: bool
) -> None:
    """All of a root that belongs to this state; of a `shared` one what rows of `engines` describe.

    Two clouds have given the same numbers, so there the size and the time have to fit too. What
    fits no row stays where it is, and is nobody's. Raises OSError.
    """
    if not shared:
        await adopt_uploads(store)
    left = await DISK.run(_left, store)
    if not left:
        return
    rows = await queries.made(db, left, engines) if shared else {}
    taken = await adopt(store, lambda image: not shared or _fits(image, rows))
    if taken:
        _log.info("images_adopted", images=taken, folder=str(store.private))
    if stay := sorted({f"{PRIVATE}{number}" for number in left} - {*taken}):
        _log.warning("images_of_nobody", images=stay, folder=str(store.root))


def _left(store: ImageStore) -> list[int]:
    if store.private == store.root:
        return []
    paths = store.root.glob(f"{PRIVATE}[0-9]*")
    return [int(path.name) for path in paths if path.name.isdecimal()]


def _fits(image: GuestImage, rows: Mapping[int, Made]) -> bool:
    row = rows.get(int(image.info.id.removeprefix(PRIVATE)))
    return (
        row is not None
        and row.size == image.info.virtual_size
        and row.began <= made(image).replace(microsecond=0) <= row.ended
    )
