"""Guest images for tests: built once, kept, shared by all test processes and runs."""

import asyncio
import fcntl
import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from roost.app.images import build_image
from roost.engines.qemu import images
from roost.engines.qemu.images.debian12 import DEBIAN12
from roost.engines.qemu.images.mini import MINI
from roost.engines.qemu.images.store import ImageStore

_KEPT = Path(__file__).parents[2] / ".roost" / "images"


def image_root() -> Path:
    """`ROOST_TEST_IMAGES`, or `.roost/images` of the repository."""
    return Path(os.environ.get("ROOST_TEST_IMAGES") or _KEPT)


def ensure_mini() -> ImageStore:
    """A store that holds `roost/mini`; it takes seconds when it must be built first."""
    return _ensure(MINI.id, ("mini.py", "initrd.py", "disks.py", "guest/[a-z]*"))


def ensure_debian12() -> ImageStore:
    """A store that holds `roost/debian12`; it takes a minute when it must be built first."""
    return _ensure(
        DEBIAN12.id,
        ("debian12.py", "debian12.cfg", "initrd.py", "disks.py", "guest/init"),
    )


def _ensure(image_id: str, sources: tuple[str, ...]) -> ImageStore:
    """Build the image when it is missing or was built from other `sources`."""
    root = image_root()
    root.mkdir(parents=True, exist_ok=True)
    store = ImageStore(root)
    name = image_id.replace("/", "-")
    stamp = root / f".{name}.stamp"
    digest = _digest(sources)
    with (root / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if store.find(image_id) is None or not stamp.exists() or stamp.read_text() != digest:
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, _build(store, image_id)).result()
            stamp.write_text(digest)
    return store


async def _build(store: ImageStore, image_id: str) -> None:
    await build_image(store, image_id, lambda _message: None, again=True)


def _digest(sources: tuple[str, ...]) -> str:
    package = Path(images.__path__[0])
    files = sorted(path for pattern in sources for path in package.glob(pattern))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()
