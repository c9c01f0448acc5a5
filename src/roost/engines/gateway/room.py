"""How much more may be stored: what the server's disk has left, and what accounts may have.

What accounts may have outlives the process, in a file.
"""

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import structlog

from roost.engines.gateway.faults import S3Error
from roost.threads import DISK

_LOOK_SECONDS = 1.0
_SAVE_SECONDS = 1.0
"""Of bytes put, which a process that is killed may forget."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Share:
    """What an account may add to buckets."""

    labels: tuple[str, ...]
    left: int
    """Bytes, when they were counted last."""


class Room:
    """The room of a region. What is being stored counts before it is there."""

    def __init__(self, folder: Path, min_free: int) -> None:
        """`min_free`: bytes that the disk of the folder keeps."""
        self._folder = folder
        self._min_free = min_free
        self._free = 0
        self._looked = float("-inf")
        self._shares: dict[str, Share] = {}
        self._added = Counter[str]()
        """Bytes, by bucket, that its last count may not have."""
        self._counted: dict[str, int] = {}
        """So much of that is in the count that goes on."""
        self._file = folder / "room.json"
        self._saved, self._shares_text = "", "[]"
        self._saving = asyncio.Lock()
        self._load()

    @property
    def is_full(self) -> bool:
        return self._left_on_disk() < 0

    def check(self, label: str, size: int = 0) -> None:
        """Raises S3Error when there is no room for so many bytes in a bucket."""
        if self._left_on_disk() < size:
            message = "The storage of this region is full. Objects can be read and deleted."
            raise S3Error(507, "InsufficientStorage", message)
        share = self._shares.get(label)
        if share is not None and self._left(share) < size:
            message = (
                "The account may not store as much. Delete objects, or ask for a higher limit."
            )
            raise S3Error(403, "QuotaExceeded", message)

    @contextmanager
    def taken(self, label: str, size: int) -> Iterator[None]:
        """While so many bytes are put. Raises S3Error as `check` does."""
        self.check(label, size)
        self._free -= size
        self._added[label] += size
        try:
            yield
        except BaseException:
            self._added[label] -= size
            raise

    def count_begins(self, label: str) -> None:
        """What was put before is in what is going to be said of it by `set_shares`."""
        self._counted[label] = self._added[label]

    def set_shares(self, shares: Iterable[Share]) -> None:
        """Those of accounts that have a limit within reach, and of no others."""
        self._shares = {label: share for share in shares for label in share.labels}
        self._added.subtract(self._counted)
        self._counted.clear()
        self._added = +self._added
        self._shares_text = json.dumps([asdict(each) for each in {*self._shares.values()}])

    async def keep(self) -> None:
        """Save what is put, until this is cancelled."""
        while True:
            await asyncio.sleep(_SAVE_SECONDS)
            await self.save()

    async def save(self) -> None:
        """What holds stays in force where it cannot be saved."""
        async with self._saving:
            added = {
                label: self._added[label] for label in self._shares.keys() & self._added.keys()
            }
            text = f"{self._shares_text}\n{json.dumps(added, sort_keys=True)}\n"
            if text == self._saved:
                return
            try:
                await DISK.finish(self._write, text)
            except OSError as error:
                _log.warning("room_not_saved", reason=str(error))
            else:
                self._saved = text

    def _write(self, text: str) -> None:
        fresh = self._file.with_suffix(".new")
        fresh.write_text(text)
        os.replace(fresh, self._file)

    def _load(self) -> None:
        """What was saved; nothing of a file that is not whole, as after a crash of the host."""
        try:
            shares, added = map(json.loads, self._file.read_text().splitlines())
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            _log.warning("room_not_read", reason=str(error))
            return
        self.set_shares(Share(tuple(each["labels"]), each["left"]) for each in shares)
        self._added.update(added)

    def _left(self, share: Share) -> int:
        return share.left - sum(self._added[each] for each in share.labels)

    def _left_on_disk(self) -> int:
        if time.monotonic() - self._looked > _LOOK_SECONDS:
            disk = os.statvfs(self._folder)
            self._free = disk.f_bavail * disk.f_frsize
            self._looked = time.monotonic()
        return self._free - self._min_free
