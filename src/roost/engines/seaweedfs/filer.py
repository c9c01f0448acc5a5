"""What is asked of the filer itself, by gRPC (`weed/pb/filer.proto` numbers the fields)."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from roost.core.engine import EngineError
from roost.engines.seaweedfs.calls import CallError, Calls, connected
from roost.engines.seaweedfs.wire import field, fields, first, first_number, integer
from roost.resources.object_storage.engine import MadeBucket

BUCKETS = "/buckets"
OWNER = "s3-identity-id"
"""Where a bucket says whose it is."""
_SERVICE = "/filer_pb.SeaweedFiler/"
_DOING = "The object storage does not do what it is asked for"
_SECONDS = 30.0
_DELETE_SECONDS = 600.0
_MOST = 1 << 30
"""Entries of a list, which is a stream."""
_EXISTS, _NOT_EMPTY, _MISSING = "already exists", "non-empty folder", "no entry is found"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or a folder."""

    name: str
    is_folder: bool
    is_object: bool
    """Whether S3 clients see it: a file, or a folder that one has put as an object."""
    size: int
    """Bytes"""
    modified: int
    made: int
    """Seconds since 1970"""
    extended: Mapping[str, bytes]
    message: bytes
    """All of it, as the filer has sent it."""


class Filer:
    """Folders and files of a server."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def look(self, folder: str, name: str) -> Entry | None:
        asked = field(1, folder) + field(2, name)
        try:
            answer = await self._call("LookupDirectoryEntry", asked)
        except CallError as error:
            if _MISSING in error.detail:
                return None
            raise
        found = first(answer, 1)
        return None if found is None else _read(found)

    async def list(self, folder: str) -> AsyncGenerator[Entry, None]:
        """The entries of a folder; none of one that does not exist."""
        asked = field(1, folder) + integer(5, _MOST)
        try:
            async with (
                asyncio.timeout(_SECONDS),
                aclosing(self._calls.listen(_DOING, f"{_SERVICE}ListEntries", asked)) as messages,
            ):
                async for message in messages:
                    if (found := first(message, 1)) is not None:
                        yield _read(found)
        except TimeoutError as error:
            raise EngineError(_DOING) from error
        except CallError as error:
            if _MISSING not in error.detail:
                raise

    async def make_folder(self, folder: str, name: str, extended: Mapping[str, str]) -> bool:
        """False when there is one already, which stays as it is."""
        now = int(time.time())
        attributes = integer(2, now) + integer(3, _FOLDER_MODE) + integer(6, now)
        entry = field(1, name) + integer(2, 1) + field(4, attributes) + _extended(extended)
        answer = await self._call("CreateEntry", field(1, folder) + field(2, entry) + integer(3, 1))
        return not _reason(answer, _EXISTS)

    async def extend(self, folder: str, entry: Entry, extended: Mapping[str, str]) -> None:
        """Let it say this besides."""
        changed = entry.message + _extended(extended)
        await self._call("UpdateEntry", field(1, folder) + field(2, changed))

    async def delete(self, folder: str, name: str) -> bool:
        """False for a folder that is not empty. Nothing happens where there is none."""
        answer = await self._call("DeleteEntry", field(1, folder) + field(2, name))
        return _NOT_EMPTY not in _reason(answer, _NOT_EMPTY, _MISSING)

    async def delete_all(self, folder: str, name: str, *, until: int, data: bool = False) -> None:
        """With all that it holds, unless it was made later (seconds since 1970). The data of a
        whole bucket go with it, those of other folders only with `data`."""
        asked = field(1, folder) + field(2, name) + integer(4, int(data))
        asked += integer(5, 1) + integer(6, 1) + integer(9, max(until, 1))
        _reason(await self._call("DeleteEntry", asked, _DELETE_SECONDS), _MISSING)

    async def _call(self, method: str, message: bytes, seconds: float = _SECONDS) -> bytes:
        return await self._calls.ask(_DOING, _SERVICE + method, message, seconds)


@asynccontextmanager
async def reaching(address: str) -> AsyncIterator[Filer]:
    """The filer at this host and port."""
    async with connected(address) as calls:
        yield Filer(calls)


async def made(address: str) -> AsyncGenerator[MadeBucket, None]:
    """Buckets from now on, with whoever makes them, until the filer ends."""
    # No path begins with the prefix: what is in the folder of buckets alone is told.
    wanted = field(1, "roost") + field(2, "/roost/none") + integer(3, time.time_ns())
    wanted += integer(7, time.time_ns() & 0x7FFFFFFF) + integer(9, 1) + field(10, BUCKETS)
    doing = "The object storage tells no more of new buckets"
    async with connected(address) as calls:
        answers = calls.listen(doing, f"{_SERVICE}SubscribeMetadata", wanted)
        async with aclosing(answers) as messages:
            async for message in messages:
                for each in read_made(message):
                    yield each


def read_made(message: bytes) -> Iterator[MadeBucket]:
    """The buckets in an answer of the subscription, which also tells of other changes.

    Raises ValueError.
    """
    parts = list(fields(message))
    for number, value in parts:
        if number == 4:
            yield from read_made(value)
    event = first(message, 2)
    if event is None or (1, BUCKETS.encode()) not in parts:
        return
    found = first(event, 2)
    if found is None or first(event, 1) is not None:
        return
    entry = _read(found)
    if entry.name and OWNER in entry.extended:
        yield MadeBucket(entry.name, entry.extended[OWNER].decode())


_FOLDER_MODE = 0o777 | 1 << 31
"""As Go has it."""


def _read(message: bytes) -> Entry:
    attributes = first(message, 4) or b""
    pairs = [value for number, value in fields(message) if number == 5]
    is_folder = bool(first_number(message, 2))
    return Entry(
        name=(first(message, 1) or b"").decode(),
        is_folder=is_folder,
        is_object=not is_folder or bool(first(attributes, 7)),
        size=first_number(attributes, 1),
        modified=first_number(attributes, 2),
        made=first_number(attributes, 6),
        extended={(first(each, 1) or b"").decode(): first(each, 2) or b"" for each in pairs},
        message=message,
    )


def _extended(values: Mapping[str, str]) -> bytes:
    return b"".join(field(5, field(1, name) + field(2, value)) for name, value in values.items())


def _reason(answer: bytes, *harmless: str) -> str:
    """Why it was not done, as the answer says; empty if it was. CallError unless that is one of the
    harmless reasons."""
    text = (first(answer, 1) or b"").decode(errors="replace")
    if text and not any(each in text for each in harmless):
        raise CallError(_DOING, None, text)
    return text
