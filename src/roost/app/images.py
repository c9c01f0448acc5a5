"""The images of this host, from which real guests start."""

from collections.abc import Callable, Coroutine

import structlog

from roost.engines.qemu.images.commands import ImageError
from roost.engines.qemu.images.debian12 import DEBIAN12, build_debian12
from roost.engines.qemu.images.mini import MINI, build_mini
from roost.engines.qemu.images.store import ImageStore
from roost.settings import Settings

Builder = Callable[[ImageStore, Callable[[str], None]], Coroutine[None, None, None]]

BUILDERS: dict[str, Builder] = {MINI.id: build_mini, DEBIAN12.id: build_debian12}
"""By the image's id; the quickest first."""

_log = structlog.get_logger(__name__)


def image_store(settings: Settings) -> ImageStore:
    return ImageStore(settings.images or settings.state / "images")


class LocalImages:
    """The images that are there, and those that this process builds."""

    def __init__(self, store: ImageStore) -> None:
        self._store = store
        self._coming: tuple[str, ...] = ()

    def has(self, image_id: str) -> bool:
        return self._store.find(image_id) is not None

    def awaits(self, image_id: str) -> bool:
        return image_id in self._coming

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
            await BUILDERS[image_id](self._store, lambda text: log.info("image", progress=text))
        except (ImageError, OSError) as error:
            log.error("image_not_built", reason=str(error))
