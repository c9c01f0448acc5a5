"""The images of this host, from which real guests start."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from roost.engines.qemu.images.commands import ImageError
from roost.engines.qemu.images.debian12 import DEBIAN12, build_debian12
from roost.engines.qemu.images.mini import MINI, build_mini
from roost.engines.qemu.images.store import Draft, ImageStore

Builder = Callable[[Draft, Callable[[str], None]], Awaitable[None]]

BUILDERS: dict[str, Builder] = {MINI.id: build_mini, DEBIAN12.id: build_debian12}
"""By the image's id; the quickest first."""

_BUILD_SECONDS = 1800.0

_log = structlog.get_logger(__name__)


async def build_image(
    store: ImageStore, image_id: str, progress: Callable[[str], None], *, again: bool
) -> None:
    """Build one of BUILDERS; unless `again`, not when another process has just done so.

    Raises ImageError, also when it takes longer than half an hour: a mirror may stall.
    """
    try:
        async with asyncio.timeout(_BUILD_SECONDS), store.draft(image_id) as draft:
            if again or store.find(image_id) is None:
                await BUILDERS[image_id](draft, progress)
    except TimeoutError as error:
        raise ImageError(f"{image_id} takes too long to build") from error


class LocalImages:
    """The images that are there, and those that this process builds."""

    def __init__(self, store: ImageStore) -> None:
        self._store = store
        self._coming: tuple[str, ...] = ()

    def has(self, image_id: str) -> bool:
        return self._store.find(image_id) is not None

    def awaits(self, image_id: str) -> bool:
        return image_id in self._coming and not self.has(image_id)

    def expect(self, wanted: Callable[[str], bool]) -> None:
        """Await the `wanted` images that can be built and are missing; `build` makes them."""
        self._coming = tuple(
            image_id
            for image_id in BUILDERS
            if wanted(image_id) and self._store.find(image_id) is None
        )

    async def build(self) -> None:
        """Build what is awaited; one that cannot be built is awaited no more."""
        while self._coming:
            await self._build(self._coming[0])
            self._coming = self._coming[1:]

    async def _build(self, image_id: str) -> None:
        log = _log.bind(image=image_id)
        try:
            await build_image(
                self._store, image_id, lambda text: log.info("image", progress=text), again=False
            )
        except (ImageError, OSError) as error:
            log.error("image_not_built", reason=str(error))
        except Exception:
            log.exception("image_not_built")
