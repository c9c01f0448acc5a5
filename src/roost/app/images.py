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
    """What the regions of this host offer: what is there, and what is on its way.

    An instance that is created meanwhile waits for its image.
    """

    def __init__(self, store: ImageStore) -> None:
        self._store = store
        self._coming: tuple[str, ...] = ()

    def has(self, image_id: str) -> bool:
        return image_id in self._coming or self._store.find(image_id) is not None

    def expect(self, wanted: Callable[[str], bool]) -> None:
        """Promise the `wanted` images that can be built and are missing; `build` makes them."""
        self._coming = tuple(
            image_id
            for image_id in BUILDERS
            if wanted(image_id) and self._store.find(image_id) is None
        )

    async def build(self) -> None:
        """Build what was promised; one that cannot be built is not offered any more."""
        while self._coming:
            image_id = self._coming[0]
            log = _log.bind(image=image_id)
            try:
                await BUILDERS[image_id](
                    self._store, lambda progress, log=log: log.info("image", progress=progress)
                )
            except (ImageError, OSError) as error:
                log.error("image_not_built", reason=str(error))
            self._coming = self._coming[1:]
