"""A saved state as a file: a zip archive with a header, the rows of tables, engines' snapshots."""

import zlib
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import IO, Literal
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from pydantic import BaseModel, ValidationError

from roost.app.lab import queries
from roost.app.lab.queries import Table
from roost.errors import ApiError, invalid
from roost.store import Connection
from roost.threads import DISK

_HEADER = "roost.json"
_ATTACHMENTS = "attachments/"
_CHUNK = 1 << 18


class Header(BaseModel):
    """What a state says about itself; `sealed_text` opens with the key of its secrets only."""

    format: Literal["roost-state-1"]
    revision: str
    sealed_text: str
    now: datetime
    tables: list[Table]
    next_ids: dict[str, int]
    regions: list[str]


class Archive:
    """A file being written or read; its entries are packed outside the event loop."""

    def __init__(self, zipped: ZipFile) -> None:
        self._zip = zipped

    @classmethod
    def create(cls, file: IO[bytes]) -> "Archive":
        return cls(ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1))

    @classmethod
    async def read(cls, file: IO[bytes]) -> "Archive":
        """ApiError 400 when the file is not whole."""
        try:
            zipped = await DISK.run(ZipFile, file)
            damaged = await DISK.run(zipped.testzip)
        except (BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error):
            raise broken() from None
        if damaged is not None:
            raise broken()
        return cls(zipped)

    def close(self) -> None:
        """Completes a file that was created."""
        self._zip.close()

    async def write_header(self, header: Header) -> None:
        await DISK.run(self._zip.writestr, _HEADER, header.model_dump_json(indent=2))

    async def read_header(self) -> Header:
        """ApiError 400 when the file is something else."""
        try:
            return Header.model_validate_json(self._zip.read(_HEADER))
        except (KeyError, ValidationError):
            raise broken() from None

    async def write_rows(self, db: Connection, table: Table) -> None:
        with self._zip.open(_rows(table), "w", force_zip64=True) as entry:

            async def write(rows: bytes) -> None:
                await DISK.run(entry.write, rows)

            await queries.copy_out(db, table, write)

    async def read_rows(self, db: Connection, table: Table) -> None:
        """KeyError or an error of asyncpg when the file does not fit the table."""

        async def rows() -> AsyncIterator[bytes]:
            with self._zip.open(_rows(table)) as entry:
                while chunk := await DISK.run(entry.read, _CHUNK):
                    yield chunk

        await queries.copy_in(db, table, rows())

    async def write_snapshot(self, region: str, snapshot: bytes) -> None:
        await DISK.run(self._zip.writestr, _snapshot(region), snapshot)

    async def read_snapshots(self, header: Header) -> Mapping[str, bytes]:
        """By region. KeyError when one is missing."""
        read = self._zip.read
        return {r: await DISK.run(read, _snapshot(r)) for r in header.regions}

    async def write_attachment(self, key: str, content: bytes) -> None:
        await DISK.run(self._zip.writestr, _ATTACHMENTS + key, content)

    async def read_attachments(self) -> AsyncIterator[tuple[str, bytes]]:
        """Keys and contents."""
        for name in self._zip.namelist():
            if name.startswith(_ATTACHMENTS):
                content = await DISK.run(self._zip.read, name)
                yield name.removeprefix(_ATTACHMENTS), content


def broken() -> ApiError:
    return invalid("This is not a saved state, or it is broken")


def _rows(table: Table) -> str:
    return f"tables/{table.name}.copy"


def _snapshot(region: str) -> str:
    return f"engines/{region}.json"
