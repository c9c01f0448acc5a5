"""Guest images for tests: built once, kept, shared by all test processes and runs."""

import asyncio
import fcntl
import hashlib
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from roost.engines.qemu import images
from roost.engines.qemu.images.debian12 import DEBIAN12, build_debian12
from roost.engines.qemu.images.mini import MINI, build_mini
from roost.engines.qemu.images.store import ImageStore

_KEPT = Path(__file__).parents[2] / ".roost" / "images"

Builder = Callable[[ImageStore, Callable[[str], None]], Coroutine[None, None, None]]


def image_root() -> Path:
    """`ROOST_TEST_IMAGES`, or `.roost/images` of the repository."""
    return Path(os.environ.get("ROOST_TEST_IMAGES") or _KEPT)


def ensure_mini() -> ImageStore:
    """A store that holds `roost/mini`; it takes seconds when it must be built first."""
    return _ensure(MINI.id, build_mini, ("mini.py", "initrd.py", "disks.py", "guest/[a-z]*"))


def ensure_debian12() -> ImageStore:
    """A store that holds `roost/debian12`; it takes a minute when it must be built first."""
    return _ensure(
        DEBIAN12.id,
        build_debian12,
        ("debian12.py", "debian12.cfg", "initrd.py", "disks.py", "guest/init"),
    )


def _ensure(image_id: str, build: Builder, sources: tuple[str, ...]) -> ImageStore:
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
                thread.submit(lambda: asyncio.run(build(store, lambda _message: None))).result()
            stamp.write_text(digest)
    return store


def _digest(sources: tuple[str, ...]) -> str:
    package = Path(images.__path__[0])
    files = sorted(path for pattern in sources for path in package.glob(pattern))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()
