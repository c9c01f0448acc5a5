"""The folders of buckets, each with the mark of its row.

S3 tells neither whose a bucket is nor what has come into one while it was deleted: the filer makes
the folder anew for an object of which the upload had begun before.
"""

import asyncio
import time

from roost.core.engine import EngineError
from roost.engines.seaweedfs.filer import BUCKETS, OWNER, Entry, Filer
from roost.resources.object_storage.engine import (
    BucketSpec,
    HeldBucket,
    NotEmptyError,
    TakenError,
)

_MARK = "roost-bucket"
_UPLOADS = ".uploads"
"""The folder of a bucket where parts are until an upload is complete."""
_HIDDEN = "."
"""How folders beside the buckets begin."""
_TRIES = 5


class Folders:
    """All of a server."""

    def __init__(self, filer: Filer) -> None:
        self._filer = filer

    async def held(self) -> dict[str, HeldBucket]:
        """All buckets by name."""
        return {
            entry.name: HeldBucket(_mark(entry), _maker(entry))
            async for entry in self._filer.list(BUCKETS)
            if entry.is_folder and not entry.name.startswith(_HIDDEN)
        }

    async def has_mark(self, bucket: BucketSpec) -> bool:
        entry = await self._filer.look(BUCKETS, bucket.name)
        return entry is not None and _mark(entry) == bucket.mark

    async def make(self, bucket: BucketSpec) -> None:
        """The folder is there and has the mark. TakenError for one that is another's."""
        mark = {_MARK: bucket.mark}
        for _ in range(_TRIES):
            entry = await self._filer.look(BUCKETS, bucket.name)
            if entry is None:
                if await self._filer.make_folder(BUCKETS, bucket.name, mark):
                    return
            elif _mark(entry) == bucket.mark:
                return
            elif _mark(entry) is not None:
                raise TakenError("The object storage has another bucket of this name")
            elif not bucket.is_new:
                await self._filer.extend(BUCKETS, entry, mark)
                return
            else:
                # An S3 client has just made it, and nobody could use it; or something is left.
                try:
                    await self._clear(f"{BUCKETS}/{bucket.name}")
                except NotEmptyError:
                    raise TakenError("The object storage has objects of another bucket") from None
                await self._filer.delete(BUCKETS, bucket.name)
        raise EngineError("The object storage does not make the bucket")

    async def delete(self, name: str, mark: str) -> None:
        """One that nobody can use any more. NotEmptyError while it holds objects, also such as have
        come into its place."""
        for _ in range(_TRIES):
            entry = await self._filer.look(BUCKETS, name)
            if entry is None or _mark(entry) not in (mark, None):
                return
            uploads = f"{BUCKETS}/{name}"
            await self._filer.delete_all(uploads, _UPLOADS, until=int(time.time()), data=True)
            await self._clear(uploads)
            await self._filer.delete(BUCKETS, name)
        raise EngineError("The object storage does not delete the bucket")

    async def purge(self, name: str, mark: str | None) -> None:
        """With all that it holds, if it has this mark; None: if it has none."""
        for _ in range(_TRIES):
            entry = await self._filer.look(BUCKETS, name)
            if entry is None or _mark(entry) != mark:
                return
            # Times are whole seconds: a bucket that takes its place has a later one.
            await asyncio.sleep(max(0, entry.modified + 1 - time.time()))
            await self._filer.delete_all(BUCKETS, name, until=entry.modified)
        raise EngineError("The object storage does not delete the bucket")

    async def uploading(self, name: str) -> int:
        """Bytes of the parts of uploads that are not complete, of each what was sent last."""
        size = 0
        folder = f"{BUCKETS}/{name}/{_UPLOADS}"
        for upload in [entry.name async for entry in self._filer.list(folder)]:
            parts = [entry async for entry in self._filer.list(f"{folder}/{upload}")]
            parts.sort(key=lambda entry: entry.modified)
            last = {entry.name.partition("_")[0]: entry.size for entry in parts}
            size += sum(last.values())
        return size

    async def end_uploads(self, name: str, before: int) -> None:
        """Delete the parts of those that began before then (seconds since 1970)."""
        folder = f"{BUCKETS}/{name}/{_UPLOADS}"
        old = [entry async for entry in self._filer.list(folder) if entry.made < before]
        for upload in old:
            await self._filer.delete_all(folder, upload.name, until=int(time.time()), data=True)

    async def _clear(self, folder: str) -> None:
        """Delete the folders in it. NotEmptyError when there is an object."""
        for entry in [each async for each in self._filer.list(folder)]:
            if entry.is_object:
                raise NotEmptyError("The bucket is not empty")
            await self._clear(f"{folder}/{entry.name}")
            await self._filer.delete(folder, entry.name)


def _mark(entry: Entry) -> str | None:
    value = entry.extended.get(_MARK)
    return None if value is None else value.decode(errors="replace")


def _maker(entry: Entry) -> str | None:
    owner = entry.extended.get(OWNER)
    return None if owner is None else owner.decode(errors="replace")
