"""Private images out of the days when clouds that share a root had no folders of their own."""

from collections.abc import Callable
from datetime import UTC, datetime

from roost.core.catalog.catalog import PRIVATE
from roost.engines.locks import locked
from roost.engines.qemu.host.files import sync
from roost.engines.qemu.images.store import INFO, UPLOADS, VERSIONS, GuestImage, ImageStore, load
from roost.threads import DISK


async def adopt(store: ImageStore, ours: Callable[[GuestImage], bool]) -> list[str]:
    """Take those of the root that are `ours` to the cloud's folder; their ids. Raises OSError.

    What a killed process has begun is gone on with. Of two clouds the first one has an image.
    """
    common = store.root / PRIVATE
    if store.private == store.root or not common.is_dir():
        return []
    async with locked(common):
        return await DISK.run(_adopt, store, ours)


async def adopt_uploads(store: ImageStore) -> None:
    """Take what was being sent to the only cloud of the root. Raises OSError."""
    await DISK.run(_adopt_uploads, store)


def made(image: GuestImage) -> datetime:
    """When it became whole (UTC)."""
    written = (image.directory / INFO).stat().st_mtime
    return datetime.fromtimestamp(written, UTC).replace(tzinfo=None)


def _adopt(store: ImageStore, ours: Callable[[GuestImage], bool]) -> list[str]:
    taken = list[str]()
    for link in sorted((store.root / PRIVATE).iterdir()):
        image_id = f"{PRIVATE}{link.name}"
        former = link.resolve()
        place = store.private / VERSIONS / image_id / former.name
        image = load(former) or load(place)
        if image is None or store.find(image_id) is not None or not ours(image):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            former.rename(place)
            sync(former.parent)
        store.put(image_id, place)
        link.unlink()
        sync(link.parent)
        taken.append(image_id)
    return taken


def _adopt_uploads(store: ImageStore) -> None:
    former = store.root / UPLOADS
    if store.private == store.root or not former.is_dir():
        return
    target = store.private / UPLOADS
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in former.iterdir():
        path.rename(target / path.name)
    former.rmdir()
